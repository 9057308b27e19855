"""Figures as text, as HTML and as a live table, in the same words.

A latency that is unknown is an en dash everywhere, and the legend that says so stands wherever there is one.
"""

from __future__ import annotations

import html as markup
import io
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparklatency.view import NodeLatency, QueryLatency

UNKNOWN = "–"  # noqa: RUF001  an en dash, as in printed tables
LEGEND = f"{UNKNOWN} unknown: no record with a timestamp within the window"
NOTHING = "No figures yet: no batch of a query with a marked node has ended."

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
        table = Table(
            box=box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            title=Text(_title(query)),
            title_justify="left",
        )
        for heading in _HEADINGS:
            table.add_column(heading, justify="left" if heading == "node" else "right", no_wrap=True)
        for node in query.nodes:
            table.add_row(*(Text(cell) for cell in cells(node)))
        parts += [Text(), table, *(Text(note) for note in _notes(query))]
    return Group(*parts[1:])


def html(queries: Sequence[QueryLatency]) -> str:
    """Returns an HTML fragment; names and ids are escaped."""
    if not queries:
        return f"<p>{NOTHING}</p>"
    return "\n".join(_html_table(query) for query in queries)


def cells(node: NodeLatency) -> list[str]:
    """Returns one row of a table, in the order of its headings."""
    latencies = (node.min, node.avg, node.p50, node.p90, node.p99, node.max)
    return [node.node, f"{node.records:,}", *(milliseconds(latency) for latency in latencies)]


def line(node: NodeLatency) -> str:
    """Returns one node as one line, for a log or a pipe."""
    if node.p50 is None:
        return f"{node.node}: records {node.records:,}  latency unknown"
    figures = zip(_HEADINGS[1:], cells(node)[1:], strict=True)
    return f"{node.node}: " + "  ".join(f"{heading} {figure}" for heading, figure in figures)


def milliseconds(latency: float | None) -> str:
    """Returns a latency without its unit: whole where it is exact, one decimal for a mean."""
    if latency is None:
        return UNKNOWN
    return f"{latency:,.1f}" if isinstance(latency, float) else f"{latency:,}"


def _title(query: QueryLatency) -> str:
    batches = "1 batch" if query.batches == 1 else f"{query.batches:,} batches"
    return f"{query.query} · {batches} · latency in ms"


def _notes(query: QueryLatency) -> list[str]:
    notes = [LEGEND] if any(node.p50 is None for node in query.nodes) else []
    for node in query.nodes:
        if node.without_timestamp:
            notes.append(f"{node.node}: {node.without_timestamp:,} not measured, without a timestamp")
        if node.ahead_of_clock:
            furthest = f", up to {node.max_lead:,} ms" if node.max_lead is not None else ""
            notes.append(f"{node.node}: {node.ahead_of_clock:,} ahead of the clock{furthest}")
    return notes


def _html_table(query: QueryLatency) -> str:
    def row(tag: str, values: Sequence[str]) -> str:
        first, *rest = (markup.escape(value) for value in values)
        right = "".join(f'<{tag} style="text-align:right">{value}</{tag}>' for value in rest)
        return f'<tr><{tag} style="text-align:left">{first}</{tag}>{right}</tr>'

    body = "".join(row("td", cells(node)) for node in query.nodes)
    notes = "".join(f"<div>{markup.escape(note)}</div>" for note in _notes(query))
    caption = f'<caption style="text-align:left">{markup.escape(_title(query))}</caption>'
    return f"<table>{caption}<thead>{row('th', _HEADINGS)}</thead><tbody>{body}</tbody></table>{notes}"
