"""The pipeline under test, submitted to a cluster, with a JMX client that looks into all its JVMs."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from broker import Broker, java, resolved
from children import Child
from cluster import Cluster

_SCRIPT = Path(__file__).parent / "pipeline.py"

_CONF = {
    "spark.metrics.conf.*.sink.jmx.class": "org.apache.spark.metrics.sink.JmxSink",
    "spark.metrics.namespace": "e2e",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
}


@dataclass(frozen=True)
class Pipeline:
    """A running pipeline: it reads the topic `records` and writes the topic `results`."""

    driver: Child
    records: str
    results: str
    _probe: Child

    def gauges(self) -> dict[str, float]:
        """What JMX shows at this moment, in the driver and in every executor: gauges by full name."""
        seen = len(self._probe.lines())
        self._probe.say("")
        answer = self._probe.until(lambda: self._probe.lines()[seen:], "it answers", within=30, every=0.02)
        gauges: dict[str, float] = json.loads(answer[0])
        return gauges


@contextmanager
def running_pipeline(
    cluster: Cluster, broker: Broker, folder: Path, conf: Mapping[str, str]
) -> Iterator[Pipeline]:
    """Creates topics, submits the pipeline with the jar under test and waits for its executors."""
    records, results = f"{folder.name}-records", f"{folder.name}-results"
    broker.create_topics(folder, {records: "CreateTime", results: "LogAppendTime"})
    jars = [str(cluster.spark.jar), *resolved("connector")]
    arguments = (broker.address, records, results, str(folder / "checkpoint"))
    with (
        cluster.running(folder, _SCRIPT, *arguments, jars=jars, conf={**_CONF, **conf}) as app,
        Child("jmxprobe", java("io.sparklatency.e2e.JmxProbe", app.jmx, app.id), folder) as probe,
    ):
        yield Pipeline(app.driver, records, results, probe)
