"""Prometheus alerts for the driver's own endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparklatency.assets.metrics import COMMIT_LATENCY, E2E_LATENCY, histogram, metric

if TYPE_CHECKING:
    from collections.abc import Mapping

_WHERE = "{{ $labels.query }} ({{ $labels.app }})"
_NODE = f"node {{{{ $labels.node }}}} of query {_WHERE}"
_DURATION = "{{ $value | humanizeDuration }}"
_RUNNING = metric("batch-in-progress").prometheus
_USUALLY = metric("commit-interval").prometheus
_STALLED = f"({_RUNNING} > 30 and {_RUNNING} > 5 * {_USUALLY}) or (({_RUNNING} > 30) unless {_USUALLY})"
"""As the note ``stalled``: more than half a minute, and five times as long as usual."""


def percentile(measure: str, quantile: float, selector: str = "", window: str = "5m") -> str:
    """Returns the PromQL of a measure's percentile, in seconds, for each node."""
    rates = f"rate({histogram(measure)}_bucket{selector}[{window}])"
    return f"histogram_quantile({quantile}, sum by (app, query, node, le) ({rates}))"


def alerts(p99_seconds: float, watermark_lag_seconds: float) -> Mapping[str, Any]:
    """Returns the contents of a rules file.

    Args:
        p99_seconds: how old one record in a hundred may be, at a node and at the commit.
        watermark_lag_seconds: how far a query's watermark may be behind the clock.
    """
    return {
        "groups": [
            {
                "name": "sparklatency",
                "rules": [
                    _alert(
                        "SparkBatchStalled",
                        _STALLED,
                        f"the batch in progress of query {_WHERE} has run for {_DURATION}",
                    ),
                    _alert(
                        "SparkRecordsWait",
                        # Between two batches there is none: one look in the minute is enough.
                        f"max_over_time({_RUNNING}[1m]) > {p99_seconds:g}",
                        f"the records of a batch of query {_WHERE} waited for its commit for {_DURATION}",
                        wait="1m",
                    ),
                    _alert(
                        "SparkRecordLatencyHigh",
                        f"max by (app, query) ({percentile(E2E_LATENCY, 0.99)}) > {p99_seconds:g}",
                        f"1 % of the records of query {_WHERE} are at least {_DURATION} old",
                        wait="5m",
                    ),
                    _alert(
                        "SparkCommitLatencyHigh",
                        f"max by (app, query) ({percentile(COMMIT_LATENCY, 0.99)}) > {p99_seconds:g}",
                        f"1 % of the records of query {_WHERE} are at least {_DURATION} old at the commit",
                        wait="5m",
                    ),
                    _alert(
                        "SparkWatermarkBehind",
                        f"{metric('watermark-lag').prometheus} > {watermark_lag_seconds:g}",
                        f"the watermark of query {_WHERE} is {_DURATION} behind the clock",
                        wait="5m",
                    ),
                    _counted("SparkRecordsDroppedLate", "records-dropped-late"),
                    _counted("SparkRecordsDroppedLateBySystemTime", "records-dropped-late-by-system-time"),
                    _counted("SparkRecordsWithoutTimestamp", "records-without-timestamp"),
                    _counted("SparkClocksDiffer", "records-ahead-of-clock"),
                ],
            }
        ]
    }


def _counted(name: str, counter: str) -> dict[str, Any]:
    found = metric(counter)
    summary = f"{{{{ $value | humanize }}}} in the last five minutes at {_NODE}: {found.help}"
    return _alert(name, f"increase({found.prometheus}[5m]) > 0", summary)


def _alert(name: str, expression: str, summary: str, wait: str | None = None) -> dict[str, Any]:
    return {
        "alert": name,
        "expr": expression,
        **({"for": wait} if wait else {}),
        "labels": {"severity": "warning"},
        "annotations": {"summary": summary},
    }
