"""Rules for Prometheus' jmx_exporter.

jmx_exporter matches a rule against ``domain<key=value, …><>attribute: value``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparklatency.assets.metrics import (
    E2E_LATENCY,
    Metric,
    clock_metrics,
    marker_metrics,
    metrics,
    query_metrics,
    watermark_metrics,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_ID = r"([\w%-]+)"
"""A query or node as DropwizardName escapes it: it has no dot."""

# What the name of a gauge has before the metric. Beans of our own have the same of markers and clocks, and
# are left out.
_OF_QUERY = rf"query\.{_ID}"
_OF_NODE = rf"{_OF_QUERY}\.node\.{_ID}"
_OF_WATERMARK = rf"{_OF_QUERY}\.watermark\.source\.{_ID}\.column\.{_ID}\.kind\.{_ID}"
_OF_MARKERS = (
    rf"{_OF_QUERY}\.latency(?:\.source_id\.{_ID})?(?:\.source_subtask_index\.(\d+))?"
    rf"\.operator_id\.{_ID}(?:\.operator_subtask_index\.(\d+))?"
)
_OF_CLOCK = rf"executor\.{_ID}"


def rules() -> Mapping[str, Any]:
    """Returns the configuration: a rule for each metric of whatever has beans."""
    nodes = [_rule(metric, _gauge(_OF_NODE, metric), metric.prometheus, _NODE) for metric in metrics()]
    tasks = [
        _rule(metric, _of_task(metric), metric.prometheus.replace("_", "_task_", 1), _TASK)
        for metric in metrics()
        if metric.measure == E2E_LATENCY
    ]
    others = [
        _rule(metric, _gauge(place, metric), metric.prometheus, labels)
        for place, labels, of in (
            (_OF_QUERY, _QUERY, query_metrics()),
            (_OF_WATERMARK, _WATERMARK, watermark_metrics()),
            (_OF_MARKERS, _MARKER, marker_metrics()),
            (_OF_CLOCK, _CLOCK, clock_metrics()),
        )
        for metric in of
    ]
    return {
        "includeObjectNames": ["metrics:name=*.sparklatency.*,*", "sparklatency:thread-id=*,*"],
        "rules": nodes + tasks + others,
    }


_NODE = {"app": "$1", "process": "$2", "query": "$3", "node": "$4"}
_QUERY = {"app": "$1", "process": "$2", "query": "$3"}
_WATERMARK = {**_QUERY, "source": "$4", "column": "$5", "kind": "$6"}
_MARKER = {
    **_QUERY,
    "source_id": "$4",
    "source_subtask_index": "$5",
    "operator_id": "$6",
    "operator_subtask_index": "$7",
}
"""Those that a granularity does not know are empty, and so they are none to Prometheus."""
_CLOCK = {"app": "$1", "process": "$2", "executor": "$3"}
_TASK = {"thread": "$1", "task": "$2", "node": "$4"}


def _gauge(place: str, metric: Metric) -> str:
    """Spark's JmxSink has a bean for each gauge. The application id or namespace in it may have dots.

    Of a namespace with a comma, a colon or the like the name is quoted, and stands alone.
    """
    name = rf'"?([^>]+)\.([^.>]+)\.sparklatency\.{place}\.{metric.name}"?'
    return rf"^metrics<name={name}(?:, type=gauges)?><>Value:"


def _of_task(metric: Metric) -> str:
    """Our own beans have all figures of a node in a task, of a whole task, or of all that are too many.

    Odd names are quoted.
    """
    bean = r'thread-id="?(.+?)"?, task-id=(\d+_\d+|__other__)(, processor-node-id="?(.+?)"?)?'
    return rf"^sparklatency<type=stream-(?:processor-node|task)-metrics, {bean}><>{metric.name}:"


def _rule(metric: Metric, pattern: str, name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    factor = {"valueFactor": 0.001} if metric.is_duration else {}
    return {
        "pattern": pattern,
        "name": name,
        "type": metric.kind.upper(),
        **factor,
        "help": metric.help,
        "labels": dict(labels),
        "cache": True,
    }
