"""What is known of many records at once: milliseconds, None where unknown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Statistics:
    """How old records were."""

    min: int | None
    avg: float | None
    p50: int | None
    p99: int | None
    max: int | None


@dataclass(frozen=True)
class BatchLatency(Statistics):
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
    """The age of records at the end of their way, in three parts; of the last batch that let some out."""

    queuing: Statistics | None
    """From a record's timestamp until the query first saw it; None without a node at the sources."""
    processing: ProcessingDelay | None
    """From there to the last nodes."""
    commit: ProcessingDelay | None
    """From there until the results of the batch could be seen."""
    total: Statistics | None
    """All of it: the age at the commit."""
