"""Name the wheel: one for Python 3.11 and newer, and one for each free-threaded Python.

The rest is in pyproject.toml.
"""

import sysconfig

from setuptools import setup

# the limited API, which the compiled kernels use, is not available on free-threaded Python
limited = False if sysconfig.get_config_var("Py_GIL_DISABLED") else "cp311"
setup(options={"bdist_wheel": {"py_limited_api": limited}})
