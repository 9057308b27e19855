"""The last batches of a query."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from sparklatency.extras import frames, plots
from sparklatency.values.batches import Batch
from sparklatency.values.nodes import NodeLatencies
from sparklatency.values.statistics import CommitLatency, Lateness, Staleness
from sparklatency.words import name, printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from matplotlib.axes import Axes
    from pandas import DataFrame

_TITLE = "record latency by batch"
MEASURES = {
    "commit": CommitLatency,
    "staleness": Staleness,
    "lateness": Lateness,
    "system_time_lateness": Lateness,
}
"""Fields of a node that hold figures of their own, for a data frame."""


@dataclass(frozen=True)
class History:
    """Batches of one run of a query, oldest first; as a sequence, too."""

    query: str
    batches: tuple[Batch, ...]

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.batches)

    @overload
    def __getitem__(self, key: int) -> Batch: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Batch, ...]: ...
    def __getitem__(self, key: int | slice) -> Batch | tuple[Batch, ...]:
        return self.batches[key]

    def to_pandas(self) -> DataFrame:
        """Returns one row for each batch and node.

        Columns are named as the fields of :class:`Batch` and :class:`NodeLatencies`; those of a measure begin
        with its name, such as ``commit_p99``. Milliseconds, and times in UTC; unknown is ``<NA>``.

        Raises:
            SparkLatencyError: pandas is not installed.
        """
        rows = ((batch, node) for batch in self for node in batch.nodes)
        return frames.frame((Batch, NodeLatencies), MEASURES, rows)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the latency of each node over time: the median, and a band from there to the 99th percentile.

        Args:
            ax: where to; without it, a new figure of matplotlib's pyplot.

        Returns:
            The axes, of which ``.figure.savefig("latency.png")`` makes a picture.

        Raises:
            SparkLatencyError: matplotlib is not installed.
        """
        ids = dict.fromkeys(node.node for batch in self for node in batch.nodes)
        shown = Counter(map(name, ids))  # of long ids that differ in the middle alone, the whole of each
        labels = {id_: name(id_) if shown[name(id_)] == 1 else printable(id_) for id_ in ids}
        series = [(f"{label}: p50, band to p99", self._percentiles(id_)) for id_, label in labels.items()]
        return plots.bands(
            f"{name(self.query)}: {_TITLE}" if self.query else _TITLE,
            ("results committed at [UTC]", "record e2e latency [ms]"),
            [(label, points) for label, points in series if points],
            ax,
        )

    def _percentiles(self, node: str) -> list[tuple[datetime, float, float]]:
        """Returns time, p50 and p99 of each batch that measured the node: no other breaks its line."""
        found = ((batch.committed, batch.nodes.get(node)) for batch in self)
        return [
            (committed, one.p50, one.p99)
            for committed, one in found
            if one is not None and one.p50 is not None and one.p99 is not None
        ]
