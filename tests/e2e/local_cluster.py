"""The application under test: marks files as they are read and what they add up to, and stays there."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import max as greatest
from pyspark.sql.functions import timestamp_millis

from sparklatency import with_e2e_latency


def main(records: str, checkpoint: str) -> None:
    spark = SparkSession.builder.appName("local_cluster").getOrCreate()
    print(spark.sparkContext.applicationId, flush=True)
    lines = spark.readStream.schema("key STRING, at LONG").csv(records)
    source = with_e2e_latency(lines.withColumn("at", timestamp_millis("at")), "source", timestamp="at")
    newest = source.groupBy("key").agg(greatest("at").alias("newest"))
    sink = with_e2e_latency(newest, "sink", timestamp="newest")
    query = sink.writeStream.format("noop").outputMode("update").queryName("orders")
    query.option("checkpointLocation", checkpoint).start().awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
