"""Change the Python modules in one place at a time, and see that a test fails.

    python -m pip install cosmic-ray coverage -e ".[test]"
    python -P tests/mutate_modules.py --number 700 --seed 1

Each test is first run under coverage. A mutant, made by cosmic-ray, then runs the tests that reach
its line, the quickest first, until one fails. All of this happens in forks of one process that has
collected the tests, where the code of the mutated function is replaced. What is no function's code
(constants, defaults, decorators) is tried in a copy of the package.
"""

import argparse
import ast
import gc
import inspect
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from itertools import accumulate, islice
from pathlib import Path
from types import CodeType, FunctionType

import coverage
import pytest
from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "sklearn_ndcg"


def path_in_package(file):
    """Return the name of a module: "_rows/ids"."""
    return file.relative_to(PACKAGE).with_suffix("").as_posix()


# what they do happens in other processes
NO_KILLERS = ["processes", "limits", "memory", "cluster", "recipes"]
# the NumPy kernels have a run of their own, see the session `mutants` in noxfile.py
MODULES = [
    path_in_package(each)
    for each in PACKAGE.rglob("*.py")
    if each.stem not in ("numpy_kernels", "__init__") or each.parent.stem == "frames"
]
ERROR = "the tool failed:"
COMMAND = ["-q", "-s", "-p", "no:cacheprovider", "--hypothesis-profile=mutants"]
COMMAND += ["-k", "not spark"]  # each fork would start a session


class Coverage:
    """The lines that each test reaches, and its seconds."""

    def __init__(self, coverage):
        self.coverage = coverage
        self.seconds = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.coverage.switch_context(item.nodeid)
        began = time.perf_counter()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.perf_counter() - began
            self.coverage.switch_context("")


def map_tests(file):
    """Write the tests that reach each line, and how long each takes."""
    measured = coverage.Coverage(file.with_suffix(".coverage"), include=[f"{PACKAGE}/*"])
    measured.start()
    plugin = Coverage(measured)
    code = pytest.main(arguments(), plugins=[plugin])
    measured.stop()
    if code:
        sys.exit("the tests fail without any mutant")
    data = measured.get_data()
    lines = {
        path_in_package(Path(name)): {
            line: [test for test in tests if test]
            for line, tests in data.contexts_by_lineno(name).items()
        }
        for name in data.measured_files()
    }
    file.write_text(json.dumps({"seconds": plugin.seconds, "lines": lines}))


def arguments():
    """What pytest is called with: the files whose tests can kill."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [*COMMAND, *(str(each) for each in files if each.stem[5:] not in NO_KILLERS)]


def found_mutants(modules, seed, earlier=None):
    """Mutants of the modules in random order: module, line, new source, operator.

    With the output of an earlier run, those that survived it.
    """
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path_in_package(path) not in modules:
            continue
        nodes = list(ast_nodes(get_ast_from_path(path)))
        for name in sorted(operator_names()):
            if get_operator(name).arguments():
                continue
            operator = get_operator(name)()
            spots = [spot for node in nodes for spot in operator.mutation_positions(node)]
            found += [(path, line, operator, number) for number, ((line, _), _) in enumerate(spots)]
    random.Random(seed).shuffle(found)
    for path, line, operator, number in found:
        name = type(operator).__name__
        if earlier and f"SURVIVES {path_in_package(path)}:{line} {name}: " not in earlier:
            continue
        source = path.read_text()
        mutant = path_in_package(path), line, mutate_code(source, operator, number), name
        try:
            same = ast.dump(bare(mutant[2])) == ast.dump(bare(source))
        except SyntaxError:
            continue
        if not (same or (earlier and f"SURVIVES {shown(mutant)}\n" not in earlier)):
            yield mutant


def bare(source):
    """The tree of a module without its annotations, which nothing evaluates."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            node.annotation = ast.Constant(None)
    return ast.fix_missing_locations(tree)


def shown(mutant):
    module, line, mutated, operator = mutant
    return f"{module}:{line} {operator}: {mutated.splitlines()[line - 1].strip()}"


def changed_functions(module, mutated):
    """Old and new code of the functions that a mutant changes; None if it changes other code."""
    path = PACKAGE / f"{module}.py"
    with warnings.catch_warnings(action="ignore"):  # "is" with a literal
        old, new = (compile(bare(text), str(path), "exec") for text in (path.read_text(), mutated))
    return None if outside(old) != outside(new) else list(different(old, new))


def outside(code):
    """A module's or class's own code, without that of its functions."""
    constants = [repr(each) for each in code.co_consts if not isinstance(each, CodeType)]
    return code.co_code, code.co_names, constants, [outside(each) for each in classes_of(code)]


def inner(code):
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def classes_of(code):
    return [each for each in inner(code) if not each.co_flags & inspect.CO_NEWLOCALS]


def different(old, new):
    """The functions at any depth whose code is not the same."""
    for before, after in zip(inner(old), inner(new), strict=False):
        if before != after:
            if before.co_flags & inspect.CO_NEWLOCALS:
                yield before, after
            yield from different(before, after)


class These:
    """Runs the tests whose names a file has, in its order."""

    def pytest_collection_modifyitems(self, items):
        place = {test: i for i, test in enumerate((ROOT / "these").read_text().splitlines())}
        items[:] = sorted((i for i in items if i.nodeid in place), key=lambda i: place[i.nodeid])


