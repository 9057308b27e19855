"""Delta tables, read and written by streaming queries: what counts as a record, and once."""

import json
from pathlib import Path
from typing import Any

import pytest
from broker import resolved
from cluster import LINES, Spark, settings

LINE = "4.2"
"""Delta is there for this line and for older ones."""

pytestmark = pytest.mark.skipif(LINE not in LINES, reason=f"runs on Spark {LINE}")

Said = dict[str, Any]

CONF = {
    "spark.ui.enabled": "false",
    "spark.plugins": "io.sparklatency.LatencyPlugin",
    "spark.sparklatency.auto": "source,terminal",
    "spark.sparklatency.sample.window": "1h",  # longer than all of these tests
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
}

WRITTEN = 200
DELETED = 10
REWRITTEN = 100
"""The records of the file with a deletion vector, which a stream that ignores changes reads once more."""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Said]:
    """What the application says of each of its queries."""
    folder = tmp_path_factory.mktemp("delta")
    spark = Spark(LINE)
    jars = ",".join([str(spark.jar), *resolved("delta")])
    submit = ["--master", "local[2]", "--jars", jars, "--driver-memory", "1g", *settings(CONF)]
    script = Path(__file__).parent / "delta.py"
    with spark.start("delta", folder, "spark-submit", *submit, script, str(folder)) as driver:
        driver.finish(within=240)
        lines = [json.loads(line) for line in driver.lines() if line.startswith("{")]
    return {line["query"]: line for line in lines}


def test_each_record_of_a_table_with_deletion_vectors_counts(said: dict[str, Said]) -> None:
    copied = said["copied"]
    records = WRITTEN + REWRITTEN - DELETED
    assert copied["rows"] == records
    assert copied["nodes"] == {"source-0-delta": records, "sink": records}


def test_a_merge_that_reads_its_batch_twice_counts_it_once(said: dict[str, Said]) -> None:
    merging = said["merging"]
    records = WRITTEN + REWRITTEN - DELETED
    assert merging["nodes"] == {"source-0-delta": records, "sink": records, "merged": records}
    assert merging["rows"] >= WRITTEN


def test_a_change_feed_has_a_source_by_the_time_of_the_commit(said: dict[str, Said]) -> None:
    records = WRITTEN + DELETED
    assert said["changes"]["nodes"] == {"source-0-delta": records, "sink": records}
    assert said["changes"]["left_out"] == []


def test_a_limit_of_deltas_own_is_named(said: dict[str, Said]) -> None:
    assert "maxBytesPerTrigger" in said["limited"]["headline"], said["limited"]


def test_what_delta_does_by_itself_is_no_query(said: dict[str, Said]) -> None:
    assert said["limited"]["queries"] == list(said)
