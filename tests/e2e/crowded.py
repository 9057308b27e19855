"""An application to look at: a query of 40 nodes, two that an error has ended, and one whose batch hangs.

Of those that have ended one did so in its first batch.

It says where its UI is, and that all has come about; a file tells it to end.
"""

import sys
import time
from functools import partial, reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, expr
from waits import await_until

from sparklatency import NoFiguresError, latency, with_e2e_latency

FORTY, FAILED, AT_ONCE, HANGS = "forty nodes", "failed", "failed at once", "hangs"
WAYS, STEPS = 4, 9
"""How many ways lead from the source to where they unite, and of how many nodes each is: with those before
and after there are 40."""
WELL = 3
"""How many batches each query has before something happens to it."""
PATIENCE_SECONDS = 1200
"""A batch of forty nodes is planned for minutes on a slow machine, and one hangs after five times as long."""
A_LONG_TIME = 3000
"""Seconds that tests may look at it."""


def rate(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("rate").option("rowsPerSecond", 10).option("numPartitions", 1).load()


def forty(spark: SparkSession) -> DataFrame:
    """Each second step of a way is slow, each by another time."""
    ways = []
    for way in range(WAYS):
        one = with_e2e_latency(rate(spark), f"source-{way}", "timestamp")
        for number in range(1, STEPS):
            ms = 3 * (way + number) if number % 2 else 0
            one = one.withColumn(f"slept{number}", expr(f"reflect('java.lang.Thread', 'sleep', {ms}L)"))
            one = with_e2e_latency(one, f"step-{number}-of-way-{way}", "timestamp")
        ways.append(one)
    united = reduce(DataFrame.unionByName, ways)
    for name in ("united", "checked", "enriched", "sink"):
        united = with_e2e_latency(united.withColumn("value", col("value") + 1), name, "timestamp")
    return united


def has(query: str, batches: int) -> bool:
    try:
        return latency(query).query.batches >= batches
    except NoFiguresError:
        return False


def has_failed(query: str) -> bool:
    try:
        return latency(query).query.has_failed
    except NoFiguresError:
        return False


def main(folder: str) -> None:
    spark = SparkSession.builder.appName("crowded").getOrCreate()
    print("crowded:", spark.sparkContext.applicationId, spark.sparkContext.uiWebUrl, flush=True)

    def fail(batch: DataFrame, number: int) -> None:
        batch.write.format("noop").mode("append").save()
        if number == WELL:
            raise ValueError(f"the order {number} of a customer without an address cannot be sent to anybody")

    def fail_at_once(_batch: DataFrame, _number: int) -> None:
        raise ValueError("the table of orders is not there")

    def hang(batch: DataFrame, number: int) -> None:
        batch.write.format("noop").mode("append").save()
        while number == WELL and not Path(folder, "end").exists():
            time.sleep(0.1)

    for name, act in ((FAILED, fail), (AT_ONCE, fail_at_once), (HANGS, hang)):
        rows = with_e2e_latency(with_e2e_latency(rate(spark), "read", "timestamp"), "written", "timestamp")
        rows.writeStream.queryName(name).foreachBatch(act).trigger(processingTime="1 second").start()
    forty(spark).writeStream.queryName(FORTY).format("noop").start()
    for query in (FORTY, HANGS):
        await_until(partial(has, query, WELL), PATIENCE_SECONDS)
    for query in (FAILED, AT_ONCE):
        await_until(partial(has_failed, query), PATIENCE_SECONDS)
    await_until(lambda: latency(HANGS).query.progress.stalled, PATIENCE_SECONDS)
    print("crowded: ready", flush=True)
    await_until(Path(folder, "end").exists, A_LONG_TIME)
    for running in spark.streams.active:
        running.stop()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
