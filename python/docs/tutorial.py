"""Orders from Kafka: parsed, looked at one by one by something slow, added up, and written back to Kafka."""

import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from sparklatency import with_e2e_latency

brokers = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
spark = SparkSession.builder.appName("shop").getOrCreate()


@F.udf("double", useArrow=False)
def risk(amount: float) -> float:
    time.sleep(0.06)  # stands for a call to another service
    return amount / 1000


schema = "country STRING, amount DOUBLE, placed TIMESTAMP"
orders = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", brokers)
    .option("subscribe", "orders")
    .option("startingOffsets", "earliest")
    .load()
    .select(F.from_json(F.col("value").cast("string"), schema).alias("order"))
    .select("order.*")
    .withWatermark("placed", "10 seconds")
)
read = with_e2e_latency(orders, "read")  # by the watermarked column: placed
checked = with_e2e_latency(read.withColumn("risk", risk("amount")), "checked")
totals = checked.groupBy(F.window("placed", "10 seconds"), "country").agg(
    F.sum("amount").alias("amount"), F.max("risk").alias("risk"), F.max("placed").alias("newest")
)
written = with_e2e_latency(totals, "totals", timestamp="newest")  # a window is as old as its newest order

value = F.to_json(F.struct("window", "amount", "risk")).alias("value")
query = (
    written.select(F.col("country").alias("key"), value)
    .writeStream.queryName("orders")
    .format("kafka")
    .option("kafka.bootstrap.servers", brokers)
    .option("topic", "totals")
    .option("checkpointLocation", "checkpoint")
    .outputMode("update")
    .start()
)
query.awaitTermination()
