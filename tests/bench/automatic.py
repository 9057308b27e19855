"""What automatic nodes cost three streaming queries, at level INFO.

A machine's pace changes within seconds by more than what is looked for here. So the variants of a query run
at the same time, batch by batch, and share one slot for tasks: one task runs, then one of another variant.
The CPU time of each variant's tasks is compared. `plain again` is the noise. Runs of few records show what
the tasks of a run cost however few there are, without planning and the driver. Writes a table and every
single run beside those of pipelines.py.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from measuring import (
    PLAIN,
    SCHEMA,
    Run,
    arguments,
    as_json,
    from_json,
    in_windows,
    local_session,
    made_events,
    over_plain,
    write_results,
)
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamReader

VARIANTS = {PLAIN: "", "plain again": "", "automatic nodes": "source,terminal"}
WARM_UPS = 20
"""Rounds at first, until all of it is compiled."""
BATCHES = 4
"""Of a run, each of one file."""
FEW = 10 * BATCHES
"""Records of a run whose tasks cost what those of any run do."""


def write_events(spark: SparkSession, rows: int, folder: Path) -> Path:
    events = made_events(spark, rows, partitions=BATCHES)
    as_json(events).write.text(str(folder / "json"))
    events.write.parquet(str(folder / "parquet"))
    return folder


def by_file(spark: SparkSession) -> DataStreamReader:
    return spark.readStream.option("maxFilesPerTrigger", 1)


def parsed_windows(spark: SparkSession, folder: Path) -> DataFrame:
    events = from_json(by_file(spark).text(str(folder / "json")))
    return in_windows(events.withWatermark("ts", "1 minute").filter("amount >= 10"))


def from_parquet(spark: SparkSession, folder: Path) -> DataFrame:
    return by_file(spark).schema(SCHEMA).parquet(str(folder / "parquet")).withWatermark("ts", "1 minute")


def without_time(spark: SparkSession, folder: Path) -> DataFrame:
    """Drops the timestamp, so automatic nodes carry it to the end."""
    return from_parquet(spark, folder).filter("amount >= 10").select("user", "amount")


def enriched(spark: SparkSession, folder: Path) -> DataFrame:
    events = from_parquet(spark, folder)
    users = spark.range(-100, 100).select(
        F.concat(F.lit("user-"), "id").alias("user"), F.hash("id").alias("segment")
    )
    return events.join(F.broadcast(users), "user").dropDuplicatesWithinWatermark(["id"])


QUERIES: dict[str, Callable[[SparkSession, Path], DataFrame]] = {
    "JSON, from_json, filter, window aggregate": parsed_windows,
    "Parquet, broadcast join, deduplicate": enriched,
    "Parquet, filter, select without the timestamp": without_time,
}


def started(spark: SparkSession, query: str, variant: str, folder: Path) -> StreamingQuery:
    spark.conf.set("spark.sparklatency.auto", VARIANTS[variant])
    writer = QUERIES[query](spark, folder).writeStream.outputMode("append").format("noop")
    checkpoint = tempfile.mkdtemp(dir=folder)
    return writer.trigger(availableNow=True).option("checkpointLocation", checkpoint).start()


def rounds(count: int) -> Iterable[tuple[int, list[str]]]:
    """Yields the number of each round, and the variants in an order drawn anew."""
    order = random.Random(1)  # noqa: S311  not a secret
    for number in range(1 - WARM_UPS, count + 1):
        yield number, order.sample(list(VARIANTS), len(VARIANTS))


def together(spark: SparkSession, query: str, rows: int, count: int, folder: Path) -> Iterable[Run]:
    for number, variants in rounds(count):
        queries = {variant: started(spark, query, variant, folder) for variant in variants}
        for running in queries.values():
            running.awaitTermination()
        cast("Any", spark._jsc).sc().listenerBus().waitUntilEmpty()
        for variant, ended in queries.items():
            cpu = cpu_of_tasks(spark, str(ended.runId))
            yield Run(query, variant, number, rows, cpu, os.getloadavg()[0])


def cpu_of_tasks(spark: SparkSession, run: str) -> int:
    """Returns the CPU time of all tasks of a run of a query, in nanoseconds."""
    store, tracker = cast("Any", spark._jsc).sc().statusStore(), spark.sparkContext.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(run)]
    stages = {stage for job in jobs if job is not None for stage in job.stageIds}
    return sum(store.lastStageAttempt(stage).executorCpuTime() for stage in stages)


def table(query: str, many: list[Run], few: list[Run]) -> str:
    lines = [
        f"**{query}**",
        "",
        f"| | {many[0].rows:,} records: µs each | over plain: % | {FEW} records: ms | over plain: ms |",
        "|---|---:|---:|---:|---:|",
    ]
    for variant in VARIANTS:
        own = over_plain(many, variant, lambda run: run.task_ns, lambda own, _: own / 1e3).value
        share = over_plain(many, variant, lambda run: run.task_ns, lambda own, plain: 100 * (own / plain - 1))
        fixed = over_plain(few, variant, lambda run: run.task_ns, lambda own, _: FEW * own / 1e6).value
        more = over_plain(few, variant, lambda run: run.task_ns, lambda own, plain: FEW * (own - plain) / 1e6)
        over = ["-", "-"] if variant == PLAIN else [share.text("+.1f"), more.text("+.1f")]
        lines.append(f"| {variant} | {own:.2f} | {over[0]} | {fixed:.1f} | {over[1]} |")
    return "\n".join(lines)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=200_000, help="records of a run")
    parser.set_defaults(rounds=40)
    options = parser.parse_args()
    runs: list[Run] = []
    tables = []
    with tempfile.TemporaryDirectory() as name:
        settings = {
            "spark.driver.memory": "6g",  # for hundreds of runs to look back on
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.retainedJobs": "100000",  # to read the CPU time of their tasks from
            "spark.ui.retainedStages": "100000",
        }
        spark = local_session(options.jar, settings)
        all_events = write_events(spark, options.rows, Path(name) / "many")
        few_events = write_events(spark, FEW, Path(name) / "few")
        for query in QUERIES:
            many = list(together(spark, query, options.rows, options.rounds, all_events))
            few = list(together(spark, query, FEW, options.rounds, few_events))
            runs += many + few
            tables.append(table(query, many, few))
        version = spark.version
        spark.stop()
    what = "automatic nodes at INFO, CPU time of the tasks of a run, "
    write_results(options, "automatic", version, what, tables, runs)


if __name__ == "__main__":
    main()
