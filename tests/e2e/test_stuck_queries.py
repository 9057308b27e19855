"""A sink or a foreachBatch that hangs, a broker or executors that die: each is seen everywhere in a minute.

Four applications run at the same time: half a minute has to pass until a batch is said to be stalled. Before
that one of two executors dies, which stops nothing.
"""

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from broker import Broker, java, resolved, running_broker
from children import PATIENCE, Child
from click.testing import Result
from cluster import LINES, Cluster, Spark, remote_jmx, running_cluster, settings
from submitted import CONF as BY_JMX
from surfaces import ASKS, INSIDE, LATER, LOOKS, SLOW, Stuck, answered

from ports import free_port
from sampling import by_turns
from scraping import scraping
from sparklatency.cli._options import MISSED, UNKNOWN
from sparklatency.values.answer import Progress
from support import exported

SCRIPT = Path(__file__).parent / "stuck.py"
TOPIC, RECORDS, A_SECOND = "stuck", "100000", "20"
CONF = {
    **BY_JMX,
    "spark.ui.enabled": "true",
    "spark.driver.host": "127.0.0.1",
    "spark.plugins": "io.sparklatency.LatencyPlugin",
    "spark.ui.port": "0",
}
KINDS = ["broker", "sink", "function", "executors"]
"""The first dies between two batches, which is waited for; to the others it happens right then."""
WELL = 3
"""How many batches a query has committed before something happens."""

SAYS = {
    "sink": "0 of 1 task done",
    "function": r"Processing new data\.$",  # outside of Spark's tasks
    "broker": "",
    "executors": "No task runs: are there executors",
}
"""What of it can be known from within."""

WITHIN = 60
"""Seconds from then until it is seen, wherever one looks; or from when the batch that hangs last got on, if
that is later: on a slow machine a batch goes on for long. Where five times as long as usual is more than half
a minute, by as much later."""

SCRAPED = "5s"
"""How often: with a timeout as short as that, one that looks more often sees too little on a busy machine."""

PATIENCE_SECONDS = PATIENCE * WITHIN
"""For how long it is waited for, so that what comes too late is seen to."""

FIRST_SIGHT = 10
"""Seconds until it shows that records wait, or that the source is asked in vain: since the batch began."""

LONGER = 5_000
"""Milliseconds that hardly a batch of these takes while all is well, nor a record waits for its commit."""

USUALLY = 8
"""Seconds that a batch takes at the most, or the one of the broker would never be over before the next."""


@dataclass(frozen=True)
class Verdict:
    """Of a limit that the batch in progress had passed, and no figure."""

    asks: bool
    """Whether the batch asked its source for offsets before and after that, and was not said to hang."""
    slo: Result


@dataclass(frozen=True)
class Seen:
    """How it came out."""

    applications: dict[str, Stuck]
    happened: dict[str, float]
    """When something happened to each, in seconds since the epoch."""
    usual: dict[str, float]
    """How long a batch of each took before that, in seconds."""
    begun: dict[str, float]
    """When the batch began of which that was first said, or something happened, if later."""
    vain: dict[str, float]
    """When each was last asked whether records wait, or its source answers, and said nothing of it."""
    said: dict[tuple[str, str], tuple[float, str]]
    """When it was last looked for in vain, and what was said, by application and surface."""
    stood: dict[str, float]
    """When the batch that hangs last got on, or something happened, if later."""
    alerts: dict[str, Mapping[str, Any]]
    """Those that fired, as they were when they first did."""
    verdicts: dict[str, list[Verdict]]
    """What ``slo`` said from then on."""
    goes_on: dict[str, Any]
    """What is said while one of two executors is dead."""

    def since(self, kind: str, told: float) -> float:
        """What a query says of itself, but not much later than something happened to it."""
        return min(told, self.happened[kind] + WITHIN / 2 + 5 * self.usual[kind])

    def within(self, kind: str) -> float:
        """Until when it is to be seen."""
        return self.since(kind, self.stood[kind]) + WITHIN + max(0, 5 * self.usual[kind] - 30)


