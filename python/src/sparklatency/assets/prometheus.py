"""Prometheus alerts for the driver's own endpoint."""

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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_WHERE = "{{ $labels.query }} ({{ $labels.app }})"
_DURATION = "{{ $value | humanizeDuration }}"
_FOR_PERCENTILES = "3m"
"""What comes once an hour, as a window may, has a percentile of five minutes for less than five minutes."""
_KEPT_FOR_PERCENTILES = "10m"
"""A batch shows its ages when it ends. Between two of five minutes, as in real-time mode, none is known."""
_RUNNING = metric("batch-in-progress").prometheus
_TAKES = metric("batch-duration").prometheus
_HANGS = f"{_RUNNING} > 30 and {metric('progress-age').prometheus} > 30"
_STALLED = f"({_HANGS} and {_RUNNING} > 5 * {_TAKES}) or (({_HANGS}) unless {_TAKES})"
"""As the note ``stalled``: for more than half a minute, five times as long as usual, and without progress."""

_OLDEST = metric("oldest-uncommitted").prometheus
_LAG, _USUALLY, _HOLDS_BACK = (
    f"last_over_time({metric(name).prometheus}[1m])"
    for name in ("watermark-lag", "commit-interval", "source-watermark-holds-back")
)
"""A scrape that fails ends all series for a moment, and a rule that waits begins anew."""

_MARKERS = f"{histogram(MARKER_LATENCY)}_count"
_LATE = " or ".join(
    metric(name).prometheus for name in ("records-dropped-late", "records-dropped-late-by-system-time")
)
_WITHOUT_TIMESTAMP = metric("records-without-timestamp").prometheus

_DROPPED = f"increase({metric('rows-dropped-late').prometheus}[5m]) > 0 unless on (app, query) ({_LATE})"
"""As Spark counts them: where a node does, its alert says more."""

HIGHEST_SECONDS = 604_800
"""The last bound of the histograms, as ``PrometheusText`` has it: no percentile of Prometheus is more."""


def percentile(measure: str, quantile: float, selector: str = "", window: str = "5m") -> str:
    """Returns the PromQL of a measure's percentile, in seconds, for each node.

    The histogram knows it between two bounds alone, and Prometheus takes a point between them. So it is at
    most the greatest figure of the window, where that is known.
    """
    rates = f"rate({histogram(measure)}_bucket{selector}[{window}])"
    between = f"histogram_quantile({quantile}, sum by (app, query, node, le) ({rates}))"
    greatest = f"max_over_time({metric(f'{measure}-max').prometheus}{selector}[{window}])"
    most = f"max by (app, query, node) ({greatest})"
    return f"({between} < {most}) or ({most} and {between} >= {most}) or {between}"


def alerts(p99_seconds: float, watermark_lag_seconds: float, tasks_failed: int) -> Mapping[str, Any]:
    """Returns the contents of a rules file.

    Args:
        p99_seconds: how old one record in a hundred may be, at a node and at the commit; less than
            ``HIGHEST_SECONDS``, or the alert would never fire.
        watermark_lag_seconds: how far a query's watermark may be behind the clock.
        tasks_failed: how many attempts of tasks of a query may fail within five minutes.
    """
    return {
        "groups": [
            {
                "name": "sparklatency",
                # By itself Prometheus judges once a minute: of a query that hangs it is to tell within one.
                "interval": "15s",
                "rules": [
                    _alert(
                        "SparkQueryFailed",
                        f"{QUERY_FAILED} > 0",
                        f"an error ended query {_WHERE}: "
                        "`sparklatency check --url http://{{$labels.instance}}` tells the error",
                    ),
                    _alert(
                        "SparkBatchStalled",
                        _STALLED,
                        f"the batch in progress of query {_WHERE} has run for {_DURATION}",
                    ),
                    _alert(
                        "SparkRecordsWait",
                        # Between two batches there is none: one look in the minute is enough. A trigger that
                        # looks for records in vain, as in a long list of files, lets none wait.
                        f"max_over_time({_RUNNING}[1m]) > {_exact(p99_seconds)}"
                        f" and max_over_time({_OLDEST}[1m])",
                        f"the records of a batch of query {_WHERE} waited for its commit for {_DURATION}",
                        wait="1m",
                    ),
                    _of_worst_node(
                        "SparkRecordLatencyHigh",
                        lambda selector: percentile(E2E_LATENCY, 0.99, selector),
                        p99_seconds,
                        f"1 % of the records of query {_WHERE} are at least {_DURATION} old at node {{node}}",
                        wait=_FOR_PERCENTILES,
                        keep=_KEPT_FOR_PERCENTILES,
                    ),
                    _of_worst_node(
                        "SparkCommitLatencyHigh",
                        lambda selector: percentile(COMMIT_LATENCY, 0.99, selector),
                        p99_seconds,
                        f"1 % of the records of query {_WHERE} that left it at node {{node}} are at least "
                        f"{_DURATION} old at the commit",
                        wait=_FOR_PERCENTILES,
                        keep=_KEPT_FOR_PERCENTILES,
                    ),
                    _alert(
                        "SparkWatermarkBehind",
                        _behind(watermark_lag_seconds),
                        f"the watermark of query {_WHERE} is {_DURATION} behind the clock",
                        wait="5m",
                    ),
                    _alert(
                        "SparkTasksFail",
                        _failed(tasks_failed),
                        f"attempts of tasks of query {_WHERE} have failed in the last five minutes: Spark "
                        "runs such a task again, and its records wait",
                    ),
                    _alert(
                        "SparkRowsDroppedLate",
                        _DROPPED,
                        f"operators of query {_WHERE} dropped {{{{ $value | humanize }}}} rows as late "
                        "in the last five minutes",
                    ),
                    _counted("SparkRecordsDroppedLate", "records-dropped-late"),
                    _counted("SparkRecordsDroppedLateBySystemTime", "records-dropped-late-by-system-time"),
                    _counted("SparkRecordsWithoutTimestamp", "records-without-timestamp", _needs_none),
                    _counted("SparkClocksDiffer", "records-ahead-of-clock"),
                ],
            }
        ]
    }


