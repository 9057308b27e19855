"""Rules for the JMX metrics of OpenTelemetry's Java agent and its JMX scraper.

These rules cannot split a name. So the query and the node of a JmxSink metric stay together in one attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparklatency.assets.metrics import (
    E2E_LATENCY,
    MARKER,
    Metric,
    clock_metrics,
    marker_metrics,
    metrics,
    query_metrics,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_TAGS = ("source_id", "source_subtask_index", "operator_id", "operator_subtask_index")
"""A bean has those that its granularity knows."""
_TASK = {"sparklatency.thread": "param(thread-id)", "sparklatency.task": "param(task-id)"}


def rules() -> Mapping[str, Any]:
    """Returns the configuration: a rule for each metric of nodes and queries, one for other kinds of bean."""
    nodes = [
        {
            "bean": f"metrics:name=*.sparklatency.query.*.node.*.{metric.name},type=gauges",
            "metricAttribute": {"sparklatency.name": "param(name)"},
            "mapping": {"Value": _mapped(metric, "sparklatency")},
        }
        for metric in metrics()
    ]
    queries = [
        {
            "bean": f"metrics:name=*.sparklatency.query.*.{metric.name},type=gauges",
            "metricAttribute": {"sparklatency.name": "param(name)"},
            "mapping": {"Value": _mapped(metric, "sparklatency")},
        }
        for metric in query_metrics()
    ]
    of_task = {
        metric.name: _mapped(metric, "sparklatency.task")
        for metric in metrics()
        if metric.measure == E2E_LATENCY
    }
    tasks = {
        "bean": "sparklatency:type=stream-processor-node-metrics,thread-id=*,task-id=*,processor-node-id=*",
        "metricAttribute": {**_TASK, "sparklatency.node": "param(processor-node-id)"},
        "mapping": of_task,
    }
    markers = {
        "bean": "sparklatency:type=latency-marker-metrics,*",
        "metricAttribute": {f"sparklatency.{tag}": f"param({tag})" for tag in ("query", *_TAGS)},
        "mapping": {metric.name: _mapped(metric, "sparklatency.marker") for metric in marker_metrics()},
    }
    clocks = {
        "bean": "sparklatency:type=clock-metrics,executor-id=*",
        "metricAttribute": {"sparklatency.executor": "param(executor-id)"},
        "mapping": {metric.name: _mapped(metric, "sparklatency") for metric in clock_metrics()},
    }
    return {"rules": [*nodes, *queries, tasks, markers, clocks]}


def _mapped(metric: Metric, prefix: str) -> dict[str, str]:
    counted = "{marker}" if metric.measure == MARKER else "{record}"
    unit = {"sourceUnit": "ms", "unit": "s"} if metric.is_duration else {"unit": counted}
    dotted = metric.name.replace("-", ".")
    return {"metric": f"{prefix}.{dotted}", "type": metric.kind, **unit, "desc": metric.help}
