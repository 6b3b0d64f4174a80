"""Install the wheel and the sdist that an index has, if their bytes are those of files here.

    python .ci/try_release.py dist 0.1.0 https://test.pypi.org/simple/

The index may show a new release only after some minutes. NumPy, SciPy, scikit-learn and what
.ci/build.txt names must be installed: anybody may upload a "numpy" to TestPyPI.
"""

import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

USE = """
from sklearn_ndcg import ndcg_score, show_versions
import sklearn_ndcg._kernels.compiled

show_versions()
ndcg = ndcg_score([[3, 2, 3, 0, 1, 2]], [[6, 5, 4, 3, 2, 1]])
assert abs(ndcg - 0.961) < 0.0005, ndcg
"""
KINDS = {"wheel": "--only-binary", "sdist": "--no-binary"}
WAITS = (0, 30, 60, 120, 240)  # seconds


def install(kind, folder, version, index):
    """Install the version from the index, whose hash must be that of a file in the folder."""
    hashes = [sha256(path.read_bytes()).hexdigest() for path in sorted(Path(folder).iterdir())]
    requirement = " --hash=sha256:".join([f"sklearn-ndcg=={version}", *hashes])
    with tempfile.TemporaryDirectory() as temporary:
        requirements = Path(temporary) / "requirements.txt"
        requirements.write_text(requirement, encoding="utf-8")
        return subprocess.run(  # noqa: S603
            [
                sys.executable, "-m", "pip", "install", "--no-deps", "--no-cache-dir",
                # pip compares no hash of what is installed already
                "--force-reinstall", "--no-build-isolation", KINDS[kind], ":all:",
                "--require-hashes", "--index-url", index, "--requirement", requirements,
            ],
            check=False, capture_output=True, text=True,
        )  # fmt: skip


def try_release(kind, *where):
    """Install a wheel or the sdist, as soon as the index has it, and use it."""
    for seconds in WAITS:
        time.sleep(seconds)
        done = install(kind, *where)
        print(done.stdout + done.stderr)
        if done.returncode == 0:
            break
        if "DO NOT MATCH THE HASHES" in done.stderr:
            sys.exit(f"the index has another {kind} of this version than the one that was built")
    else:
        sys.exit(f"the index does not have the {kind}")
    subprocess.run([sys.executable, "-P", "-c", USE], check=True)  # noqa: S603


if __name__ == "__main__":
    for kind in KINDS:
        try_release(kind, *sys.argv[1:])
