"""The table of metrics, and what each is called where.

``metrics.json`` is made of ``Metric.all`` in Scala, by the suite that compares the two.
"""

import json
from dataclasses import dataclass
from importlib.resources import files

E2E_LATENCY = "record-e2e-latency"
COMMIT_LATENCY = "record-commit-latency"
WATERMARK_LAG = "sparklatency_watermark_lag_seconds"
"""A figure of the query, not of a node, and so not in the table."""


@dataclass(frozen=True)
class Metric:
    """One figure of a node."""

    name: str
    """In the style of Kafka's metrics, as JMX has it."""
    measure: str
    kind: str
    """``gauge`` or ``counter``."""
    unit: str
    """``ms`` or ``records``."""
    help: str

    @property
    def is_duration(self) -> bool:
        """Whether it is in milliseconds, which Prometheus and OpenTelemetry want in seconds."""
        return self.unit == "ms"

    @property
    def prometheus(self) -> str:
        """As Prometheus calls it: in seconds, and counters in ``_total``."""
        return f"sparklatency_{_snake(self.name)}" + ("_seconds" if self.is_duration else "_total")


def metrics() -> tuple[Metric, ...]:
    """Returns the table."""
    table = files("sparklatency").joinpath("metrics.json").read_text(encoding="utf-8")
    return tuple(Metric(**row) for row in json.loads(table))


def metric(name: str) -> Metric:
    """Returns the metric of that name; one that is not there is a mistake in this package."""
    [found] = [one for one in metrics() if one.name == name]
    return found


def histogram(measure: str) -> str:
    """Returns what the histogram of a measure is called, without ``_bucket``, ``_sum`` and ``_count``."""
    return f"sparklatency_{_snake(measure)}_seconds"


def _snake(name: str) -> str:
    return name.replace("-", "_")
