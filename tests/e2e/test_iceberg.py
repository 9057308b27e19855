"""One application with tables of Apache Iceberg, on the newest Spark line that Iceberg has a jar for."""

import json
from pathlib import Path
from typing import Any

import pytest
from broker import resolved
from cluster import OLDER_LINES, Spark, settings
from iceberg import FILES, ROWS

LINE = "4.1"
SCRIPT = Path(__file__).parent / "iceberg.py"
ALL = FILES * ROWS


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    if LINE not in OLDER_LINES:
        pytest.skip(f"Spark {LINE} is not asked for")
    folder, spark = tmp_path_factory.mktemp("iceberg"), Spark(LINE)
    conf = {
        "spark.plugins": "io.sparklatency.LatencyPlugin",
        "spark.sparklatency.auto": "source,terminal",
        "spark.sparklatency.auto.acrossShuffles": "true",
        "spark.sql.catalog.local": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.local.type": "hadoop",
        "spark.sql.catalog.local.warehouse": str(folder / "tables"),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    jars = ",".join([str(spark.jar), *resolved("iceberg")])
    submit = ["--master", "local[2]", "--driver-memory", "1g", "--jars", jars, *settings(conf)]
    with spark.start("iceberg", folder, "spark-submit", *submit, SCRIPT, str(folder)) as driver:
        [said] = driver.finish(within=120)
    answer: dict[str, dict[str, Any]] = json.loads(said)
    return answer


def test_each_record_counts_once_and_is_written_once(told: dict[str, dict[str, Any]]) -> None:
    source = "source-0-iceberg[local.db.events]"
    assert told["hours"]["nodes"] == {source: ALL, "sink": ALL}
    assert told["hours"]["rows"] == sorted([str(number), "new"] for number in range(ALL))
    assert told["merged"]["nodes"] == {source: ALL, "sink": ALL, "updates": ALL}
    assert told["merged"]["rows"] == sorted([str(number), "seen"] for number in range(15))


def test_a_dropped_timestamp_comes_through_the_shuffle_of_a_table_with_partitions(
    told: dict[str, dict[str, Any]],
) -> None:
    assert told["ids"]["nodes"]["sink"] == ALL
    assert told["ids"]["rows"] == sorted([str(number)] for number in range(ALL))


def test_the_limit_that_leaves_files_behind_is_named(told: dict[str, dict[str, Any]]) -> None:
    assert told["hours"]["batches"] == FILES
    assert "streaming-max-files-per-micro-batch" in told["hours"]["headline"]
