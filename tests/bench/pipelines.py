"""What a mark costs in a running query, beside the other ways to measure latency there.

One JVM and one task thread. In every round each variant runs once, in an order drawn anew, and is compared
with the plain query of the same round. `plain again` is the plain query a second time: what it differs by is
noise. Writes the table (Markdown) and every single run (JSON lines) into the folder of results.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from measuring import (
    HERE,
    PLAIN,
    TimedRun,
    arguments,
    as_json,
    from_json,
    in_windows,
    local_session,
    made_events,
    over_plain,
    timed,
    write_results,
)
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

from sparklatency import with_e2e_latency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import DataFrame

MARKS = 10


@dataclass(frozen=True)
class Workload:
    """A query in two halves; what is measured happens between them."""

    name: str
    title: str
    rows: int
    source: Callable[[int], DataFrame]
    """Makes the records that a run is fed, as many as it is told."""
    rest: Callable[[DataFrame], DataFrame]


def latency() -> Column:
    return F.unix_millis(F.current_timestamp()) - F.unix_millis("ts")


def mark(df: DataFrame, times: int = 1) -> DataFrame:
    for number in range(times):
        df = with_e2e_latency(df, f"node{number}", "ts")
    return df


def observe(df: DataFrame) -> DataFrame:
    return df.observe(
        "latency",
        F.min(latency()).alias("min"),
        F.max(latency()).alias("max"),
        F.avg(latency()).alias("avg"),
        F.count(latency()).alias("count"),
    )


def clock_udf_and_observe(df: DataFrame) -> DataFrame:
    """Measures as the benchmarks of Spark's own real-time mode do."""
    column = F.col("latency")
    measured = df.withColumn("latency", F.expr("now_millis()") - F.unix_millis("ts"))
    return measured.observe(
        "latency",
        F.avg(column).alias("avg"),
        F.max(column).alias("max"),
        F.percentile_approx(column, 0.99, 10000).alias("p99"),
        F.percentile_approx(column, 0.5, 10000).alias("p50"),
    ).drop("latency")


def histogram_udf(df: DataFrame) -> DataFrame:
    return df.filter("record_latency(unix_micros(ts))")


CLOCK_UDF = "clock UDF and `observe(avg, max, p99, p50)`"
FEWER = {CLOCK_UDF: 20}
"""Variants that take so long a record that this part of the records will do. Their plain query
has as few, or what a query costs however few its records would count as theirs."""

VARIANTS: dict[str, Callable[[DataFrame], DataFrame]] = {
    PLAIN: lambda df: df,
    "plain again": lambda df: df,
    "one mark": mark,
    f"{MARKS} marks": lambda df: mark(df, MARKS),
    "`observe(min, max, avg, count)`": observe,
    CLOCK_UDF: clock_udf_and_observe,
    "UDF with clock and HdrHistogram": histogram_udf,
}


def numbers(spark: SparkSession, rows: int) -> Workload:
    now = time.time_ns() // 1000
    jitter = (F.col("id") * 40503).bitwiseAND(4095)  # ms, in no order to speak of

    def source(rows: int) -> DataFrame:
        ids = spark.range(0, rows, 1, 1)
        return ids.select("id", F.timestamp_micros(F.lit(now) - jitter * 1000).alias("ts"))

    return Workload("numbers", "range, project, noop", rows, source, lambda df: df)


