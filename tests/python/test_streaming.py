"""Figures of streaming queries."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F  # noqa: N812

from sparklatency import NoFiguresError, latency, with_e2e_latency
from support import NOW, PATIENCE_SECONDS, aged, eventually, once_known

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sparklatency.view import Latency


pytestmark = pytest.mark.usefixtures("clock", "running")


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> DataFrame:
    """A stream of five records, 10 to 50 ms old, with a watermark on `ts`, that comes in one batch."""
    aged(spark, 10, 20, 30, 40, 50).coalesce(1).write.parquet(str(tmp_path / "in"))
    events = spark.readStream.schema("ts TIMESTAMP").parquet(str(tmp_path / "in"))
    return events.withWatermark("ts", "1 second")


def measured(query: object) -> Latency | None:
    found = latency(query)  # type: ignore[arg-type]
    return found if found.nodes and all(node.records for node in found.nodes) else None


def test_the_watermarked_column_is_the_timestamp_that_nobody_had_to_name(stream: DataFrame) -> None:
    source = with_e2e_latency(stream, "source")
    windows = source.groupBy(F.window("ts", "1 hour")).agg(F.max("ts").alias("newest"))
    sink = with_e2e_latency(windows, "sink", "newest")
    query = sink.writeStream.queryName("orders").outputMode("update").format("noop").start()
    query.processAllAvailable()
    orders = eventually(lambda: measured(query))
    assert [node.node for node in orders.nodes] == ["source", "sink"]
    source_figures, sink_figures = orders.nodes
    assert (source_figures.records, source_figures.min, source_figures.avg) == (5, 10, 30)
    assert (sink_figures.records, sink_figures.max) == (1, 10)


def test_a_window_that_has_the_watermark_counts_by_its_end(stream: DataFrame) -> None:
    windows = stream.groupBy(F.window("ts", "1 hour")).count()
    query = (
        with_e2e_latency(windows, "windowed")
        .writeStream.outputMode("update")
        .format("noop")
        .queryName("ends")
        .start()
    )
    query.processAllAvailable()
    hour = 3_600_000
    assert eventually(lambda: measured(query)).nodes["windowed"].max == NOW - (NOW // hour + 1) * hour


def test_a_query_is_found_by_itself_its_name_and_its_id(stream: DataFrame) -> None:
    query = with_e2e_latency(stream, "only").writeStream.queryName("found").format("noop").start()
    query.processAllAvailable()
    eventually(lambda: measured(query))

    def found() -> Latency | None:
        """Looks of one moment are equal. The query looks for data again and again, and one may see it."""
        by_itself, by_name, by_id, of_all = (
            latency(query),
            latency("found"),
            latency(str(query.id)),
            latency(),
        )
        same = by_itself == by_name == by_id and by_itself.queries[0] in of_all.queries
        return by_itself if same else None

    assert [(q.query, q.id, q.batches) for q in eventually(found).queries] == [("found", str(query.id), 1)]


def test_a_query_without_a_name_goes_by_its_id(stream: DataFrame) -> None:
    query = with_e2e_latency(stream, "only").writeStream.format("noop").start()
    query.processAllAvailable()
    eventually(lambda: measured(query))
    assert latency(str(query.id)).queries[0].query == str(query.id)


def test_a_query_whose_first_batch_has_not_ended_has_no_figures_yet(stream: DataFrame) -> None:
    told = Event()

    def hold(_batch: DataFrame, _number: int) -> None:
        told.wait(4 * PATIENCE_SECONDS)

    query = stream.writeStream.queryName("not marked").foreachBatch(hold).start()
    try:
        run = once_known(lambda: latency("not marked").query.run)
        assert run == latency(str(query.id)).query.run == latency(query).query.run
        said = str(latency(query)).splitlines()
        assert said[0].startswith("not marked · 0 batches")
        assert "No batch of the query with a marked node has ended yet." in said
        assert not any("records" in line for line in said)
    finally:
        told.set()
        query.stop()


def test_the_name_of_no_query_is_a_mistake(stream: DataFrame) -> None:
    query = with_e2e_latency(stream, "only").writeStream.queryName("known").format("noop").start()
    query.processAllAvailable()
    eventually(lambda: measured(query))
    with pytest.raises(NoFiguresError, match=r"no figures of a query 'knwon'.*'known'"):
        latency("knwon")


def test_the_object_of_an_earlier_run_shows_that_run(
    spark: SparkSession, stream: DataFrame, tmp_path: Path
) -> None:
    def start() -> StreamingQuery:
        writer = with_e2e_latency(stream, "only").writeStream.queryName("again").format("noop")
        query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        query.processAllAvailable()
        return query

    first = start()
    assert eventually(lambda: measured(first)).queries[0].run == str(first.runId)
    first.stop()
    assert measured(first)  # also of a query that has stopped
    aged(spark, 60).write.mode("append").parquet(str(tmp_path / "in"))
    second = start()
    eventually(lambda: measured(second))
    [earlier] = latency(first).queries
    assert (earlier.run, earlier.batches) == (str(first.runId), 1)
    assert latency("again").queries[0].run == str(second.runId)
    [listed] = [run for run in latency().earlier_runs if run.query == "again"]
    assert (listed.run, listed.id, listed.batches) == (str(first.runId), str(first.id), 1)
    assert [query.run for query in latency().queries if query.query == "again"] == [str(second.runId)]
