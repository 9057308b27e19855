"""The pipeline under test, submitted to a cluster, with a JMX client that looks into all its JVMs."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from broker import Broker, java, resolved
from children import Child
from cluster import Application, Cluster

_SCRIPT = Path(__file__).parent / "pipeline.py"

CONF = {
    "spark.metrics.conf.*.sink.jmx.class": "org.apache.spark.metrics.sink.JmxSink",
    "spark.metrics.namespace": "e2e",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
}


HISTOGRAM_ERROR = 0.01
"""A percentile is the upper end of one of the histogram's buckets, none wider than this against its value."""

CLOCK_ERROR = 1
"""In milliseconds: no age is wrong by more."""


def is_between(figure: str, at_source: float, at_sink: float, outside: float) -> bool:
    """Whether a latency at the sink can be that of the records that an outside reader has seen.

    A row passes the source, then the sink, and is seen outside after that. Means are exact.
    """
    error = 0 if figure == "avg" else HISTOGRAM_ERROR
    return at_source * (1 - error) - CLOCK_ERROR <= at_sink <= outside * (1 + error)


def is_about(at_sink: float, outside: float) -> bool:
    """Whether a latency at the sink is that which an outside reader has seen, but for 50 ms and 1 %.

    For a topic that has when the producer was given each record. How long it takes from there to the broker
    grows with the load, and is no step of the query.
    """
    return outside - at_sink <= 50 + 0.01 * outside


@dataclass(frozen=True)
class Pipeline:
    """A running pipeline: it reads the topic `records` and writes the topic `results`."""

    driver: Child
    records: str
    results: str
    _probe: Child

    def gauges(self) -> dict[str, float]:
        """What JMX shows at this moment, in the driver and in every executor: gauges by full name."""
        return gauges(self._probe)


@contextmanager
def running_pipeline(
    cluster: Cluster,
    broker: Broker,
    folder: Path,
    conf: Mapping[str, str],
    shape: str = "windowed",
    stamped: str = "LogAppendTime",
) -> Iterator[Pipeline]:
    """Creates topics, submits the pipeline with the jar under test and waits for its executors.

    Results have the time that is told.
    """
    records, results = f"{folder.name}-records", f"{folder.name}-results"
    broker.create_topics(folder, {records: "CreateTime", results: stamped})
    jars = [str(cluster.spark.jar), *resolved("connector")]
    arguments = (broker.address, records, results, str(folder / "checkpoint"), shape)
    with (
        cluster.running(folder, _SCRIPT, *arguments, jars=jars, conf={**CONF, **conf}) as app,
        probing(app, folder) as probe,
    ):
        yield Pipeline(app.driver, records, results, probe)


def escaped(node: str) -> str:
    """As a gauge's name has it."""
    return re.sub(r"[^\w-]", lambda found: f"%{ord(found[0]):02X}", node)


def gauge(instance: str, node: str, metric: str) -> str:
    """The full name of a gauge of the query ``orders``."""
    return f"e2e.{instance}.sparklatency.query.orders.node.{escaped(node)}.{metric}"


@contextmanager
def probing(app: Application, folder: Path) -> Iterator[Child]:
    """A JMX client connected to the driver and to all executors, for as long as the block runs."""
    with Child("jmxprobe", java("io.sparklatency.e2e.JmxProbe", app.jmx, str(app.port)), folder) as probe:
        yield probe


def gauges(probe: Child) -> dict[str, float]:
    """What JMX shows at this moment, in the driver and in every executor: gauges by full name."""
    seen = len(probe.lines())
    probe.say("")
    answer = probe.until(lambda: probe.lines()[seen:], "it answers", within=30, every=0.02)
    shown: dict[str, float] = json.loads(answer[0])
    return shown
