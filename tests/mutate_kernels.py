"""Change the compiled kernels in one place at a time, and see that a test fails.

    python tests/mutate_kernels.py --number 60 --seed 0

Each mutant is compiled in a copy of the package. It survives if the tests of the kernels pass, and
pass again under AddressSanitizer and UndefinedBehaviorSanitizer.
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
KERNELS = Path("sklearn_ndcg") / "_kernels" / "compiled.pyx"
KILLERS = ["kernels/test_compiled.py", "kernels/test_threads.py", "rows/test_ids.py"]
KILLERS += [f"metrics/test_{each}.py" for each in ("functions", "measure", "queries")]
SECONDS = 300  # after which a mutant loops for ever
CHANGES = [  # what is found, and what takes its place
    (r" <= ", " < "), (r" >= ", " > "), (r" < (?![A-Za-z_ ]*>)", " <= "), (r"(?<!-) > ", " >= "),
    (r" == ", " != "), (r" \+ 1\b", ""), (r" - 1\b", ""), (r" \+= ", " -= "), (r" \* 2\b", ""),
    (r"\b2 \* ", ""), (r" \+ ", " - "), (r" and ", " or "), (r"\bmin\(", "max("), (r"\bnot ", ""),
]  # fmt: skip
SANITIZERS = "-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all"
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


def fate(folder, source, number, changed, sanitizers=""):
    """Whether a mutant is killed, survives, loops or does not compile."""
    (folder / KERNELS).write_text(
        "\n".join([*source[:number], changed, *source[number + 1 :]]) + "\n"
    )
    for suffix in ("*.so", ".c"):
        for each in folder.glob(f"sklearn_ndcg/_kernels/compiled{suffix}"):
            each.unlink()
    python = [sys.executable, "-P"]
    environment = os.environ | {"PYTHONPATH": str(folder), "SKLEARN_NDCG_KERNELS": "compiled"}
    environment["CI"] = "true"  # all examples
    silent = subprocess.DEVNULL
    run = {"cwd": folder, "stdout": silent, "stderr": silent, "timeout": SECONDS}
    subprocess.run(  # noqa: S603
        [*python, "-c", COMPILE], **run, check=False,
        env=environment | {"CFLAGS": f"-O1 {sanitizers}", "LDFLAGS": sanitizers},
    )  # fmt: skip
    if not [*folder.glob("sklearn_ndcg/_kernels/compiled*.so")]:
        return "does not compile"
    if sanitizers:
        environment |= {
            "LD_PRELOAD": " ".join(map(library, ["libasan.so", "libubsan.so"])),
            "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc",
        }  # fmt: skip
    tests = [str(Path("tests") / each) for each in KILLERS]
    call = ["-m", "pytest", "-qx", "-p", "no:cacheprovider", "--hypothesis-profile=mutants"]
    try:
        process = subprocess.run(  # noqa: S603
            [*python, *call, *tests], **run, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return "loops"
    return "killed" if process.returncode else "survives"


def library(name):
    """Where the compiler has a library."""
    call = ["gcc", f"-print-file-name={name}"]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603


def main():
    """Try a seeded sample of mutants; print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", type=Path, help="those that survive in this output, only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    source = (ROOT / KERNELS).read_text().splitlines()
    found = mutants(source)
    if arguments.again:
        earlier = arguments.again.read_text()
        found = [
            (number, changed)
            for number, changed in found
            if re.search(
                rf"^survives +{number + 1}: .*  ->  {re.escape(changed.strip())}$", earlier, re.M
            )
        ]
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
            if found == "survives" and fate(copy, source, number, changed, SANITIZERS) == "killed":
                found = "killed by sanitizers"
            folders.put(copy)
            print(
                f"{found} {number + 1}: {source[number].strip()}  ->  {changed.strip()}", flush=True
            )
            return found

        for sanitizers in ("", SANITIZERS):  # the tests must pass without a mutant
            control = fate(Path(folder) / "0", source, 0, source[0], sanitizers)
            if control != "survives":
                sys.exit(f"without a mutant {sanitizers}: {control}")
        fates = list(pool.map(try_one, chosen))
    counts = {each: fates.count(each) for each in sorted(set(fates))}
    print(f"{len(found)} mutants, {len(chosen)} tried: {counts}")


if __name__ == "__main__":
    main()