class Mutants:
    """Runs the mutants in place of the tests that pytest has collected."""

    def __init__(self, mutants, tests, chosen, report):
        self.mutants, self.tests, self.report = mutants, tests, report
        self.jobs, self.seconds = chosen.jobs, chosen.seconds
        self.killers = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        self.items = {item.nodeid: item for item in session.items}
        self.functions = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and str(PACKAGE) in each.__code__.co_filename:
                self.functions[each.__code__].append(each)
        gc.freeze()
        running = {}
        while True:
            for mutant in islice(self.mutants, self.jobs - len(running)):
                process = self.start(session, mutant)
                running[process.pid] = process, mutant
            if not running:
                break
            self.finish_one(running)
        for test in sorted(self.killers & self.items.keys()):
            if os.fork() == 0:
                silence_output()
                os._exit(bool(self.first_failure(session, [test])))
            if os.wait()[1]:
                print(f"{test} FAILS WITHOUT A MUTANT, TOO")
        return True

    def start(self, session, mutant):
        module, line, mutated, _ = mutant
        changed = changed_functions(module, mutated)
        tests = self.tests_of(module, 0 if changed is None else line)
        seconds = sum(self.tests["seconds"].get(test, 1) for test in tests)
        process = Process(limit=60 + 4 * seconds)
        process.pid = os.fork()
        if process.pid:
            return process
        os.setsid()
        silence_output()
        killer = ""
        try:
            found = [(self.functions[old], new) for old, new in changed or ()]
            if any(functions for functions, _ in found):
                for functions, new in found:
                    for function in functions:
                        function.__code__ = new
                killer = self.first_failure(session, tests)
            else:
                killer = self.in_a_copy(module, mutated, tests)
        except BaseException as error:
            killer = f"{ERROR} {type(error).__name__}: {error}"
        process.file.write_text(killer)
        os._exit(0)

    def tests_of(self, module, line):
        """The tests that reach a line, quickest first; all of them if none does."""
        lines = self.tests["lines"].get(module, {})
        for above in range(line, max(line - 12, 0), -1):
            if lines.get(str(above)):
                found = set(lines[str(above)])
                break
        else:
            found = {test for tests in lines.values() for test in tests}
        seconds = self.tests["seconds"]
        quickest = sorted(found & self.items.keys(), key=seconds.get)
        sums = accumulate(seconds[test] for test in quickest)
        new = sorted(self.items.keys() - seconds.keys())  # written after the map was made
        return [test for test, at in zip(quickest, sums, strict=True) if at < self.seconds] + new

    def first_failure(self, session, tests):
        """The first test that fails, or an empty text."""
        items = [self.items[test] for test in tests]
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.testsfailed:
                return item.nodeid
        return ""

    def in_a_copy(self, module, mutated, tests):
        """The same in another process, which imports a copy of the package."""
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy"
            shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "_build", "generated"))
            changed = copy / "sklearn_ndcg" / f"{module}.py"

            def failing(source, tests):
                changed.write_text(source)
                (copy / "these").write_text("\n".join(tests))
                run = subprocess.run(
                    [sys.executable, "-P", "tests/mutate_modules.py", "--these"], cwd=copy,
                    env=os.environ | {"PYTHONPATH": str(copy)}, check=False,
                    stdout=subprocess.PIPE, text=True,
                )  # fmt: skip
                found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", run.stdout, re.MULTILINE)
                return (found[1] if found else "an error") if run.returncode else ""

            original = (PACKAGE / f"{module}.py").read_text()
            killer = failing(mutated, tests)
            if killer and failing(original, [killer] if killer in tests else tests[:1]):
                raise LookupError(f"{killer} fails in a copy without a mutant, too")
            return killer

    def finish_one(self, running):
        """Wait for one of the processes to end, or end it; write its fate."""
        while True:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            late = [each for each, (process, _) in running.items() if time.time() > process.end]
            if not pid and late:
                pid = late[0]
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                running[pid][0].file.write_text("time out")
            if pid in running:
                break
            time.sleep(0.02)
        process, mutant = running.pop(pid)
        killer = process.file.read_text() if process.file.exists() else "crashed"
        self.killers.add(killer)
        self.report(mutant, killer)
        process.file.unlink(missing_ok=True)


def silence_output():
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)


class Process:
    """A fork, the file it reports to, and the time at which it is ended."""

    def __init__(self, limit):
        self.end = time.time() + limit
        self.file = Path(tempfile.mkstemp()[1])
        self.file.unlink()


def main():
    """Try a seeded sample of mutants; print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", type=Path, help="those that survive in this output, only")
    parser.add_argument("--seconds", type=float, default=45, help="of tests for each mutant")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--map", type=Path, help="where to keep, or find, which tests reach a line")
    parser.add_argument("--only", help="modules, separated by commas")
    parser.add_argument("--these", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--make-map", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    os.environ["CI"] = "true"  # all examples
    if chosen.these:
        sys.exit(pytest.main([*arguments(), "-x"], plugins=[These()]))
    if chosen.make_map:
        map_tests(chosen.map)
        return
    chosen.map = chosen.map or Path(tempfile.mkdtemp()) / "map.json"
    if not chosen.map.exists():
        call = [sys.executable, "-P", __file__, "--make-map", "--map", str(chosen.map)]
        subprocess.run(call, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    tests = json.loads(chosen.map.read_text())
    modules = chosen.only.split(",") if chosen.only else MODULES
    earlier = chosen.again.read_text() if chosen.again else None
    sample = islice(found_mutants(modules, chosen.seed, earlier), chosen.number)
    fates = Counter()

    def report(mutant, killer):
        fate = "ERROR   " if killer.startswith(ERROR) else "killed  " if killer else "SURVIVES"
        fates[fate.strip()] += 1
        print(f"{fate} {shown(mutant)}", end="")
        print(f"   [{killer}]" if killer else "", flush=True)

    plugin = Mutants(sample, tests, chosen, report)
    pytest.main(arguments(), plugins=[plugin])
    print(dict(fates), flush=True)
    os._exit(fates["ERROR"] > 0)  # sys.exit would report what is frozen as leaks


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
