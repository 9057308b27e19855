"""A Grafana dashboard for the driver's own Prometheus endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparklatency.assets.metrics import (
    COMMIT_LATENCY,
    E2E_LATENCY,
    MARKER_LATENCY,
    QUERY_FAILED,
    histogram,
    metric,
)
from sparklatency.assets.prometheus import percentile

if TYPE_CHECKING:
    from collections.abc import Mapping

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_QUERY = '{app=~"$app",query=~"$query"}'
_NODE = '{app=~"$app",query=~"$query",node=~"$node"}'
_WINDOW = "$__rate_interval"
_MARKERS_P99 = (
    "histogram_quantile(0.99, sum by (app, query, source_id, operator_id, le) "
    f"(rate({histogram(MARKER_LATENCY)}_bucket{_QUERY}[{_WINDOW}])))"
)
_WIDTH, _HEIGHT = 12, 8


def dashboard() -> Mapping[str, Any]:
    """Returns the dashboard as Grafana imports it."""
    panels = [
        _percentile("Record latency by node, p50", E2E_LATENCY, 0.5),
        _percentile("Record latency by node, p99", E2E_LATENCY, 0.99),
        _heatmap("Record latency", histogram(E2E_LATENCY)),
        _percentile("Latency at the commit, p99", COMMIT_LATENCY, 0.99),
        _series(
            "Latency markers by operator, p99",
            "s",
            _MARKERS_P99,
            _legend("source_id", "operator_id"),
        ),
        _series(
            "Watermark behind the clock",
            "s",
            f"{metric('watermark-lag').prometheus}{_QUERY}",
            _legend(),
            signed=True,
        ),
        _watermarks("Source's watermark behind the clock", "s", "source-watermark-lag", signed=True),
        _watermarks("Source that holds the watermark back", "short", "source-watermark-holds-back"),
        _series(
            "Age at the commit, by part",
            "s",
            f"sparklatency_age_part_seconds{_QUERY}",
            _legend("part", "node"),
            signed=True,
        ),
        _series("Batch in progress", "s", f"{metric('batch-in-progress').prometheus}{_QUERY}", _legend()),
        _series("Since the last commit", "s", f"{metric('commit-age').prometheus}{_QUERY}", _legend()),
        _series("Ended by an error", "short", f"{QUERY_FAILED}{_QUERY}", _legend()),
        _counter("Records", "records"),
        _series(
            "Rows dropped late",
            "cps",
            f"sum by (app, query) (rate({metric('rows-dropped-late').prometheus}{_QUERY}[{_WINDOW}]))",
            _legend(),
        ),
        _series(
            "Tasks that failed",
            "cps",
            f"sum by (app, query) (rate({metric('tasks-failed').prometheus}{_QUERY}[{_WINDOW}]))",
            _legend(),
        ),
        _counter("Dropped late", "records-dropped-late"),
        _counter("Dropped late by system time", "records-dropped-late-by-system-time"),
        _counter("Without timestamp", "records-without-timestamp"),
        _counter("Ahead of the clock", "records-ahead-of-clock"),
    ]
    for number, panel in enumerate(panels):
        row, column = divmod(number, 2)
        place = {"x": column * _WIDTH, "y": row * _HEIGHT, "w": _WIDTH, "h": _HEIGHT}
        panel |= {"id": number + 1, "gridPos": place}
    return {
        "title": "Spark record latency",
        "uid": "sparklatency",
        "tags": ["spark", "latency"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [_datasource(), *map(_variable, ("app", "query", "node"))]},
        "panels": panels,
    }


def _percentile(title: str, measure: str, quantile: float) -> dict[str, Any]:
    return _series(title, "s", percentile(measure, quantile, _NODE, _WINDOW), _legend("node"))


def _watermarks(title: str, unit: str, name: str, *, signed: bool = False) -> dict[str, Any]:
    found = metric(name)
    legend = _legend("source", "column")
    panel = _series(title, unit, f"{found.prometheus}{_QUERY}", legend, signed=signed)
    return {**panel, "description": found.help}


def _counter(title: str, name: str) -> dict[str, Any]:
    found = metric(name)
    rate = f"sum by (app, query, node) (rate({found.prometheus}{_NODE}[{_WINDOW}]))"
    return {**_series(title, "cps", rate, _legend("node")), "description": found.help}


def _series(title: str, unit: str, expression: str, legend: str, *, signed: bool = False) -> dict[str, Any]:
    """A line for each series. The axis begins at 0, which would hide a figure that may be negative."""
    axis: dict[str, Any] = {"unit": unit} if signed else {"unit": unit, "min": 0}
    return {
        "type": "timeseries",
        "title": title,
        "datasource": _SOURCE,
        "targets": [{"refId": "A", "datasource": _SOURCE, "expr": expression, "legendFormat": legend}],
        "fieldConfig": {"defaults": axis, "overrides": []},
    }


def _legend(*labels: str) -> str:
    """Applications may have queries of one name."""
    return " ".join(f"{{{{{label}}}}}" for label in ("app", "query", *labels))


def _heatmap(title: str, name: str) -> dict[str, Any]:
    rates = f"sum by (le) (increase({name}_bucket{_NODE}[{_WINDOW}]))"
    target = {"refId": "A", "datasource": _SOURCE, "expr": rates, "legendFormat": "{{le}}"}
    return {
        "type": "heatmap",
        "title": title,
        "description": "at all chosen nodes together: a record counts at each of them",
        "datasource": _SOURCE,
        "targets": [{**target, "format": "heatmap"}],
        "options": {"calculate": False, "yAxis": {"unit": "s"}, "cellGap": 1},
    }


def _datasource() -> dict[str, Any]:
    return {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}


def _variable(label: str) -> dict[str, Any]:
    above = {"app": "", "query": ',app=~"$app"', "node": ',app=~"$app",query=~"$query"'}[label]
    # A node that only measures what its operator takes in counts late records and no others.
    names = ("records", "records-dropped-late", "records-dropped-late-by-system-time")
    # A query without a node has figures too, and one that failed before its first batch has its error.
    of_queries = [] if label == "node" else [metric("tasks-failed").prometheus, QUERY_FAILED]
    series = "|".join([*(metric(name).prometheus for name in names), *of_queries])
    return {
        "name": label,
        "type": "query",
        "datasource": _SOURCE,
        "query": f'label_values({{__name__=~"{series}"{above}}}, {label})',
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }
