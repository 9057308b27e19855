"""Real-time mode from Kafka to Kafka, with executors in JVMs of their own: live figures and beans of tasks.

The only batch outlasts the test. So whatever the driver says has come through the channel from its executors.
How old that is at most the results tell: Kafka's producer was given each after its record passed ``sink``.
"""

import re
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median_low

import pytest
from broker import Broker, resolved
from cluster import LINES, WORKERS, cluster_in_driver
from pipeline import RESTS_MS
from submitted import CLOCK_ERROR, CONF, gauge, gauges, is_about, is_between, probing

from sampling import by_turns

SCRIPT = Path(__file__).parent / "real_time.py"
WARM_UP = 20
RECORDS = 1000
RATE = 50
LOOKS = 10
"""So many there are at the least while records come. One at all gauges takes seconds on a busy machine."""

PARTITIONS = 2
A_SECOND = 1000
STATEFUL = {"4.3"}
"""The Spark lines whose real-time mode keeps state."""

PLUGIN = {
    "spark.plugins": "io.sparklatency.LatencyPlugin",
    "spark.cores.max": str(WORKERS * PARTITIONS),
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "10m",
    "spark.sparklatency.granularity": "subtask",
    "spark.sparklatency.sample.window": "1h",  # longer than a slow machine takes
    "spark.sql.shuffle.partitions": str(PARTITIONS),
}


MARKS = ("by hand", "automatic")
VARIANTS = [
    *by_turns([(line, marks, "stateless") for line in LINES for marks in MARKS]),
    *by_turns([(line, marks, "stateful") for line in LINES if line in STATEFUL for marks in MARKS]),
]


