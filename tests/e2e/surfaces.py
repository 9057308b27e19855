"""All surfaces on which it shows that a batch hangs, and how each is looked at from without."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.request import urlopen

from children import Child
from click.testing import CliRunner, Result
from submitted import gauges

from scraping import Prometheus
from sparklatency import SparkLatencyError, latency
from sparklatency.cli import main
from sparklatency.cli._options import MISSED
from sparklatency.values.answer import Progress
from sparklatency.values.queries import QueryLatency

ASKS = "Getting offsets from "

SLOW = (SparkLatencyError, OSError, HTTPException)
"""What it is if a UI does not answer in time, as beside three other applications it may not."""

SOON, LATER = 10_000, 30_000
"""Limits of a percentile, in milliseconds. A batch passes the first before it is said to be stalled, and the
other then. Where records were older before, the first is more."""


@dataclass(frozen=True)
class Stuck:
    """An application whose query runs well, until something happens."""

    kind: str
    driver: Child
    ui: str
    prometheus: Prometheus
    probe: Child

    def cli(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, [*arguments, "--url", self.ui])

    def get(self, path: str) -> str:
        with urlopen(f"{self.ui}/{path}", timeout=30) as answer:  # noqa: S310
            return str(answer.read().decode())

    def query(self) -> QueryLatency | None:
        """What is said of its query, or None while its UI does not answer."""
        try:
            return latency(self.kind, url=self.ui).query
        except SLOW:
            return None

    def slo(self, limit: int, *options: str) -> Result:
        return self.cli("slo", "--query", self.kind, "--node", "source", "--p99", f"{limit}ms", *options)

    def kept(self) -> int | None:
        """A limit that figures keep."""
        query = self.query()
        return None if query is None else max(SOON, *((node.max or 0) + 1 for node in query.nodes))

    def progress(self) -> Progress:
        return latency(self.kind, url=self.ui).query.progress

    def asks(self) -> bool:
        """Whether the batch asks its source for offsets, and is not said to hang."""
        now = self.progress()
        return now.activity is not None and now.activity.doing.startswith(ASKS) and not now.stalled

    def usual(self) -> float | None:
        """How long a batch takes, in seconds."""
        query = self.query()
        ms = None if query is None else query.progress.batch_duration
        return None if ms is None else ms / 1000

    def rests(self) -> bool:
        """Whether no batch runs."""
        query = self.query()
        return query is not None and query.progress.running is None

    def alert(self) -> dict[str, Any] | None:
        alerts = (self.prometheus.get("alerts") or {"alerts": []})["alerts"]
        found = [one for one in alerts if one["labels"]["alertname"] == "SparkBatchStalled"]
        return found[0] if found else None

    def told(self, what: str) -> list[str]:
        """What the application has printed of that."""
        start = f"stuck: {what} "
        return [line.removeprefix(start) for line in self.driver.lines() if line.startswith(start)]

    def gauge(self, name: str) -> float:
        """In milliseconds."""
        shown = gauges(self.probe)
        return next(v for k, v in shown.items() if k.endswith(f".sparklatency.query.{self.kind}.{name}"))


def answered(result: Result) -> Result:
    """What a command has said. That a UI has not answered in time says nothing of a query: it is an error."""
    if "has not answered within" in " ".join(result.output.split()):  # a table has broken lines
        raise SparkLatencyError(result.output)
    return result


Look = Callable[[Stuck], str | None]
"""What is said somewhere of a batch that hangs; None while nothing is."""


def in_tab(one: Stuck) -> str | None:
    found = re.search(r"Batch \d+ has run for [^<]*", one.get("latency/"))
    return found[0] if found and "where one usually takes" in found[0] else None


def in_check(one: Stuck) -> str | None:
    checked = answered(one.cli("check"))
    found = re.search(rf"wrong +stalled +{one.kind}: (Batch \d+ has run for .*)", checked.stdout)
    return found[1] if found and checked.exit_code == MISSED else None


def in_slo(one: Stuck) -> str | None:
    """Not for records that were old before: then it gives no reason."""
    asked = answered(one.slo(LATER, "--json"))
    return json.loads(asked.stdout)["problem"] if asked.exit_code == MISSED else None


def in_rest(one: Stuck) -> str | None:
    [application] = json.loads(one.get("api/v1/applications"))
    answer = one.get(f"api/v1/applications/{application['id']}/latency/queries/{one.kind}")
    headline = json.loads(answer)["queries"][0]["headline"]
    return headline["text"] if headline["code"] == "stalled" else None


def in_jmx(one: Stuck) -> str | None:
    """As an alert of one's own would look."""
    running, still = one.gauge("batch-in-progress"), one.gauge("progress-age")
    hangs = running > 30_000 and still > 30_000 and running > 5 * one.gauge("batch-duration")
    return f"batch-in-progress {running}, progress-age {still}" if hangs else None


def in_alert(one: Stuck) -> str | None:
    alert = one.alert()
    return alert["annotations"]["summary"] if alert and alert["state"] == "firing" else None


LOOKS: dict[str, Look] = {
    "tab": in_tab,
    "check": in_check,
    "slo": in_slo,
    "REST": in_rest,
    "JMX": in_jmx,
    "alert": in_alert,
}
INSIDE = ["SQL", "notebook"]
"""Where the application itself looks."""
