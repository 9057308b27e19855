"""Batches of a query, as values of one moment: times in UTC, durations in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sparklatency.values.markers import BatchMarkers
    from sparklatency.values.nodes import NodeLatencies, Nodes
    from sparklatency.values.operators import Operators
    from sparklatency.values.statistics import LatencySplit


@dataclass(frozen=True)
class SourceWatermark:
    """The watermark of one watermarked column."""

    source: str
    """What it comes from, ``kafka[orders]`` say."""
    column: str
    delay: int
    """The delay that ``withWatermark`` was given, or the lag of a system-time watermark, in milliseconds."""
    watermark: datetime | None
    """The greatest event time seen by this run, or the time of the clock, less the delay, in UTC."""
    lag: int | None
    """How far that was behind the clock at the commit, in milliseconds."""
    holds_back: bool
    """Whether the query's watermark is this one."""
    kind: str
    """``event-time``, or ``system-time`` if it goes by the clock."""
    idle_since: datetime | None
    """Of a source that has been silent for so long that it holds nobody back: when its last record came."""


@dataclass(frozen=True)
class Batch:
    """One batch of a query, and what its nodes measured of its records alone. Times are in UTC."""

    batch: int
    start: datetime
    """When it was triggered."""
    committed: datetime
    """When its results could be seen."""
    input_rows: int
    dropped_late: int
    """Records that stateful operators dropped for the watermark, where Spark counts them."""
    tasks_failed: int
    """Attempts of tasks that have failed since the batch before was committed, where anybody has told."""
    watermark: datetime | None
    """The event-time watermark by which they did."""
    watermark_lag: int | None
    """How far that was behind the clock at the commit, in milliseconds."""
    watermarks: tuple[SourceWatermark, ...]
    durations: Mapping[str, int]
    """Where the batch's own time went, in milliseconds, as Spark's progress has it."""
    slowest_step: str | None
    critical_path: tuple[str, ...]
    split: LatencySplit
    operators: Operators | None
    """Which operators were at work for it; None where no task has told."""
    markers: BatchMarkers | None
    """The latency markers that it carried; None where it carried none."""
    nodes: Nodes[NodeLatencies]
