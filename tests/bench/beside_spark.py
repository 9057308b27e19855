"""What a query's page of the tab costs beside Spark's own statistics page of the same query, of 40 nodes.

Each driver is one of its own. It runs a query with 40 marks, a batch every 300 ms. Both pages show 100
batches, all that Spark keeps and that sparklatency is told to keep. They are asked for after each batch, by
turns, and each time another one first. Spark's page is asked for twice: its two halves against each other are
the A/A row. Ours is asked for once more before the next batch comes, and again and again when the query has
stopped. Needs nothing but the jar.
"""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING

from driver_pages import Times, asked, of_drivers, write
from pyspark.sql.functions import col, expr

from sparklatency import with_e2e_latency

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

NODES, BATCHES = 40, 100
WARM_UP, ROUNDS = 300, 100
AGES = "timestamp_millis(unix_millis(current_timestamp()) - value % 1000)"
"""Records are up to a second old when their batch begins."""


def times(spark: SparkSession) -> dict[str, Times]:
    """The median of each page."""
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1000).load()
    rows = rows.withColumn("timestamp", expr(AGES))
    for number in range(NODES):
        work = rows.withColumn("value", col("value") + 1)
        rows = with_e2e_latency(work, f"node-{number}", "timestamp")
    query = (
        rows.writeStream.format("noop").queryName("long").trigger(processingTime="300 milliseconds").start()
    )
    found: dict[str, list[Times]] = {}

    def ask(name: str, page: str) -> None:
        text, took = asked(spark, f"{spark.sparkContext.uiWebUrl}/{page}?id={query.runId}")
        if page.startswith("latency") and f"node-{NODES - 1}" not in text:
            raise ValueError(text)
        found.setdefault(name, []).append(took)

    statistics, latency = "StreamingQuery/statistics/", "latency/query/"
    pages = [("Spark", statistics), ("Spark again", statistics), ("latency after a batch", latency)]
    wait_for(spark, query, BATCHES)
    for number in range(WARM_UP + ROUNDS):
        wait_for(spark, query, 1)
        first = number % len(pages)
        for name, page in pages[first:] + pages[:first]:
            ask(name, page)
        ask("latency of no new batch", latency)
    query.stop()
    for _ in range(WARM_UP + ROUNDS):
        ask("Spark, stopped", statistics)
        ask("latency, stopped", latency)
    return {name: _medians(taken[WARM_UP:]) for name, taken in found.items()}


def wait_for(spark: SparkSession, query: StreamingQuery, batches: int) -> None:
    """Waits until so many more batches are there for whoever asks."""
    until = _batch(query) + batches
    while _batch(query) < until:
        if not query.isActive:
            raise ValueError(query.exception())
        time.sleep(0.005)
    spark._jsc.sc().listenerBus().waitUntilEmpty(600_000)


def _batch(query: StreamingQuery) -> int:
    return -1 if (last := query.lastProgress) is None else int(last["batchId"])


def _medians(taken: list[Times]) -> Times:
    walls, cpus = zip(*taken, strict=True)
    return median(walls), median(cpus)


def main() -> None:
    drivers = of_drivers(__doc__, times, {"spark.sparklatency.history.batches": str(BATCHES)})
    lines = [
        f"{NODES} nodes, {BATCHES} batches shown, medians of {ROUNDS} pages; {len(drivers)} drivers",
        "",
        "| page | ms | CPU ms | times Spark's | least to most |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in drivers[0]:
        walls, cpus = zip(*(driver[name] for driver in drivers), strict=True)
        beside = "Spark, stopped" if name.endswith("stopped") else "Spark"
        ratios = [driver[name][0] / driver[beside][0] for driver in drivers]
        lines.append(
            f"| {name} | {median(walls):.1f} | {median(cpus):.1f} | {median(ratios):.2f} | "
            f"{min(ratios):.2f} to {max(ratios):.2f} |"
        )
    write("beside-spark", lines)


if __name__ == "__main__":
    main()
