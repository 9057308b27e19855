"""Figures drawn by matplotlib, which is an extra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparklatency.errors import SparkLatencyError
from sparklatency.render import name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sparklatency.history import History


def of_history(history: History, ax: Axes | None) -> Axes:
    """Draws each node over the commits of batches: the median, and a band from there to the p99."""
    try:
        from matplotlib import dates, pyplot
    except ImportError as missing:
        raise SparkLatencyError("plot takes matplotlib: pip install matplotlib") from missing
    drawn: Any = pyplot.subplots(figsize=(9, 4.5), layout="constrained")[1] if ax is None else ax
    for node in dict.fromkeys(node.node for batch in history for node in batch.nodes):
        found = ((batch.committed, batch.nodes.get(node)) for batch in history)
        measured = [(committed, one) for committed, one in found if one and one.p50 is not None]
        if measured:  # a batch without records breaks no line
            times = [committed for committed, _ in measured]
            medians = [one.p50 for _, one in measured]
            (line,) = drawn.plot(times, medians, marker=".", label=f"{name(node)}: p50, band to p99")
            high = [one.p99 for _, one in measured]
            drawn.fill_between(times, medians, high, color=line.get_color(), alpha=0.2, linewidth=0)
    drawn.set_title(f"{name(history.query)}: record latency by batch")
    drawn.set_xlabel("results committed at [UTC]")
    drawn.set_ylabel("record e2e latency [ms]")
    locator = dates.AutoDateLocator()
    drawn.xaxis.set_major_locator(locator)
    drawn.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    drawn.grid(alpha=0.3)
    if drawn.lines:
        drawn.legend()
    return drawn  # type: ignore[no-any-return]
