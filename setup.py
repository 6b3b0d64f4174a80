"""Build the compiled kernels, and name the wheel: one for Python 3.11 and newer.

A free-threaded Python cannot load abi3 extensions: it has a wheel of its own. The rest is in
pyproject.toml.
"""

import os
import sys
import sysconfig

from setuptools import Extension, setup

is_abi3 = not sysconfig.get_config_var("Py_GIL_DISABLED")
# Linux leaves symbols in the file, three quarters of it; CFLAGS=-g keeps them for a debugger
is_stripped = sys.platform == "linux" and "-g" not in os.environ.get("CFLAGS", "").split()
kernels = Extension(
    "sklearn_ndcg._kernels.compiled",
    ["sklearn_ndcg/_kernels/compiled.pyx"],
    depends=["sklearn_ndcg/_kernels/sorts.pxi"],
    define_macros=[("Py_LIMITED_API", "0x030b0000")] if is_abi3 else [],
    extra_link_args=["-Wl,--strip-all"] if is_stripped else [],
    py_limited_api=is_abi3,
    optional=True,  # without a compiler the NumPy kernels are used
)
setup(
    ext_modules=[kernels],
    options={"bdist_wheel": {"py_limited_api": "cp311" if is_abi3 else False}},
)
