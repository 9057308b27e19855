"""What was measured at a node, as values of one moment: latencies in milliseconds, None where unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Ages:
    """How old records were."""

    min: int | None
    avg: float | None
    p50: int | None
    p99: int | None
    max: int | None


@dataclass(frozen=True)
class BatchLatency(Ages):
    """A node's latencies in the last batch that reached it."""

    records: int
    p90: int | None
    p95: int | None
    p999: int | None


@dataclass(frozen=True)
class CommitLatency:
    """How old records were when the results of their batch could be seen."""

    min: int | None
    avg: float | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    p999: int | None
    max: int | None


@dataclass(frozen=True)
class Staleness:
    """How old records were when a stateful operator took them in."""

    min: int | None
    avg: float | None
    max: int | None


@dataclass(frozen=True)
class Lateness:
    """How far behind the watermark the records were that a stateful operator dropped for it.

    Milliseconds of the stream's time; a watermark that waits longer by ``p99`` would have kept all but one in
    a hundred.
    """

    records: int
    """Records dropped; in a query's figures, since it started."""
    min: int | None
    avg: float | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    max: int | None


@dataclass(frozen=True)
class ProcessingDelay:
    """How much older records are at a node than they were at one upstream of it.

    The difference of the two nodes' figures, statistic by statistic. Of the same records none is negative.
    """

    same_records: bool
    """Whether as many records passed the one node as the other. If not, some were merged, multiplied or
    dropped on the way or are still on it, and the difference is one between two populations."""
    min: float | None
    avg: float | None
    p50: float | None
    p99: float | None
    max: float | None


@dataclass(frozen=True)
class Delays:
    """The delay on the way from one node to another."""

    window: ProcessingDelay
    batch: ProcessingDelay
    """Of the last batch that reached each of the two."""


@dataclass(frozen=True)
class LatencySplit:
    """The age of records at the end of their way, in three parts."""

    queuing: Ages | None
    """From a record's timestamp until the query first saw it; None without a node at the sources."""
    processing: ProcessingDelay | None
    """From there to the last nodes."""
    commit: ProcessingDelay | None
    """From there until the results of the batch could be seen."""
    total: Ages | None
    """All of it: the age at the commit."""


@dataclass(frozen=True)
class NodeFigures:
    """What one node measured. Percentiles are at most 1 % too high; the rest is exact."""

    node: str
    records: int
    min: int | None
    avg: float | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    p999: int | None
    max: int | None
    without_timestamp: int
    """Records that were not measured: no timestamp, or one before 1970."""
    ahead_of_clock: int
    """Records with a timestamp in the future, measured as a negative latency."""
    max_lead: int | None
    """How far the furthest of those was ahead."""
    own: float | None
    """The mean time between the slowest node upstream of this one and this one; at a source, the mean age
    that records arrive with. Negative where fewer, or younger, records reach this node. Of the last batch
    that reached each node where the query is ``silent``, and so is ``share``."""
    share: float | None
    """What part of all own times on the critical path this one is, between 0 and 1."""
    upstream: tuple[str, ...]
    """Ids of the nodes whose records come to this one next."""
    commit: CommitLatency | None
    """Of the last nodes of a query."""
    staleness: Staleness | None
    """Of a node at the end of an operator that keeps state, with automatic stateful nodes at level TRACE."""
    lateness: Lateness | None
    """Of the same."""

    if TYPE_CHECKING:  # a strict mypy takes `"sink" in nodes` for a slip, unless a node may equal a string

        def __eq__(self, other: object, /) -> bool: ...


@dataclass(frozen=True)
class NodeLatency(NodeFigures):
    """One node's figures as the driver has them.

    Latencies cover a sliding window, by default the last 60 to 90 seconds; counts of records cover everything
    since the query started.
    """

    batch: BatchLatency
    delays: Mapping[str, Delays]
    """The delay from each node that is upstream of this one, nearest first."""
