"""What was measured at the nodes of a query, by position or by id: milliseconds, None where unknown."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, TypeVar, overload

from sparklatency.words import names, value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sparklatency.values.operators import OperatorLatency
    from sparklatency.values.statistics import BatchLatency, CommitLatency, Delays, Lateness, Staleness

T = TypeVar("T")


@dataclass(frozen=True)
class NodeLatencies:
    """What one node measured, of a batch say. Percentiles are at most 1 % too high; the rest is exact."""

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
    that reached a node where that is ``quiet``, and so is ``share``."""
    share: float | None
    """What part of ``headline.whole`` this node's own time is, between 0 and 1. The whole is the mean age at
    the end, or the sum of the own times on the critical path if that is more."""
    upstream: tuple[str, ...]
    """Ids of the nodes whose records come to this one next."""
    timestamp: str | None
    """The column that says when a record happened; None of a node that only drops records, and where the
    driver is older than this release."""
    commit: CommitLatency | None
    """Of the last nodes of a query."""
    staleness: Staleness | None
    """Of a node at the end of an operator that keeps state, with automatic stateful nodes at level TRACE."""
    lateness: Lateness | None
    """Of the same, by a watermark of event time."""
    system_time_lateness: Lateness | None
    """Of the same, by a system-time watermark."""

    if TYPE_CHECKING:  # a strict mypy takes `"sink" in nodes` for a slip, unless a node may equal a string

        def __eq__(self, other: object, /) -> bool: ...


@dataclass(frozen=True)
class NodeSnapshot(NodeLatencies):
    """One node's figures as the driver has them at one moment.

    Latencies cover a sliding window, by default the last 60 to 90 seconds; counts of records cover everything
    since the query started.
    """

    quiet: bool
    """Whether no record with a timestamp came within the window, and some came before. ``own``, ``share``
    and every table are then of ``batch``."""
    batch: BatchLatency
    """The last batch that reached the node."""
    batch_committed: datetime | None
    """When that was committed, in UTC; None before the first."""
    operator: OperatorLatency
    """How long the operators between this node and the one before it were at work."""
    delays: Mapping[str, Delays]
    """The delay from each node that is upstream of this one, nearest first."""


N = TypeVar("N", bound=NodeLatencies)


class Nodes(tuple[N, ...]):
    """Nodes in the order of the plan, upstream first; by position, or by node id."""

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> N: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[N, ...]: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> N | tuple[N, ...]:
        if not isinstance(key, str):
            return super().__getitem__(key)
        found = [node for node in self if node.node == key]
        if len(found) != 1:
            problem = f"{len(found)} queries have a node" if found else "there is no node"
            raise KeyError(f"{problem} {value(key)}; nodes: {names(node.node for node in self)}")
        return found[0]

    def __contains__(self, key: object) -> bool:
        """Tells whether there is a node of that id; or, as in any tuple, that very node."""
        if isinstance(key, str):
            return any(one.node == key for one in self)
        return super().__contains__(key)

    @overload
    def get(self, key: SupportsIndex | str) -> N | None: ...
    @overload
    def get(self, key: SupportsIndex | str, default: T) -> N | T: ...
    def get(self, key: SupportsIndex | str, default: object = None) -> object:
        """Returns the node at that position or of that id, or else the default.

        Raises:
            KeyError: several queries have a node of that id.
        """
        if isinstance(key, str):
            there = any(one.node == key for one in self)
        else:
            there = -len(self) <= index(key) < len(self)
        return self[key] if there else default
