"""Which operators were at work for a batch, and how long: milliseconds, None where unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True)
class OperatorLatency:
    """How long the operators between a node and the node before it were at work; 0 at a source."""

    latency: float | None
    """In the last batch that tells it."""
    latency_ma: float | None
    """The mean over the last ten such batches, or over all while there are fewer."""


@dataclass(frozen=True)
class Step:
    """A part of the time on the critical path."""

    kind: str
    """``node``: the operators between a node and the node before it. ``stage``: the rest of a stage, which is
    reading, writing and what cannot be told apart. ``waiting``: between two stages, for scheduling, for
    stages without a node, or for others that had the slots."""
    nodes: tuple[str, ...]
    """Ids of the nodes whose time it is; of ``waiting``, those that ran meanwhile."""
    ms: float
    """How long it took."""
    share: float
    """Its part of the application latency, between 0 and 1."""
    text: str
    """What was at work, in words."""


@dataclass(frozen=True)
class PartitionTimes:
    """What a node did in one partition."""

    partition: int
    executor: str
    """Which executor ran it."""
    latency: float | None
    """For how long the operators between the node and the one before it were at work; None where that
    cannot be told."""
    took: float
    """For how long its task had run when the last row had passed the node."""
    ewt: float
    """When that was, since the first read."""
    records: int
    """How many passed."""


@dataclass(frozen=True)
class Partitions:
    """How evenly a node's work was spread: by operator latency, or where that is unknown by ``took``."""

    count: int
    """How many partitions there are; 0 of a window, and where an older event tells of the batch."""
    median: float | None
    slowest: float | None
    skew: float | None
    """How many times the median the slowest took; None where there is nothing to compare."""
    of: tuple[PartitionTimes, ...]
    """The slowest five, the slowest first."""


@dataclass(frozen=True)
class NodeTimes:
    """What a node did in one stage."""

    node: str
    latency: float | None
    """Its operator latency: how long the operators between it and the node before were at work. 0 at a
    source; None where it cannot be told from the rest of its stage."""
    share: float | None
    """Its part of the application latency, between 0 and 1; None where it is unknown or the node is not on
    the critical path."""
    without: float
    """The application latency if the node cost nothing."""
    ewt: float | None
    """Its end-window timestamp: when the last row of the batch had passed it, since the first read;
    None of a window."""
    partition: int
    """Which partition that row was in."""
    executor: str
    """Which executor ran it."""
    partitions: Partitions


@dataclass(frozen=True)
class Stage:
    """A stage with nodes in it. Times are since the first read."""

    upstream: tuple[int, ...]
    """Places, in ``stages``, of those that its nodes' records come from."""
    start: float
    """When its first task began."""
    end: float
    """When its last task was over."""
    tasks: int
    rest: float
    """What of its time belongs to no node alone: reading, writing and what cannot be told apart."""
    nodes: tuple[NodeTimes, ...]
    """In the order of the plan, upstream first."""


@dataclass(frozen=True)
class Operators:
    """Which operators were at work for one batch, from its first read to its last write."""

    of: str
    """``batch``; ``so-far`` for a batch that still runs, up to now; ``window`` in real-time and continuous
    mode: a second in which tasks told what they did. All stages run at once there, so a time is for how
    long operators were at work."""
    batch: int
    """The number of the batch; in a query's figures, of the last one that had records. Windows are counted
    from 1."""
    first_read: datetime
    """When its first task began to read, in UTC, by the driver's clock."""
    latency: float
    """The application latency: from the first read to the last write, along the critical path."""
    bound: float | None
    """How far executors' clocks may put times wrong at the most; None where a clock's offset is unknown."""
    text: str
    """Which step took longest, in a sentence."""
    critical_path: tuple[str, ...]
    """Ids of the nodes on the way through the stages that takes longest, upstream first."""
    steps: tuple[Step, ...]
    """What followed one another on the critical path. Their times add up to ``latency``."""
    stages: tuple[Stage, ...]
    """Each behind those that it reads from."""

    @property
    def nodes(self) -> tuple[NodeTimes, ...]:
        """The nodes of all stages, one stage after another. A node is there once for each that has it."""
        return tuple(node for stage in self.stages for node in stage.nodes)
