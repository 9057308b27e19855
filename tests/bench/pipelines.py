"""What a mark costs in a running query, beside the other ways to measure latency there.

One JVM is no evidence: the same code is compiled well in one and badly in another. So each of several
processes measures all variants, with one task thread. In every round of a process each variant runs once, in
an order drawn anew, and is compared with the plain query of the same round; the CPU time of the task counts.
The process's figure is the median of its rounds. `plain again` is the plain query a second time: what it
differs by is noise. Writes a table (Markdown) and every single run (JSON lines) into the folder of results.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, cast

from measuring import HERE, PLAIN, TimedRun, estimate, in_windows, local_session, timed
from processes import arguments_of_processes, gathered, tell
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

from sparklatency import with_e2e_latency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import DataFrame

MARKS = 10
WARM_UPS = 2
"""Rounds of each process that count for nothing."""


@dataclass(frozen=True)
class Workload:
    """A query in two halves; what is measured happens between them."""

    name: str
    title: str
    spread: str
    """Of the records' ages, as Stamps knows them."""
    source: Callable[[DataFrame], DataFrame]
    """Makes records of ids."""
    rest: Callable[[DataFrame], DataFrame]
    share: int = 1
    """The part of the records that is enough for a query that takes so long a record."""
    beside: tuple[str, ...] = ()
    """What else is measured, beside marks and `observe`."""


@dataclass(frozen=True)
class MarkRun(TimedRun):
    """One run in one of the processes."""

    process: int


def stamped(ids: DataFrame) -> DataFrame:
    return ids.select("id", F.expr("stamp(id)").alias("ts"))


def sold(ids: DataFrame) -> DataFrame:
    user = F.concat(F.lit("user-"), F.col("id") % 100)
    return stamped(ids).select("ts", user.alias("user"), (F.col("id") % 10000 / 100).alias("amount"))


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


AGAIN = "plain again"
ONE = "one mark"
TEN = f"{MARKS} marks"
OBSERVE = "`observe(min, max, avg, count)`"
CLOCK_UDF = "clock UDF and `observe(avg, max, p99, p50)`"
HISTOGRAM_UDF = "UDF with clock and HdrHistogram"
FEWER = {CLOCK_UDF: 20}
"""Variants that take so long a record that this part of the records will do. Their plain query
has as few, or what a query costs however few its records would count as theirs."""

VARIANTS: dict[str, Callable[[DataFrame], DataFrame]] = {
    PLAIN: lambda df: df,
    AGAIN: lambda df: df,
    ONE: mark,
    TEN: lambda df: mark(df, MARKS),
    OBSERVE: observe,
    CLOCK_UDF: clock_udf_and_observe,
    HISTOGRAM_UDF: histogram_udf,
}
MARKED = {ONE: 1, TEN: MARKS}

WORKLOADS = [
    Workload(
        "random",
        "ages log-uniform, 1 ms to 10 s, in random order",
        "random",
        stamped,
        lambda df: df,
        beside=(CLOCK_UDF, HISTOGRAM_UDF),
    ),
    Workload("constant", "all records of one age", "constant", stamped, lambda df: df),
    Workload("sorted", "log-uniform ages, oldest first", "sorted", stamped, lambda df: df),
    Workload("windows", "a window aggregate behind the mark", "random", sold, in_windows, share=20),
]


def variants(workload: Workload) -> list[str]:
    return [PLAIN, AGAIN, *MARKED, OBSERVE, *workload.beside]


class Bench:
    """Runs workloads in a session of its own."""

    def __init__(self, jar: Path, histogram: Path, classes: Path, rows: int) -> None:
        self.rows = rows
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

    def runs(self, workload: Workload, process: int, rounds: int) -> Iterable[MarkRun]:
        plain = self.operators(workload, PLAIN)
        for variant in MARKED:
            if (marked := self.operators(workload, variant)) != plain:
                raise SystemExit(f"{workload.name}: with {variant} the plan is {marked}, not {plain}")
        order = random.Random(process)  # noqa: S311  not a secret
        for number in range(1 - WARM_UPS, rounds + 1):
            for variant in order.sample(variants(workload), len(variants(workload))):
                rows = self.rows // workload.share // FEWER.get(variant, 1)
                if variant in FEWER:
                    yield self.run(workload, PLAIN, process, number, rows)
                yield self.run(workload, variant, process, number, rows)

    def run(self, workload: Workload, variant: str, process: int, number: int, rows: int) -> MarkRun:
        writer = self.query(workload, variant, rows).write.format("noop").mode("overwrite")
        self.jvm.sparklatency.bench.Stamps.begin(workload.spread, rows)
        cost = timed(self.spark, writer.save)
        load = os.getloadavg()[0]
        return MarkRun(workload.name, variant, number, rows, load=load, process=process, **asdict(cost))

    def operators(self, workload: Workload, variant: str) -> list[str]:
        """Lists the operators of the plan without the marks."""
        execution = self.query(workload, variant, self.rows)._jdf.queryExecution()
        lines = execution.executedPlan().toString().splitlines()
        unmarked = [line for line in lines if "record_e2e_latency(" not in line]
        return re.findall(r"^[ :+*-]*(?:\(\d+\) )?(\w+)", "\n".join(unmarked), re.MULTILINE)

    def query(self, workload: Workload, variant: str, rows: int) -> DataFrame:
        return workload.rest(VARIANTS[variant](workload.source(self.spark.range(0, rows, 1, 1))))


