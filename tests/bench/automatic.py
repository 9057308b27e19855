"""What automatic nodes cost two streaming queries, at level INFO.

Each run reads all files in one batch, with a checkpoint of its own. In every round each variant runs once, in
an order drawn anew, and is compared with the plain query of the same round; `plain again` is the noise.
Writes a table and every single run beside those of pipelines.py.
"""

from __future__ import annotations

import os
import random
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

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
    timed,
    write_results,
)
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

VARIANTS = {PLAIN: "", "plain again": "", "automatic nodes": "source,terminal"}


def write_events(spark: SparkSession, rows: int, folder: Path) -> None:
    events = made_events(spark, rows, partitions=4)
    as_json(events).write.text(str(folder / "json"))
    events.write.parquet(str(folder / "parquet"))


def parsed_windows(spark: SparkSession, folder: Path) -> DataFrame:
    events = from_json(spark.readStream.text(str(folder / "json")))
    return in_windows(events.withWatermark("ts", "1 minute").filter("amount >= 10"))


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


def run_to_end(writer: DataStreamWriter) -> None:
    writer.start().awaitTermination()


def rounds(spark: SparkSession, query: str, rows: int, count: int, folder: Path) -> Iterable[Run]:
    order = random.Random(1)  # noqa: S311  not a secret
    for number in range(count + 1):
        for variant in order.sample(list(VARIANTS), len(VARIANTS)):
            spark.conf.set("spark.sparklatency.auto", VARIANTS[variant])
            writer = QUERIES[query](spark, folder).writeStream.outputMode("append").format("noop")
            writer = writer.trigger(availableNow=True)
            with tempfile.TemporaryDirectory(dir=folder) as checkpoint:
                writer = writer.option("checkpointLocation", checkpoint)
                wall, cpu = timed(spark, partial(run_to_end, writer))
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
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=400_000, help="records of a run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spark = local_session(options.jar, {"spark.sql.shuffle.partitions": "2"})
        write_events(spark, options.rows, folder)
        runs: list[Run] = []
        tables = []
        for query in QUERIES:
            own = list(rounds(spark, query, options.rows, options.rounds, folder))
            runs += own
            tables.append(table(query, own))
        version = spark.version
        spark.stop()
    write_results(options, "automatic", version, "automatic nodes at INFO, ", tables, runs)


if __name__ == "__main__":
    main()
