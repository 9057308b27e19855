"""The application under test: marks files as they are read and what they add up to, and stays there.

Writes a line of JSON for each batch: its number, and the ingestion timestamps of its records.
"""

import json
import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import max as greatest
from pyspark.sql.functions import timestamp_millis, unix_micros

from sparklatency import with_e2e_latency, with_ingestion_timestamp


def main(records: str, checkpoint: str) -> None:
    spark = SparkSession.builder.appName("local_cluster").getOrCreate()
    print(spark.sparkContext.applicationId, flush=True)
    lines = spark.readStream.schema("key STRING, at LONG").csv(records)
    stamped = with_ingestion_timestamp(lines.withColumn("at", timestamp_millis("at")))
    source = with_e2e_latency(stamped, "source", timestamp="at")
    newest = source.groupBy("key").agg(
        greatest("at").alias("newest"), greatest("ingestion_time").alias("read")
    )
    sink = with_e2e_latency(newest, "sink", timestamp="newest")
    query = sink.writeStream.foreachBatch(tell).outputMode("update").queryName("orders")
    query.option("checkpointLocation", checkpoint).start().awaitTermination()


def tell(batch: DataFrame, number: int) -> None:
    stamps = [row["read"] / 1000 for row in batch.select(unix_micros("read").alias("read")).collect()]
    print(json.dumps({"batch": number, "stamps": stamps}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
