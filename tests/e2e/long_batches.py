"""Two queries whose batches are long: one in real-time mode, where that is usual, and one in micro-batches.

The latter goes no further than its first batch.
"""

import sys
import time
from pathlib import Path

from pipeline import read
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import unix_millis

REAL_TIME, MICRO_BATCH = "real-time", "micro-batch"


def main(brokers: str, records: str, results: str, folder: str, batch: str) -> None:
    spark = SparkSession.builder.appName("long_batches").getOrCreate()
    print("long_batches:", spark.sparkContext.uiWebUrl, flush=True)

    def hang(_: DataFrame, __: int) -> None:
        while not Path(folder, "end").exists():
            time.sleep(0.1)

    rows = spark.readStream.format("rate").load().writeStream.queryName(MICRO_BATCH)
    rows.option("checkpointLocation", str(Path(folder, MICRO_BATCH))).foreachBatch(hang).start()
    at = unix_millis("timestamp").cast("string").alias("value")
    writer = read(spark, brokers, records).select("key", at).writeStream.format("kafka")
    query = (
        writer.option("kafka.bootstrap.servers", brokers)
        .option("topic", results)
        .option("checkpointLocation", str(Path(folder, REAL_TIME)))
        .outputMode("update")
        .trigger(realTime=batch)  # type: ignore[call-overload]
        .queryName(REAL_TIME)
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
