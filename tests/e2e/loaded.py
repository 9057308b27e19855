"""An application whose classes are archived as it ends: it loads what all applications of the tests load."""

from urllib.request import urlopen

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, udf, window


def main() -> None:
    spark = SparkSession.builder.appName("loaded").getOrCreate()
    twice = udf(lambda value: 2 * value, "bigint")
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
    windows = (
        rows.withColumn("twice", twice("value"))
        .withWatermark("timestamp", "1 second")
        .groupBy(window("timestamp", "1 second"))
        .agg({"twice": "max"})
        .join(spark.range(10).withColumn("one", col("id")), col("max(twice)") == col("one"), "left")
    )
    query = windows.writeStream.format("memory").queryName("seen").trigger(availableNow=True).start()
    query.awaitTermination()
    spark.table("seen").collect()
    urlopen(f"{spark.sparkContext.uiWebUrl}/StreamingQuery/").read()  # noqa: S310
    spark.stop()


if __name__ == "__main__":
    main()
