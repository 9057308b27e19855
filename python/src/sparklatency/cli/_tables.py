"""The tables of the commands, for a rich console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sparklatency.render import (
    LEGEND,
    UNKNOWN,
    counted,
    heading,
    latest,
    milliseconds,
    name,
    oldest_waiting,
    slowest_step,
    title,
    title_of_nodes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sparklatency.figures import Ages, ProcessingDelay
    from sparklatency.queries import Batch, QueryLatency

_OTHER_RECORDS = (
    "More or fewer records reached the end than came in: processing compares different records, "
    "statistic by statistic."
)
_OTHERS_COMMITTED = (
    "More or fewer records reached the end than were committed, as while a batch is on its way: commit "
    "compares different records, statistic by statistic."
)
_NONE_TAKEN_IN = f"{UNKNOWN} unknown: no record with a timestamp was taken in within the window"
_NONE_DROPPED = f"{UNKNOWN} unknown: none with a time since 1970 was dropped within the window"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Table:
    """Returns a table whose first columns are words, and the others numbers."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, show_header=any(headings))
    for place, words in enumerate(headings):
        made.add_column(words, justify="left" if place < left else "right", no_wrap=place >= left)
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def operators(query: QueryLatency) -> RenderableType:
    """Returns the nodes of a query, upstream first, its critical path, and the staleness of what has one."""
    rows = [
        [
            name(node.node),
            f"{node.records:,}",
            milliseconds(node.own),
            UNKNOWN if node.share is None else f"{100 * node.share:.0f} %",
            *map(milliseconds, (shown.p50, shown.p90, shown.p95, shown.p99, shown.p999, shown.max)),
        ]
        for node in query.nodes
        for shown in [latest(query, node)]
    ]
    headings = ("node", "records", "own", "share", "p50", "p90", "p95", "p99", "p99.9", "max")
    parts: list[RenderableType] = [
        _title(title_of_nodes(query)),
        table(headings, rows),
        *_lines(
            *_slowest(query),
            _critical_path(query),
            *oldest_waiting(query),
            LEGEND if _unknown(rows) else None,
        ),
    ]
    intakes = [
        [name(node.node), *map(milliseconds, (node.staleness.min, node.staleness.avg, node.staleness.max))]
        for node in query.nodes
        if node.staleness is not None
    ]
    if intakes:
        parts += [
            Text(),
            _title("staleness: age when a stateful operator took a record in, in ms over the window"),
            table(("node", "min", "avg", "max"), intakes),
            *_lines(_NONE_TAKEN_IN if _unknown(intakes) else None),
        ]
    return Group(*parts)


def info(query: QueryLatency) -> RenderableType:
    """Returns where the time of a query's records goes."""
    split = query.split
    parts = {
        "queuing": split.queuing,
        "processing": split.processing,
        "commit": split.commit,
        "total": split.total,
    }
    rows = [[part, *_statistics(figures)] for part, figures in parts.items()]
    return Group(
        _title(title(query)),
        table(("", "min", "avg", "p50", "p99", "max"), rows),
        *_lines(
            *_slowest(query),
            _critical_path(query),
            "last batch:    " + (UNKNOWN if query.last_batch is None else _batch(query.last_batch)),
            *oldest_waiting(query),
            LEGEND if _unknown(rows) else None,
            _OTHER_RECORDS if _differ(split.processing) else None,
            _OTHERS_COMMITTED if _differ(split.commit) else None,
        ),
    )


def watermarks(query: QueryLatency) -> RenderableType:
    """Returns the watermarks of the last batch, and what nodes have dropped."""
    batch = query.last_batch
    rows = [
        [
            name(one.source),
            one.column,
            "holds back" if one.holds_back else "",
            milliseconds(one.delay),
            _time(one.watermark),
            milliseconds(_lag(batch, one.watermark)),
        ]
        for one in (batch.watermarks if batch else ())
    ]
    late = [
        [name(node.node), f"{node.lateness.records:,}"]
        + [milliseconds(figure) for figure in (node.lateness.p50, node.lateness.p99, node.lateness.max)]
        for node in query.nodes
        if node.lateness is not None
    ]
    lag = None if batch is None else batch.watermark_lag
    moment = "" if batch is None else f", at the last commit, {_time(batch.committed)} UTC"
    headings = ("source", "column", "", "delay", "watermark [UTC]", "lag")
    parts = [
        _title(f"{heading(query)} · in ms{moment}"),
        table(headings, rows, left=3) if rows else Text("No watermark: no column of the query has one."),
        *_lines(_lag_in_words(lag) if rows else None),
    ]
    if late:
        parts += [
            Text(),
            _title("dropped late since the start · by how much, in ms over the window"),
            table(("node", "records", "p50", "p99", "max"), late),
            *_lines(_NONE_DROPPED if _unknown(late) else None),
        ]
    return Group(*parts)


def _title(words: str) -> Text:
    return Text(words, style="table.title")


def _slowest(query: QueryLatency) -> list[str]:
    return [line.replace("slowest step: ", "slowest step:  ") for line in slowest_step(query)]


def _critical_path(query: QueryLatency) -> str:
    return f"critical path: {' → '.join(map(name, query.critical_path)) or UNKNOWN}"


def _lines(*lines: str | None) -> list[Text]:
    return [Text(line) for line in lines if line is not None]


def _unknown(rows: Sequence[Sequence[str]]) -> bool:
    return any(cell == UNKNOWN for row in rows for cell in row)


def _differ(part: ProcessingDelay | None) -> bool:
    """Returns whether the part is known and compares different records."""
    return part is not None and not part.same_records


def _statistics(figures: Ages | ProcessingDelay | None) -> list[str]:
    if figures is None:
        return [UNKNOWN] * 5
    return [milliseconds(one) for one in (figures.min, figures.avg, figures.p50, figures.p99, figures.max)]


def _batch(batch: Batch) -> str:
    took = ", ".join(f"{part} {ms:,}" for part, ms in batch.durations.items() if ms)
    rows = counted(batch.input_rows, "row", "rows")
    ended = f"{batch.batch}, {rows}, committed {_time(batch.committed)} UTC"
    return f"{ended}, ms: {took}" if took else ended


def _lag_in_words(lag: int | None) -> str:
    if lag is None:
        return "the query's watermark has not moved yet"
    return f"the query's watermark was {lag:,} ms behind the clock"


def _time(time: datetime | None) -> str:
    return UNKNOWN if time is None else time.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def _lag(batch: Batch | None, watermark: datetime | None) -> int | None:
    if batch is None or watermark is None:
        return None
    return round((batch.committed - watermark).total_seconds() * 1000)
