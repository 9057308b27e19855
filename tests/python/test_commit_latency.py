"""When a batch is committed, its results can be read: the driver's word against the sink's own traces."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F  # noqa: N812

from sparklatency import with_e2e_latency
from support import NOW, aged, eventually

if TYPE_CHECKING:
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


def test_a_file_sink_has_published_its_files_when_the_batch_is_committed(
    spark: SparkSession, stream: DataFrame, tmp_path: Path
) -> None:
    writer = stream.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(tmp_path / "out"))
    query.awaitTermination()
    published = (tmp_path / "out" / "_spark_metadata" / "0").stat().st_mtime
    assert int(published * 1000) / 1000 <= committed_at(spark, query) <= time.time()


def test_a_batch_of_foreach_batch_is_committed_when_its_function_has_returned(
    spark: SparkSession, stream: DataFrame
) -> None:
    returned: list[float] = []

    def write(batch: DataFrame, _: int) -> None:
        batch.collect()
        returned.append(time.time())

    query = stream.writeStream.foreachBatch(write).trigger(availableNow=True).start()
    query.awaitTermination()
    assert int(returned[0] * 1000) / 1000 <= committed_at(spark, query) <= time.time()