@dataclass
class Run:
    """What was seen of one query."""

    line: str
    marks: str
    shape: str
    source: str
    sent: int = WARM_UP
    watched: list[tuple[int, dict[str, float]]] = field(default_factory=list)
    """When the driver was asked, in milliseconds since the epoch, and what it and the executors said."""
    results: list[tuple[int, int]] = field(default_factory=list)
    """Of each result: its latency when Kafka's producer was given it, and when that was."""
    stopped: dict[str, float] = field(default_factory=dict)

    @property
    def final(self) -> dict[str, float]:
        return self.watched[-1][1]


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda variant: ", ".join(variant))
def run(
    request: pytest.FixtureRequest,
    broker: Broker,
    figures: list[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    line, marks, shape = request.param
    folder, home = tmp_path_factory.mktemp("real-time"), tmp_path_factory.mktemp("home")
    records, results = f"{folder.name}-records", f"{folder.name}-results"
    broker.create_topics(folder, dict.fromkeys([records, results], "CreateTime"))
    # Tasks of all stages run at the same time.
    cluster = cluster_in_driver(line, home, cores=PARTITIONS)
    jars = [str(cluster.spark.jar), *resolved("connector")]
    arguments = (broker.address, records, results, str(folder), marks, shape)
    source = "source" if marks == "by hand" else f"source-0-kafka[{records}]"
    seen = Run(line, marks, shape, source)

    with (
        cluster.running(folder, SCRIPT, *arguments, jars=jars, conf={**CONF, **PLUGIN}) as app,
        probing(app, folder) as probe,
    ):

        def look() -> dict[str, float]:
            at = time.time_ns() // 1_000_000
            seen.watched.append((at, gauges(probe)))
            return seen.final

        def send(count: int, total: int) -> None:
            # Of a task that comes first the driver may hear later.
            nodes = [gauge("driver", node, "records") for node in (source, "sink")]

            def is_counted() -> bool:
                shown = look()
                return all(shown.get(node, 0) >= total for node in nodes)

            with broker.program(folder, "Producer", records, str(count), str(RATE)) as producer:
                app.driver.until(is_counted, f"{total} are counted", within=120)
                producer.finish(within=30)

        send(WARM_UP, WARM_UP)
        seen.watched.clear()
        while len(seen.watched) < LOOKS:
            seen.sent += RECORDS
            send(RECORDS, seen.sent)
        look()
        seen.results = observed(broker, folder, results)
        (folder / "stop").touch()
        app.driver.until(lambda: "real_time: stopped" in app.driver.lines(), "the query stops", within=60)

        def gone() -> bool:
            seen.stopped = gauges(probe)
            return not tasks(seen.stopped)

        app.driver.until(gone, "all beans of tasks are gone", within=60, every=0.5)
    late = sorted(lateness(seen))
    ends = (
        f"{figure} {seen.final[gauge('driver', 'sink', f'record-e2e-latency-{figure}')]:.1f} ms at the node, "
        f"{found:.1f} ms at the consumer"
        for figure, found in consumed(seen).items()
    )
    figures.append(
        f"Spark {line}, real-time mode, {marks}, {shape}: live figures lack records of the last "
        f"{late[len(late) // 2]} ms at the median, {late[-1]} ms at most; {'; '.join(ends)}"
    )
    return seen


def observed(broker: Broker, folder: Path, topic: str) -> list[tuple[int, int]]:
    with broker.program(folder, "Observer", topic, "CreateTime") as observer:
        rows = (line.split() for line in observer.finish(within=60))
        return [(int(latency), int(given)) for latency, given in rows]


def tasks(shown: dict[str, float]) -> dict[tuple[str, str, str], float]:
    """By process, task and node (empty for a task as a whole): how many records its bean has."""
    found = {}
    for name, records in shown.items():
        if name.startswith("sparklatency:"):
            process = re.search(r'thread-id="?orders-(\w+)', name)
            task = re.search(r"task-id=(\w+)", name)
            node = re.search(r'processor-node-id="?([^",]+)', name)
            assert process, name
            assert task, name
            found[process[1], task[1], node[1] if node else ""] = records
    return found


def lateness(run: Run) -> list[int]:
    """For each look at the driver: how long a result had been there whose record it did not count."""
    given = sorted(at for _, at in run.results)
    found = []
    for asked, shown in run.watched:
        counted = int(shown[gauge("driver", "sink", "records")])
        missing = [at for at in given[counted:] if at < asked]
        found.append(asked - missing[0] if missing else 0)
    return found


def consumed(run: Run) -> dict[str, float]:
    """The latencies that the consumer of the results finds, by figure."""
    latencies = [latency for latency, _ in run.results]
    return {"avg": fmean(latencies), "p50": median_low(latencies)}


def test_the_driver_counts_each_record_while_its_task_runs(run: Run) -> None:
    for node in (run.source, "sink"):
        assert run.final[gauge("driver", node, "records")] == run.sent
        assert run.final[gauge("driver", node, "records-ahead-of-clock")] == 0
    assert len(run.results) == run.sent


def test_live_figures_are_about_a_second_old_at_most(run: Run) -> None:
    """A busy machine may keep the one or the other message waiting; it does not keep nine in ten.

    What waits is in the next message, and there is one each half second. A process may stand still
    for a while. Where looks themselves are seconds apart, what was there at one is counted at the next."""
    assert len(run.watched) >= LOOKS
    assert median_low(lateness(run)) <= A_SECOND
    late = beyond(run, A_SECOND, looks=1)
    assert late[len(late) * 9 // 10] <= 0, late
    assert beyond(run, 10 * A_SECOND, looks=3)[-1] <= 0


def beyond(run: Run, limit: int, looks: int) -> list[int]:
    """By how much figures were later than that, and than so many looks before: in milliseconds, sorted."""
    asked = [at for at, _ in run.watched]
    told = zip(lateness(run)[looks:], asked[looks:], asked[:-looks], strict=True)
    return sorted(late - max(limit, at - before) for late, at, before in told)


def test_the_end_is_what_a_consumer_finds_and_not_below_the_source(run: Run) -> None:
    for figure, at_consumer in consumed(run).items():
        nodes = (run.source, "sink")
        at_source, at_sink = (run.final[gauge("driver", n, f"record-e2e-latency-{figure}")] for n in nodes)
        assert is_between(figure, at_source, at_sink, at_consumer)
        assert is_about(at_sink, at_consumer)
        assert figure != "avg" or at_sink >= at_source + RESTS_MS - CLOCK_ERROR


def test_a_record_is_younger_at_the_node_than_at_the_producer(run: Run) -> None:
    oldest = run.final[gauge("driver", "sink", "record-e2e-latency-max")]
    assert run.final[gauge("driver", "sink", "record-e2e-latency-min")] >= 0
    assert oldest <= max(latency for latency, _ in run.results)
    assert run.final[gauge("driver", run.source, "record-e2e-latency-min")] <= oldest


def test_counts_only_grow(run: Run) -> None:
    name = gauge("driver", "sink", "records")
    assert all(one[name] <= other[name] for (_, one), (_, other) in pairwise(run.watched))


def test_each_task_that_runs_is_a_bean_on_the_driver_and_on_its_executor(run: Run) -> None:
    shown = tasks(run.final)
    ends = {"stateless": "0", "stateful": "1"}[run.shape]
    expected = {(f"0_{one}", run.source) for one in range(PARTITIONS)}
    expected |= {(f"{ends}_{one}", "sink") for one in range(PARTITIONS)}
    # A task as a whole is as its last node.
    expected |= {(task, "") for task, _ in expected}
    on_driver = {(task, node): count for (process, task, node), count in shown.items() if process == "driver"}
    others = {(task, node): count for (process, task, node), count in shown.items() if process != "driver"}
    assert set(on_driver) == expected
    for node in (run.source, "sink"):
        assert sum(count for (_, one), count in on_driver.items() if one == node) == run.sent
    assert others == on_driver


def test_all_beans_go_when_the_query_stops(run: Run) -> None:
    assert tasks(run.stopped) == {}
