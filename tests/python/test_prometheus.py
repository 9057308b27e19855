"""Dashboard and alerts, in a real Prometheus that scrapes a query while it runs."""

from __future__ import annotations

import json
import math
import re
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812

from scraping import Prometheus, judged_often, scraping
from sparklatency import with_e2e_latency, with_system_time_watermark
from support import eventually, exported

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = pytest.mark.one_line

QUERY = "everything wrong"
BY_CLOCK = "late by the clock"
UNMARKED = "late and without nodes"
FAILING = "tasks that fail"
FAILED = "ended by an error"
OTHERS = {
    "SparkRecordsDroppedLateBySystemTime": BY_CLOCK,
    "SparkRowsDroppedLate": UNMARKED,
    "SparkTasksFail": FAILING,
    "SparkQueryFailed": FAILED,
}
"""Alerts of the other queries."""
NODES = {"source", "sink"}
SETTINGS = {
    "spark.sparklatency.auto": "stateful",
    "spark.sparklatency.markers.interval": "1s",
    "spark.sparklatency.recording.level": "TRACE",
}
RATE_INTERVAL = "30s"


@pytest.fixture(scope="module")
def prometheus(
    spark: SparkSession, url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """Of records one in five comes too late; of timestamps a third is missing, and a third in the future.

    A second query goes by the clock, so that one in five is late for that. A third has no nodes. The function
    of a fourth goes on where a job of it has failed, and that of a fifth does not.
    """
    folder = tmp_path_factory.mktemp("prometheus")
    limits = ("--p99", "1ms", "--watermark-lag", "1ms")
    minute = F.expr("INTERVAL 1 MINUTE")
    rows = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
    late = F.when(F.col("value") % 5 == 0, F.col("timestamp") - minute).otherwise(F.col("timestamp"))
    odd = F.when(F.col("value") % 3 == 0, F.col("timestamp") + minute).when(
        F.col("value") % 3 == 1, F.col("timestamp")
    )
    events = rows.select(late.alias("at"), odd.alias("odd")).withWatermark("at", "1 second")

    def started(name: str, counted: DataFrame) -> StreamingQuery:
        writer = counted.writeStream.queryName(name).trigger(processingTime="2 seconds")
        return writer.outputMode("update").format("noop").start()

    def fails(batch: DataFrame, _: int) -> None:
        with suppress(PySparkException):
            batch.select(F.raise_error(F.lit("the disk is full"))).collect()

    def ends(_: DataFrame, __: int) -> None:
        raise ValueError("the disk is full")

    failing = rows.writeStream.queryName(FAILING).trigger(processingTime="2 seconds").foreachBatch(fails)
    failed = rows.writeStream.queryName(FAILED).foreachBatch(ends)
    queries = [
        failed.start(),
        failing.start(),
        started(UNMARKED, events.groupBy(F.window("at", "1 second")).count()),
    ]
    for setting, value in SETTINGS.items():
        spark.conf.set(setting, value)
    source = with_e2e_latency(events, "source", timestamp="odd")
    counts = source.groupBy(F.window("at", "1 second")).agg(F.max("at").alias("newest"))
    sink = with_e2e_latency(counts, "sink", timestamp="newest")
    clocked = with_system_time_watermark(rows.select(late.alias("at")), "at", "1 second")
    by_clock = clocked.groupBy(F.window("at", "1 second")).count()
    queries += [started(name, counted) for name, counted in {QUERY: sink, BY_CLOCK: by_clock}.items()]
    try:
        with scraping(url, folder, judged_often(exported("prometheus-rules", *limits))) as prometheus:
            yield prometheus
    finally:
        for query in queries:
            query.stop()
        for setting in SETTINGS:
            spark.conf.unset(setting)


BOARD = json.loads(exported("grafana"))


@pytest.mark.parametrize("panel", BOARD["panels"], ids=lambda panel: panel["title"])
def test_every_panel_shows_something(prometheus: Prometheus, panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        expression = re.sub(r"\$(app|query|node)\b", ".*", target["expr"])
        expression = expression.replace("$__rate_interval", RATE_INTERVAL)
        assert "$" not in expression

        def shown(expression: str = expression) -> list[Mapping[str, str]] | None:
            found = prometheus.series(expression) or []
            is_there = any(value > 0 for _, value in found if not math.isnan(value))
            return [labels for labels, _ in found] if is_there else None

        of = eventually(shown)
        assert panel["type"] == "heatmap" or all("app" in labels for labels in of)


def test_our_labels_stay_where_the_target_has_the_same(spark: SparkSession, prometheus: Prometheus) -> None:
    """A part of the age that is no node's has no node, not that of the target."""

    def labels(of: str) -> list[dict[str, str]]:
        return [labels for labels, _ in eventually(lambda: prometheus.series(of))]

    counted = labels(f'sparklatency_records_total{{query="{QUERY}"}}')
    assert {one["node"] for one in counted} == NODES
    parts = labels(f'sparklatency_age_part_seconds{{query="{QUERY}",part="commit"}}')
    assert [one.get("node") for one in parts] == [None]
    assert {one["app"] for one in [*counted, *parts]} == {spark.sparkContext.appName}
    assert not [name for name in prometheus.get("labels") if name.startswith("exported_")]


def test_each_watermark_says_its_source_its_column_and_its_kind(prometheus: Prometheus) -> None:
    def held() -> set[tuple[str, ...]] | None:
        of = prometheus.series("sparklatency_source_watermark_holds_back == 1") or []
        names = ("query", "source", "column", "kind")
        found = {tuple(labels[name] for name in names) for labels, _ in of}
        ours = {labels for labels in found if labels[0] in (QUERY, BY_CLOCK)}
        return ours if len(ours) == len((QUERY, BY_CLOCK)) else None

    assert eventually(held) == {
        (QUERY, "rate", "at", "event-time"),
        (BY_CLOCK, "rate", "at", "system-time"),
    }


@pytest.mark.parametrize(
    ("label", "value"), [("app", None), ("query", {QUERY, UNMARKED, FAILED}), ("node", NODES)]
)
def test_every_variable_of_the_dashboard_has_its_values(
    spark: SparkSession, prometheus: Prometheus, label: str, value: set[str] | None
) -> None:
    expected = value or {str(spark.sparkContext.appName)}
    [variable] = [one for one in BOARD["templating"]["list"] if one["name"] == label]
    asked = re.fullmatch(rf"label_values\((.*), {label}\)", variable["query"])
    assert asked is not None
    others = re.sub(r"\$(app|query|node)\b", ".*", asked[1])

    def values() -> bool | None:
        found = prometheus.get(f"label/{label}/values", **{"match[]": others})
        return (found and expected <= set(found)) or None

    assert eventually(values)


def test_every_alert_is_taken_and_raised(prometheus: Prometheus) -> None:
    [group] = yaml.safe_load(exported("prometheus-rules"))["groups"]
    waiting = {
        rule["alert"]: int(rule.get("for", "0m").removesuffix("m"))
        for rule in group["rules"]
        if rule["alert"] != "SparkBatchStalled"
    }

    def raised() -> dict[str, dict[str, Any]] | None:
        alerts = (prometheus.get("alerts") or {"alerts": []})["alerts"]
        named = ((one["labels"]["alertname"], one) for one in alerts)
        found = {name: one for name, one in named if one["labels"]["query"] == OTHERS.get(name, QUERY)}
        return found if found.keys() == waiting.keys() else None

    for name, alert in eventually(raised).items():
        # One that waits has waited long enough where the tests before took as long.
        since = datetime.now(UTC) - datetime.fromisoformat(alert["activeAt"])
        assert alert["state"] == "firing" or waiting[name], name
        assert alert["state"] == "pending" or since >= timedelta(minutes=waiting[name]), name
        assert OTHERS.get(name, QUERY) in alert["annotations"]["summary"]
        assert not re.search(r"<|%!|\{\{", alert["annotations"]["summary"])
    [loaded] = prometheus.get("rules")["groups"]
    names = {rule["alert"] for rule in group["rules"]}
    assert {rule["name"]: rule["health"] for rule in loaded["rules"]} == dict.fromkeys(names, "ok")


def test_a_batch_that_hangs_raises_an_alert_within_a_minute(
    spark: SparkSession, prometheus: Prometheus
) -> None:
    """Half a minute is the limit, so that is how long it takes."""
    over = threading.Event()

    def hang(_: DataFrame, __: int) -> None:
        over.wait()

    rows = with_e2e_latency(spark.readStream.format("rate").load(), "source", "timestamp")
    query = rows.writeStream.queryName("hung").foreachBatch(hang).start()

    def raised() -> list[dict[str, Any]] | None:
        alerts = (prometheus.get("alerts") or {"alerts": []})["alerts"]
        sought = ("SparkBatchStalled", "hung")
        return [
            one for one in alerts if (one["labels"]["alertname"], one["labels"]["query"]) == sought
        ] or None

    try:
        [alert] = eventually(raised)
        assert alert["state"] == "firing"
        assert alert["annotations"]["summary"].startswith("the batch in progress of query hung (")
    finally:
        over.set()
        query.stop()
