"""From a Kafka topic to a JMX console: what the driver says against what a consumer finds by itself.

Why the comparison is exact. In update mode each row at the node ``sink`` is one record of the output topic,
so both sides look at the same rows. Row by row the broker appends after the node's clock was read, on the
same host, so whatever figure grows with its rows (least, mean, greatest, each percentile by rank) can only be
larger at the consumer. Nothing leaves the driver's window meanwhile, which is wide enough.

How long a record takes from the node to the broker grows with the load. So the plain query's topic has when
its producer was given each record: right behind the node.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import dropwhile
from math import isnan
from pathlib import Path
from statistics import fmean, median_low

import pytest
from broker import Broker
from cluster import LINES, WORKERS, Cluster
from pipeline import RESTS_MS
from submitted import CLOCK_ERROR, HISTOGRAM_ERROR, gauge, is_about, is_between, running_pipeline

from sampling import IS_FULL, SEED
from support import TICK

pytestmark = pytest.mark.sampled(of="run", by="cluster")

RATE = 200
WARM_UP = 20
"""Records of the first batch, which waits for classes to load; the stream follows when they are counted."""


@dataclass(frozen=True)
class Variant:
    """A way to configure sparklatency, and for how long to feed the pipeline then."""

    name: str
    seconds: int
    conf: dict[str, str]
    shape: str = "windowed"
    stamped: str = "LogAppendTime"
    """What the time of a result says."""


WIDE = {"spark.sparklatency.sample.window": "1h"}
PLUGIN = {"spark.plugins": "io.sparklatency.LatencyPlugin", **WIDE}
AUTOMATIC = {**PLUGIN, "spark.sparklatency.auto": "source,terminal"}
ORDINARY = Variant("automatic nodes alone", 5, AUTOMATIC, shape="plain", stamped="CreateTime")
OTHERS = [
    Variant("jar alone", 5, WIDE),
    Variant("plugin", 15, PLUGIN),
    Variant("automatic nodes alone, of windows", 5, AUTOMATIC, shape="folded"),
]
VARIANTS = [ORDINARY, *(OTHERS if IS_FULL else [OTHERS[SEED // len(LINES) % len(OTHERS)]])]
"""Each takes a minute. Lines take turns with each seed, so the others do when each line has had its own."""


@dataclass(frozen=True)
class Run:
    """What a run of the pipeline left behind."""

    produced: int
    source: str
    """The node at the source: by hand ``source``."""
    watched: list[dict[str, float]]
    """Gauges, again and again while records flowed."""
    final: dict[str, float]
    """Gauges after the last record."""
    observed: list[int]
    """Latency of each output record by the consumer's reckoning, in milliseconds."""
    logged: list[int]
    """How old each output record was when Spark's commit log had its batch, in milliseconds."""
    shape: str

    def driver(self, node: str, metric: str) -> float:
        return self.final[gauge("driver", self._named(node), metric)]

    def executors(self, node: str, metric: str) -> list[float]:
        """Of each executor that has seen the node: which one reads which partition is Spark's to decide."""
        names = (gauge(str(executor), self._named(node), metric) for executor in range(WORKERS))
        return [self.final[name] for name in names if name in self.final]

    def _named(self, node: str) -> str:
        return self.source if node == "source" else node


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda variant: variant.name)
def run(
    request: pytest.FixtureRequest,
    cluster: Cluster,
    broker: Broker,
    figures: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    variant: Variant = request.param
    produced = WARM_UP + variant.seconds * RATE
    folder = tmp_path_factory.mktemp("run")
    watched: list[dict[str, float]] = []

    def send(records: int, total: int) -> None:
        """Feeds the pipeline and watches it until the driver has counted as many as were ever sent."""

        def is_counted() -> bool:
            watched.append(pipeline.gauges())
            return watched[-1].get(gauge("driver", source, "records"), 0) >= total

        with broker.program(folder, "Producer", pipeline.records, str(records), str(RATE)) as producer:
            pipeline.driver.until(is_counted, f"it counts {total}", within=90, every=0.5)
            producer.finish(within=10)

    with running_pipeline(cluster, broker, folder, variant.conf, variant.shape, variant.stamped) as pipeline:
        source = "source" if variant.shape == "windowed" else f"source-0-kafka[{pipeline.records}]"
        send(WARM_UP, total=WARM_UP)
        send(produced - WARM_UP, total=produced)
        with broker.program(folder, "Observer", pipeline.results, variant.stamped) as observer:
            rows = [(int(latency), int(at)) for latency, at in map(str.split, observer.finish(within=60))]
        observed = [latency for latency, _ in rows]
        log = commits(folder / "checkpoint")
        logged = [latency + log[bisect_left(log, at)] - at for latency, at in rows]
        run = Run(produced, source, watched, pipeline.gauges(), observed, logged, variant.shape)
    figures.append(f"Spark {cluster.spark.line}, {variant.name}: {agreement(run)}")
    return run


def commits(checkpoint: Path) -> list[int]:
    """When Spark's commit log had each batch at the latest, in milliseconds since the epoch.

    A batch appends its records after the log has the batch before, and before the log has itself.
    """
    files = {int(file.name): file for file in (checkpoint / "commits").iterdir() if file.name.isdigit()}
    assert files.keys() == set(range(len(files))), "Spark has removed some"
    return [files[batch].stat().st_mtime_ns // 1_000_000 + TICK for batch in sorted(files)]


def agreement(run: Run) -> str:
    """The figures of both sides, and by how much the driver's stay below the observer's."""
    pairs = {
        "p50": (run.driver("sink", "record-e2e-latency-p50"), median_low(run.observed)),
        "avg": (run.driver("sink", "record-e2e-latency-avg"), fmean(run.observed)),
    }
    committed = run.driver("sink", "record-commit-latency-avg")
    return "; ".join(
        [
            *(
                f"driver {name} {driver:.1f} ms, observer {name} {observer:.1f} ms, "
                f"difference {observer - driver:.1f} ms"
                for name, (driver, observer) in pairs.items()
            ),
            f"committed avg {committed:.1f} ms, {committed - fmean(run.observed):.1f} ms after the observer "
            f"and {fmean(run.logged) - committed:.1f} ms before Spark's log had it",
        ]
    )


def test_the_driver_counts_each_record_of_the_source_once(run: Run) -> None:
    assert run.driver("source", "records") == run.produced
    assert run.driver("source", "records-without-timestamp") == 0
    assert run.driver("source", "records-ahead-of-clock") == 0


def test_each_record_at_the_sink_is_a_record_of_the_output_topic(run: Run) -> None:
    assert run.driver("sink", "records") == len(run.observed)


@pytest.mark.parametrize(("metric", "of_rows"), [("min", min), ("avg", fmean), ("max", max)])
def test_the_driver_is_never_above_the_observer(
    run: Run, metric: str, of_rows: Callable[[list[int]], float]
) -> None:
    assert run.driver("sink", f"record-e2e-latency-{metric}") <= of_rows(run.observed)


@pytest.mark.parametrize(("metric", "of_rows"), [("min", min), ("avg", fmean), ("max", max)])
def test_a_batch_is_committed_when_the_broker_has_its_records(
    run: Run, metric: str, of_rows: Callable[[list[int]], float]
) -> None:
    assert of_rows(run.observed) <= run.driver("sink", f"record-commit-latency-{metric}")


@pytest.mark.parametrize(("metric", "of_rows"), [("min", min), ("avg", fmean), ("max", max)])
def test_a_batch_is_committed_before_spark_writes_that_to_its_log(
    run: Run, metric: str, of_rows: Callable[[list[int]], float]
) -> None:
    assert run.driver("sink", f"record-commit-latency-{metric}") <= of_rows(run.logged)


def test_the_driver_median_is_most_of_the_observer_median(run: Run) -> None:
    """By how many milliseconds they differ is a figure, not a claim: it grows with the load of the host.

    A window holds records for much longer than a broker takes to append them. Where nothing does,
    the next test has the lower bound, by another time."""
    driver, observer = run.driver("sink", "record-e2e-latency-p50"), median_low(run.observed)
    assert driver <= observer * (1 + HISTOGRAM_ERROR)
    assert run.shape == "plain" or observer / 2 <= driver


def test_an_end_without_a_timestamp_column_is_what_an_outside_reader_finds(run: Run) -> None:
    """Of the plain query alone."""
    if run.shape != "plain":
        pytest.skip("a window gives out other rows than it takes in")
    for figure, observed in (("avg", fmean(run.observed)), ("p50", median_low(run.observed))):
        source, sink = (run.driver(node, f"record-e2e-latency-{figure}") for node in ("source", "sink"))
        assert is_between(figure, source, sink, observed)
        assert is_about(sink, observed)
        assert figure != "avg" or sink >= source + RESTS_MS - CLOCK_ERROR


@pytest.mark.parametrize("node", ["source", "sink"])
def test_executors_counted_together_what_the_driver_counted(run: Run, node: str) -> None:
    """Executors count what they did, the driver what counted: the same where nothing was done twice."""
    records = run.executors(node, "records")
    lows, means, highs = (run.executors(node, f"record-e2e-latency-{m}") for m in ("min", "avg", "max"))
    assert sum(records) == run.driver(node, "records")
    assert min(lows) == run.driver(node, "record-e2e-latency-min")
    assert fmean(means, records) == pytest.approx(run.driver(node, "record-e2e-latency-avg"))
    assert max(highs) == run.driver(node, "record-e2e-latency-max")


@pytest.mark.parametrize("instance", ["driver", "0", "1"])
@pytest.mark.parametrize("node", ["source", "sink"])
def test_no_figure_is_unknown_once_records_flow(run: Run, instance: str, node: str) -> None:
    node = run.source if node == "source" else node
    records = gauge(instance, node, "records")
    flowing = dropwhile(lambda gauges: gauges.get(records, 0) == 0, [*run.watched, run.final])
    next(flowing, None)  # its gauges were read one by one, some of them before the first record
    for gauges in flowing:
        for metric in ("min", "avg", "max"):
            assert not isnan(gauges[gauge(instance, node, f"record-e2e-latency-{metric}")])
