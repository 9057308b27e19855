"""Queries, as values of one moment: times in UTC, durations in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sparklatency.arguments import whole_number
from sparklatency.errors import SparkLatencyError
from sparklatency.values.history import History

if TYPE_CHECKING:
    from datetime import datetime

    from matplotlib.axes import Axes

    from sparklatency.values.answer import Headline, Note, Parts, Progress
    from sparklatency.values.batches import Batch
    from sparklatency.values.markers import Markers
    from sparklatency.values.nodes import Nodes, NodeSnapshot
    from sparklatency.values.operators import Operators
    from sparklatency.values.statistics import LatencySplit

_MOST_BATCHES = 2**31 - 1
"""What the JVM can count. No history is that long."""


class BatchReader(Protocol):
    """Reads the batches of the application that figures came from."""

    def batches(self, query: str, limit: int) -> tuple[Batch, ...]:
        """Returns the last ones of a run, or of the newest run of a query, oldest first."""


@dataclass(frozen=True)
class EarlierRun:
    """A run of a query that a newer one has followed. :func:`latency` reads it by its run id."""

    query: str
    id: str | None
    run: str | None
    status: str | None
    batches: int
    committed: datetime | None
    """When the results of its last batch could be seen, in UTC."""


@dataclass(frozen=True)
class QueryLatency:
    """The nodes of one query."""

    query: str
    """Name of the streaming query; its id where it has no name, or where another running query has the same
    name; ``__batch__`` for batch executions."""
    id: str | None
    """Id of the streaming query, the same after a restart from its checkpoint."""
    run: str | None
    """Id of this run of it: figures begin anew with each run."""
    status: str | None
    """``RUNNING``, ``FINISHED``, or ``FAILED`` if an error ended it; None where no event tells, as in a
    History Server of a driver that was killed, and of batch executions."""
    batches: int
    """Batches that were measured and committed."""
    folded: int
    """Nodes and tasks that were beyond ``spark.sparklatency.nodes.max`` and are in ``__other__``."""
    silent: bool
    """Whether no record with a timestamp came within the window. The headline, the slowest step, the critical
    path and every node's ``own`` and ``share`` are then of the last batch that reached each node."""
    headline: Headline
    parts: Parts
    progress: Progress
    notes: tuple[Note, ...]
    watermark_text: str
    """Where the query's watermark stands, of a run that has ended at its last commit, in a sentence."""
    slowest_step: str | None
    """The step that is the cause of the records' age, None where no step is. Where no cause is known, the
    node of the critical path with the greatest own time."""
    critical_path: tuple[str, ...]
    """From the slowest of the last nodes back along the slowest upstream node: ids, upstream first."""
    split: LatencySplit
    operators: Operators | None
    """Which operators were at work for the last batch that had records; in real-time and continuous mode,
    within the last second that tasks told of. None where nothing has told."""
    operators_so_far: Operators | None
    """The same of the batch in progress, up to now; None where none of its tasks has told."""
    markers: Markers | None
    """Its latency markers; None where ``spark.sparklatency.markers.interval`` is not set. Of a run that only
    the event log tells of, the partitions of a node are together."""
    nodes: Nodes[NodeSnapshot]
    last_batch: Batch | None
    """The last one whose results were committed."""
    oldest_uncommitted: int | None = None
    """Age in milliseconds of the oldest record that was there to be read and is not committed, at least."""
    reader: BatchReader | None = field(default=None, repr=False, compare=False)
    """Where these figures come from, and their history can be had."""

    @property
    def cause(self) -> str:
        """What makes records old, in a word: the ``code`` of the headline, as in SQL's column ``cause``.

        It is never None. :class:`Headline` lists the words; there ``node`` says whose it is, and ``own`` for
        how many milliseconds.
        """
        return self.headline.code

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
        limit = whole_number("history", "limit", limit)
        if limit < 1:
            raise ValueError(f"history: limit is {limit}. Give a whole number from 1.")
        if self.reader is None:
            raise SparkLatencyError("These figures came from no application, so there is no history of them.")
        return History(self.query, self.reader.batches(self.run or self.query, min(limit, _MOST_BATCHES)))

    def plot(self, limit: int = 100, ax: Axes | None = None) -> Axes:
        """Draws the history: see :meth:`History.plot`."""
        return self.history(limit).plot(ax)
