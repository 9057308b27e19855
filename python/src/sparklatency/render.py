"""Figures as text, as HTML and as a live table, in the same words.

A latency that is unknown is an en dash everywhere, and the legend that says so stands wherever there is one.
A name or id never takes more than a line, nor so much of it that the figures are out of sight.
"""

from __future__ import annotations

import html as markup
import io
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import ConsoleOptions

    from sparklatency.figures import BatchLatency, NodeLatency
    from sparklatency.queries import QueryLatency

UNKNOWN = "–"  # noqa: RUF001  an en dash, as in printed tables
ELLIPSIS = "…"
LEGEND = f"{UNKNOWN} unknown: no record with a timestamp"
_NO_RECORD = f"{UNKNOWN} unknown: no record has come yet"
NOTHING = "No figures yet: no batch of a query with a marked node has ended."

_NAME_WIDTH = 48
_VISIBLE = 0.5
"""What is less, in milliseconds, is lost when it is rounded."""
_HEADINGS = ("node", "records", "min", "avg", "p50", "p90", "p99", "max")


def text(queries: Sequence[QueryLatency]) -> str:
    """Returns aligned plain text, a table for each query."""
    out = io.StringIO()
    console = Console(file=out, width=10_000, color_system=None, force_terminal=False, force_jupyter=False)
    console.print(tables(queries))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())


def tables(queries: Sequence[QueryLatency]) -> RenderableType:
    """Returns the same for a rich console."""
    if not queries:
        return Text(NOTHING)
    parts: list[RenderableType] = []
    for query in queries:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        table.add_column(_HEADINGS[0])  # the one column that a narrow terminal makes narrower
        for heading in _HEADINGS[1:]:
            table.add_column(heading, justify="right", no_wrap=True)
        for node in query.nodes:
            table.add_row(_Name(node.node), *map(Text, cells(node, latest(query, node))[1:]))
        caption = Text(title_of_nodes(query), style="table.title")
        parts += [Text(), caption, table, *(Text(note) for note in _notes(query))]
    return Group(*parts[1:])


def html(queries: Sequence[QueryLatency]) -> str:
    """Returns an HTML fragment; names and ids are escaped."""
    if not queries:
        return f"<p>{NOTHING}</p>"
    return "\n".join(_html_table(query) for query in queries)


