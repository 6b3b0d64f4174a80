"""Change code that mutmut does not change, one place at a time, and see that a test fails.

    python -P tests/tools/mutate_rest.py kernels --number 60 --seed 0
    python -P tests/tools/mutate_rest.py modules

This is the code of the compiled kernels, and the code of modules outside functions or in decorated
functions. A mutant is tried in a copy of the repository. A mutant of the kernels survives if their
tests pass, and pass again under AddressSanitizer and UndefinedBehaviorSanitizer; a mutant of a
module survives if the tests of its wing pass.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = Path("sklearn_ndcg")
COMPILED = PACKAGE / "_kernels"
KERNEL_TESTS = ["kernels/test_compiled.py", "kernels/test_numpy_kernels.py"]
KERNEL_TESTS += ["rows/test_ids.py", "metrics/test_functions.py"]
SECONDS = 900  # after this time a mutant is taken to loop for ever
CHANGES = [  # what is found, and what takes its place
    (r" <= ", " < "), (r" >= ", " > "), (r" < (?![A-Za-z_ ]*>)", " <= "), (r"(?<!-) > ", " >= "),
    (r" == ", " != "), (r" \+ 1\b", ""), (r" - 1\b", ""), (r" \+= ", " -= "), (r" \* 2\b", ""),
    (r"\b2 \* ", ""), (r" \+ ", " - "), (r" and ", " or "), (r"\bmin\(", "max("), (r"\bnot ", ""),
]  # fmt: skip
CONSTANTS = [(r"\bTrue\b", "False"), (r"\bFalse\b", "True"), (r" = (?=\d)", " = 1")]
NO_CODE = r"\s*(#|@|cdef enum|ctypedef|def |const |from |import )"
SANITIZERS = "-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all"
NOT_COPIED = [".git", "docs", "*.so", "build", ".hypothesis", ".nox", "mutants"]


def mutants(path):
    """Every line of a file that a change applies to: path, line number, changed line."""
    text = (ROOT / path).read_text()
    is_python, in_text = path.suffix == ".py", False
    skipped = lines_of_functions(text) if is_python else ()
    for number, line in enumerate(text.splitlines()):
        in_text ^= line.count('"""') == 1
        code = line.split("  #")[0]
        if in_text or '"""' in line or number in skipped or re.match(NO_CODE, code):
            continue
        for pattern, instead in CHANGES + CONSTANTS * is_python:
            for match in re.finditer(pattern, code):
                yield path, number, code[: match.start()] + instead + code[match.end() :]


def lines_of_functions(text):
    """Lines of the functions that mutmut changes: undecorated ones, and class or static methods."""
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
    methods = {"classmethod", "staticmethod"}
    plain = [n for n in functions if {ast.unparse(d) for d in n.decorator_list} <= methods]
    return {line for each in plain for line in range(each.lineno - 1, each.end_lineno)}


def fate(folder, mutant, sanitizers=""):
    """Whether a mutant is killed, survives, loops or does not compile."""
    path, number, changed = mutant
    source = (ROOT / path).read_text()
    lines = source.splitlines()
    lines[number] = changed
    (folder / path).write_text("\n".join(lines) + "\n")
    try:
        if path.suffix == ".py":
            wing = path.parts[1].strip("_")
            has_tests = (ROOT / "tests" / wing).exists()
            return fate_of_tests(folder, [wing if has_tests else "metrics"], {})
        return fate_of_kernels(folder, sanitizers)
    except subprocess.TimeoutExpired:
        return "loops"
    finally:
        (folder / path).write_text(source)


def fate_of_kernels(folder, sanitizers):
    """Compile the kernels of a copy and run their tests."""
    for each in folder.glob(f"{COMPILED}/compiled*.[sc]*"):
        each.unlink()
    flags = {"CFLAGS": f"-O1 {sanitizers}", "LDFLAGS": sanitizers}
    run(folder, ["setup.py", "-q", "build_ext", "--inplace"], flags)
    if not [*folder.glob(f"{COMPILED}/compiled*.so")]:
        return "does not compile"
    environment = {"SKLEARN_NDCG_KERNELS": "compiled"}
    if sanitizers:
        environment |= {
            "LD_PRELOAD": " ".join(map(library, ["libasan.so", "libubsan.so"])),
            "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc",
        }  # fmt: skip
    return fate_of_tests(folder, KERNEL_TESTS, environment)


def fate_of_tests(folder, tests, environment):
    """Whether a test fails in a copy."""
    options = ["-qx", "-p", "no:cacheprovider", "--hypothesis-profile=mutants"]
    code = run(
        folder, ["-m", "pytest", *options, *(f"tests/{each}" for each in tests)], environment
    )
    return "killed" if code else "survives"


def run(folder, arguments, environment):
    """The exit code of Python in a copy."""
    return subprocess.run(  # noqa: S603
        [sys.executable, "-P", *arguments], cwd=folder, timeout=SECONDS, check=False,
        env=os.environ | {"PYTHONPATH": str(folder)} | environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ).returncode  # fmt: skip


def library(name):
    """Where the compiler has a library."""
    call = ["gcc", f"-print-file-name={name}"]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603


def main():
    """Try a seeded sample of mutants, and print the fate of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("code", choices=["kernels", "modules"])
    parser.add_argument("--number", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    pattern = {"kernels": "_kernels/*.p[yx][xi]", "modules": "**/*.py"}[chosen.code]
    paths = sorted(each.relative_to(ROOT) for each in (ROOT / PACKAGE).glob(pattern))
    found = [mutant for path in paths for mutant in mutants(path)]
    sample = random.Random(chosen.seed).sample(found, min(chosen.number, len(found)))
    fates = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
        path = sample[0][0]
        control = path, 0, (ROOT / path).read_text().splitlines()[0]
        for sanitizers in ("", SANITIZERS) if chosen.code == "kernels" else ("",):
            found_fate = fate(copy, control, sanitizers)
            if found_fate != "survives":
                sys.exit(f"without a mutant {sanitizers}: {found_fate}")
        for path, number, changed in sample:
            mutant = path, number, changed
            found_fate = fate(copy, mutant)
            if found_fate == "survives" and path.suffix != ".py":
                found_fate = f"{fate(copy, mutant, SANITIZERS)} by sanitizers"
            fates[found_fate] += 1
            before = (ROOT / path).read_text().splitlines()[number].strip()
            print(f"{found_fate} {path}:{number + 1}: {before}  ->  {changed.strip()}", flush=True)
    print(f"{len(found)} mutants, {len(sample)} tried: {dict(fates)}")


if __name__ == "__main__":
    main()
