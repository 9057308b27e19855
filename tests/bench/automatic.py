"""What automatic nodes cost two streaming queries, at level INFO.

Each run reads all files in one batch, with a checkpoint of its own. In every round each variant runs once, in
an order drawn anew, and is compared with the plain query of the same round; `plain again` is the noise.
Writes a table and every single run beside those of pipelines.py.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pipelines import HERE, PLAIN, Run, over_plain
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import DataFrame

VARIANTS = {PLAIN: "", "plain again": "", "automatic nodes": "source,terminal"}
SCHEMA = "id BIGINT, ts TIMESTAMP, user STRING, amount DOUBLE, session STRING"


def write_events(spark: SparkSession, rows: int, folder: Path) -> None:
    ago = F.make_interval(mins=F.lit(0), secs=F.col("id") / 1000)
    events = spark.range(0, rows, 1, 4).select(
        "id",
        (F.lit("2026-01-01T00:00:00Z").cast("timestamp") + ago).alias("ts"),
        F.concat(F.lit("user-"), F.hash("id") % 100).alias("user"),
        (F.col("id") * 7919 % 10000 / 100).alias("amount"),
        F.sha2(F.col("id").cast("string"), 256).alias("session"),
    )
    events.select(F.to_json(F.struct("*")).alias("value")).write.text(str(folder / "json"))
    events.write.parquet(str(folder / "parquet"))


def parsed_windows(spark: SparkSession, folder: Path) -> DataFrame:
    lines = spark.readStream.text(str(folder / "json"))
    events = lines.select(F.from_json("value", SCHEMA).alias("event")).select("event.*")
    recent = events.withWatermark("ts", "1 minute").filter("amount >= 10")
    return recent.groupBy(F.window("ts", "1 minute"), "user").agg(F.count("*"), F.avg("amount"))


def enriched(spark: SparkSession, folder: Path) -> DataFrame:
    events = spark.readStream.schema(SCHEMA).parquet(str(folder / "parquet")).withWatermark("ts", "1 minute")
    users = spark.range(-100, 100).select(
        F.concat(F.lit("user-"), "id").alias("user"), F.hash("id").alias("segment")
    )
    return events.join(F.broadcast(users), "user").dropDuplicatesWithinWatermark(["id"])


QUERIES: dict[str, Callable[[SparkSession, Path], DataFrame]] = {
    "JSON, from_json, filter, window aggregate": parsed_windows,
    "Parquet, broadcast join, deduplicate": enriched,
}


def rounds(spark: SparkSession, query: str, rows: int, count: int, folder: Path) -> Iterable[Run]:
    jvm, context = cast("Any", spark._jvm), cast("Any", spark._jsc)
    # What clock_getcpuclockid(3) returns: the CPU time of all threads of that process, in nanoseconds.
    cpu_clock = (~jvm.java.lang.ProcessHandle.current().pid() << 3) | 2
    order = random.Random(1)  # noqa: S311  not a secret
    for number in range(count + 1):
        for variant in order.sample(list(VARIANTS), len(VARIANTS)):
            spark.conf.set("spark.sparklatency.auto", VARIANTS[variant])
            writer = QUERIES[query](spark, folder).writeStream.outputMode("append").format("noop")
            writer = writer.trigger(availableNow=True)
            with tempfile.TemporaryDirectory(dir=folder) as checkpoint:
                jvm.System.gc()
                wall, cpu = time.perf_counter_ns(), time.clock_gettime_ns(cpu_clock)
                writer.option("checkpointLocation", checkpoint).start().awaitTermination()
                wall = time.perf_counter_ns() - wall
                context.sc().listenerBus().waitUntilEmpty()
                cpu = time.clock_gettime_ns(cpu_clock) - cpu
            yield Run(query, variant, number, rows, wall, cpu, os.getloadavg()[0])


def table(query: str, runs: list[Run]) -> str:
    lines = [
        f"**{query}**, {runs[0].rows:,} records",
        "",
        "| | wall s | wall % | CPU % |",
        "|---|---:|---:|---:|",
    ]
    for variant in VARIANTS:
        wall = over_plain(runs, variant, lambda run: run.wall_ns, lambda own, _: own)
        shares = [
            over_plain(runs, variant, cost, lambda own, plain: 100 * (own / plain - 1)).text("+.1f")
            for cost in (lambda run: run.wall_ns, lambda run: run.cpu_ns)
        ]
        cells = [
            variant,
            f"{wall.value * runs[0].rows / 1e9:.2f}",
            *(["-"] * 2 if variant == PLAIN else shares),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jar", type=Path, required=True, help="the jar for the installed pyspark")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder for the results")
    parser.add_argument("--rounds", type=int, default=9, help="rounds that count, after one that does not")
    parser.add_argument("--rows", type=int, default=400_000, help="records of a run")
    options = parser.parse_args()
    settings: dict[str, bool | float | int | str | None] = {
        "spark.jars": str(options.jar.resolve()),
        "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        write_events(spark, options.rows, folder)
        runs: list[Run] = []
        tables = []
        for query in QUERIES:
            own = list(rounds(spark, query, options.rows, options.rounds, folder))
            runs += own
            tables.append(table(query, own))
        version = spark.version
        spark.stop()
    loads = [run.load for run in runs]
    header = (
        f"Spark {version}, automatic nodes at INFO, medians of {options.rounds} rounds with their "
        f"95 % intervals; "
        f"load average {min(loads):.1f} to {max(loads):.1f}"
    )
    report = "\n\n".join([header, *tables]) + "\n"
    stem = f"automatic-{'.'.join(version.split('.')[:2])}"
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{stem}.md").write_text(report)
    (options.out / f"{stem}.jsonl").write_text("".join(json.dumps(asdict(run)) + "\n" for run in runs))
    print(report)


if __name__ == "__main__":
    main()
