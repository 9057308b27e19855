"""The application under test: marks files as they are read and what they add up to, and stays there.

Writes a line of JSON for each batch: its number, the ingestion timestamps of its records, and how long they
took past the node `twin`. There the timestamp of each record is the time at which it comes, by the clock that
nobody sets: so its age is what the executor's clock is off.
"""

import json
import sys
import time

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, expr, timestamp_micros, timestamp_millis, unix_micros
from pyspark.sql.functions import max as greatest

from sparklatency import with_e2e_latency, with_ingestion_timestamp


def main(records: str, checkpoint: str) -> None:
    spark = SparkSession.builder.appName("local_cluster").getOrCreate()
    print(spark.sparkContext.applicationId, flush=True)
    lines = spark.readStream.schema("key STRING, at LONG").csv(records)
    stamped = with_ingestion_timestamp(lines.withColumn("at", timestamp_millis("at")))
    source = with_e2e_latency(stamped, "source", timestamp="at")
    epoch = time.time_ns() - time.monotonic_ns()  # by this process's clock, which is right
    steady = expr("reflect('java.lang.System', 'nanoTime')").cast("long")
    come = source.withColumn("come", steady)
    true = come.withColumn("true", timestamp_micros(((col("come") + epoch) / 1000).cast("long")))
    twin = with_e2e_latency(true, "twin", timestamp="true").withColumn("took", steady - col("come"))
    newest = twin.groupBy("key").agg(
        greatest("at").alias("newest"),
        greatest("ingestion_time").alias("read"),
        greatest("took").alias("took"),
    )
    sink = with_e2e_latency(newest, "sink", timestamp="newest")
    query = sink.writeStream.foreachBatch(tell).outputMode("update").queryName("orders")
    query.option("checkpointLocation", checkpoint).start().awaitTermination()


def tell(batch: DataFrame, number: int) -> None:
    rows = batch.select(unix_micros("read").alias("read"), "took").collect()
    told = {"stamps": [row["read"] / 1000 for row in rows], "took": [row["took"] / 1e6 for row in rows]}
    print(json.dumps({"batch": number, **told}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
