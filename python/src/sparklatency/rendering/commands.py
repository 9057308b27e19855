"""What the commands ``operators``, ``path``, ``info`` and ``watermarks`` print, for a rich console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from sparklatency.rendering import layout
from sparklatency.words import UNKNOWN, counted, milliseconds, name, percent

if TYPE_CHECKING:
    from datetime import datetime

    from sparklatency.values.batches import Batch
    from sparklatency.values.operators import Operators
    from sparklatency.values.queries import QueryLatency
    from sparklatency.values.statistics import ProcessingDelay, Statistics

_NONE_KNOWN = "none is known"
_NO_BATCH_TELLS = "No batch with records has told which operators were at work."
_OF_NODES = (
    "operator latency of the nodes, in ms · without: the application latency if the node cost nothing · "
    "ewt: when the last row had passed, since the first read, in this partition"
)
_NOT_TOLD_APART = f"{UNKNOWN} operator latency unknown: no batch tells it from the rest of its stage"
_NOT_TOLD_IN_BATCH = f"{UNKNOWN} operator latency unknown: it cannot be told from the rest of its stage"
_OFF_THE_PATH = f"{UNKNOWN} no share: not on the critical path"
_NONE_TAKEN_IN = f"{UNKNOWN} unknown: no record with a timestamp was taken in within the window"
_NO_OWN = f"{UNKNOWN} no own time: the node before has no age, or one by another timestamp"
_NO_SHARE = f"{UNKNOWN} no share: there is no age at the end to be a part of"
_NOT_COMPARED = f"{UNKNOWN} not compared: more or fewer records came out than went in"
_NOT_MEASURED = f"{UNKNOWN} unknown: nothing that was measured tells it"
_NO_WATERMARK = f"{UNKNOWN} the source had no watermark yet"
_NONE_DROPPED = f"{UNKNOWN} unknown: no dropped record had a usable timestamp within the window"


def operators(query: QueryLatency) -> RenderableType:
    """Returns the nodes of a query, upstream first, its critical path, and the staleness of what has one."""
    rows = [
        [
            node.node,
            f"{node.records:,}",
            milliseconds(node.own),
            percent(node.share),
            *map(milliseconds, (shown.p50, shown.p90, shown.p95, shown.p99, shown.p999, shown.max)),
        ]
        for node in query.nodes
        for shown in [layout.latest(node)]
    ]
    headings = ("node", "records", "own", "share", "p50", "p90", "p95", "p99", "p99.9", "max")
    lines = [
        *layout.answer(query),
        _critical_path(query),
        *layout.notes(query),
        *layout.legend(row[4:] for row in rows),
        *layout.legend([row[2:3] for row in rows if UNKNOWN not in row[4:]], _NO_OWN),
        *layout.legend([row[3:4] for row in rows if UNKNOWN not in row[2:3]], _NO_SHARE),
    ]
    return Group(
        layout.caption(layout.heading_of_nodes(query)),
        layout.table_of_nodes(headings, rows),
        *map(Text, lines),
        *_operator_latency(query),
        *_staleness(query),
    )


def path(query: QueryLatency) -> RenderableType:
    """Returns the critical path of the last batch by what its operators did, and what each node took."""
    told = [work for work in (query.operators, query.operators_so_far) if work is not None]
    if not told:
        return Group(layout.caption(layout.heading(query)), Text(_NO_BATCH_TELLS))
    first, *others = [_path(query, work) for work in told]
    notes = (Text(note.text) for note in query.notes)  # all of them: no headline stands above
    between = [line for other in others for line in (Text(), *other)]
    return Group(*first[:-1], *notes, Text(), first[-1], *between)


def _path(query: QueryLatency, work: Operators) -> list[RenderableType]:
    """Returns the sentence, which says of which batch it is, the steps, and last what each node took."""
    rows = [[step.text, milliseconds(step.ms), percent(step.share)] for step in work.steps]
    size = f"application latency {milliseconds(work.latency)} ms"
    known: list[RenderableType] = [layout.table(("step", "ms", "share"), rows)] if rows else []
    return [
        layout.caption(f"{layout.heading(query)} · {size}"),
        Text(work.text),
        *known,
        Group(*_times(work)),
    ]


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
    last = _NONE_KNOWN if query.last_batch is None else _batch(query.last_batch)
    lines = [
        *layout.answer(query),
        _critical_path(query),
        f"Last batch: {last}",
        *layout.notes(query),
        *layout.legend([row[2:3] for row in rows], _NOT_MEASURED),
        *layout.legend([row for row in rows if row[2] != UNKNOWN], _NOT_COMPARED),
    ]
    return Group(
        layout.caption(f"{layout.heading(query)} · latency in ms"),
        layout.table(("", "min", "avg", "p50", "p99", "max"), rows),
        *map(Text, lines),
    )


def watermarks(query: QueryLatency) -> RenderableType:
    """Returns the watermarks of the last batch, and what nodes have dropped."""
    batch = query.last_batch
    rows = [
        [
            name(one.source),
            name(one.column),
            one.kind if one.idle_since is None else f"{one.kind}, idle since {_time(one.idle_since)}",
            "holds back" if one.holds_back else "",
            milliseconds(one.delay),
            _time(one.watermark),
            milliseconds(one.lag),
        ]
        for one in (batch.watermarks if batch else ())
    ]
    moment = "" if batch is None else f", at the last commit, {_time(batch.committed)} UTC"
    headings = ("source", "column", "kind", "", "delay", "watermark [UTC]", "lag")
    known: list[RenderableType] = [layout.table(headings, rows, left=4)] if rows else []
    return Group(
        layout.caption(f"{layout.heading(query)} · in ms{moment}"),
        *known,
        Text(query.watermark_text),
        *map(Text, layout.legend(rows, _NO_WATERMARK)),
        *_dropped(query),
    )


def _operator_latency(query: QueryLatency) -> list[RenderableType]:
    work, now = query.operators, query.operators_so_far
    if work is None and now is None:
        return []
    so_far = {} if now is None else {node.node: node.latency for node in now.nodes}
    rows = [
        [
            node.node,
            *map(milliseconds, (node.operator.latency, node.operator.latency_ma)),
            *([] if now is None else [milliseconds(so_far.get(node.node))]),
        ]
        for node in query.nodes
    ]
    one = "window of a second" if work is not None and work.of == "window" else "batch"
    which = f"in the last {one} that tells it, and over the last ten"
    running = "" if now is None else f", and in batch {now.batch:,} so far"
    headings = ("node", "latency", "MA") if now is None else ("node", "latency", "MA", "so far")
    return [
        Text(),
        layout.caption(f"operator latency, in ms: {which}{running}"),
        layout.table_of_nodes(headings, rows),
        *map(Text, layout.legend(rows, _NOT_TOLD_APART)),
    ]


def _times(work: Operators) -> list[RenderableType]:
    rows = [
        [
            node.node,
            milliseconds(node.latency),
            percent(node.share),
            milliseconds(node.without),
            milliseconds(node.ewt),
            f"{node.partition}",
            name(node.executor),
        ]
        for node in work.nodes
    ]
    headings = ("node", "operator", "share", "without", "ewt", "partition", "executor")
    lines = [
        *layout.legend([row[1:2] for row in rows], _NOT_TOLD_IN_BATCH),
        *layout.legend([row[2:3] for row in rows if row[1] != UNKNOWN], _OFF_THE_PATH),
    ]
    return [
        layout.caption(_OF_NODES),
        layout.table_of_nodes(headings, rows),
        *map(Text, lines),
    ]


def _staleness(query: QueryLatency) -> list[RenderableType]:
    rows = [
        [node.node, *map(milliseconds, (node.staleness.min, node.staleness.avg, node.staleness.max))]
        for node in query.nodes
        if node.staleness is not None
    ]
    if not rows:
        return []
    return [
        Text(),
        layout.caption("staleness: age when a stateful operator took a record in, in ms over the window"),
        layout.table_of_nodes(("node", "min", "avg", "max"), rows),
        *map(Text, layout.legend(rows, _NONE_TAKEN_IN)),
    ]


def _dropped(query: QueryLatency) -> list[RenderableType]:
    rows = [
        [node.node, kind, f"{late.records:,}", *map(milliseconds, (late.p50, late.p99, late.max))]
        for node in query.nodes
        for kind, late in (("event-time", node.lateness), ("system-time", node.system_time_lateness))
        if late is not None
    ]
    if not rows:
        return _rows_dropped(query)
    return [
        Text(),
        layout.caption("dropped late since the start · by how much, in ms over the window"),
        layout.table_of_nodes(("node", "by", "records", "p50", "p99", "max"), rows),
        *map(Text, layout.legend(rows, _NONE_DROPPED)),
    ]


def _rows_dropped(query: QueryLatency) -> list[RenderableType]:
    """What Spark counts, where no node does. A note says so where it has counted any."""
    if query.progress.dropped_late == 0:
        return [Text("Rows dropped late since the start: 0.")]
    return [Text(note.text) for note in query.notes if note.code == "rows-dropped-late"]


def _critical_path(query: QueryLatency) -> str:
    return f"Critical path: {' → '.join(map(name, query.critical_path)) or _NONE_KNOWN}"


def _statistics(figures: Statistics | ProcessingDelay | None) -> list[str]:
    if figures is None:
        return [UNKNOWN] * 5
    return [milliseconds(one) for one in (figures.min, figures.avg, figures.p50, figures.p99, figures.max)]


def _batch(batch: Batch) -> str:
    took = ", ".join(f"{part} {ms:,}" for part, ms in batch.durations.items() if ms)
    rows = counted(batch.input_rows, "row", "rows")
    ended = f"{batch.batch}, {rows}, committed {_time(batch.committed)} UTC"
    return f"{ended}, ms: {took}" if took else ended


def _time(time: datetime | None) -> str:
    return UNKNOWN if time is None else time.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
