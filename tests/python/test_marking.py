"""What a mark measures, to the millisecond, with a clock that stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812

from sparklatency import latency, with_e2e_latency, with_ingestion_timestamp
from support import NOW, aged, figures, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, SparkSession

pytestmark = pytest.mark.usefixtures("clock")


def test_every_record_counts(spark: SparkSession) -> None:
    run(with_e2e_latency(aged(spark, *range(100)), "every", "ts"))
    every = figures("every", records=100)
    assert (every.min, every.avg, every.max) == (0, 49.5, 99)
    assert (every.p50, every.p90, every.p95, every.p99, every.p999) == (49, 89, 94, 98, 99)
    assert (every.without_timestamp, every.ahead_of_clock, every.max_lead) == (0, 0, None)


def test_an_ingestion_timestamp_is_when_a_record_is_read(spark: SparkSession, clock: Any) -> None:
    stamped = with_ingestion_timestamp(spark.range(3), "read_at")
    assert stamped.dtypes == [("id", "bigint"), ("read_at", "timestamp")]
    assert {row.us for row in stamped.select(F.unix_micros("read_at").alias("us")).collect()} == {NOW * 1_000}
    clock.advance(7)
    assert stamped.filter(F.unix_millis("read_at") == NOW + 7).count() == 3
    run(with_e2e_latency(stamped, "stamped", "read_at"))
    right_above = figures("stamped", records=3)
    assert (right_above.min, right_above.max) == (0, 0)


def test_a_percentile_of_great_latencies_is_at_most_one_percent_too_high(spark: SparkSession) -> None:
    run(with_e2e_latency(aged(spark, *range(0, 1_000_000, 1_000)), "great", "ts"))
    great = figures("great", records=1_000)
    assert (great.min, great.avg, great.max) == (0, 499_500, 999_000)
    for reported, exact in ((great.p50, 499_000), (great.p90, 899_000), (great.p99, 989_000)):
        assert reported is not None
        assert exact <= reported <= exact * 1.01


def test_records_without_a_timestamp_or_from_before_1970_are_counted_and_not_measured(
    spark: SparkSession,
) -> None:
    run(with_e2e_latency(aged(spark, None, 10, NOW + 1, None, 30), "gaps", "ts"))
    gaps = figures("gaps", records=5)
    assert (gaps.without_timestamp, gaps.min, gaps.avg, gaps.max) == (3, 10, 20, 30)


def test_latencies_are_unknown_where_no_record_has_a_timestamp(spark: SparkSession) -> None:
    run(with_e2e_latency(aged(spark, None, None), "blind", "ts"))
    blind = figures("blind", records=2)
    assert blind.without_timestamp == 2
    assert {blind.min, blind.avg, blind.p50, blind.p99, blind.max, blind.max_lead} == {None}


def test_latencies_become_unknown_again_when_the_window_has_passed(spark: SparkSession, clock: Any) -> None:
    run(with_e2e_latency(aged(spark, 1, 2, 3), "silent", "ts"))
    assert figures("silent", records=3).max == 3
    clock.advance(60_000)
    silent = figures("silent", records=3)
    assert (silent.records, silent.min, silent.avg, silent.p50, silent.max) == (3, None, None, None, None)


def test_a_timestamp_in_the_future_gives_a_negative_latency(spark: SparkSession) -> None:
    run(with_e2e_latency(aged(spark, -500, -20, 10), "early", "ts"))
    early = figures("early", records=3)
    assert (early.ahead_of_clock, early.max_lead) == (2, 500)
    assert (early.min, early.avg, early.p50, early.max) == (-500, -170, 0, 10)


def test_if_all_records_of_the_window_are_from_the_future_each_percentile_is_their_maximum(
    spark: SparkSession,
) -> None:
    run(with_e2e_latency(aged(spark, -500, -20, -30), "all early", "ts"))
    early = figures("all early", records=3)
    assert (early.min, early.max, early.ahead_of_clock) == (-500, -20, 3)
    assert {early.p50, early.p90, early.p95, early.p99, early.p999} == {-20}
    run(with_e2e_latency(aged(spark, 0), "all early", "ts"))
    early = figures("all early", records=4)
    assert {early.p50, early.p90, early.p95, early.p99, early.p999, early.max} == {0}


@pytest.mark.parametrize(
    ("node", "timestamp", "age"),
    [
        ("by name", lambda: "ts", 7),
        ("by column", lambda: F.col("ts"), 7),
        ("by expression", lambda: F.col("ts") - F.expr("INTERVAL 1 SECOND"), 1_007),
        ("by nested name", lambda: "inner.ts", 7),
        ("without time zone", lambda: "ntz", 7),
        ("by window, whose end it is", lambda: "window", 7 - 50),
    ],
)
def test_the_timestamp_can_be(
    spark: SparkSession, node: str, timestamp: Callable[[], str | Column], age: int
) -> None:
    df = aged(spark, 7).select(
        "ts",
        F.struct("ts").alias("inner"),
        F.col("ts").cast("timestamp_ntz").alias("ntz"),
        F.window("ts", "50 milliseconds", startTime="43 milliseconds").alias("window"),
    )
    run(with_e2e_latency(df, node, timestamp()))
    assert figures(node, records=1).max == age


def test_rows_and_schema_stay_as_they_are(spark: SparkSession) -> None:
    df = aged(spark, 1, None, 3).withColumn("n", F.lit(5))
    marked = with_e2e_latency(df, "through", F.col("ts"))
    assert marked.schema == df.schema
    assert marked.collect() == df.collect()


def test_nodes_stand_in_the_order_of_the_plan(spark: SparkSession) -> None:
    source = with_e2e_latency(aged(spark, 1, 2, 3, 4), "order: source", "ts")
    sink = with_e2e_latency(
        source.where(F.col("ts") > F.timestamp_millis(F.lit(NOW - 3))), "order: sink", "ts"
    )
    run(sink)
    assert figures("order: source", records=4).max == 4
    assert figures("order: sink", records=2).max == 2
    nodes = [node.node for node in latency("__batch__").nodes]
    assert nodes.index("order: source") < nodes.index("order: sink")


@pytest.mark.parametrize(("recording", "level"), [("NONE", "INFO"), ("INFO", "DEBUG"), ("DEBUG", "TRACE")])
def test_a_node_beyond_the_recording_level_leaves_no_trace(
    spark: SparkSession, recording: str, level: str
) -> None:
    df: Any = aged(spark, 1)
    spark.conf.set("spark.sparklatency.recording.level", recording)
    try:
        marked: Any = with_e2e_latency(df, f"{level} under {recording}", "ts", level=level)
    finally:
        spark.conf.unset("spark.sparklatency.recording.level")
    assert marked._jdf.queryExecution().toString() == df._jdf.queryExecution().toString()
