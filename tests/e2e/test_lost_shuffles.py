"""Rows behind an ingestion timestamp outlive the loss of what a shuffle has written, or the job says so.

A second attempt stamps its records anew, so rows that are dealt out by their bytes go elsewhere. Without
a word of ours Spark would run the lost tasks alone: rows would be lost, and others read twice. The settings
switch off what Spark 4.2 does about it by itself.
"""

import json
from pathlib import Path

import pytest
from children import Child
from cluster import LINES, OLDER_LINES, Spark, settings

from sampling import by_turns

SCRIPT = Path(__file__).parent / "lost_shuffles.py"
ROWS = 4000
CASES = ["given_out", "by_key", "in_turn", "in_turn_again"]
CONF = {
    "spark.ui.enabled": "false",
    "spark.plugins": "io.sparklatency.LatencyPlugin",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.adaptive.streaming.stateless.enabled": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "false",
}
ALL = {"rows": ROWS, "distinct": ROWS}


@pytest.fixture(scope="module", params=by_turns([*OLDER_LINES, *LINES]))
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, object]]:
    spark, folder = Spark(request.param), tmp_path_factory.mktemp("lost-shuffles")
    conf = {**CONF, "spark.local.dir": str(folder / "local")}
    submit = ["--master", "local[1]", "--driver-memory", "1g", "--jars", str(spark.jar), *settings(conf)]
    with spark.start("driver", folder, "spark-submit", *submit, SCRIPT, folder, *CASES) as driver:
        lines = finished(driver)
    return {case.pop("case"): case for case in map(json.loads, lines)}


def finished(driver: Child) -> list[str]:
    return [line for line in driver.finish(within=120) if line.startswith("{")]


def test_a_job_that_has_given_out_rows_fails(told: dict[str, dict[str, object]]) -> None:
    assert "indeterminate output" in str(told["given_out"]["failure"])


def test_a_stream_that_deals_out_rows_by_their_key_goes_on(told: dict[str, dict[str, object]]) -> None:
    assert told["by_key"] == ALL


def test_a_stream_that_deals_out_rows_in_turn_fails_and_has_all_when_it_runs_again(
    told: dict[str, dict[str, object]],
) -> None:
    assert "indeterminate output" in str(told["in_turn"]["failure"])
    assert told["in_turn_again"] == ALL
