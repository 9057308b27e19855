"""An application without a mark: the same query with automatic nodes and without, one after the other."""

import json
import sys
from contextlib import redirect_stdout
from io import StringIO

from pipeline import read
from pyspark.sql import SparkSession
from pyspark.sql.functions import count, window

from sparklatency import latency


def main(brokers: str, records: str, results: str, checkpoint: str) -> None:
    spark = SparkSession.builder.appName("unmarked").getOrCreate()
    print(spark.sparkContext.applicationId, flush=True)
    for name, auto in (("plain", ""), ("automatic", "source,terminal,stateful")):
        spark.conf.set("spark.sparklatency.auto", auto)
        counted = (
            read(spark, brokers, records)
            .filter("key IS NOT NULL")
            .dropDuplicates(["timestamp", "key", "value"])
            .groupBy(window("timestamp", "1 second"), "key")
            .agg(count("*").alias("records"))
        )
        query = (
            counted.selectExpr("key", "cast(records AS STRING) AS value", "window.end AS timestamp")
            .drop("timestamp")
            .writeStream.format("kafka")
            .option("kafka.bootstrap.servers", brokers)
            .option("topic", results)
            .option("checkpointLocation", f"{checkpoint}-{name}")
            .outputMode("update")
            .trigger(availableNow=True)
            .queryName(name)
            .start()
        )
        query.awaitTermination()
        with redirect_stdout(StringIO()) as plan:
            query.explain()
        nodes = {node.node: node.records for node in latency().nodes}
        print(json.dumps({"plan": plan.getvalue(), "nodes": nodes}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