def events(spark: SparkSession, rows: int, folder: Path) -> Workload:
    def path(rows: int) -> str:
        return str(folder / f"events-{rows}")

    for size in {rows, *(rows // part for part in FEWER.values())}:
        as_json(made_events(spark, size, partitions=1)).write.text(path(size))

    def source(rows: int) -> DataFrame:
        return from_json(spark.read.text(path(rows))).filter("amount >= 10")

    def rest(df: DataFrame) -> DataFrame:
        return in_windows(df)

    return Workload("events", "JSON file, from_json, filter, window aggregate, noop", rows, source, rest)


class Bench:
    """Runs workloads in a session of its own."""

    def __init__(self, jar: Path, histogram: Path, classes: Path) -> None:
        compile_scala(f"{jar}{os.pathsep}{histogram}", classes)
        self.spark = local_session(
            jar,
            {
                "spark.driver.extraClassPath": os.pathsep.join(map(str, (classes, histogram, jar))),
                "spark.sql.adaptive.enabled": "false",
                "spark.sql.shuffle.partitions": "1",
                "spark.sql.session.timeZone": "UTC",
            },
        )
        self.jvm = cast("Any", self.spark._jvm)
        self.jvm.sparklatency.bench.Alternatives.register(self.spark._jsparkSession)

    def rounds(self, workload: Workload, rounds: int) -> Iterable[TimedRun]:
        order = random.Random(1)  # noqa: S311  not a secret
        for number in range(rounds + 1):
            for variant in order.sample(list(VARIANTS), len(VARIANTS)):
                rows = workload.rows // FEWER.get(variant, 1)
                if variant in FEWER:
                    yield self.run(workload, PLAIN, number, rows)
                yield self.run(workload, variant, number, rows)

    def run(self, workload: Workload, variant: str, number: int, rows: int) -> TimedRun:
        query = self.query(workload, variant, rows)
        writer = query.write.format("noop").mode("overwrite")
        cost = timed(self.spark, writer.save)
        return TimedRun(workload.name, variant, number, rows, **asdict(cost), load=os.getloadavg()[0])

    def codegen_stages(self, workload: Workload, variant: str) -> int:
        execution = self.query(workload, variant, workload.rows)._jdf.queryExecution()
        text = self.jvm.PythonSQLUtils.explainString(execution, "codegen")
        return int(re.findall(r"Found (\d+) WholeStageCodegen", text)[0])

    def query(self, workload: Workload, variant: str, rows: int) -> DataFrame:
        return workload.rest(VARIANTS[variant](workload.source(rows)))


def compile_scala(classpath: str, classes: Path) -> None:
    """Compiles Alternatives.scala with the compiler that pyspark's jars bring."""
    jars = Path(_find_spark_home(), "jars", "*")
    scalac = ["java", "-cp", str(jars), "scala.tools.nsc.Main", "-usejavacp", "-classpath", classpath]
    subprocess.run([*scalac, "-d", str(classes), str(HERE / "Alternatives.scala")], check=True)


def table(workload: Workload, runs: list[TimedRun], stages: dict[str, int]) -> str:
    lines = [
        f"**{workload.title}**, {workload.rows:,} records",
        "",
        "| | codegen stages | wall ns a record | over plain: wall ns | CPU ns | CPU % |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for variant in VARIANTS:
        wall = over_plain(runs, variant, lambda run: run.wall_ns, lambda own, _: own)
        more_wall = over_plain(runs, variant, lambda run: run.wall_ns, lambda own, plain: own - plain)
        more_cpu = over_plain(runs, variant, lambda run: run.cpu_ns, lambda own, plain: own - plain)
        share = over_plain(runs, variant, lambda run: run.cpu_ns, lambda own, plain: 100 * (own / plain - 1))
        cells = [variant, str(stages[variant]), f"{wall.value:.1f}"]
        cells += (
            ["-"] * 3
            if variant == PLAIN
            else [more_wall.text("+.1f"), more_cpu.text("+.1f"), share.text("+.1f")]
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--numbers", type=int, default=10_000_000, help="records of the first workload")
    parser.add_argument("--events", type=int, default=50_000, help="records of the second")
    parser.add_argument("--histogram", type=Path, required=True, help="the jar of HdrHistogram")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        classes = Path(folder, "classes")
        classes.mkdir()
        bench = Bench(options.jar, options.histogram, classes)
        workloads = [numbers(bench.spark, options.numbers), events(bench.spark, options.events, Path(folder))]
        runs: list[TimedRun] = []
        tables = []
        for workload in workloads:
            stages = {variant: bench.codegen_stages(workload, variant) for variant in VARIANTS}
            own = []
            for run in bench.rounds(workload, options.rounds):
                own.append(run)
                print(json.dumps(asdict(run)), flush=True)
            runs += own
            tables.append(table(workload, own, stages))
        version = bench.spark.version
        bench.spark.stop()
    write_results(options, "spark", version, "", tables, runs)


if __name__ == "__main__":
    main()
