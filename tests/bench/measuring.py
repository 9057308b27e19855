"""What the benchmarks of whole queries share: a session, events, timing, comparison by rounds, results."""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame

HERE = Path(__file__).parent
PLAIN = "plain"


@dataclass(frozen=True)
class Run:
    """One execution of one variant. Rounds up to 0 warm up and count for nothing."""

    workload: str
    variant: str
    round: int
    rows: int
    task_ns: int
    load: float


@dataclass(frozen=True)
class TimedRun(Run):
    """One that had the machine to itself."""

    wall_ns: int
    cpu_ns: int


R = TypeVar("R", bound=Run)


@dataclass(frozen=True)
class Estimate:
    """A median over rounds with its bootstrap interval of 95 %."""

    value: float
    low: float
    high: float

    def text(self, form: str) -> str:
        return f"{self.value:{form}} [{self.low:{form}}, {self.high:{form}}]"


def local_session(jar: Path, settings: Mapping[str, str]) -> SparkSession:
    """Starts a session that runs one task at a time."""
    options: dict[str, bool | float | int | str | None] = {
        "spark.jars": str(jar),
        "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **settings,
    }
    spark = SparkSession.builder.master("local[1]").config(map=options).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


@dataclass(frozen=True)
class Cost:
    """Nanoseconds that an action took: of time, of CPU in the whole JVM, of CPU in its tasks alone."""

    wall_ns: int
    cpu_ns: int
    task_ns: int


def cpu_clock(spark: SparkSession) -> int:
    """Of the JVM: what clock_getcpuclockid(3) returns for its process."""
    return (~int(cast("Any", spark._jvm).java.lang.ProcessHandle.current().pid()) << 3) | 2


def timed(spark: SparkSession, action: Callable[[], object]) -> Cost:
    jvm, context = cast("Any", spark._jvm), cast("Any", spark._jsc).sc()
    clock, tasks = cpu_clock(spark), counter(spark, "cpuTime")
    jvm.System.gc()
    wall, cpu, task = time.perf_counter_ns(), time.clock_gettime_ns(clock), tasks.getCount()
    action()
    wall = time.perf_counter_ns() - wall
    context.listenerBus().waitUntilEmpty()  # what listeners do afterwards is work, too
    return Cost(wall, time.clock_gettime_ns(clock) - cpu, tasks.getCount() - task)


def counter(spark: SparkSession, name: str) -> Any:
    """Returns what Spark's metrics system counts under that name for the executor."""
    system = _metrics_system(cast("Any", spark._jvm), cast("Any", spark._jsc).sc())
    return system.getSourcesByName("executor").head().metricRegistry().getCounters().get(name)


def _metrics_system(jvm: Any, context: Any) -> Any:
    """Asks SparkEnv for one method: py4j would list all, some of types that pyspark 4.3 has no jar for."""
    named = jvm.java.lang.Class.forName
    result = jvm.java.lang.invoke.MethodType.methodType(named("org.apache.spark.metrics.MetricsSystem"))
    environment = named("org.apache.spark.SparkEnv")
    method = jvm.java.lang.invoke.MethodHandles.publicLookup().findVirtual(
        environment, "metricsSystem", result
    )
    return method.bindTo(context.env()).invokeWithArguments(jvm.java.util.ArrayList())


def made_events(spark: SparkSession, rows: int, partitions: int) -> DataFrame:
    ago = F.make_interval(mins=F.lit(0), secs=F.col("id") / 1000)
    return spark.range(0, rows, 1, partitions).select(
        "id",
        (F.lit("2026-01-01T00:00:00Z").cast("timestamp") + ago).alias("ts"),
        F.concat(F.lit("user-"), F.hash("id") % 100).alias("user"),
        (F.col("id") * 7919 % 10000 / 100).alias("amount"),
        F.sha2(F.col("id").cast("string"), 256).alias("session"),
    )


SCHEMA = "id BIGINT, ts TIMESTAMP, user STRING, amount DOUBLE, session STRING"


def as_json(events: DataFrame) -> DataFrame:
    return events.select(F.to_json(F.struct("*")).alias("value"))


def from_json(lines: DataFrame) -> DataFrame:
    return lines.select(F.from_json("value", SCHEMA).alias("event")).select("event.*")


def in_windows(events: DataFrame) -> DataFrame:
    return events.groupBy(F.window("ts", "1 minute"), "user").agg(F.count("*"), F.avg("amount"))


def estimate(values: list[float]) -> Estimate:
    draws = random.Random(1)  # noqa: S311  not a secret
    medians = sorted(median(draws.choices(values, k=len(values))) for _ in range(2000))
    return Estimate(median(values), medians[49], medians[-50])


def over_plain(
    runs: Sequence[R],
    variant: str,
    cost: Callable[[R], float],
    compare: Callable[[float, float], float],
) -> Estimate:
    """Compares a variant with the plain query, round by round."""
    plain = {(run.rows, run.round): cost(run) / run.rows for run in runs if run.variant == PLAIN}
    most = max(run.rows for run in runs if run.variant == variant)
    own = [run for run in runs if run.variant == variant and run.rows == most and run.round > 0]
    return estimate([compare(cost(run) / run.rows, plain[run.rows, run.round]) for run in own])


def executed_plan(df: DataFrame) -> str:
    """Returns the plan that Spark would run, without the numbers of its columns."""
    executed = cast("Any", df)._jdf.queryExecution().executedPlan().toString()
    return re.sub(r"#\d+L?", "#", executed)


def arguments(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--jar", type=lambda jar: Path(jar).resolve(), required=True, help="the jar for the installed pyspark"
    )
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder for the results")
    parser.add_argument("--rounds", type=int, default=9, help="rounds that count, after those that warm up")
    return parser


def write_results(
    options: argparse.Namespace, stem: str, version: str, what: str, tables: list[str], runs: Sequence[Run]
) -> None:
    """Writes the tables (Markdown) and every single run (JSON lines) into the folder of results.

    Args:
        options: as parsed by :func:`arguments`.
        stem: what the files' names begin with.
        version: of Spark.
        what: is measured.
    """
    loads = [run.load for run in runs]
    header = (
        f"Spark {version}, {what}medians of {options.rounds} rounds with their 95 % intervals; "
        f"load average {min(loads):.1f} to {max(loads):.1f}"
    )
    report = "\n\n".join([header, *tables]) + "\n"
    line = ".".join(version.split(".")[:2])
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{stem}-{line}.md").write_text(report)
    (options.out / f"{stem}-{line}.jsonl").write_text("".join(json.dumps(asdict(run)) + "\n" for run in runs))
    print(report)
