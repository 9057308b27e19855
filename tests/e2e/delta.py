"""The application under test: queries that read Delta tables and write them, with automatic nodes and a mark.

Each prints a line: what its nodes have counted, what is written, and what is said of it.
"""

import json
import sys
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter
from waits import EVENTS_WITHIN, await_until

from sparklatency import latency, with_e2e_latency

PROPERTIES = "delta.enableDeletionVectors = true, delta.enableChangeDataFeed = true"


def main(folder: str) -> None:
    spark = SparkSession.builder.appName("delta").getOrCreate()
    events, copy, newest = (f"{folder}/{name}" for name in ("events", "copy", "newest"))
    day = "day DATE GENERATED ALWAYS AS (CAST(at AS DATE))"
    for path, columns, how in (
        (events, "id BIGINT, at TIMESTAMP", f"TBLPROPERTIES ({PROPERTIES})"),
        (copy, f"id BIGINT, at TIMESTAMP, {day}", "PARTITIONED BY (day)"),
        (newest, "id BIGINT, at TIMESTAMP", ""),
    ):
        spark.sql(f"CREATE TABLE delta.`{path}` ({columns}) USING delta {how}")
    for first in (0, 100):
        version = spark.range(first, first + 100, 1, 1).withColumn("at", F.expr("now() - INTERVAL 1 SECOND"))
        version.write.format("delta").mode("append").save(events)
    spark.sql(f"DELETE FROM delta.`{events}` WHERE id < 10")  # noqa: S608

    def merged(batch: DataFrame, _: int) -> None:
        marked = with_e2e_latency(batch, "merged", timestamp="at")
        marked.createOrReplaceTempView("batch")
        marked.sparkSession.sql(
            f"MERGE INTO delta.`{newest}` t USING batch s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )

    def read(**options: str) -> DataStreamReader:
        return spark.readStream.format("delta").options(**options)

    table = read(ignoreChanges="true", startingVersion="0").load(events).withWatermark("at", "1 minute")
    changes = read(readChangeFeed="true", startingVersion="0").load(events)
    limited = read(maxBytesPerTrigger="1b", startingVersion="0", skipChangeCommits="true").load(events)
    for name, write, written in (
        ("copied", table.select("id", "at").writeStream.format("delta").option("path", copy), copy),
        ("merging", table.writeStream.foreachBatch(merged), newest),
        ("changes", changes.withWatermark("_commit_timestamp", "1 minute").writeStream.format("noop"), None),
        ("limited", limited.withWatermark("at", "1 minute").writeStream.format("noop"), None),
    ):
        rows = partial(spark.read.format("delta").load, written) if written else None
        print(json.dumps(ran(name, write, f"{folder}/checkpoints/{name}", rows)), flush=True)


def ran(
    name: str, write: DataStreamWriter, checkpoint: str, written: partial[DataFrame] | None
) -> dict[str, object]:
    query = write.queryName(name).option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    query.awaitTermination()
    await_until(lambda: latency(query).queries[0].status == "FINISHED", EVENTS_WITHIN)
    told = latency(query).queries[0]
    return {
        "query": name,
        "queries": [one.query for one in latency().queries],
        "nodes": {node.node: node.records for node in told.nodes},
        "rows": written().count() if written else None,
        "headline": told.headline.text,
        "left_out": [note.text for note in told.notes if note.code == "left-out"],
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
