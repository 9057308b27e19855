"""Queries on a screen, which has no room below its last line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.text import Text

from sparklatency.rendering.queries import headlines, short_tables, tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType

    from sparklatency.values.queries import QueryLatency

_MORE = "… There is more than fits on this screen. Add --once to see it all."


class Screen:
    """All that is said of queries where it fits on the screen, else less of each; a last line says so."""

    def __init__(self, queries: Sequence[QueryLatency]) -> None:
        self._queries = queries

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        def lines(of: RenderableType) -> list[list[Segment]]:
            return console.render_lines(of, options, pad=False)

        shown, room = lines(tables(self._queries)), options.size.height
        if len(shown) > room:
            more = lines(Text(_MORE, no_wrap=True, overflow="ellipsis"))
            shown = lines(short_tables(self._queries))
            if len(shown) + len(more) > room:
                shown = lines(headlines(self._queries))
            shown = shown[: room - len(more)] + more
        for line in shown:
            yield from line
            yield Segment.line()
