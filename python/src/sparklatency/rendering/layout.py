"""What all tables have: headings, columns that keep their figures, and what they say of a query.

What is unknown is an en dash in every table, and a legend below says what that means wherever there is one.
Beside a node's figures an id has one line, and gives way to them. Elsewhere a name that is long is broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from sparklatency.words import NAME_WIDTH, UNKNOWN, counted, name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType

    from sparklatency.values.nodes import NodeSnapshot
    from sparklatency.values.queries import QueryLatency
    from sparklatency.values.statistics import BatchLatency

LEGEND = f"{UNKNOWN} unknown: no record to tell by"


def heading(query: QueryLatency) -> str:
    """Returns a query's name and size, and how it ended, if it has."""
    ended = "" if query.status in (None, "RUNNING") else f" · {query.status.lower()}"
    return f"{name(query.query)} · {counted(query.batches, 'batch', 'batches')}{ended}"


def heading_of_nodes(query: QueryLatency) -> str:
    """Returns the heading of a table of a query's nodes, which says whose figures :func:`latest` gives."""
    if not query.nodes:
        return heading(query)
    span = "of each node's last batch" if query.silent else "over the window"
    return f"{heading(query)} · latency in ms {span}, records since the start"


def latest(node: NodeSnapshot) -> NodeSnapshot | BatchLatency:
    """Returns what a table shows of a node: the window, or the last batch where the window has no record."""
    return node.batch if node.quiet else node


def answer(query: QueryLatency) -> list[str]:
    """Returns what is said of a query first, a line each, as the JVM has written it."""
    work = [told.text for told in (query.operators, query.operators_so_far) if told is not None]
    lines = (query.headline.text, query.parts.text, *_of_markers(query), *work, query.progress.text)
    # Where nothing else is known, the headline is what is said of the work.
    return list(dict.fromkeys(text for text in lines if text is not None))


def _of_markers(query: QueryLatency) -> list[str]:
    """Returns what markers tell, where no row above it has an age."""
    if query.markers is None or any(latest(node).avg is not None for node in query.nodes):
        return []
    return [query.markers.text]


def notes(query: QueryLatency) -> list[str]:
    """Returns what is said of a query last, a line each, as the JVM has written it.

    That an error ended it, or that its batch hangs, is a note also where :func:`answer` has said it.
    """
    said = answer(query)
    return [note.text for note in query.notes if note.text not in said]


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Table:
    """Returns a table whose first columns are words, and the others numbers."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=any(headings))
    for place, words in enumerate(headings):
        if place < left:  # where a name or a path does not fit, all of it is still to be read
            made.add_column(words, justify="left", overflow="fold")
        else:
            made.add_column(words, justify="right", no_wrap=True)
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def table_of_nodes(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    """Returns a table of node ids and numbers. In a narrow terminal the ids give way, then some numbers."""
    return _Nodes(headings, rows)


def caption(words: str) -> Text:
    """Returns the line above a table."""
    return Text(words, style="table.title")


def legend(rows: Iterable[Sequence[str]], words: str = LEGEND) -> list[str]:
    """Returns what an en dash means, where there is one."""
    return [words] if any(cell == UNKNOWN for row in rows for cell in row) else []


class _Nodes:
    """A table that leaves out whole columns where a terminal is too narrow for all, and says which."""

    _FIRST_TO_GO = (
        *("p95", "p99.9", "p90", "executor", "partition", "ewt", "without"),
        *("share", "own", "p50", "min", "avg"),
    )

    def __init__(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self._headings = headings
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        shown, gone = list(self._headings), list[str]()
        for heading in filter(shown.copy().__contains__, self._FIRST_TO_GO):
            if Measurement.get(console, options, self._table(shown)).minimum < options.max_width:
                break
            shown.remove(heading)
            gone.append(heading)
        yield self._table(shown)
        if gone:
            yield Text(f"Not shown, for the terminal is too narrow: {', '.join(gone)}")

    def _table(self, shown: Sequence[str]) -> Table:
        made = table(shown, [])
        for id_, *figures in self._rows:
            known = zip(self._headings[1:], figures, strict=True)
            made.add_row(_Name(id_), *(Text(figure) for heading, figure in known if heading in shown))
        return made


class _Name:
    """A name that gives way to the figures beside it, in its middle, where a terminal is too narrow."""

    _LEAST = 12

    def __init__(self, raw: str) -> None:
        self._raw = raw

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = cell_len(name(self._raw))
        return Measurement(min(width, self._LEAST), width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Text]:
        yield Text(name(self._raw, min(options.max_width, NAME_WIDTH)))
