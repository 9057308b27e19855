"""A sink or a foreachBatch that hangs, a broker or executors that die: each is seen everywhere, and alerts.

Four applications run at the same time: half a minute has to pass until a batch is said to be stalled.
"""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from broker import resolved, running_broker
from children import Child
from click.testing import CliRunner, Result
from cluster import LINES, Spark, running_cluster, settings
from waits import await_until

from sampling import by_turns
from scraping import Prometheus, scraping
from sparklatency import NoFiguresError, latency
from sparklatency.cli import main
from sparklatency.cli._options import MISSED
from support import exported

SCRIPT = Path(__file__).parent / "stuck.py"
TOPIC, RECORDS, A_SECOND = "stuck", "100000", "20"
CONF = {
    "spark.driver.host": "127.0.0.1",
    "spark.plugins": "io.sparklatency.LatencyPlugin",
    "spark.ui.port": "0",
}
KINDS = ["sink", "function", "broker", "executors"]
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
"""Seconds from then to the alert."""

PATIENCE = 2 * WITHIN
"""For how long it is waited for, so that what comes too late is seen to."""


@dataclass(frozen=True)
class Stuck:
    """An application whose query has run well, until something happened."""

    kind: str
    driver: Child
    ui: str
    prometheus: Prometheus
    happened: float = 0
    """When that was, in seconds since the epoch."""

    def cli(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, [*arguments, "--url", self.ui])

    def alert(self) -> dict[str, Any] | None:
        alerts = (self.prometheus.get("alerts") or {"alerts": []})["alerts"]
        found = [one for one in alerts if one["labels"]["alertname"] == "SparkBatchStalled"]
        return found[0] if found else None


@pytest.fixture(scope="module", params=by_turns(LINES))
def stuck(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Stuck]]:
    """The applications, from the moment that something happens to all of them."""
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
        jars = ",".join([str(spark.jar), *resolved("connector")])
        found = {}
        for kind in KINDS:
            master = cluster.url if kind == "executors" else "local[1]"
            submit = ["--master", master, "--driver-memory", "1g", "--executor-memory", "1g", "--jars", jars]
            arguments = [SCRIPT, kind, folders[kind], broker.address, TOPIC]
            command = ["spark-submit", *submit, *settings(CONF), *map(str, arguments)]
            driver = children.enter_context(spark.start(kind, folders[kind], *command))
            ui = driver.until(partial(told, driver), "it has a UI", within=120)
            prometheus = children.enter_context(scraping(ui, folders[kind], exported("prometheus-rules")))
            found[kind] = Stuck(kind, driver, ui, prometheus)
        for kind, one in found.items():
            one.driver.until(partial(is_well, one), f"the query of {kind} runs well", within=120)
        happened = {}
        for kind in KINDS:
            happened[kind] = time.time()
            if kind == "broker":
                broker.process.kill()
            elif kind == "executors":
                for worker in cluster.workers:
                    worker.kill()
            else:
                (folders[kind] / "hang").touch()
        yield {kind: replace(one, happened=happened[kind]) for kind, one in found.items()}


def told(driver: Child) -> str | None:
    """Where the UI is."""
    return next((line.split()[1] for line in driver.lines() if line.startswith("stuck: ")), None)


def is_well(one: Stuck) -> bool:
    try:
        query = latency(one.kind, url=one.ui).query
    except NoFiguresError:
        return False
    # An alert that was told what is usual has to compare with it.
    usual = one.prometheus.series("sparklatency_commit_interval_seconds")
    return query.batches >= WELL and usual is not None


@pytest.mark.parametrize("kind", KINDS)
def test_it_raises_an_alert_within_a_minute(stuck: dict[str, Stuck], kind: str) -> None:
    """By Prometheus' clock, which is ours. The alert fires as soon as it is active."""
    alert = await_until(stuck[kind].alert, within=PATIENCE)
    assert 0 < datetime.fromisoformat(alert["activeAt"]).timestamp() - stuck[kind].happened <= WITHIN
    assert (alert["labels"]["query"], alert["state"]) == (kind, "firing")
    assert alert["annotations"]["summary"].startswith(f"the batch in progress of query {kind} (")


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_seen_everywhere(stuck: dict[str, Stuck], kind: str) -> None:
    one = stuck[kind]
    await_until(one.alert, within=PATIENCE)
    headline = latency(kind, url=one.ui).query.headline
    assert headline.code == "stalled"
    assert re.match(rf"Batch \d+ has run for .*{SAYS[kind]}", headline.text), headline.text
    checked = one.cli("check")
    assert checked.exit_code == MISSED
    assert re.search(rf"wrong +stalled +{kind}: Batch \d+ has run for ", checked.stdout)
    asked = one.cli("slo", "--query", kind, "--node", "source", "--p99", "30s")
    said = "waits for its commit|the batch in progress hangs"
    assert (asked.exit_code, bool(re.search(said, asked.stderr))) == (MISSED, True), asked.output
    with urlopen(f"{one.ui}/latency/", timeout=30) as page:  # noqa: S310
        text = re.sub(r"<[^>]+>", " ", page.read().decode())
    assert re.search(r"Batch \d+ has run for ", text)