@pytest.fixture(scope="module", params=by_turns(LINES))
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    folder = tmp_path_factory.mktemp("stuck")
    folders = {name: folder / name for name in (*KINDS, "kafka", "cluster")}
    for each in folders.values():
        each.mkdir()
    spark = Spark(request.param)
    with ExitStack() as children:
        broker = children.enter_context(running_broker(folders["kafka"]))
        broker.create_topics(folders["kafka"], {TOPIC: "CreateTime"})
        children.enter_context(broker.program(folders["kafka"], "Producer", TOPIC, RECORDS, A_SECOND))
        cluster = children.enter_context(running_cluster(spark, folders["cluster"]))
        found = {}
        for kind in KINDS:
            master = cluster.url if kind == "executors" else "local[1]"
            found[kind] = children.enter_context(running(kind, spark, master, broker, folders[kind]))
        for kind, one in found.items():
            one.driver.until(partial(is_well, one), f"the query of {kind} runs well", within=240)
        goes_on = without_one(cluster, found["executors"])
        usual = {
            kind: one.driver.until(one.usual, "its batches end", within=60) for kind, one in found.items()
        }
        happened = {}
        for kind in KINDS:
            if kind == "broker":
                found[kind].driver.until(found[kind].rests, "no batch runs", within=60, every=0.05)
            happened[kind] = time.time()
            if kind == "broker":
                broker.process.kill()
            elif kind == "executors":
                cluster.workers[1].kill()
            else:
                (folders[kind] / "hang").touch()
        vain, begun = last_without(found, happened, usual)
        yield Seen(found, happened, usual, begun, vain, *watched(found, happened), goes_on)


@contextmanager
def running(kind: str, spark: Spark, master: str, broker: Broker, folder: Path) -> Iterator[Stuck]:
    """One of the applications, with what looks at it."""
    jars, jmx = ",".join([str(spark.jar), *resolved("connector")]), f"127.0.0.1:{free_port()}"
    submit = [
        "--master", master, "--driver-memory", "1g", "--executor-memory", "1g", "--jars", jars,
        "--driver-java-options", remote_jmx(jmx), *settings(CONF),
    ]  # fmt: skip
    with ExitStack() as children:
        driver = children.enter_context(
            spark.start(kind, folder, "spark-submit", *submit, SCRIPT, kind, folder, broker.address, TOPIC)
        )
        ui = driver.until(partial(told, driver), "it has a UI", within=120)
        prometheus = children.enter_context(
            scraping(ui, folder, exported("prometheus-rules"), interval=SCRAPED)
        )
        # It looks into the driver alone: executors die here.
        probe = Child("jmxprobe", java("io.sparklatency.e2e.JmxProbe", jmx, "none"), folder)
        yield Stuck(kind, driver, ui, prometheus, children.enter_context(probe))


def without_one(cluster: Cluster, one: Stuck) -> dict[str, Any]:
    """Kills one of two executors, and looks at the query when it has gone on for as long as before. It does
    within a minute."""
    before = one.driver.until(one.query, "it is asked for", within=60).batches
    cluster.workers[0].kill()

    def has_gone_on() -> dict[str, Any] | None:
        with suppress(*SLOW):
            [application] = json.loads(one.get("api/v1/applications"))
            executors = json.loads(one.get(f"api/v1/applications/{application['id']}/allexecutors"))
            live = sorted(each["isActive"] for each in executors if each["id"] != "driver")
            query = one.query()
            if live == [False, True] and query is not None and query.batches >= before + WELL:
                check = one.cli("check")
                if re.search("^wrong +application ", check.stdout, re.MULTILINE) is None:
                    page = one.get(f"latency/query/?id={one.kind}")
                    return {"query": query, "history": query.history(1000), "check": check, "page": page}
        return None

    return one.driver.until(has_gone_on, "it goes on with one executor", within=60)


