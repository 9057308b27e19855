"""The rules that ``sparklatency export`` prints, in the agents that they are for."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml
from broker import resolved
from children import Child
from click.testing import CliRunner
from cluster import LINES, Spark, settings
from watched import QUERY, SINK

from ports import free_port
from sparklatency.assets.metrics import E2E_LATENCY, Metric, metrics, query_metrics, watermark_metrics
from sparklatency.cli import main

SCRIPT = Path(__file__).parent / "watched.py"
CONF = {
    "spark.sparklatency.markers.interval": "1ms",  # with each batch
    "spark.metrics.conf.*.sink.jmx.class": "org.apache.spark.metrics.sink.JmxSink",
    "spark.metrics.namespace": "shop.eu",
    "spark.sparklatency.auto": "stateful",
    "spark.sparklatency.granularity": "subtask",
    "spark.sparklatency.recording.level": "TRACE",
    "spark.sparklatency.sample.window": "1h",  # longer than all of these tests
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
}
AGGREGATE = "aggregate-1"
ESCAPED = {"source": "source", AGGREGATE: AGGREGATE, SINK: "the%20%22sink%22%2E1%2C%20%25"}
QUOTED = SINK.replace('"', '\\"')
"""As JMX has it, without the quotation marks around it."""

MEASURED = {
    "record-e2e-latency": ["source", AGGREGATE, SINK],
    "record-commit-latency": [SINK],
    "record-staleness": [AGGREGATE],
    "record-lateness": [AGGREGATE],
}
UNKNOWN_AT_REST = {
    one.prometheus
    for one in (*query_metrics(), *watermark_metrics())
    if one.name
    in (
        "age-processing",
        "age-source-queuing",
        "age-source-queuing-and-processing",
        "batch-in-progress",
        "progress-age",
        "oldest-uncommitted",
        "records-lag",
        "source-watermark-idle",
    )
}
"""OpenTelemetry does not show what has no value."""

BY_THE_CLOCK = {one.prometheus for one in metrics() if one.measure == "record-system-time-lateness"}
"""The query has no watermark that goes by the clock."""

TASKS = {"source": "0_0", AGGREGATE: "1_0", SINK: "1_0"}
"""There is one partition, so a task has seen what a node has."""

Labels = frozenset[tuple[str, str]]
Series = dict[str, dict[Labels, float]]


@dataclass(frozen=True)
class Watched:
    """The application between its last batch and its end, with two agents in its driver."""

    driver: Child
    jmx_exporter: str
    opentelemetry: str
    rows: dict[str, dict[str, float | None]]
    """By node, what it has measured, in milliseconds: metrics by name, with ``_`` for ``-``."""
    folder: Path


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """Of one Spark line: JMX is the same in all of them."""
    folder = tmp_path_factory.mktemp("watched")
    spark = Spark(LINES[0])
    addresses = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    options = " ".join([*jmx_exporter(addresses[0], folder), *opentelemetry(addresses[1], folder)])
    submit = ["--master", "local[1]", "--jars", str(spark.jar), "--driver-java-options", options]
    submit += [*settings(CONF), str(SCRIPT), str(folder)]
    pages = [f"http://{address}/metrics" for address in addresses]
    with spark.start("watched", folder, "spark-submit", *submit) as driver:
        driver.until(lambda: "first.csv" in said(driver), "its first batch ends", within=120)
        # An agent keeps which rule a bean has matched, and has to read its value anew each time.
        for page in pages:
            driver.until(partial(scraped, page), f"{page} shows something of ours", within=60)
        (folder / "go").touch()
        driver.until(lambda: len(said(driver)) == 3, "it says what it has measured", within=60)
        rows = {row["node"]: row for row in json.loads(said(driver)[-1])}
        yield Watched(driver, pages[0], pages[1], rows, folder)


def said(driver: Child) -> list[str]:
    """What the script printed, among the lines of Spark's log."""
    return [line.removeprefix("watched: ") for line in driver.lines() if line.startswith("watched: ")]


def agent(name: str) -> str:
    [found] = [jar for jar in resolved("agents") if Path(jar).name.startswith(name)]
    return found


def exported(what: str, folder: Path) -> Path:
    printed = CliRunner().invoke(main, ["export", what], prog_name="sparklatency")
    assert printed.exit_code == 0, printed.output
    file = folder / f"{what}.yml"
    file.write_text(printed.stdout)
    return file


def jmx_exporter(address: str, folder: Path) -> list[str]:
    return [f"-javaagent:{agent('jmx_prometheus_javaagent')}={address}:{exported('jmx-exporter', folder)}"]


def opentelemetry(address: str, folder: Path) -> list[str]:
    host, port = address.split(":")
    properties = {
        "otel.jmx.config": exported("otel", folder),
        "otel.jmx.discovery.delay": 500,
        "otel.instrumentation.common.default-enabled": "false",
        "otel.metrics.exporter": "prometheus",
        "otel.exporter.prometheus.host": host,
        "otel.exporter.prometheus.port": port,
        "otel.traces.exporter": "none",
        "otel.logs.exporter": "none",
    }
    return [
        f"-javaagent:{agent('opentelemetry-javaagent')}",
        *(f"-D{name}={value}" for name, value in properties.items()),
    ]


