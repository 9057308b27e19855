"""When a batch is committed, its results can be read: the driver's word against the sink's own traces.

Two bounds are exact. Whenever a reader that polls found nothing, that was before the commit. And Spark writes
its own log of commits after it.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F  # noqa: N812

from sparklatency import with_e2e_latency
from support import NOW, TICK, aged, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = pytest.mark.usefixtures("running")


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> DataFrame:
    """One batch of three records with known timestamps."""
    aged(spark, 10, 20, 30).coalesce(1).write.parquet(str(tmp_path / "in"))
    return with_e2e_latency(
        spark.readStream.schema("ts TIMESTAMP").parquet(str(tmp_path / "in")), "sink", "ts"
    )


def committed_at(spark: SparkSession, query: StreamingQuery) -> float:
    """Seconds since the epoch when the query's only batch was committed: its oldest record tells."""

    def oldest() -> float | None:
        table = spark.sql("SELECT * FROM e2e_latency()").where(F.col("run_id") == str(query.runId))
        rows = table.select("record_commit_latency_max").collect()
        return rows[0][0] if rows else None

    return (NOW - 30 + eventually(oldest)) / 1000


class Reader:
    """Polls until it finds something."""

    def __init__(self, finds: Callable[[], bool]) -> None:
        self._finds = finds
        self.polls = 0
        self.last_without = 0.0
        """When it looked for the last time and found nothing."""

    def poll(self, ended: Event) -> None:
        while not ended.is_set():
            at = time.time()
            self.polls += 1
            if self._finds():
                return
            self.last_without = at
            time.sleep(0.001)


@contextmanager
def polling(finds: Callable[[], bool]) -> Iterator[Reader]:
    reader, ended = Reader(finds), Event()
    thread = Thread(target=reader.poll, args=(ended,))
    thread.start()
    try:
        yield reader
    finally:
        ended.set()
        thread.join()


def in_ms(seconds: float) -> float:
    """As the driver's clock has it, which knows no microseconds."""
    return int(seconds * 1000) / 1000


def commit_log(checkpoint: Path) -> float:
    """When Spark had written down, at the latest, that the only batch is committed."""
    return (checkpoint / "commits" / "0").stat().st_mtime + TICK / 1000


def test_a_file_sink_has_published_its_files_when_the_batch_is_committed(
    spark: SparkSession, stream: DataFrame, tmp_path: Path
) -> None:
    writer = stream.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
    log = tmp_path / "out" / "_spark_metadata" / "0"
    with polling(log.exists) as reader:
        query = writer.trigger(availableNow=True).start(str(tmp_path / "out"))
        query.awaitTermination()
    committed = committed_at(spark, query)
    assert reader.polls > 1
    assert max(in_ms(reader.last_without), in_ms(log.stat().st_mtime)) <= committed
    assert committed <= commit_log(tmp_path / "checkpoint")


def test_a_batch_of_foreach_batch_is_committed_when_its_function_has_returned(
    spark: SparkSession, stream: DataFrame, tmp_path: Path
) -> None:
    returned: list[float] = []
    results: list[object] = []

    def write(batch: DataFrame, _: int) -> None:
        results.extend(batch.collect())
        returned.append(time.time())

    writer = stream.writeStream.foreachBatch(write).option("checkpointLocation", str(tmp_path / "checkpoint"))
    with polling(lambda: bool(results)) as reader:
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
    committed = committed_at(spark, query)
    assert reader.polls > 1
    assert in_ms(reader.last_without) <= in_ms(returned[0]) <= committed
    assert committed <= commit_log(tmp_path / "checkpoint")