def last_without(
    found: dict[str, Stuck], happened: dict[str, float], usual: dict[str, float]
) -> tuple[dict[str, float], dict[str, float]]:
    """When each was last asked that then said what waits for long in a batch that runs; and when that began.

    What was asked in time and answered late was true when it was asked. So the last question in vain counts.
    """
    vain, begun = dict.fromkeys(found, 0.0), dict[str, float]()
    until = time.time() + PATIENCE_SECONDS
    while time.time() < until and begun.keys() != found.keys():
        for kind in found.keys() - begun.keys():
            asked, query = time.time(), found[kind].query()
            now = None if query is None else query.progress
            if now and waited(kind, now) > longer(usual[kind]):
                begun[kind] = max(happened[kind], time.time() - (now.running or 0) / 1000)
            elif now:
                vain[kind] = asked
        time.sleep(0.1)
    assert begun.keys() == found.keys()
    return vain, begun


def waited(kind: str, now: Progress) -> float:
    """For how many milliseconds it is said that a batch asks its source, or that its records wait."""
    text, running = now.text or "", now.running or 0
    if kind == "broker" and ASKS in text:
        return running
    waits = "The oldest record that waits for its commit is at least " in text
    return min(running, now.oldest_uncommitted or 0) if waits else 0


def watched(
    found: dict[str, Stuck], happened: dict[str, float]
) -> tuple[
    dict[tuple[str, str], tuple[float, str]],
    dict[str, float],
    dict[str, Mapping[str, Any]],
    dict[str, list[Verdict]],
]:
    """Looks everywhere in turn, until it has been seen everywhere."""
    vain: dict[tuple[str, str], float] = {}
    said: dict[tuple[str, str], tuple[float, str]] = {}
    stood: dict[str, float] = {}
    alerts: dict[str, Mapping[str, Any]] = {}
    verdicts: dict[str, list[Verdict]] = {kind: [] for kind in found}
    limits = {
        kind: one.driver.until(one.kept, "its figures are read", within=60) for kind, one in found.items()
    }
    until = max(happened.values()) + PATIENCE_SECONDS
    surfaces = len(LOOKS) + len(INSIDE)

    def is_seen() -> bool:
        known = stood.keys() == alerts.keys() == found.keys()
        return known and len(said) == len(found) * surfaces and all(verdicts.values())

    while time.time() < until and not is_seen():
        for kind, one in found.items():
            with suppress(*SLOW):
                for surface, look in LOOKS.items():
                    if (kind, surface) not in said:
                        asked, text = time.time(), look(one)
                        if text is None:
                            vain[kind, surface] = asked
                        else:
                            said[kind, surface] = vain.get((kind, surface), 0), text
                alert = one.alert()
                if alert and alert["state"] == "firing":
                    alerts.setdefault(kind, alert)
                for surface in INSIDE:
                    for line in one.told(surface):
                        at, in_vain, text = line.split(" ", 2)
                        if float(at) > happened[kind]:
                            said.setdefault((kind, surface), (float(in_vain), text))
                asks, now = one.asks(), one.progress()
                if now.stalled and now.since_progress is not None:
                    last = time.time() - now.since_progress / 1000
                    stood.setdefault(kind, max(happened[kind], last))
                slo = answered(one.slo(limits[kind]))
                if (now.running or 0) > limits[kind] and one.asks() == asks:
                    verdicts[kind].append(Verdict(asks, slo))
        time.sleep(0.5)
    return said, stood, alerts, verdicts


def longer(usual: float) -> float:
    """For how many milliseconds a batch has to run that it is not one of those that are well."""
    return max(LONGER, 2000 * usual)


def told(driver: Child) -> str | None:
    """Where the UI is."""
    return next((line.split()[1] for line in driver.lines() if line.startswith("stuck: ")), None)


