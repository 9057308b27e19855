"""Queries and their batches, as values of one moment: times in UTC, durations in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparklatency.errors import SparkLatencyError, check_type

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from matplotlib.axes import Axes

    from sparklatency._readers import Reader
    from sparklatency.figures import LatencySplit, NodeFigures, NodeLatency
    from sparklatency.history import History
    from sparklatency.nodes import Nodes


@dataclass(frozen=True)
class SourceWatermark:
    """The watermark of one watermarked column."""

    source: str
    """What it comes from, ``kafka[orders]`` say."""
    column: str
    delay: int
    """The delay that ``withWatermark`` was given, in milliseconds."""
    watermark: datetime | None
    """The greatest event time seen by this run, less the delay, in UTC."""
    holds_back: bool
    """Whether the query's watermark is this one."""


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
    nodes: Nodes[NodeFigures]


@dataclass(frozen=True)
class QueryLatency:
    """The nodes of one query."""

    query: str
    """Name of the streaming query, its id where it has no name, ``__batch__`` for batch executions."""
    id: str | None
    """Id of the streaming query, the same after a restart from its checkpoint."""
    run: str | None
    """Id of this run of it: figures begin anew with each run."""
    status: str | None
    """``RUNNING``, ``FINISHED``, or ``FAILED`` if an error ended it; None where no event tells, as in a
    History Server of a driver that was killed, and of batch executions."""
    batches: int
    """Batches that have been measured."""
    folded: int
    """Nodes and tasks that were beyond ``spark.sparklatency.nodes.max`` and are in ``__other__``."""
    silent: bool
    """Whether no record with a timestamp came within the window. The slowest step, the critical path, the
    split and every node's ``own`` and ``share`` are then of the last batch that reached each node."""
    slowest_step: str | None
    """The node of the critical path with the greatest own time."""
    critical_path: tuple[str, ...]
    """From the slowest of the last nodes back along the slowest upstream node: ids, upstream first."""
    split: LatencySplit
    nodes: Nodes[NodeLatency]
    last_batch: Batch | None
    """The last one whose results were committed."""
    oldest_uncommitted: int | None = None
    """Age in milliseconds of the oldest record that was read and not committed, as far as tasks have told."""
    reader: Reader | None = field(default=None, repr=False, compare=False)
    """Where these figures come from, and their history can be had."""

    @property
    def has_failed(self) -> bool:
        """Whether an error ended this run."""
        return self.status == "FAILED"

    def history(self, limit: int = 100) -> History:
        """Reads the last batches of this run, oldest first.

        Args:
            limit: how many at the most; ``spark.sparklatency.history.batches`` of each run are kept.

        Raises:
            TypeError: the limit is no number.
            ValueError: the limit is less than 1.
            SparkLatencyError: the application has ended or is out of reach.
        """
        from sparklatency import _parse
        from sparklatency.history import History

        check_type("history", "limit", limit, int)
        if limit < 1:
            raise ValueError(f"history: limit is {limit}, and a whole number from 1 is allowed")
        if self.reader is None:
            raise SparkLatencyError("These figures came from no application, so there is no history of them.")
        batches = _parse.batches(self.reader.history(self.run or self.query, limit))
        return History(self.query, batches)

    def plot(self, limit: int = 100, ax: Axes | None = None) -> Axes:
        """Draws the history: see :meth:`History.plot`."""
        return self.history(limit).plot(ax)
