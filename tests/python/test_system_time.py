"""A watermark that trails the clock, from Python."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

from sparklatency import with_system_time_watermark
from support import NOW

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.mark.usefixtures("running")
@pytest.mark.parametrize("lag", ["10 seconds", timedelta(seconds=10)])
def test_the_last_window_closes_by_itself(
    spark: SparkSession, clock: Any, tmp_path: Path, lag: str | timedelta
) -> None:
    start = NOW // 10_000 * 10_000
    clock.set(start)
    (tmp_path / "one.json").write_text(f'{{"ms": {start + 1_000}}}')
    events = (
        spark.readStream.schema("ms LONG").json(str(tmp_path)).select(F.timestamp_millis("ms").alias("at"))
    )
    counts = with_system_time_watermark(events, "at", lag).groupBy(F.window("at", "10 seconds")).count()
    query = counts.writeStream.format("memory").queryName("closing_by_itself").start()
    query.processAllAvailable()
    query.processAllAvailable()
    assert spark.table("closing_by_itself").collect() == []
    clock.set(start + 20_000)
    query.processAllAvailable()
    query.processAllAvailable()
    assert [row["count"] for row in spark.table("closing_by_itself").collect()] == [1]
    query.stop()


def test_mistakes_are_told_at_the_call(spark: SparkSession) -> None:
    df = spark.readStream.format("rate").load()
    with pytest.raises(TypeError, match="with_system_time_watermark: lag takes str or"):
        with_system_time_watermark(df, "timestamp", 5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="with_system_time_watermark: df takes"):
        with_system_time_watermark("df", "timestamp", "1 second")  # type: ignore[arg-type]
    with pytest.raises(IllegalArgumentException, match="is negative"):
        with_system_time_watermark(df, "timestamp", timedelta(seconds=-1))
    with pytest.raises(IllegalArgumentException, match="the column 'when' is not there"):
        with_system_time_watermark(df, "when", "1 second")
