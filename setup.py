"""Build the compiled modules, and name the wheel: one for Python 3.11 and newer.

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


def extension(folder: str, *depends: str) -> Extension:
    """The compiled module of a folder; without a compiler, Python and NumPy do the same."""
    return Extension(
        f"sklearn_ndcg.{folder}.compiled",
        [f"sklearn_ndcg/{folder}/compiled.pyx"],
        depends=[f"sklearn_ndcg/{folder}/{file}" for file in depends],
        define_macros=[("Py_LIMITED_API", "0x030b0000")] if is_abi3 else [],
        extra_link_args=["-Wl,--strip-all"] if is_stripped else [],
        py_limited_api=is_abi3,
        optional=True,
    )


setup(
    ext_modules=[extension("_kernels", "sorts.pxi"), extension("_lists")],
    options={"bdist_wheel": {"py_limited_api": "cp311" if is_abi3 else False}},
)
