"""A watermark that trails the clock, from Python."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

from sparklatency import with_idle_timeout, with_system_time_watermark
from support import NOW

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


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


@pytest.mark.usefixtures("running")
@pytest.mark.parametrize("setting", [True, False])
def test_an_idle_source_lets_the_other_go_on(
    spark: SparkSession, clock: Any, tmp_path: Path, setting: bool
) -> None:
    start = NOW // 10_000 * 10_000
    clock.set(start)
    for folder in ("speaks", "silent"):
        (tmp_path / folder).mkdir()
    (tmp_path / "speaks" / "two.json").write_text(f'{{"ms": {start + 1_000}}}\n{{"ms": {start + 25_000}}}')

    def events(folder: str) -> DataFrame:
        files = spark.readStream.schema("ms LONG").json(str(tmp_path / folder))
        at = files.select(F.timestamp_millis("ms").alias("at")).withWatermark("at", "10 seconds")
        return at if setting else with_idle_timeout(at, timedelta(minutes=1))

    name = f"an_idle_source_{setting}".lower()
    counts = events("speaks").union(events("silent")).groupBy(F.window("at", "10 seconds")).count()
    if setting:
        spark.conf.set("spark.sparklatency.watermark.idle.timeout", "1m")
    try:
        query = counts.writeStream.format("memory").queryName(name).start()
    finally:
        spark.conf.unset("spark.sparklatency.watermark.idle.timeout")
    for seconds, closed in ((0, []), (59, []), (60, [1])):
        clock.set(start + seconds * 1_000)
        for _ in range(4):
            query.processAllAvailable()
        assert [row["count"] for row in spark.table(name).collect()] == closed
    query.stop()


def test_mistakes_with_a_timeout_are_told_at_the_call(spark: SparkSession) -> None:
    df = spark.readStream.format("rate").load()
    with pytest.raises(
        TypeError, match=r"with_idle_timeout: timeout takes str or datetime\.timedelta, not 5"
    ):
        with_idle_timeout(df, 5)  # type: ignore[arg-type]
    with pytest.raises(IllegalArgumentException, match="there is no watermark here"):
        with_idle_timeout(df, "1 second")
    with pytest.raises(IllegalArgumentException, match="is not an interval longer than 0"):
        with_idle_timeout(df.withWatermark("timestamp", "1 second"), timedelta(0))


def test_mistakes_are_told_at_the_call(spark: SparkSession) -> None:
    df = spark.readStream.format("rate").load()
    with pytest.raises(
        TypeError, match=r"with_system_time_watermark: lag takes str or datetime\.timedelta, not 5"
    ):
        with_system_time_watermark(df, "timestamp", 5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="with_system_time_watermark: df takes"):
        with_system_time_watermark("df", "timestamp", "1 second")  # type: ignore[arg-type]
    with pytest.raises(IllegalArgumentException, match="is negative"):
        with_system_time_watermark(df, "timestamp", timedelta(seconds=-1))
    with pytest.raises(IllegalArgumentException, match="the column 'when' is not there"):
        with_system_time_watermark(df, "when", "1 second")