def scraped(page: str) -> Series | None:
    """What an agent shows of ours, or None before it does so."""
    try:
        with urlopen(page, timeout=30) as answer:  # noqa: S310
            text = answer.read().decode()
    except (OSError, HTTPException):
        return None
    found: Series = {}
    for name, labels, value in re.findall(r"^(sparklatency_\w+)\{(.*)\} (\S+)$", text, re.MULTILINE):
        pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)
        plain = frozenset((key, re.sub(r"\\(.)", r"\1", escaped)) for key, escaped in pairs)
        found.setdefault(name, {})[plain] = float(value)
    return found or None


def expected(watched: Watched, metric: Metric) -> dict[str, float]:
    """By node, in the units of Prometheus."""
    factor = 0.001 if metric.is_duration else 1
    values = {node: watched.rows[node][metric.name.replace("-", "_")] for node in MEASURED[metric.measure]}
    return {node: value * factor for node, value in values.items() if value is not None}


def test_every_metric_has_a_value_to_compare(watched: Watched) -> None:
    for metric in of_records():
        assert expected(watched, metric).keys() == set(MEASURED[metric.measure]), metric.name


def test_jmx_exporter_shows_every_metric_of_every_node(watched: Watched) -> None:
    series = shown_by_jmx_exporter(watched)
    for metric in of_records():
        nodes = {
            labelled(app="shop.eu", process="driver", query="or%2Eders", node=ESCAPED[node]): value
            for node, value in expected(watched, metric).items()
        }
        assert series[metric.prometheus] == pytest.approx(nodes), metric.prometheus


def test_jmx_exporter_shows_every_metric_of_every_node_in_a_task(watched: Watched) -> None:
    series = shown_by_jmx_exporter(watched)
    for metric in of_tasks():
        values = expected(watched, metric)
        thread = f"{QUERY}-driver"
        nodes = {
            labelled(thread=thread, task=TASKS[node], node=QUOTED if node == SINK else node): value
            for node, value in values.items()
        }
        whole = {labelled(thread=thread, task=TASKS[node]): values[node] for node in ("source", SINK)}
        name = metric.prometheus.replace("sparklatency_", "sparklatency_task_")
        assert series[name] == pytest.approx(nodes | whole), name


def test_jmx_exporter_shows_nothing_else_of_ours(watched: Watched) -> None:
    rules = yaml.safe_load(Path(watched.folder, "jmx-exporter.yml").read_text())["rules"]
    series = shown_by_jmx_exporter(watched)
    assert series.keys() == {rule["name"] for rule in rules} - BY_THE_CLOCK


def test_opentelemetry_shows_every_metric_of_every_node(watched: Watched) -> None:
    series = shown_by_opentelemetry(watched)
    for metric in of_records():
        nodes = {
            f"shop.eu.driver.sparklatency.query.or%2Eders.node.{ESCAPED[node]}.{metric.name}": value
            for node, value in expected(watched, metric).items()
        }
        found = {
            dict(labels)["sparklatency_name"]: value for labels, value in series[metric.prometheus].items()
        }
        assert found == pytest.approx(nodes), metric.prometheus


def test_opentelemetry_shows_every_metric_of_every_node_in_a_task(watched: Watched) -> None:
    series = shown_by_opentelemetry(watched)
    for metric in of_tasks():
        nodes = {
            (f"{QUERY}-driver", TASKS[node], f'"{QUOTED}"' if node == SINK else node): value
            for node, value in expected(watched, metric).items()
        }
        name = metric.prometheus.replace("sparklatency_", "sparklatency_task_")
        labels = ("sparklatency_thread", "sparklatency_task", "sparklatency_node")
        found = {tuple(dict(one)[label] for label in labels): value for one, value in series[name].items()}
        assert found == pytest.approx(nodes), name


def shown_by_jmx_exporter(watched: Watched) -> Series:
    """It looks for beans when it is asked."""
    return watched.driver.until(partial(scraped, watched.jmx_exporter), "jmx_exporter answers", within=30)


def shown_by_opentelemetry(watched: Watched) -> Series:
    """It looks for beans from time to time, and shows their metrics from then on."""
    rules = yaml.safe_load(Path(watched.folder, "otel.yml").read_text())["rules"]
    count = sum(len(rule["mapping"]) for rule in rules) - len(UNKNOWN_AT_REST | BY_THE_CLOCK)

    def shown() -> Series | None:
        series = scraped(watched.opentelemetry)
        return series if series and len(series.keys() - UNKNOWN_AT_REST) == count else None

    return watched.driver.until(shown, f"OpenTelemetry shows {count} metrics", within=90)


def test_both_agents_show_the_operator_latency_of_a_node(watched: Watched) -> None:
    exported, series = shown_by_jmx_exporter(watched), shown_by_opentelemetry(watched)
    for name in ("sparklatency_operator_latency_seconds", "sparklatency_operator_latency_avg_seconds"):
        # How long the others took is another figure each time.
        source = labelled(app="shop.eu", process="driver", query="or%2Eders", node="source")
        assert exported[name][source] == 0
        of_nodes = {dict(labels)["sparklatency_name"].split(".node.")[1] for labels in series[name]}
        assert any(one.startswith("source.") for one in of_nodes)


def of_records() -> list[Metric]:
    return [metric for metric in metrics() if metric.measure in MEASURED]


def of_tasks() -> list[Metric]:
    return [metric for metric in metrics() if metric.measure == E2E_LATENCY]


def labelled(**labels: str) -> Labels:
    return frozenset(labels.items())