def compile_scala(classpath: str, classes: Path) -> None:
    """Compiles Alternatives.scala with the compiler that pyspark's jars bring."""
    jars = Path(_find_spark_home(), "jars", "*")
    scalac = ["java", "-cp", str(jars), "scala.tools.nsc.Main", "-usejavacp", "-classpath", classpath]
    subprocess.run([*scalac, "-d", str(classes), str(HERE / "Alternatives.scala")], check=True)


def over_plain(runs: Sequence[MarkRun], workload: str, variant: str) -> list[float]:
    """Returns each process's median of what the variant takes more than the plain query, in ns a record."""
    own = [run for run in runs if run.workload == workload]
    plain = {
        (run.process, run.rows, run.round): run.task_ns / run.rows for run in own if run.variant == PLAIN
    }
    more: dict[int, list[float]] = {}
    for run in own:
        if run.variant == variant and run.round > 0:
            same = plain[run.process, run.rows, run.round]
            more.setdefault(run.process, []).append(run.task_ns / run.rows - same)
    return [median(rounds) for rounds in more.values()]


def plain_ns(runs: Sequence[MarkRun]) -> float:
    """Returns what a record takes in the plain query of these runs, in ns: the median."""
    return median(run.task_ns / run.rows for run in runs if run.variant == PLAIN and run.round > 0)


def table(workload: Workload, runs: Sequence[MarkRun], processes: int) -> str:
    own = [run for run in runs if run.workload == workload.name]
    observed = median(over_plain(runs, workload.name, OBSERVE))
    lines = [
        f"**{workload.title}**: {max(run.rows for run in own):,} records a run, {processes} processes, "
        f"{plain_ns(own):.1f} ns a record without a mark",
        "",
        "| | CPU ns a record over plain: minimum | median, with 95 % interval | a mark | part of `observe` |",
        "|---|---:|---:|---:|---:|",
    ]
    for variant in variants(workload)[1:]:
        more = over_plain(runs, workload.name, variant)
        each = median(more) / MARKED.get(variant, 1)
        cells = [variant, f"{min(more):.1f}", estimate(more).text(".1f")]
        cells += [f"{each:.1f}", f"1/{observed / each:.1f}"] if variant in MARKED else ["", ""]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def runs_of(bench: Bench, process: int, rounds: int) -> Iterable[MarkRun]:
    for workload in WORKLOADS:
        yield from bench.runs(workload, process, rounds)


def main() -> None:
    parser = arguments_of_processes(__doc__, rows=12_000_000, processes=10)
    parser.add_argument("--histogram", type=Path, required=True, help="the jar of HdrHistogram")
    parser.add_argument("--classes", type=Path, help="where Alternatives.scala is compiled already")
    options = parser.parse_args()
    if options.process is not None:
        bench = Bench(options.jar, options.histogram, options.classes, options.rows)
        tell(bench.spark.version, runs_of(bench, options.process, options.rounds))
        bench.spark.stop()
        return
    with tempfile.TemporaryDirectory() as classes:
        compile_scala(f"{options.jar}{os.pathsep}{options.histogram}", Path(classes))
        version, runs = gathered(options, MarkRun, ["--classes", classes])
    loads = [run.load for run in runs]
    header = f"Spark {version}, load average {min(loads):.1f} to {max(loads):.1f}"
    tables = [table(workload, runs, options.processes) for workload in WORKLOADS]
    line = ".".join(version.split(".")[:2])
    options.out.mkdir(parents=True, exist_ok=True)
    report = "\n\n".join([header, *tables]) + "\n"
    (options.out / f"marks-{line}.md").write_text(report)
    (options.out / f"marks-{line}.jsonl").write_text("".join(json.dumps(asdict(run)) + "\n" for run in runs))
    print(report)


if __name__ == "__main__":
    main()
