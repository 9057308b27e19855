"""The exported alerts, judged by Prometheus itself on series with known values and a clock of its own."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from scraping import required
from support import exported

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = pytest.mark.one_line

EVERY = "15s"
"""How often there is a value, and the rules are judged."""

OF = '{app="shop",query="orders"}'
LABELS = {"app": "shop", "query": "orders", "severity": "warning"}
MORE_LABELS = {"SparkQueryFailed": {"instance": "driver:4040"}}
FAILED = 'sparklatency_query_failed{app="shop",query="orders",instance="driver:4040"}'
TASKS_FAILED = f"sparklatency_tasks_failed_total{OF}"
HOLDS_BACK = 'sparklatency_source_watermark_holds_back{app="shop",query="orders",source="kafka[orders]"}'
LAG, OLDEST, RUNNING, PROGRESS, DURATION, INTERVAL = (
    f"sparklatency_{name}_seconds{OF}"
    for name in (
        "watermark_lag",
        "oldest_uncommitted",
        "batch_in_progress",
        "progress_age",
        "batch_duration",
        "commit_interval",
    )
)


def raised(
    folder: Path, series: Mapping[str, str], at: str, expected: Mapping[str, list[str]], *options: str
) -> str:
    """What promtool has to say against the summaries that each alert of the query is to have at that time."""
    alerts = exported("prometheus-rules", *options)
    (folder / "alerts.yml").write_text(alerts)
    rules = [rule["alert"] for rule in yaml.safe_load(alerts)["groups"][0]["rules"]]
    judged: list[dict[str, Any]] = [
        {
            "alertname": rule,
            "eval_time": at,
            "exp_alerts": [
                {"exp_labels": LABELS | MORE_LABELS.get(rule, {}), "exp_annotations": {"summary": summary}}
                for summary in expected.get(rule, [])
            ],
        }
        for rule in rules
    ]
    of_series = [{"series": name, "values": values} for name, values in series.items()]
    test = {"interval": EVERY, "input_series": of_series, "alert_rule_test": judged}
    document = {"rule_files": ["alerts.yml"], "evaluation_interval": EVERY, "tests": [test]}
    (folder / "test.yml").write_text(yaml.safe_dump(document))
    command = [required("promtool"), "test", "rules", str(folder / "test.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize(
    ("alert", "counter", "what"),
    [
        (
            "SparkRecordsDroppedLate",
            "records_dropped_late",
            "records that the operator dropped because they were behind its watermark of event time",
        ),
        (
            "SparkRecordsDroppedLateBySystemTime",
            "records_dropped_late_by_system_time",
            "records that the operator dropped because they were behind its system-time watermark",
        ),
        (
            "SparkRecordsWithoutTimestamp",
            "records_without_timestamp",
            "records not measured: no timestamp, or one before 1970",
        ),
        (
            "SparkClocksDiffer",
            "records_ahead_of_clock",
            "records with a timestamp in the future: their latency is negative",
        ),
    ],
)
def test_what_several_nodes_count_alerts_once_and_names_the_node_with_most(
    tmp_path: Path, alert: str, counter: str, what: str
) -> None:
    steps = {"read": 1, 'the "sink" %d': 2, "checked": 0}
    series = {
        f'sparklatency_{counter}_total{{app="shop",query="orders",node={_quoted(node)}}}': f"0+{step}x60"
        for node, step in steps.items()
    }
    other = f'sparklatency_{counter}_total{{app="bank",query="orders",node="read"}}'
    summary = f'40 in the last five minutes at node the "sink" %d of query orders (shop): {what}'
    assert raised(tmp_path, {**series, other: "7x60"}, "10m", {alert: [summary]}) == ""


@pytest.mark.parametrize(
    ("alert", "measure", "summary"),
    [
        (
            "SparkRecordLatencyHigh",
            "record_e2e_latency",
            "1 % of the records of query orders (shop) are at least 29.8s old at node sink",
        ),
        (
            "SparkCommitLatencyHigh",
            "record_commit_latency",
            "1 % of the records of query orders (shop) that left it at node sink are at least 29.8s old "
            "at the commit",
        ),
    ],
)
def test_a_missed_objective_alerts_once_and_names_the_worst_node(
    tmp_path: Path, alert: str, measure: str, summary: str
) -> None:
    """Records are up to 5 seconds old at one node, at the next half of them up to 30, and at the last all."""
    series = {}
    for node, upto in {"read": (10, 10, 10), "scored": (0, 5, 10), "sink": (0, 0, 10)}.items():
        for bound, step in zip(("5.0", "10.0", "30.0"), upto, strict=True):
            of = f'{{app="shop",query="orders",node="{node}",le="{bound}"}}'
            series[f"sparklatency_{measure}_seconds_bucket{of}"] = f"0+{step}x100"
        of = f'{{app="shop",query="orders",node="{node}",le="+Inf"}}'
        series[f"sparklatency_{measure}_seconds_bucket{of}"] = f"0+{upto[-1]}x100"
    assert raised(tmp_path, series, "15m", {alert: [summary]}) == ""


def test_an_objective_that_is_missed_once_an_hour_alerts_too(tmp_path: Path) -> None:
    """As of a window of an hour, or under a trigger of it: all else is silence."""
    summary = "1 % of the records of query orders (shop) are at least 29.8s old at node sink"
    of = 'sparklatency_record_e2e_latency_seconds_bucket{app="shop",query="orders",node="sink",le="%s"}'
    once = {"10.0": "0x100", "30.0": "0x40 10x60", "+Inf": "0x40 10x60"}
    series = {of % bound: values for bound, values in once.items()}
    assert raised(tmp_path, series, "14m", {"SparkRecordLatencyHigh": [summary]}) == ""


@pytest.mark.parametrize("at", ["9m", "10m15s", "20m"])
def test_an_objective_that_each_long_batch_misses_alerts_all_the_time(tmp_path: Path, at: str) -> None:
    """What comes every five minutes and a quarter, as in real-time mode, has no percentile just before."""
    summary = "1 % of the records of query orders (shop) are at least 29.8s old at node sink"
    of = 'sparklatency_record_e2e_latency_seconds_bucket{app="shop",query="orders",node="sink",le="%s"}'
    batches = " ".join(f"{10 * batch}x20" for batch in range(5))
    series = {of % "10.0": "0x104", of % "30.0": batches, of % "+Inf": batches}
    assert raised(tmp_path, series, at, {"SparkRecordLatencyHigh": [summary]}) == ""


def test_no_percentile_is_above_the_greatest_age(tmp_path: Path) -> None:
    """All records are 21 s old. Where the bounds are 10 and 30 s Prometheus alone says 29.8 s."""
    of = '{app="shop",query="orders",node="sink"%s}'
    bucket = f"sparklatency_record_e2e_latency_seconds_bucket{of}"
    series = {
        bucket % ',le="10.0"': "0x100",
        bucket % ',le="30.0"': "0+10x100",
        bucket % ',le="+Inf"': "0+10x100",
        "sparklatency_record_e2e_latency_max_seconds" + of % "": "21x100",
    }
    summary = "1 % of the records of query orders (shop) are at least 21s old at node sink"
    assert raised(tmp_path, series, "10m", {"SparkRecordLatencyHigh": [summary]}) == ""


@pytest.mark.parametrize(
    ("running", "progress", "duration", "is_stalled"),
    [
        pytest.param(31, 31, None, True, id="the first batch hangs"),
        pytest.param(31, 30, None, False, id="the first batch gets on"),
        pytest.param(30, 30, None, False, id="the first batch has just begun"),
        pytest.param(36, 31, 7, True, id="hangs"),
        pytest.param(35, 31, 7, False, id="is not much longer than usual"),
        pytest.param(36, 30, 7, False, id="gets on"),
    ],
)
def test_a_batch_is_stalled_that_takes_long_and_whose_tasks_stand_still(
    tmp_path: Path, running: int, progress: int, duration: int | None, is_stalled: bool
) -> None:
    series = {RUNNING: f"{running}x100", PROGRESS: f"{progress}x100", INTERVAL: "3600x100"}
    if duration:
        series[DURATION] = f"{duration}x100"
    summary = f"the batch in progress of query orders (shop) has run for {running}s"
    expected = {"SparkBatchStalled": [summary]} if is_stalled else {}
    assert raised(tmp_path, series, "10m", expected) == ""


@pytest.mark.parametrize(
    ("at", "alerts"),
    [
        ("1m", {"SparkBatchStalled": ["the batch in progress of query orders (shop) has run for 36s"]}),
        (
            "3m",
            {
                "SparkQueryFailed": [
                    "an error ended query orders (shop): "
                    "`sparklatency check --url http://driver:4040` tells the error"
                ]
            },
        ),
        ("5m", {}),
    ],
)
def test_a_query_that_failed_alerts_until_it_runs_again(
    tmp_path: Path, at: str, alerts: Mapping[str, list[str]]
) -> None:
    """After two minutes an error ends a batch that hangs, and two minutes later the next run begins."""
    other = 'sparklatency_query_failed{app="bank",query="orders"}'
    series = {FAILED: "0x7 1x7 0x20", other: "0x40", RUNNING: "36x7 stale", PROGRESS: "36x7 stale"}
    assert raised(tmp_path, series, at, alerts) == ""


def test_nothing_is_raised_in_a_quiet_night(tmp_path: Path) -> None:
    """No record comes, the watermark goes by the clock, and after ten minutes the driver starts anew."""
    counted = "7x40 0x60"
    of_node = '{app="shop",query="orders",node="sink"}'
    of_bucket = '{app="shop",query="orders",node="sink",le="%s"}'
    names = ("dropped_late", "dropped_late_by_system_time", "without_timestamp", "ahead_of_clock")
    series = {
        FAILED: "0x100",
        RUNNING: "0x100",
        PROGRESS: "0x100",
        HOLDS_BACK: "1x100",
        LAG: "20x100",
        TASKS_FAILED: counted,
        'sparklatency_rows_dropped_late_total{app="shop",query="without nodes"}': counted,
        **{f"sparklatency_records_{name}_total{of_node}": counted for name in names},
    }
    for measure in ("record_e2e_latency", "record_commit_latency"):
        bucket = f"sparklatency_{measure}_seconds_bucket{of_bucket}"
        series |= {bucket % "10.0": "0x100", bucket % "60.0": counted, bucket % "+Inf": counted}
    for at in ("9m", "11m", "24m"):
        assert raised(tmp_path, series, at, {}) == "", at


@pytest.mark.parametrize("has_records", [True, False])
def test_records_wait_for_their_commit_if_there_are_any(tmp_path: Path, has_records: bool) -> None:
    """Without, a trigger looks for some for 11 seconds, again and again."""
    series = {RUNNING: "0 11 0 11 0 11 0 11 0 11", **({OLDEST: "0x10"} if has_records else {})}
    summary = "the records of a batch of query orders (shop) waited for its commit for 11s"
    expected = {"SparkRecordsWait": [summary]} if has_records else {}
    assert raised(tmp_path, series, "2m", expected) == ""


BEHIND = "the watermark of query orders (shop) is {} behind the clock"


@pytest.mark.parametrize(
    ("series", "lag"),
    [
        pytest.param({LAG: "301x100", INTERVAL: "10x100", RUNNING: "1 _x100"}, "5m 1s", id="micro-batches"),
        pytest.param({LAG: "300x100", INTERVAL: "10x100", RUNNING: "1 _x100"}, None, id="in time"),
        pytest.param({LAG: "301x100"}, "5m 1s", id="no commit yet"),
        pytest.param({LAG: "321x100", INTERVAL: "10x100"}, "5m 21s", id="silent for long"),
        pytest.param({LAG: "900x100", INTERVAL: "300x100"}, None, id="real-time mode"),
        pytest.param({LAG: "901x100", INTERVAL: "300x100"}, "15m 1s", id="real-time mode, behind"),
    ],
)
def test_a_watermark_is_behind_by_more_than_two_batches_of_real_time_mode(
    tmp_path: Path, series: Mapping[str, str], lag: str | None
) -> None:
    expected = {"SparkWatermarkBehind": [BEHIND.format(lag)]} if lag else {}
    assert raised(tmp_path, {HOLDS_BACK: "1x100", **series}, "20m", expected) == ""


def test_a_scrape_that_fails_does_not_put_off_the_alert_on_a_watermark(tmp_path: Path) -> None:
    series = {
        one: f"{value}x10 stale {value}x60" for one, value in ((LAG, 400), (INTERVAL, 10), (HOLDS_BACK, 1))
    }
    assert raised(tmp_path, series, "6m", {"SparkWatermarkBehind": [BEHIND.format("6m 40s")]}) == ""


@pytest.mark.parametrize(
    ("lacking", "markers", "is_raised"), [(10, True, False), (10, False, True), (9, True, True)]
)
def test_a_query_with_latency_markers_needs_no_timestamps(
    tmp_path: Path, lacking: int, markers: bool, is_raised: bool
) -> None:
    """But where most records have none, some have one."""
    of_node = '{app="shop",query="orders",node="sink"}'
    series = {
        f"sparklatency_records_total{of_node}": "0+10x60",
        f"sparklatency_records_without_timestamp_total{of_node}": f"0+{lacking}x60",
    }
    if markers:
        labels = '{app="shop",query="orders",source_id="source",operator_id="sink"}'
        series[f"sparklatency_marker_latency_seconds_count{labels}"] = "0+1x60"
    text = (
        f"{20 * lacking} in the last five minutes at node sink of query orders (shop): "
        "records not measured: no timestamp, or one before 1970"
    )
    assert (
        raised(tmp_path, series, "10m", {"SparkRecordsWithoutTimestamp": [text]} if is_raised else {}) == ""
    )


DROPPED = 'sparklatency_{}_total{{app="shop",query="orders"{}}}'


@pytest.mark.parametrize("counted_at_a_node", [False, True])
def test_rows_that_spark_drops_late_are_told_once(tmp_path: Path, *, counted_at_a_node: bool) -> None:
    series = {DROPPED.format("rows_dropped_late", ""): "0+4x100"}
    summary = "operators of query orders (shop) dropped 80 rows as late in the last five minutes"
    expected = {"SparkRowsDroppedLate": [summary]}
    if counted_at_a_node:
        series[DROPPED.format("records_dropped_late", ',node="totals"')] = "7x100"
        expected = {}
    assert raised(tmp_path, series, "20m", expected) == ""


TASKS_FAIL = (
    "attempts of tasks of query orders (shop) have failed in the last five minutes: "
    "Spark runs such a task again, and its records wait"
)


@pytest.mark.parametrize("failed", [0, 1])
def test_tasks_that_fail_raise_an_alert(tmp_path: Path, failed: int) -> None:
    series = {TASKS_FAILED: f"0x9 {failed}x90"}
    assert raised(tmp_path, series, "4m", {"SparkTasksFail": [TASKS_FAIL]} if failed else {}) == ""
    assert raised(tmp_path, series, "20m", {}) == "", "it is over"


@pytest.mark.parametrize("may_fail", [3, 20])
@pytest.mark.parametrize("more", [0, 1])
def test_where_nodes_come_and_go_some_tasks_may_fail(tmp_path: Path, may_fail: int, more: int) -> None:
    """A scrape is missing where the window begins."""
    series = {TASKS_FAILED: f"10x15 _ 10x2 {10 + may_fail + more}x90"}
    expected = {"SparkTasksFail": [TASKS_FAIL]} if more else {}
    assert raised(tmp_path, series, "9m", expected, "--tasks-failed", str(may_fail)) == ""


def test_tasks_that_failed_in_the_run_before_raise_no_alert(tmp_path: Path) -> None:
    assert raised(tmp_path, {TASKS_FAILED: "7x30 0x90"}, "9m", {}) == ""


def test_a_watermark_that_no_result_waits_for_may_be_behind(tmp_path: Path) -> None:
    series = {LAG: "901x100", HOLDS_BACK: "0x100"}
    assert raised(tmp_path, series, "20m", {}) == ""


def _quoted(label: str) -> str:
    return '"' + label.replace('"', '\\"') + '"'
