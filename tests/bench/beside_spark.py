"""What a query's page of the tab costs beside Spark's own statistics page of the same query, of 40 nodes.

Each driver is one of its own. It runs a query with 40 marks until both pages show 100 batches. Then they
are asked for by turns, Spark's twice as often: its two halves against each other are the A/A row. Needs
nothing but the jar.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from driver_pages import Times, asked, of_drivers
from pyspark.sql.functions import col

from sparklatency import with_e2e_latency

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NODES, BATCHES = 40, 100
WARM_UP, ROUNDS = 300, 100


def times(spark: SparkSession) -> dict[str, Times]:
    """The median of each page."""
    rows = spark.readStream.format("rate").option("rowsPerSecond", 1000).load()
    for number in range(NODES):
        work = rows.withColumn("value", col("value") + 1)
        rows = with_e2e_latency(work, f"node-{number}", "timestamp")
    query = (
        rows.writeStream.format("noop").queryName("long").trigger(processingTime="200 milliseconds").start()
    )
    while query.isActive and ((last := query.lastProgress) is None or last["batchId"] < BATCHES):
        query.processAllAvailable()
    query.stop()
    ui = spark.sparkContext.uiWebUrl
    pages = {
        "Spark": f"{ui}/StreamingQuery/statistics/?id={query.runId}",
        "Spark again": f"{ui}/StreamingQuery/statistics/?id={query.runId}",
        "latency": f"{ui}/latency/query/?id={query.runId}",
    }
    found: dict[str, list[Times]] = {name: [] for name in pages}
    for _ in range(WARM_UP + ROUNDS):
        for name, url in pages.items():
            text, took = asked(spark, url)
            if name == "latency" and f"node-{NODES - 1}" not in text:
                raise ValueError(text)
            found[name].append(took)
    return {name: _medians(taken[WARM_UP:]) for name, taken in found.items()}


def _medians(taken: list[Times]) -> Times:
    walls, cpus = zip(*taken, strict=True)
    return median(walls), median(cpus)


def main() -> None:
    drivers = of_drivers(__doc__, times)
    for name in drivers[0]:
        walls, cpus = zip(*(driver[name] for driver in drivers), strict=True)
        ratios = [driver[name][0] / driver["Spark"][0] for driver in drivers]
        print(
            f"{name}: median {median(walls):.1f} ms, CPU {median(cpus):.1f} ms; {median(ratios):.2f} times "
            f"Spark's ({min(ratios):.2f} to {max(ratios):.2f}); {len(drivers)} drivers"
        )


if __name__ == "__main__":
    main()