def _failed(attempts: int) -> str:
    """More than so many attempts of tasks of a query.

    ``increase`` guesses beyond what it has seen: of ten it makes up to 10.7. What was seen may be of the run
    before.
    """
    series = metric("tasks-failed").prometheus
    seen = f"max_over_time({series}[5m]) - min_over_time({series}[5m])"
    return f"increase({series}[5m]) > {attempts} and {seen} > {attempts}"


def _behind(limit: float) -> str:
    """As far as that, and by as much more as two batches take where none shows that it runs.

    In real-time mode a batch takes minutes, and the watermark moves only when one ends. Where no result waits
    for it, nobody is to be woken.
    """
    behind = f"{_LAG} > {_exact(limit)}"
    in_batches = f"{behind} and max_over_time({_RUNNING}[1h])"
    late = f"({in_batches}) or {behind} + 2 * {_USUALLY} or ({behind} unless {_USUALLY})"
    return f"({late}) and on (app, query) max by (app, query) ({_HOLDS_BACK}) > 0"


def _exact(limit: float) -> str:
    """Returns a limit with all its digits: it may be days, to the millisecond."""
    return f"{limit:.15g}"


def _needs_none(selector: str) -> str:
    """Nodes at which no record has a timestamp, of queries with latency markers: those need none."""
    all_lack_one = f"{_WITHOUT_TIMESTAMP}{selector} == {metric('records').prometheus}{selector}"
    return f" unless on (app, query, node) ({all_lack_one} and on (app, query) {_MARKERS}{selector})"


def _counted(name: str, counter: str, but: Callable[[str], str] = lambda _: "") -> dict[str, Any]:
    found = metric(counter)
    return _of_worst_node(
        name,
        lambda selector: f"increase({found.prometheus}{selector}[5m]){but(selector)}",
        0,
        "{{ $value | humanize }} in the last five minutes at node {node} of "
        f"query {_WHERE}: {found.help}",
    )


def _of_worst_node(
    name: str,
    figure: Callable[[str], str],
    limit: float,
    summary: str,
    wait: str | None = None,
    keep: str | None = None,
) -> dict[str, Any]:
    """An alert on a figure that each node has: one for the query, whose summary names the node.

    Args:
        name: of the alert.
        figure: its PromQL, for a selector of series.
        limit: what it may be at the most.
        summary: with ``{node}`` where the node is to be.
        wait: for how long it has to be more.
        keep: for how long the alert stays when it no longer is.
    """
    worst = f"topk(1, {figure('{app=%[1]q,query=%[2]q}')})"
    node = (
        f"{{{{ with printf `{worst}` $labels.app $labels.query | query }}}}"
        '{{ . | first | label "node" }}{{ end }}'
    )
    expression = f"max by (app, query) ({figure('')}) > {_exact(limit)}"
    return _alert(name, expression, summary.replace("{node}", node), wait, keep)


def _alert(
    name: str, expression: str, summary: str, wait: str | None = None, keep: str | None = None
) -> dict[str, Any]:
    return {
        "alert": name,
        "expr": expression,
        **({"for": wait} if wait else {}),
        **({"keep_firing_for": keep} if keep else {}),
        "labels": {"severity": "warning"},
        "annotations": {"summary": summary},
    }
