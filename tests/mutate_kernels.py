"""Change the compiled kernels in one place at a time, and see that a test fails.

    python tests/mutate_kernels.py --number 60 --seed 0

Each mutant is compiled in a copy of the package. It survives if the tests of the kernels pass.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).parents[1]
KERNELS = Path("sklearn_ndcg") / "_ckernels.pyx"
KILLERS = ["test_kernels.py", "test_ids.py", "test_values.py"]
CHANGES = [  # what is found, and what takes its place
    (r" <= ", " < "), (r" >= ", " > "), (r" < (?![A-Za-z_ ]*>)", " <= "), (r"(?<!-) > ", " >= "),
    (r" == ", " != "), (r" \+ 1\b", ""), (r" - 1\b", ""), (r" \+= ", " -= "), (r" \* 2\b", ""),
    (r"\b2 \* ", ""), (r" \+ ", " - "), (r" and ", " or "), (r"\bmin\(", "max("), (r"\bnot ", ""),
]  # fmt: skip
NOT_COPIED = [".git", "docs", "*.so", "build", ".hypothesis", ".nox"]
COMPILE = "import setuptools; setuptools.setup(script_args=['-q', 'build_ext', '--inplace'])"


def mutants(source):
    """Every line that a change applies to, with the changed line."""
    found = []
    in_text = False
    for number, line in enumerate(source):
        in_text ^= line.count('"""') == 1
        code = line.split("  #")[0]
        if (
            in_text
            or '"""' in line
            or not code.strip()
            or re.match(r"\s*(#|cdef enum|ctypedef|def |const |from |import )", code)
        ):
            continue
        for pattern, instead in CHANGES:
            for match in re.finditer(pattern, code):
                changed = code[: match.start()] + instead + code[match.end() :]
                found.append((number, changed))
    return found


def fate(folder, source, number, changed):
    """Whether a mutant is killed, survives, or does not compile."""
    (folder / KERNELS).write_text(
        "\n".join([*source[:number], changed, *source[number + 1 :]]) + "\n"
    )
    environment = os.environ | {
        "PYTHONPATH": str(folder), "CFLAGS": "-O1", "SKLEARN_NDCG_KERNELS": "compiled",
    }  # fmt: skip
    silent = subprocess.DEVNULL
    run = {"cwd": folder, "env": environment, "stdout": silent, "stderr": silent}
    for suffix in ("*.so", ".c"):
        for each in folder.glob(f"sklearn_ndcg/_ckernels{suffix}"):
            each.unlink()
    subprocess.run([sys.executable, "-c", COMPILE], **run, check=False)  # noqa: S603
    if not [*folder.glob("sklearn_ndcg/_ckernels*.so")]:
        return "no mutant: it does not compile"
    tests = [str(Path("tests") / each) for each in KILLERS]
    call = [
        sys.executable,
        "-P",
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "--hypothesis-profile=mutants",
        *tests,
    ]
    try:
        killed = subprocess.run(call, **run, timeout=100, check=False).returncode  # noqa: S603
    except subprocess.TimeoutExpired:
        killed = True
    return "killed" if killed else "survives"


def main():
    """Try a seeded sample of mutants; print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    source = (ROOT / KERNELS).read_text().splitlines()
    found = mutants(source)
    chosen = random.Random(arguments.seed).sample(found, min(arguments.number, len(found)))
    folders = Queue()
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(arguments.jobs) as pool,
    ):
        for job in range(arguments.jobs):
            copy = Path(folder) / str(job)
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
            folders.put(copy)

        def try_one(mutant):
            number, changed = mutant
            copy = folders.get()
            found = fate(copy, source, number, changed)
            folders.put(copy)
            old = source[number].strip()
            print(f"{found:10} {number + 1}: {old}  ->  {changed.strip()}", flush=True)
            return found

        fates = list(pool.map(try_one, chosen))
    counts = {each: fates.count(each) for each in sorted(set(fates))}
    print(f"{len(found)} mutants, {len(chosen)} tried: {counts}")
    sys.exit("survives" in counts)


if __name__ == "__main__":
    main()
