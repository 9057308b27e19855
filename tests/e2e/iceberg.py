"""The application under test: it streams from a table of Apache Iceberg to others, and merges in a batch.

It prints what was written and what is told of it.
"""

import json
import sys
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from waits import EVENTS_WITHIN, await_until

from sparklatency import latency, with_e2e_latency

FILES = 4
ROWS = 10


def main(folder: str) -> None:
    spark = SparkSession.builder.appName("iceberg").getOrCreate()
    columns = "(id BIGINT, at TIMESTAMP, word STRING)"
    spark.sql(f"CREATE TABLE local.db.events {columns} USING iceberg")
    spark.sql(
        f"CREATE TABLE local.db.hours {columns} USING iceberg PARTITIONED BY (hours(at), bucket(2, id))"
    )
    spark.sql("CREATE TABLE local.db.ids (id BIGINT) USING iceberg PARTITIONED BY (bucket(2, id))")
    spark.sql(f"CREATE TABLE local.db.merged {columns} USING iceberg")
    for file in range(FILES):
        events = spark.range(file * ROWS, (file + 1) * ROWS, numPartitions=1)
        events.selectExpr("id", "current_timestamp() AS at", "'new' AS word").writeTo(
            "local.db.events"
        ).append()
    limited = spark.readStream.option("streaming-max-files-per-micro-batch", 1)
    events = limited.format("iceberg").load("local.db.events").withWatermark("at", "1 hour")

    def merge(batch: DataFrame, _: int) -> None:
        with_e2e_latency(batch, "updates", "at").createOrReplaceTempView("updates")
        batch.sparkSession.sql(
            "MERGE INTO local.db.merged "
            "USING (SELECT id % 15 AS id, max(at) AS at FROM updates GROUP BY 1) AS new "
            "ON merged.id = new.id WHEN MATCHED THEN UPDATE SET word = 'seen' "
            "WHEN NOT MATCHED THEN INSERT (id, at, word) VALUES (new.id, new.at, 'new')"
        )

    writers = {
        "hours": events.writeStream.option("fanout-enabled", "false"),
        "ids": events.select("id").writeStream,
        "merged": events.writeStream.foreachBatch(merge),
    }
    told = {}
    for name, writer in writers.items():
        writer = writer.queryName(name).trigger(availableNow=True)
        writer = writer.option("checkpointLocation", f"{folder}/{name}")
        query = writer.start() if name == "merged" else writer.toTable(f"local.db.{name}")
        query.awaitTermination()
        await_until(partial(has_told, query), EVENTS_WITHIN)
        spark.catalog.refreshTable(f"local.db.{name}")
        figures = latency(query)
        told[name] = {
            "rows": sorted([str(value) for value in row if value is not None] for row in rows(spark, name)),
            "nodes": {node.node: node.records for node in figures.nodes},
            "batches": figures.query.batches,
            "headline": figures.headline.text,
        }
    print(json.dumps(told))
    spark.stop()


def has_told(query: StreamingQuery) -> bool:
    """Whether all events of a query that has ended have come."""
    return latency(query).queries[0].status == "FINISHED"


def rows(spark: SparkSession, name: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in spark.table(f"local.db.{name}").drop("at").collect()]


if __name__ == "__main__":
    main(*sys.argv[1:])
