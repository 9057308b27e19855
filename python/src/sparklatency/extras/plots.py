"""Pictures by matplotlib, which is an extra."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any

from sparklatency.errors import SparkLatencyError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from matplotlib.axes import Axes


def bands(
    title: str,
    axes: tuple[str, str],
    of: Sequence[tuple[str, Sequence[tuple[datetime, float, float]]]],
    ax: Axes | None,
) -> Axes:
    """Draws a line over time for each series, and a band from there upwards.

    Args:
        title: above it.
        axes: what they are called, time first. Times are in UTC, whatever the zone of matplotlib's settings.
        of: what the legend says, and moments, where the line is then, and how far up the band goes.
        ax: where to; without it, a new figure of matplotlib's pyplot.

    Raises:
        SparkLatencyError: matplotlib is not installed.
    """
    try:
        from matplotlib import dates, pyplot
    except ImportError as missing:
        raise SparkLatencyError("plot needs matplotlib: pip install matplotlib") from missing
    drawn: Any = pyplot.subplots(figsize=(9, 4.5), layout="constrained")[1] if ax is None else ax
    for label, points in of:
        times, low, high = zip(*points, strict=True)
        (line,) = drawn.plot(times, low, marker=".", label=_shown(label))
        drawn.fill_between(times, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    drawn.set_title(_plain(title))
    drawn.set_xlabel(axes[0])
    drawn.set_ylabel(axes[1])
    locator = dates.AutoDateLocator(tz=UTC)
    drawn.xaxis.set_major_locator(locator)
    drawn.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz=UTC))
    drawn.grid(alpha=0.3)
    if drawn.lines:
        drawn.legend()
    return drawn  # type: ignore[no-any-return]


def _plain(text: str) -> str:
    """Returns a text of which matplotlib takes nothing for a formula, as it does what is between two $."""
    return text.replace("$", r"\$")


def _shown(label: str) -> str:
    """Returns a label that is in the legend: matplotlib leaves out those that begin with an underscore."""
    return _plain(f" {label}" if label.startswith("_") else label)
