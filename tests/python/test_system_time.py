"""A watermark that trails the clock, from Python."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it
from pyspark.sql.streaming.listener import StreamingQueryListener

from sparklatency import with_idle_timeout, with_system_time_watermark
from support import NOW, python

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


START = NOW // 10_000 * 10_000


def write(file: Path, *seconds: int) -> None:
    """A file of events that happened so many seconds after the start."""
    file.write_text("\n".join(f'{{"ms": {START + second * 1_000}}}' for second in seconds))


def read(spark: SparkSession, folder: Path) -> DataFrame:
    files = spark.readStream.schema("ms LONG").json(str(folder))
    return files.select(F.timestamp_millis("ms").alias("at"))


@pytest.mark.usefixtures("running")
@pytest.mark.parametrize("lag", ["10 seconds", timedelta(seconds=10)])
def test_the_last_window_closes_by_itself(
    spark: SparkSession, clock: Any, tmp_path: Path, lag: str | timedelta
) -> None:
    clock.set(START)
    write(tmp_path / "one.json", 1)
    events = read(spark, tmp_path)
    counts = with_system_time_watermark(events, "at", lag).groupBy(F.window("at", "10 seconds")).count()
    query = counts.writeStream.format("memory").queryName("closing_by_itself").start()
    query.processAllAvailable()
    for still_open in (START, START + 19_000):
        clock.set(still_open)
        query.processAllAvailable()
        query.processAllAvailable()
        assert spark.table("closing_by_itself").collect() == []
    clock.set(START + 20_000)
    query.processAllAvailable()
    query.processAllAvailable()
    assert [row["count"] for row in spark.table("closing_by_itself").collect()] == [1]
    query.stop()


class SpoilsTheInterval(StreamingQueryListener):
    """Lets nobody read how often a watermark moves who hears of the query later."""

    KEY = "spark.sparklatency.watermark.interval"

    def __init__(self, spark: SparkSession) -> None:
        self.session = spark

    def onQueryStarted(self, event: Any) -> None:  # noqa: ARG002, N802  as Spark has it
        self.session.conf.set(self.KEY, "soon")

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        pass

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        pass

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        pass


@pytest.mark.usefixtures("running")
def test_where_we_cannot_get_at_the_trigger_only_batches_move_a_system_time_watermark(
    spark: SparkSession, clock: Any, tmp_path: Path
) -> None:
    clock.set(START)
    write(tmp_path / "one.json", 1)
    events = read(spark, tmp_path)
    counts = with_system_time_watermark(events, "at", "10 seconds").groupBy(F.window("at", "10 seconds"))
    hinders = SpoilsTheInterval(spark)
    streams = spark._jsparkSession.streams()
    for listener in streams.listListeners():
        if (
            listener.getClass().getSimpleName() == "SystemTimeQueries"
        ):  # comes back behind, when the query starts
            streams.removeListener(listener)
    spark.streams.addListener(hinders)
    try:
        query = counts.count().writeStream.format("memory").queryName("moved_by_batches").start()
        query.processAllAvailable()
        clock.set(START + 20_000)
        query.processAllAvailable()
        assert spark.table("moved_by_batches").collect() == []
        write(tmp_path / "two.json", 20)
        query.processAllAvailable()
        assert [row["count"] for row in spark.table("moved_by_batches").collect()] == [1]
        query.stop()
    finally:
        spark.streams.removeListener(hinders)
        spark.conf.unset(hinders.KEY)


def test_the_log_says_what_keeps_a_system_time_watermark_from_closing_windows() -> None:
    log = python(
        """
        import os
        os.dup2(1, 2)  # where the JVM logs
        from pyspark.sql import SparkSession, functions as F
        from sparklatency import configure, with_system_time_watermark

        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        spark = configure(builder).getOrCreate()
        spark.conf.set("spark.sql.shuffle.partitions", 1)

        def run(name, change):
            rate = with_system_time_watermark(spark.readStream.format("rate").load(), "timestamp", "1 second")
            query = change(rate).writeStream.queryName(name).format("noop").start()
            query.processAllAvailable()
            query.stop()

        run("stateless", lambda rate: rate)
        """
    )
    assert "query stateless: it has a system-time watermark and keeps no state, so there is nothing" in log


def test_a_bad_interval_is_told_at_the_call(spark: SparkSession) -> None:
    rate = spark.readStream.format("rate").load()
    spark.conf.set("spark.sparklatency.watermark.interval", "soon")
    try:
        with pytest.raises(
            IllegalArgumentException, match=r"watermark\.interval=soon is not valid: a duration from 1ms"
        ):
            with_system_time_watermark(rate, "timestamp", "1 second")
    finally:
        spark.conf.unset("spark.sparklatency.watermark.interval")


@pytest.mark.parametrize("setting", [True, False])
def test_an_idle_source_lets_the_other_go_on(
    spark: SparkSession, clock: Any, tmp_path: Path, setting: bool
) -> None:
    clock.set(START)
    for folder in ("speaks", "silent"):
        (tmp_path / folder).mkdir()
    write(tmp_path / "speaks" / "two.json", 1, 25)

    def events(folder: str) -> DataFrame:
        at = read(spark, tmp_path / folder).withWatermark("at", "10 seconds")
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
        clock.set(START + seconds * 1_000)
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
    with pytest.raises(
        ValueError, match=r"^with_idle_timeout: timeout '\\ud800' cannot be written as UTF-8\.$"
    ):
        with_idle_timeout(df, "\ud800")
    with pytest.raises(IllegalArgumentException, match="there is no watermark here"):
        with_idle_timeout(df, "1 second")
    with pytest.raises(IllegalArgumentException, match="is not an interval of at least a millisecond"):
        with_idle_timeout(df.withWatermark("timestamp", "1 second"), timedelta(0))


def test_mistakes_are_told_at_the_call(spark: SparkSession) -> None:
    df = spark.readStream.format("rate").load().withColumn("at", F.struct("timestamp"))
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
    for lag in ("", "soon", "10", "5 parsecs"):
        with pytest.raises(IllegalArgumentException, match=f"the lag '{lag}' .* is not an interval"):
            with_system_time_watermark(df, "timestamp", lag)
    for longer in ("367 days", timedelta.max):
        with pytest.raises(IllegalArgumentException, match="is longer than a year"):
            with_system_time_watermark(df, "timestamp", longer)
    with pytest.raises(IllegalArgumentException, match="the column 'value' is of type BIGINT"):
        with_system_time_watermark(df, "value", "1 second")
    with pytest.raises(IllegalArgumentException, match=r"'at\.timestamp' lies within a struct"):
        with_system_time_watermark(df, "at.timestamp", "1 second")
    with pytest.raises(TypeError, match="with_system_time_watermark: column takes str, not Column"):
        with_system_time_watermark(df, F.col("timestamp"), "1 second")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="with_system_time_watermark: "):
        with_system_time_watermark(df, "\ud800", "1 second")


def test_a_second_watermark_on_a_path_is_refused(spark: SparkSession) -> None:
    rate = spark.readStream.format("rate").load()
    ours = with_system_time_watermark(rate, "timestamp", "1 second")
    for once in (ours, rate.withWatermark("timestamp", "1 second")):
        with pytest.raises(IllegalArgumentException, match="there is one on 'timestamp'; leave one"):
            with_system_time_watermark(once, "timestamp", "1 second")


def test_a_batch_dataframe_is_as_it_was(spark: SparkSession) -> None:
    batch = spark.range(3).select(F.timestamp_millis("id").alias("at"))
    watermarked = with_system_time_watermark(batch, "at", "1 second")
    assert watermarked.collect() == batch.collect()
    assert watermarked.groupBy(F.window("at", "1 second")).count().collect()[0]["count"] == 3
    with pytest.raises(IllegalArgumentException, match="the column 'when' is not there"):
        with_system_time_watermark(batch, "when", "1 second")
