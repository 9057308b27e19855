"""What a batch without data costs, which a system-time watermark runs in a query that keeps state.

A window of a far-off day keeps state open, no further record comes, and the watermark moves each second.
Counts the files that the checkpoint is given, and the milliseconds of each batch as its progress tells them.
Prints a table for the page on time.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

from sparklatency import configure, with_system_time_watermark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.streaming.query import StreamingQuery

SECONDS = 25
STORES = {
    "HDFS-backed": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    "RocksDB": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}


def session() -> SparkSession:
    builder = SparkSession.builder.master("local[2]").config(
        map={"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    )
    made = configure(builder).getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def measured(spark: SparkSession, partitions: int, store: str) -> Iterator[int | float]:
    """Yields the files of a batch without data, its milliseconds, and the tasks that it ran."""
    spark.conf.set("spark.sql.shuffle.partitions", partitions)
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", STORES[store])
    with tempfile.TemporaryDirectory() as folder:
        inbox, checkpoint = Path(folder, "in"), Path(folder, "checkpoint")
        inbox.mkdir()
        events = spark.readStream.schema("at TIMESTAMP").json(str(inbox))
        events = with_system_time_watermark(events, "at", "1 second")
        counts = events.groupBy(F.window("at", "1 day")).count()
        (inbox / "one.json").write_text(json.dumps({"at": "2099-01-01T00:00:00.000Z"}))
        query = counts.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()
        query.processAllAvailable()
        time.sleep(5)
        before, first = written(checkpoint), last_batch(query)
        time.sleep(SECONDS)
        after, batches = written(checkpoint), last_batch(query) - first
        took = [one["batchDuration"] for one in query.recentProgress if one["batchId"] > first]
        query.stop()
    yield len(after - before) / batches
    yield median(took)
    yield batches / SECONDS


def last_batch(query: StreamingQuery) -> int:
    progress = query.lastProgress
    assert progress is not None
    return int(progress["batchId"])


def written(folder: Path) -> set[str]:
    """Returns the files of a checkpoint, without the sums that a local file system adds."""
    return {str(one) for one in folder.rglob("*") if one.is_file() and not one.name.endswith(".crc")}


def main() -> None:
    spark = session()
    print("| state store | partitions | files | milliseconds | batches a second |\n|---|---:|---:|---:|---:|")
    for store in STORES:
        for partitions in map(int, sys.argv[1:] or ("2", "20", "200")):
            files, took, pace = measured(spark, partitions, store)
            print(f"| {store} | {partitions} | {files:.1f} | {took:.0f} | {pace:.2f} |", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
