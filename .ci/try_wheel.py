"""Install the wheel that an index has, if its bytes are those of a file here, and use it.

    python .ci/try_wheel.py dist 0.1.0 https://test.pypi.org/simple/

The index may show a new wheel only after some minutes. NumPy, SciPy and scikit-learn must be
installed: anybody may upload a "numpy" to TestPyPI.
"""

import subprocess
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

USE = """
from sklearn_ndcg import ndcg_score, show_versions
from sklearn_ndcg._kernels import compiled

show_versions()
ndcg = ndcg_score([[3, 2, 3, 0, 1, 2]], [[6, 5, 4, 3, 2, 1]])
assert abs(ndcg - 0.961) < 0.0005, ndcg
"""
WAITS = (0, 30, 60, 120, 240)  # seconds


def install(folder, version, index):
    """Install the version from the index, whose hash must be that of a file in the folder."""
    hashes = [sha256(path.read_bytes()).hexdigest() for path in sorted(Path(folder).iterdir())]
    requirement = " --hash=sha256:".join([f"sklearn-ndcg=={version}", *hashes])
    with tempfile.TemporaryDirectory() as temporary:
        requirements = Path(temporary) / "requirements.txt"
        requirements.write_text(requirement, encoding="utf-8")
        return subprocess.run(  # noqa: S603
            [
                sys.executable, "-m", "pip", "install", "--no-deps", "--no-cache-dir",
                "--only-binary", ":all:", "--require-hashes", "--index-url", index,
                "--requirement", requirements,
            ],
            check=False, capture_output=True, text=True,
        )  # fmt: skip


if __name__ == "__main__":
    for seconds in WAITS:
        time.sleep(seconds)
        done = install(*sys.argv[1:])
        print(done.stdout + done.stderr)
        if done.returncode == 0:
            break
        if "DO NOT MATCH THE HASHES" in done.stderr:
            sys.exit("the index has another wheel of this version than the one that was built")
    else:
        sys.exit("the index does not have the wheel")
    subprocess.run([sys.executable, "-P", "-c", USE], check=True)  # noqa: S603
