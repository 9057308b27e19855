"""One batch, and what every surface says of it."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from pyspark.sql import functions as F  # noqa: N812

from scraping import required, scraping
from sparklatency import latency, with_e2e_latency
from sparklatency.cli import main
from support import aged, eventually, get

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

Figures = dict[str, tuple[float | None, ...]]
"""By node: records, least, mean and greatest latency, 99th percentile, greatest latency at the commit."""

EXPECTED: Figures = {"source": (3, 10, 20, 30, 30, None), "sink": (2, 20, 25, 30, 30, 30)}
STATISTICS = ("min", "avg", "max", "p99")


@pytest.fixture
def frozen(spark: SparkSession, clock: object, running: None, tmp_path: Path) -> StreamingQuery:  # noqa: ARG001
    """A query that has had its one batch. The clock stands still, and so does the window."""
    aged(spark, 10, 20, 30).coalesce(1).write.parquet(str(tmp_path / "in"))
    records = spark.readStream.schema("ts TIMESTAMP").parquet(str(tmp_path / "in"))
    oldest = with_e2e_latency(records, "source", "ts").filter(F.col("ts") < F.timestamp_millis(F.lit(NEWEST)))
    writer = with_e2e_latency(oldest, "sink", "ts").writeStream.queryName("frozen").format("noop")
    query = writer.start()
    query.processAllAvailable()
    eventually(lambda: latency(query).history().batches or None)
    return query


NEWEST = 1_700_000_000_000 - 10
"""Before the newest of the records."""


def test_python_has_the_figures_of_a_batch(frozen: StreamingQuery) -> None:
    assert {
        node.node: (
            node.records,
            *(getattr(node, name) for name in STATISTICS),
            node.commit and node.commit.max,
        )
        for node in latency(frozen).nodes
    } == EXPECTED


def of_json(nodes: list[dict[str, Any]]) -> Figures:
    return {
        node["node"]: (
            node["records"],
            *(node[name] for name in STATISTICS),
            node["commit"] and node["commit"]["max"],
        )
        for node in nodes
    }


def test_rest_has_the_figures_of_a_query_and_of_its_batch(
    spark: SparkSession, frozen: StreamingQuery, url: str
) -> None:
    root = f"{url}/api/v1/applications/{spark.sparkContext.applicationId}/latency/queries/{frozen.runId}"
    [query] = json.loads(get(root))["queries"]
    assert of_json(query["nodes"]) == EXPECTED
    [batch] = [one for one in json.loads(get(f"{root}/batches"))["batches"] if one["inputRows"]]
    assert of_json(batch["nodes"]) == EXPECTED


def test_the_terminal_has_the_figures_of_a_batch(frozen: StreamingQuery, url: str) -> None:
    done = CliRunner().invoke(main, ["operators", "--url", url, "--query", frozen.name, "--json"])
    assert done.exit_code == 0, done.output
    assert of_json(json.loads(done.output)) == EXPECTED


def test_sql_has_the_figures_of_a_batch(spark: SparkSession, frozen: StreamingQuery) -> None:
    columns = [f"record_e2e_latency_{name}" for name in STATISTICS]
    table = spark.sql("SELECT * FROM e2e_latency()").where(F.col("run_id") == str(frozen.runId))
    rows = table.select("node", "records", *columns, "record_commit_latency_max").collect()
    assert {row[0]: tuple(row)[1:] for row in rows} == EXPECTED


def ask_beans(spark: SparkSession, method: str, *arguments: object) -> Any:
    """Calls the driver's MBean server, by its interface: what implements it is not open to py4j."""
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    methods = jvm.java.lang.Class.forName("javax.management.MBeanServer").getMethods()
    [found] = [
        one for one in methods if one.getName() == method and one.getParameterCount() == len(arguments)
    ]
    packed = gateway.new_array(jvm.java.lang.Object, len(arguments))
    for place, argument in enumerate(arguments):
        packed[place] = argument
    return found.invoke(jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer(), packed)


def test_jmx_has_the_figures_of_a_batch(spark: SparkSession, frozen: StreamingQuery) -> None:
    jvm: Any = spark._jvm

    def value(node: str, metric: str) -> float | None:
        source = f"{spark.sparkContext.applicationId}.driver.sparklatency"
        name = f"metrics:name={source}.query.{frozen.name}.node.{node}.{metric},type=gauges"
        bean = jvm.javax.management.ObjectName(name)
        return (
            float(ask_beans(spark, "getAttribute", bean, "Value"))
            if ask_beans(spark, "isRegistered", bean)
            else None
        )

    metrics = [
        "records",
        *(f"record-e2e-latency-{name}" for name in STATISTICS),
        "record-commit-latency-max",
    ]
    assert {node: tuple(value(node, metric) for metric in metrics) for node in EXPECTED} == EXPECTED


def test_prometheus_text_has_the_figures_of_a_batch(frozen: StreamingQuery, url: str) -> None:
    text = get(f"{url}/api/v1/latency/prometheus")

    def value(metric: str, node: str) -> float | None:
        labels = rf'{{[^}}]*node="{node}"[^}}]*query="{frozen.name}"}}'
        found = re.search(rf"^sparklatency_{metric}{labels} (\S+)$", text, re.MULTILINE)
        return float(found[1]) if found else None

    for node, (records, least, mean, most, _, committed) in EXPECTED.items():
        assert value("records_total", node) == records
        assert value("record_e2e_latency_seconds_count", node) == records
        assert value("record_e2e_latency_seconds_sum", node) == pytest.approx(mean * records / 1000)  # type: ignore[operator]
        assert value("record_e2e_latency_min_seconds", node) == least / 1000  # type: ignore[operator]
        assert value("record_e2e_latency_max_seconds", node) == most / 1000  # type: ignore[operator]
        assert value("record_commit_latency_max_seconds", node) == (committed and committed / 1000)


@pytest.mark.one_line
def test_a_real_prometheus_takes_the_text(
    spark: SparkSession, frozen: StreamingQuery, url: str, tmp_path: Path
) -> None:
    which = f'{{query="{frozen.name}",app="{spark.sparkContext.appName}"}}'
    within_25_ms = which.replace("}", ',le="0.025"}')
    with scraping(url, tmp_path) as prometheus:

        def values(expression: str) -> dict[str, float]:
            found = eventually(lambda: prometheus.series(expression))
            return {labels["node"]: value for labels, value in found}

        assert values(f"sparklatency_records_total{which}") == {"source": 3, "sink": 2}
        within = values(f"sparklatency_record_e2e_latency_seconds_bucket{within_25_ms}")
        assert within == {"source": 2, "sink": 1}


@pytest.mark.one_line
def test_where_an_application_runs_can_stand_in_front_of_its_name(
    spark: SparkSession, frozen: StreamingQuery, url: str, tmp_path: Path
) -> None:
    """Our series have the labels of their target when Prometheus labels them anew."""
    before = {"source_labels": ["namespace", "app"], "separator": "/", "target_label": "app"}
    which = f'{{query="{frozen.name}",app="team-a/{spark.sparkContext.appName}"}}'
    with scraping(url, tmp_path, relabelled=[before]) as prometheus:
        found = eventually(lambda: prometheus.series(f"sparklatency_records_total{which}"))
        assert {labels["node"]: value for labels, value in found} == {"source": 3, "sink": 2}


@pytest.mark.one_line
def test_promtool_finds_nothing_wrong_with_the_text(frozen: StreamingQuery, url: str) -> None:
    text = get(f"{url}/api/v1/latency/prometheus")
    assert frozen.name in text
    done = subprocess.run(
        [required("promtool"), "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
