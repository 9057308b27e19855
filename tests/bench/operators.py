"""How right operator latencies are.

Each batch has steps that rest for a while, and take their own times by the clock of their executor before and
after. Within a stage, operator latencies are compared with the sums of these. A step that has a stage to
itself is compared with the time from its first record to its last, and so is the application latency, from
the first step to the last. Writes a table beside those of pipelines.py.

``--first`` takes the first batch of a driver alone, in which Spark compiles its code, with and without code
generation of whole stages: each in processes of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

import pyspark
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

from sparklatency import latency, with_e2e_latency

HERE = Path(__file__).parent
CASES = [(100, 20, 5), (400, 5, 1), (2000, 1, 0), (40, 100, 100)]
"""Records, and milliseconds that each rests at the one step and at the other."""
FIRST = (100, 20, 5)
"""The same of the first batch of a driver, in which Spark compiles its code."""


PLANS = ("one stage", "two stages")


def session(jar: str, *, generated: bool = True) -> SparkSession:
    builder = SparkSession.builder.master("local[2]").config("spark.jars", jar)
    builder = builder.config("spark.sql.codegen.wholeStage", generated)
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def now() -> Column:
    return F.expr("reflect('java.lang.System', 'nanoTime')").cast("long")


def rested(rows: DataFrame, name: str, ms: int) -> DataFrame:
    """A step that takes so many milliseconds a record, with the times before and after it."""
    # Each is computed where it stands: none of them is deterministic.
    begun = rows.withColumn(f"{name}_from", now())
    done = begun.withColumn(f"{name}_slept", F.expr(f"reflect('java.lang.Thread', 'sleep', {ms}L)"))
    return done.withColumn(f"{name}_to", now())


def batch(spark: SparkSession, rest: tuple[int, int, int], of: str) -> dict[str, tuple[float, float]]:
    """Runs a batch. Returns milliseconds by the steps' own clock, and as told, of each step and of all."""
    records, first, second = rest
    seen = Observation()
    rows = spark.range(0, records, 1, 1).withColumn("ts", F.current_timestamp())
    rows = with_e2e_latency(rested(with_e2e_latency(rows, "a", "ts"), "b", first), "b", "ts")
    if of == "two stages":
        rows = rows.repartition(1)
    rows = with_e2e_latency(rested(rows, "c", second), "c", "ts")
    sums = [F.sum(F.col(f"{name}_to") - F.col(f"{name}_from")).alias(name) for name in ("b", "c")]
    ends = [F.min(f"{name}_from").alias(f"{name}_begun") for name in ("b", "c")]
    ends.append(F.max("c_to").alias("ended"))
    rows.observe(seen, *sums, *ends).write.format("noop").mode("overwrite").save()
    known = {name: value / 1e6 for name, value in seen.get.items()}
    known["all"] = known["ended"] - known["b_begun"]
    if of == "two stages":
        known["c"] = known["ended"] - known["c_begun"]
    work = latency("__batch__").query.operators
    assert work is not None
    told = {node.node: node.latency for stage in work.stages for node in stage.nodes}
    told["all"] = work.latency
    return {name: (known[name], told[name] or float("nan")) for name in ("b", "c", "all")}


def accuracy(spark: SparkSession) -> list[str]:
    lines = []
    for of in PLANS:
        batch(spark, FIRST, of)
    for rest in CASES:
        for of in PLANS:
            found = batch(spark, rest, of)
            figures = " | ".join(f"{known:,.1f} | {told:,.1f}" for known, told in found.values())
            records, first, second = rest
            lines.append(f"| {records} records, {first} and {second} ms each, {of} | {figures} |")
    return lines


def first_batches(jar: str, rounds: int) -> list[str]:
    """Compares what is told of the first batch of a driver with the time from its first step to its last."""
    lines = [
        "| first batch of a driver | first to last, ms | told | more, in each process |",
        "|---|---:|---:|---|",
    ]
    for how in ("generated", "interpreted"):
        for of in PLANS:
            command = [sys.executable, __file__, "--jar", jar, "--batch", how, of]
            ran = [
                json.loads(
                    subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1]
                )
                for _ in range(rounds)
            ]
            more = ", ".join(f"{told / known - 1:+.1%}" for known, told in ran)
            known, told = (median(taken) for taken in zip(*ran, strict=True))
            lines.append(f"| {how}, {of} | {known:,.1f} | {told:,.1f} | {more} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jar", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--first", action="store_true", help="only first batches, each in a driver of its own"
    )
    parser.add_argument("--batch", nargs=2, metavar=("HOW", "PLAN"), help="one first batch, as JSON")
    given = parser.parse_args()
    if given.batch:
        how, of = given.batch
        print(json.dumps(batch(session(given.jar, generated=how == "generated"), FIRST, of)["all"]))
        return
    if given.first:
        text = "\n".join([*first_batches(given.jar, given.rounds), ""])
        line = ".".join(pyspark.__version__.split(".")[:2])
        (HERE / "results" / f"first-batches-{line}.md").write_text(text, encoding="utf-8")
        print(text)
        return
    lines = ["| batch | b: own time, ms | told | c: own time | told | first to last | told |"]
    lines += ["|---|---:|---:|---:|---:|---:|---:|"]
    lines += accuracy(session(given.jar))
    text = "\n".join([*lines, ""])
    (HERE / "results" / "operators.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
