"""Queries as text, as tables and as HTML."""

from __future__ import annotations

import html as markup
import io
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.text import Text

from sparklatency.rendering import layout
from sparklatency.words import NOTHING, milliseconds, name, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparklatency.values.nodes import NodeSnapshot
    from sparklatency.values.queries import QueryLatency
    from sparklatency.values.statistics import BatchLatency

_NO_FORMULA = "tex2jax_ignore mathjax_ignore"
"""To MathJax 2 and 3: in a notebook it takes what stands between the dollars of two names for a formula."""
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
    blocks = ([*_table(query), *map(Text, _lines(query))] for query in queries)
    return Group(*[part for block in blocks for part in (Text(), *block)][1:])


def short_tables(queries: Sequence[QueryLatency]) -> RenderableType:
    """Returns no more than the headline below each table."""
    return Group(*(part for query in queries for part in (*_table(query), _headline(query))))


def headlines(queries: Sequence[QueryLatency]) -> RenderableType:
    """Returns no tables either."""
    captions = ((layout.caption(layout.heading(query)), _headline(query)) for query in queries)
    return Group(*(part for both in captions for part in both))


def html(queries: Sequence[QueryLatency]) -> str:
    """Returns an HTML fragment; names and ids are escaped."""
    if not queries:
        return f"<p>{NOTHING}</p>"
    tables = "\n".join(_html_table(query) for query in queries)
    return f'<div class="{_NO_FORMULA}">{tables}</div>'


def line(node: NodeSnapshot) -> str:
    """Returns one node's window as one line, for a log or a pipe."""
    if node.p50 is None:
        return f"{name(node.node)}: records {node.records:,}  latency unknown"
    figures = zip(_HEADINGS[1:], _figures(node, node), strict=True)
    return f"{name(node.node)}: " + "  ".join(f"{heading} {figure}" for heading, figure in figures)


def _table(query: QueryLatency) -> list[RenderableType]:
    nodes = [layout.table_of_nodes(_HEADINGS, _rows(query))] if query.nodes else []
    return [layout.caption(layout.heading_of_nodes(query)), *nodes]


def _headline(query: QueryLatency) -> Text:
    return Text(query.headline.text)


def _rows(query: QueryLatency) -> list[list[str]]:
    return [[node.node, *_figures(node, layout.latest(node))] for node in query.nodes]


def _figures(node: NodeSnapshot, shown: NodeSnapshot | BatchLatency) -> list[str]:
    latencies = (shown.min, shown.avg, shown.p50, shown.p90, shown.p99, shown.max)
    return [f"{node.records:,}", *(milliseconds(latency) for latency in latencies)]


def _lines(query: QueryLatency) -> list[str]:
    return layout.answer(query) + layout.notes(query) + layout.legend(_rows(query))


def _html_table(query: QueryLatency) -> str:
    def row(tag: str, values: Sequence[str], whole: str = "") -> str:
        first, *rest = (markup.escape(value) for value in values)
        right = "".join(f'<{tag} style="text-align:right">{value}</{tag}>' for value in rest)
        return f'<tr><{tag} style="text-align:left"{whole}>{first}</{tag}>{right}</tr>'

    lines = "".join(f"<div>{markup.escape(line)}</div>" for line in _lines(query))
    words = markup.escape(layout.heading_of_nodes(query))
    if not query.nodes:
        return f"<div{_whole(query.query)}>{words}</div>{lines}"
    body = "".join(row("td", [name(id_), *figures], _whole(id_)) for id_, *figures in _rows(query))
    caption = f'<caption style="text-align:left"{_whole(query.query)}>{words}</caption>'
    return f"<table>{caption}<thead>{row('th', _HEADINGS)}</thead><tbody>{body}</tbody></table>{lines}"


def _whole(raw: str) -> str:
    """Returns the attribute that shows the whole of a shortened name; nothing for any other."""
    whole = printable(raw)
    return "" if whole == name(raw) else f' title="{markup.escape(whole)}"'
