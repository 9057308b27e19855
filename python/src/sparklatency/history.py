"""The last batches of a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from pandas import DataFrame

    from sparklatency.queries import Batch


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

        Columns are named as the fields of :class:`Batch` and :class:`NodeFigures`; those of a measure begin
        with its name, such as ``commit_p99``. Milliseconds, and times in UTC; unknown is ``<NA>``.

        Raises:
            SparkLatencyError: pandas is not installed.
        """
        from sparklatency._frames import of_batches

        return of_batches(self.batches)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the latency of each node over time: the median, and a band from there to the 99th percentile.

        Args:
            ax: where to; without it, a new figure of matplotlib's pyplot.

        Returns:
            The axes, of which ``.figure.savefig("latency.png")`` makes a picture.

        Raises:
            SparkLatencyError: matplotlib is not installed.
        """
        from sparklatency._plot import of_history

        return of_history(self, ax)
