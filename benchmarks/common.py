"""What the benchmarks share: calls that take turns, memory, and promises that can be broken."""

import argparse
import ctypes
import gc
import math
import os
import platform
import re
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

QUICK = "--quick" in sys.argv  # as `options` explains to users
SLOW = 0.3 if QUICK else 5  # seconds; a slower call is not repeated: its first time counts
SQL = """
    with ranked as (
        select query, score, grade,
            row_number() over (partition by query order by score desc) as rank,
            row_number() over (partition by query order by grade desc) as ideal_rank from {rows}
    ), blocks as (
        select query,
            avg(grade) * sum(case when rank <= 10 then 1 / log2(rank + 1) else 0 end) as dcg,
            sum(case when ideal_rank <= 10 then grade / log2(ideal_rank + 1) else 0 end) as ideal
        from ranked group by query, score
    )
    select avg(ndcg) from (
        select case when sum(ideal) > 0 then sum(dcg) / sum(ideal) else 0 end as ndcg
        from blocks group by query
    )
"""


def in_polars(frame):
    """Return the mean NDCG@10 of a LazyFrame as a query in Polars, the same as `SQL`."""
    import polars as pl

    def discount(rank):
        return pl.when(pl.col(rank) <= 10).then(1 / (pl.col(rank) + 1).log(2)).otherwise(0)

    rank, ideal_rank = (
        pl.col(name).rank("ordinal", descending=True).over("query").alias(alias)
        for name, alias in (("score", "rank"), ("grade", "ideal_rank"))
    )
    blocks = frame.with_columns(rank, ideal_rank).group_by("query", "score").agg(
        dcg=pl.col("grade").mean() * discount("rank").sum(),
        ideal=(pl.col("grade") * discount("ideal_rank")).sum(),
    )  # fmt: skip
    sums = blocks.group_by("query").agg(pl.col("dcg", "ideal").sum())
    ratio = pl.when(pl.col("ideal") > 0).then(pl.col("dcg") / pl.col("ideal")).otherwise(0)
    return sums.select(ratio.mean())


def options(description):
    """Return a parser that knows --quick."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="less data, and fewer promises")
    return parser


def print_machine():
    """Print the machine and the versions, on which the seconds depend."""
    from sklearn_ndcg import show_versions

    processor, linux = platform.processor() or platform.machine(), Path("/proc/cpuinfo")
    text = linux.read_text(encoding="utf-8") if linux.exists() else ""
    if found := re.search(r"model name\s*: (.*)", text):
        processor = found[1]
    print(f"{processor}, {os.cpu_count()} cores")
    show_versions()


def compare(title, *contestants, rounds=5, clock=perf_counter):
    """Print times and ratios of calls, each given as (name, call, expected[, tolerance]).

    The ratios are relative to the first call. The calls take turns, so that a change in the
    machine's load affects all of them, and the median of each one's times counts.
    """
    times = {name: [checked_seconds(name, *rest, clock=clock)] for name, *rest in contestants}
    for name, *rest in contestants * rounds:
        if times[name][0] < SLOW:
            times[name].append(checked_seconds(name, *rest, clock=clock))
    # the first call warms up, and only counts if it is the only one
    typical = {name: median(each[1:] or each) for name, each in times.items()}
    ratios = {name: each / typical[contestants[0][0]] for name, each in typical.items()}
    print(f"\n   ratio   seconds   {title}")
    for name, ratio in ratios.items():
        print(f"{ratio:8.2f} {typical[name]:9.4f}   {name}", flush=True)
    return ratios


def checked_seconds(name, call, expected, tolerance=1e-12, clock=perf_counter):
    """Time a call and check its values; an expected nan means that the value is not known."""
    start = clock()
    found = call()
    seconds = clock() - start
    expected = np.mean(expected) if np.ndim(found) == 0 else expected
    found = np.where(np.isnan(expected), np.nan, found)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance, err_msg=name)
    return seconds


def extra_memory(call):
    """Return the peak memory of this process in a call, beyond that before it, in bytes.

    Only Linux can reset the peak; elsewhere the result is nan.
    """
    gc.collect()
    if sys.platform != "linux":
        call()
        return math.nan
    ctypes.CDLL(None).malloc_trim(0)  # or memory that was freed before would serve the call
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    before = memory("VmRSS")
    call()
    return memory("VmHWM") - before


def memory(what, process="self"):
    """Return a line of Linux's status of a process, in bytes: VmRSS, or the peak, VmHWM."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    found = re.search(rf"{what}:\s+(\d+)", status)
    return 1024 * int(found[1]) if found else 0


class Promises:
    """Bounds of what was measured, which `exit` prints and checks.

    With `quick`, only those are checked that hold for little data as well.
    """

    def __init__(self, *, quick):
        self.quick = quick
        self.lines = []
        self.kept = True

    def __call__(self, what, found, *, least=-math.inf, most=math.inf, quick=True):
        """Add a promise; what could not be measured is nan, and is not checked."""
        bound = f">= {least}" if least > -math.inf else f"<= {most}"
        kept = least <= found <= most
        is_checked = not math.isnan(found) and (quick or not self.quick)
        verdict = ("kept" if kept else "BROKEN") if is_checked else "not checked"
        self.lines.append(f"{found:8.2f} {bound:>8}   {what}: {verdict}")
        self.kept &= kept or not is_checked

    def exit(self):
        """Print the promises; the exit status is 1 if one is broken."""
        print("\n   found promised", *self.lines, sep="\n")
        sys.exit(0 if self.kept else 1)
