"""An application to look at: two streams, one of them enriched by a slow function, joined.

It says where its UI is, and the query's run once it has measured enough; files tell it to start and to stop
the query, and to end. (What spark-submit starts cannot read from standard input.)
"""

import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, expr, udf
from pyspark.sql.streaming.query import StreamingQuery

from sparklatency import latency, with_e2e_latency, with_ingestion_timestamp

BATCHES = 5
ORDERS = "orders-from-the-european-marketplace <v2>"


def rate(spark: SparkSession, rows: int) -> DataFrame:
    return spark.readStream.format("rate").option("rowsPerSecond", rows).option("numPartitions", 2).load()


def await_file(file: Path) -> None:
    while not file.exists():
        time.sleep(0.2)


def await_job(spark: SparkSession, query: StreamingQuery) -> None:
    """Makes it unlikely that the query plans a batch: to be stopped then may be an error for Spark 4.3."""
    while query.isActive and not spark.sparkContext.statusTracker().getActiveJobsIds():
        time.sleep(0.02)


def main(batches: str, folder: str) -> None:
    spark = SparkSession.builder.appName("shop").getOrCreate()
    print("shop:", spark.sparkContext.applicationId, spark.sparkContext.uiWebUrl, flush=True)
    await_file(Path(folder, "start"))

    @udf("long")
    def score(value: int) -> int:
        time.sleep(0.02)
        return value

    late = rate(spark, 40).withColumn("clicked", expr("timestamp - make_dt_interval(0, 0, 0, value % 7 / 5)"))
    clicks = with_e2e_latency(late.withWatermark("clicked", "10 seconds"), "clicks")
    # A note says that nothing reads it.
    read = with_ingestion_timestamp(rate(spark, 20), "read")
    ordered = read.select(col("value").alias("order"), col("timestamp").alias("ordered"))
    orders = with_e2e_latency(ordered.withWatermark("ordered", "5 seconds"), ORDERS)
    enriched = with_e2e_latency(clicks.withColumn("score", score("value")), "enrich")
    near = "value = order AND ordered BETWEEN clicked - interval 1 minute AND clicked + interval 1 minute"
    joined = with_e2e_latency(enriched.join(orders, expr(near)), "join", timestamp="clicked")
    query = joined.writeStream.queryName("shop").format("noop").start()
    # The first batch reads nothing, and the second takes what came while classes were loaded.
    while len(query.recentProgress) < int(batches) or not all(node.records for node in latency(query).nodes):
        time.sleep(0.2)
    print("shop:", query.runId, flush=True)
    await_file(Path(folder, "stop"))
    await_job(spark, query)
    query.stop()
    print("shop: stopped", flush=True)
    await_file(Path(folder, "end"))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