def is_well(one: Stuck) -> bool:
    query = one.query()
    # An alert that was told what is usual has to compare with it: what takes five times as long hangs.
    usual = one.prometheus.series("sparklatency_batch_duration_seconds")
    # Of records that were old before the hang, as those of a slow start, nobody says that they wait.
    return (
        query is not None
        and query.batches >= WELL
        and usual is not None
        and all(seconds < USUALLY for _, seconds in usual)
        and all((node.max or 0) < LATER for node in query.nodes)
    )


@pytest.mark.parametrize("surface", [*LOOKS, *INSIDE])
@pytest.mark.parametrize("kind", KINDS)
def test_a_hang_is_seen_within_a_minute(seen: Seen, kind: str, surface: str) -> None:
    """By our clock, which is that of the applications and of Prometheus, too.

    Who looks within a minute sees it, however long the look takes: none that began later was in vain.
    """
    in_vain, text = seen.said[kind, surface]
    assert in_vain <= seen.within(kind), text
    if surface == "alert":
        assert text.startswith(f"the batch in progress of query {kind} (")
    elif surface == "slo":
        assert re.search("waits? for its commit|have waited for|the batch in progress hangs", text), text
    elif surface != "JMX":
        assert re.match(rf"Batch \d+ has run for .*{SAYS[kind]}", text), text


@pytest.mark.parametrize("kind", KINDS)
def test_what_waits_behind_a_hang_shows_within_ten_seconds(seen: Seen, kind: str) -> None:
    """Long before a batch is said to hang. While a source does not answer, nobody knows whether records wait:
    then it shows that it is asked."""
    usually = LONGER / 1000
    begun = seen.since(kind, seen.begun[kind])
    assert seen.vain[kind] - begun <= FIRST_SIGHT - usually + longer(seen.usual[kind]) / 1000


def test_the_alert_names_the_query_and_fires_at_once(seen: Seen) -> None:
    assert seen.alerts.keys() == seen.applications.keys()
    for kind, alert in seen.alerts.items():
        since = datetime.fromisoformat(alert["activeAt"]).timestamp()
        assert seen.happened[kind] < since <= seen.within(kind)
        assert (alert["labels"]["query"], alert["state"]) == (kind, "firing")


def test_a_query_that_loses_one_of_two_executors_goes_on_and_is_called_well(seen: Seen) -> None:
    query, check = seen.goes_on["query"], seen.goes_on["check"]
    assert check.exit_code == 0, check.stdout
    assert not query.progress.stalled
    assert query.headline.code not in {"stalled", "failed"}, query.headline
    assert [note for note in query.notes if note.level == "wrong"] == []
    assert [note.level for note in query.notes if note.code == "executor-lost"] == ["warn"]
    assert re.search(r"warn +executor-lost +executors: Executor \d+ was lost\b", check.stdout), check.stdout
    assert re.search(r"Executor \d+ was lost\b", seen.goes_on["page"])


def test_figures_of_a_query_that_loses_an_executor_are_neither_lost_nor_doubled(seen: Seen) -> None:
    """Each batch has its figures, and they are of as many records as Spark read for it."""
    batches = seen.goes_on["history"]
    assert [batch.batch for batch in batches] == list(range(len(batches)))
    counted = [sum(node.records for node in batch.nodes) for batch in batches]
    assert counted == [batch.input_rows for batch in batches]
    assert sum(counted) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_no_limit_is_kept_by_a_batch_that_has_run_for_longer(seen: Seen, kind: str) -> None:
    """Also before it is said to hang. While a source does not answer, nobody knows whether records wait."""
    assert seen.verdicts[kind]
    for verdict in seen.verdicts[kind]:
        unknown = "whether records wait is not known: the batch in progress has run for "
        assert verdict.slo.exit_code == (UNKNOWN if verdict.asks else MISSED), verdict.slo.output
        assert verdict.slo.stderr.startswith(unknown) == verdict.asks, verdict.slo.stderr