def name(raw: str, width: int = _NAME_WIDTH) -> str:
    r"""Returns a name or id as it is shown: on one line, and without its middle where it is too wide.

    What cannot be seen is written as in Python (``\n``, ``\x1b``). Ids that end differently stay different.
    """
    shown = _printable(raw)
    if cell_len("".join(shown)) <= width:
        return "".join(shown)
    tail = _fitting(reversed(shown), (width - 1) // 2)[::-1]
    head = _fitting(shown, width - 1 - cell_len("".join(tail)))
    return "".join([*head, ELLIPSIS, *tail])


def latest(query: QueryLatency, node: NodeLatency) -> NodeLatency | BatchLatency:
    """Returns what a table shows of a node: the window, or in silence the last batch that reached it."""
    return node.batch if query.silent else node


def cells(node: NodeLatency, shown: NodeLatency | BatchLatency) -> list[str]:
    """Returns one row of a table, in the order of its headings."""
    latencies = (shown.min, shown.avg, shown.p50, shown.p90, shown.p99, shown.max)
    return [name(node.node), f"{node.records:,}", *(milliseconds(latency) for latency in latencies)]


def line(node: NodeLatency) -> str:
    """Returns one node's window as one line, for a log or a pipe."""
    if node.p50 is None:
        return f"{name(node.node)}: records {node.records:,}  latency unknown"
    figures = zip(_HEADINGS[1:], cells(node, node)[1:], strict=True)
    return f"{name(node.node)}: " + "  ".join(f"{heading} {figure}" for heading, figure in figures)


def milliseconds(latency: float | None) -> str:
    """Returns a latency without its unit: whole where it is exact, one decimal for a mean."""
    if latency is None:
        return UNKNOWN
    return f"{latency:,.1f}" if isinstance(latency, float) else f"{latency:,}"


def counted(number: int, one: str, more: str) -> str:
    """Returns a number and what it counts."""
    return f"{number:,} {one if number == 1 else more}"


def heading(query: QueryLatency) -> str:
    """Returns a query's name and size, and how it ended, if it has."""
    ended = "" if query.status in (None, "RUNNING") else f" · {query.status.lower()}"
    return f"{name(query.query)} · {counted(query.batches, 'batch', 'batches')}{ended}"


def title(query: QueryLatency) -> str:
    """Returns the heading of a query's latencies."""
    known = query.silent and any(node.batch.p50 is not None for node in query.nodes)
    span = "of each node's last batch" if known else "over the window"
    return f"{heading(query)} · latency in ms {span}"


def title_of_nodes(query: QueryLatency) -> str:
    """Returns the heading of a table of nodes, which has their counts of records, too."""
    return f"{title(query)}, records since the start"


def slowest_step(query: QueryLatency) -> list[str]:
    """Returns where the time goes, a line or two; none where that is unknown, or one node no choice."""
    if query.slowest_step is None or len(query.critical_path) < 2:
        return []
    node = query.nodes[query.slowest_step]
    if not node.own or not node.share:
        return []
    step = name(node.node) if node.upstream else f"the way to {name(node.node)}"
    whole = node.own / node.share
    lines = [f"slowest step: {step}, {node.own:,.0f} ms of {whole:,.0f} ({100 * node.share:.0f} %)"]
    end = latest(query, query.nodes[query.critical_path[-1]]).avg
    younger = [name(id_) for id_ in query.critical_path[1:] if (query.nodes[id_].own or 0) <= -_VISIBLE]
    if younger and end is not None and whole - end >= _VISIBLE:
        where = ", ".join(younger)
        more = f"more than the mean age at the end, {end:,.0f} ms"
        lines.append(f"{more}: what leaves {where} is younger on average than what comes to it")
    return lines


def oldest_waiting(query: QueryLatency) -> list[str]:
    """Returns how old the oldest record is that waits for its commit, a line; none where none waits."""
    if query.oldest_uncommitted is None:
        return []
    return [f"oldest record that waits for its commit: {query.oldest_uncommitted:,} ms"]


def _notes(query: QueryLatency) -> list[str]:
    notes = slowest_step(query)
    if any(latest(query, node).p50 is None for node in query.nodes):
        notes.append(LEGEND if any(node.records for node in query.nodes) else _NO_RECORD)
    notes += oldest_waiting(query)
    for node in query.nodes:
        if node.lateness is not None and node.lateness.records:
            furthest = f", up to {node.lateness.max:,} ms behind the watermark" if node.lateness.max else ""
            notes.append(f"{name(node.node)}: {node.lateness.records:,} dropped late{furthest}")
        if node.without_timestamp:
            notes.append(f"{name(node.node)}: {node.without_timestamp:,} not measured, without a timestamp")
        if node.ahead_of_clock:
            furthest = f", up to {node.max_lead:,} ms" if node.max_lead is not None else ""
            notes.append(f"{name(node.node)}: {node.ahead_of_clock:,} ahead of the clock{furthest}")
    if query.folded:
        notes.append(f"nodes and tasks folded into __other__: {query.folded:,}")
    return notes


def _html_table(query: QueryLatency) -> str:
    def row(tag: str, values: Sequence[str], whole: str = "") -> str:
        first, *rest = (markup.escape(value) for value in values)
        right = "".join(f'<{tag} style="text-align:right">{value}</{tag}>' for value in rest)
        return f'<tr><{tag} style="text-align:left"{whole}>{first}</{tag}>{right}</tr>'

    body = "".join(row("td", cells(node, latest(query, node)), _whole(node.node)) for node in query.nodes)
    notes = "".join(f"<div>{markup.escape(note)}</div>" for note in _notes(query))
    words = markup.escape(title_of_nodes(query))
    caption = f'<caption style="text-align:left"{_whole(query.query)}>{words}</caption>'
    return f"<table>{caption}<thead>{row('th', _HEADINGS)}</thead><tbody>{body}</tbody></table>{notes}"


def _whole(raw: str) -> str:
    """Returns the attribute that shows the whole of a shortened name; nothing for any other."""
    whole = "".join(_printable(raw))
    return "" if whole == name(raw) else f' title="{markup.escape(whole)}"'


def _printable(raw: str) -> list[str]:
    return [char if char.isprintable() else char.encode("unicode_escape").decode() for char in raw]


def _fitting(pieces: Iterable[str], width: int) -> list[str]:
    """Returns the first of the pieces, as many as fit."""
    fitting: list[str] = []
    for piece in pieces:
        width -= cell_len(piece)
        if width < 0:
            break
        fitting.append(piece)
    return fitting


class _Name:
    """A name that gives way to the figures beside it, in its middle, where a terminal is too narrow."""

    def __init__(self, raw: str) -> None:
        self._raw = raw

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, cell_len(name(self._raw)))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Text]:
        yield Text(name(self._raw, min(options.max_width, _NAME_WIDTH)))
