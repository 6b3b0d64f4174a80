"""Build the compiled kernels, and name the wheel: one for Python 3.11 and newer.

A free-threaded Python cannot load abi3 extensions: it has a wheel of its own. The rest is in
pyproject.toml.
"""

import sysconfig

from setuptools import Extension, setup

is_abi3 = not sysconfig.get_config_var("Py_GIL_DISABLED")
kernels = Extension(
    "sklearn_ndcg._kernels.compiled",
    ["sklearn_ndcg/_kernels/compiled.pyx"],
    depends=["sklearn_ndcg/_kernels/sorts.pxi"],
    define_macros=[("Py_LIMITED_API", "0x030b0000")] if is_abi3 else [],
    py_limited_api=is_abi3,
    optional=True,  # without a compiler the NumPy kernels are used
)
setup(
    ext_modules=[kernels],
    options={"bdist_wheel": {"py_limited_api": "cp311" if is_abi3 else False}},
)
