"""The table of metrics, and the name of each in every system.

A Scala suite makes ``metrics.json`` from the tables in ``Metric``, and compares the two.
"""

import json
from dataclasses import dataclass
from importlib.resources import files

E2E_LATENCY = "record-e2e-latency"
COMMIT_LATENCY = "record-commit-latency"
CLOCK = "clock"
"""In place of a measure: a figure of an executor's clock, which no record is measured for."""
QUERY = "query"
"""In place of a measure: a figure of a query as a whole."""
WATERMARK = "watermark"
"""In place of a measure: a figure of one watermark of a query."""
MARKER = "marker"
"""In place of a measure: a figure of the latency markers between a source and a place."""
MARKER_LATENCY = "marker-latency"
"""What the histogram of latency markers is called after."""
QUERY_FAILED = "sparklatency_query_failed"
"""A series that Prometheus alone has: others show the error itself."""


@dataclass(frozen=True)
class Metric:
    """One figure of a node, of a query, of its watermarks or markers, or of an executor's clock."""

    name: str
    """As in JMX, in the style of Kafka's metrics."""
    measure: str
    kind: str
    """``gauge`` or ``counter``."""
    unit: str
    """``ms``, ``records``, ``markers``, ``tasks``, or ``0 or 1``."""
    help: str

    @property
    def is_duration(self) -> bool:
        """Whether it is in milliseconds. Prometheus and OpenTelemetry get seconds."""
        return self.unit == "ms"

    @property
    def prometheus(self) -> str:
        """Its name in Prometheus. Durations end in ``_seconds``, counters in ``_total``."""
        name = f"marker-{self.name}" if self.measure == MARKER else self.name
        if self.is_duration:
            return f"sparklatency_{_snake(name)}_seconds"
        return f"sparklatency_{_snake(name)}" + ("_total" if self.kind == "counter" else "")


def metrics() -> tuple[Metric, ...]:
    """Returns those of nodes."""
    return tuple(one for one in _table() if one.measure not in (CLOCK, MARKER, QUERY, WATERMARK))


def query_metrics() -> tuple[Metric, ...]:
    """Returns those of queries as a whole."""
    return _of(QUERY)


def watermark_metrics() -> tuple[Metric, ...]:
    """Returns those of each watermark of a query."""
    return _of(WATERMARK)


def marker_metrics() -> tuple[Metric, ...]:
    """Returns those of latency markers."""
    return _of(MARKER)


def clock_metrics() -> tuple[Metric, ...]:
    """Returns those of executors' clocks."""
    return _of(CLOCK)


def _of(measure: str) -> tuple[Metric, ...]:
    return tuple(one for one in _table() if one.measure == measure)


def _table() -> tuple[Metric, ...]:
    table = files("sparklatency").joinpath("metrics.json").read_text(encoding="utf-8")
    return tuple(Metric(**row) for row in json.loads(table))


def metric(name: str) -> Metric:
    """Returns the metric of that name. An unknown name is a mistake in this package."""
    [found] = [one for one in _table() if one.name == name]
    return found


def histogram(measure: str) -> str:
    """Returns the name of a measure's histogram, without ``_bucket``, ``_sum`` and ``_count``."""
    return f"sparklatency_{_snake(measure)}_seconds"


def _snake(name: str) -> str:
    return name.replace("-", "_")
