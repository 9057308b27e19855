"""Latency markers of a query, by the names that Flink gives them: milliseconds, None where unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True)
class MarkerStatistics:
    """How long latency markers took."""

    count: int
    """How many: in ``latency`` since the run began, whatever the window covers."""
    min: int | None
    avg: float | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    p999: int | None
    max: int | None


@dataclass(frozen=True)
class MarkerLatency:
    """How long markers took from a source to one partition of a node, or to the commit."""

    source_id: str | None
    """The node where they were marked; None where sources are not kept apart (``single``)."""
    source_subtask_index: int | None
    """Its partition; None where partitions of sources are not kept apart."""
    operator_id: str
    """The node that they passed; ``__commit__`` for the commit, ``__other__`` for all that are too many."""
    operator_subtask_index: int | None
    """Its partition; None at the commit, and of a run that only the event log tells of."""
    latency: MarkerStatistics
    """Over the window. No marker within it: None, never 0."""
    quiet: bool
    """Whether no marker came within the window."""
    last: MarkerStatistics
    """Of the last batch whose markers came so far."""
    last_committed: datetime
    """When that batch was committed, in UTC."""


@dataclass(frozen=True)
class Markers:
    """The latency markers of one run of a query."""

    interval: int
    """How often a batch carries them, at most."""
    granularity: str
    """``single``, ``operator`` or ``subtask``."""
    count: int
    """How many were marked and committed: one for each partition of a source in a batch that carries them."""
    marked: datetime | None
    """When those of the last such batch were marked, in UTC."""
    folded: int
    """How many histograms were too many, and are in ``__other__``."""
    text: str
    """How long they take to the commit, in a sentence."""
    of: tuple[MarkerLatency, ...]
    """In the order of the plan, upstream first, the commit last."""


@dataclass(frozen=True)
class BatchMarkerLatency:
    """How long the markers of a batch took from a source to an operator, in all of its partitions."""

    source_id: str | None
    """None where sources are not kept apart (``single``)."""
    operator_id: str
    """``__commit__`` for the commit."""
    latency: MarkerStatistics


@dataclass(frozen=True)
class BatchMarkers:
    """The latency markers that one batch carried."""

    count: int
    """One for each partition of a source."""
    marked: datetime
    """When they were, in UTC."""
    of: tuple[BatchMarkerLatency, ...]
    """By source and operator."""
