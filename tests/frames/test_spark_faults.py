"""Spark on executors that are processes of their own: one is lost, Ctrl-C, and the JVM is killed."""

import json
import shutil

import pytest
from helpers import run_python

pytest.importorskip("pyspark")

SCRIPT = """
import json, os, signal, sys, tempfile, time, warnings
from pathlib import Path
warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import pandas as pd
import pyspark
from pyspark.sql import SparkSession
from sklearn_ndcg import frames

os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": os.path.dirname(pyspark.__file__)}
spark = SparkSession.builder.master("local-cluster[2,1,1024]").config(map={
    "spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
}).getOrCreate()
rng = np.random.default_rng(0)
rows = pd.DataFrame({
    "q": rng.integers(0, 100, 3000), "y": rng.integers(0, 5, 3000), "s": rng.random(3000)
})
main, jvm, folder = os.getpid(), spark.sparkContext._gateway.proc.pid, tempfile.mkdtemp()

def parent(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])

def score(table, fault=None):
    def gain(relevance):
        if fault is not None:
            try:
                os.mkdir(f"{folder}/{fault}")
            except FileExistsError:  # one fault is enough
                return relevance
            executor = parent(os.getppid())  # this is a worker of a daemon of an executor
            process, name = {
                "executor": (executor, signal.SIGKILL), "interrupt": (main, signal.SIGINT),
                "jvm": (jvm, signal.SIGKILL),
            }[fault]
            os.kill(process, name)
            time.sleep(2)
        return relevance

    try:
        return frames.ndcg_score(
            table, y_true="y", y_score="s", groups="q", gain=gain, undefined=0.0, working_memory=1
        )
    except BaseException as error:
        return type(error).__name__

table = spark.createDataFrame(rows)
found = {"expected": score(rows)}
for fault in ("executor", "interrupt", "jvm"):
    found[fault] = score(table, fault), os.path.exists(f"{folder}/{fault}")
    found[f"after {fault}"] = score(rows if fault == "jvm" else table)
print(json.dumps(found))
"""


@pytest.mark.ci
@pytest.mark.skipif(shutil.which("java") is None, reason="PySpark needs Java, and there is none")
def test_an_executor_is_lost_an_interrupt_and_a_killed_jvm():
    process = run_python(SCRIPT)
    assert process.stdout, process.stderr
    found = json.loads(process.stdout)
    expected = pytest.approx(found["expected"], rel=1e-14)
    assert found["executor"] == [expected, True]
    assert found["interrupt"] == ["KeyboardInterrupt", True]
    assert found["jvm"][0] in {"ConnectionRefusedError", "Py4JNetworkError"}
    assert [found[f"after {fault}"] for fault in ("executor", "interrupt", "jvm")] == [expected] * 3
