"""What `sparklatency check` says of a live query that was planned without something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from pyspark.sql import functions as F  # noqa: N812

from sparklatency import latency, with_e2e_latency, with_ingestion_timestamp
from sparklatency.cli import main
from support import aged, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture
def levels(spark: SparkSession) -> Iterator[None]:
    """A query that records no more than INFO, where others record more."""
    settings = {"spark.sparklatency.recording.level": "TRACE"}
    settings["spark.sparklatency.recording.level.unread"] = "INFO"
    for key, value in settings.items():
        spark.conf.set(key, value)
    yield
    for key in settings:
        spark.conf.unset(key)


@pytest.mark.usefixtures("levels", "running")
def test_check_tells_of_a_stamp_that_nothing_reads_and_of_a_node_below_its_level(
    spark: SparkSession, url: str, tmp_path: Path
) -> None:
    aged(spark, 10, 20, 30).coalesce(1).write.parquet(str(tmp_path / "in"))
    events = spark.readStream.schema("ts TIMESTAMP").parquet(str(tmp_path / "in"))
    stamped = with_ingestion_timestamp(events, "read at")
    detail = with_e2e_latency(stamped.filter(F.col("ts").isNotNull()), "detail", "ts", level="TRACE")
    sink = with_e2e_latency(detail.select("ts"), "sink", "ts")
    query = sink.writeStream.queryName("unread").format("noop").start()
    query.processAllAvailable()
    eventually(lambda: latency(query).history().batches or None)
    checked = CliRunner().invoke(main, ["check", "--url", url])
    printed = " ".join(checked.stdout.split())
    kept = "spark.sparklatency.forceTimestampSupport=true keeps it"
    assert (
        "ok left-out unread: The ingestion timestamp 'read at' is left out of the plan: no step, node or "
        f"sink reads it; {kept}."
    ) in printed
    assert (
        "ok left-out unread: Node 'detail' is left out: the query does not record its level, TRACE; 'ts' "
        f"stays only as far as others read it; {kept}."
    ) in printed
    assert "ok timestamp unread: sink goes by ts" in printed
