"""Rules for the JMX metrics of OpenTelemetry's Java agent and its JMX scraper.

These rules cannot split a name. So the query and the node, or the source of a watermark, of a JmxSink
metric stay together in one attribute.
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

_TAGS = ("source_id", "source_subtask_index", "operator_id", "operator_subtask_index")
"""A bean has those that its granularity knows."""
_TASK = {"sparklatency.thread": "param(thread-id)", "sparklatency.task": "param(task-id)"}


def rules() -> Mapping[str, Any]:
    """Returns the configuration: a rule for each gauge of JmxSink, one for each kind of bean of ours.

    The bean of a whole task is left out. It has the figures of its last node.
    """
    nodes = [_gauge(metric, "query.*.node.*") for metric in metrics()]
    queries = [_gauge(metric, "query.*") for metric in query_metrics()]
    watermarks = [_gauge(metric, "query.*.watermark.*") for metric in watermark_metrics()]
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
    return {"rules": [*nodes, *queries, *watermarks, tasks, markers, clocks]}


_UNITS = {
    "ms": {"sourceUnit": "ms", "unit": "s"},
    "records": {"unit": "{record}"},
    "markers": {"unit": "{marker}"},
    "tasks": {"unit": "{task}"},
    "0 or 1": {"unit": "1"},
}


def _gauge(metric: Metric, of: str) -> dict[str, Any]:
    name = f"*.sparklatency.{of}.{metric.name}"
    return {
        # Of a namespace with a comma, a colon or the like JmxSink quotes the name, and it stands alone.
        "beans": [f"metrics:name={name},type=gauges", f'metrics:name="{name}"'],
        "metricAttribute": {"sparklatency.name": "param(name)"},
        "mapping": {"Value": _mapped(metric, "sparklatency")},
    }


def _mapped(metric: Metric, prefix: str) -> dict[str, str]:
    dotted = metric.name.replace("-", ".")
    return {"metric": f"{prefix}.{dotted}", "type": metric.kind, **_UNITS[metric.unit], "desc": metric.help}
