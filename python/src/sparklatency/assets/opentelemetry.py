"""Rules for the JMX metrics of OpenTelemetry's Java agent and its JMX scraper.

These rules cannot split a name. So the query and the node of a JmxSink metric stay together in one attribute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparklatency.assets.metrics import E2E_LATENCY, Metric, clock_metrics, metrics, query_metrics

if TYPE_CHECKING:
    from collections.abc import Mapping

_TASK = {"sparklatency.thread": "param(thread-id)", "sparklatency.task": "param(task-id)"}


def rules() -> Mapping[str, Any]:
    """Returns the configuration: a rule for each metric of nodes and queries, for tasks, and for clocks."""
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
    clocks = {
        "bean": "sparklatency:type=clock-metrics,executor-id=*",
        "metricAttribute": {"sparklatency.executor": "param(executor-id)"},
        "mapping": {metric.name: _mapped(metric, "sparklatency") for metric in clock_metrics()},
    }
    return {"rules": [*nodes, *queries, tasks, clocks]}


def _mapped(metric: Metric, prefix: str) -> dict[str, str]:
    unit = {"sourceUnit": "ms", "unit": "s"} if metric.is_duration else {"unit": "{record}"}
    dotted = metric.name.replace("-", ".")
    return {"metric": f"{prefix}.{dotted}", "type": metric.kind, **unit, "desc": metric.help}
