"""Reading the figures of a session's queries."""

from __future__ import annotations

import json
from dataclasses import dataclass
from operator import index
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

from sparklatency import render
from sparklatency._gateway import refuse_connect, running_session, session_api
from sparklatency._jar import pyspark_version
from sparklatency.errors import check_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

T = TypeVar("T")


@dataclass(frozen=True)
class BatchLatency:
    """A node's latencies in the last batch that reached it."""

    records: int
    min: int | None
    avg: float | None
    p50: int | None
    p99: int | None
    max: int | None


@dataclass(frozen=True)
class Staleness:
    """How old records were when a stateful operator took them in, in milliseconds over the window."""

    min: int | None
    avg: float | None
    max: int | None


@dataclass(frozen=True)
class Lateness:
    """How far behind the watermark the records were that a stateful operator dropped for it.

    Milliseconds of the stream's time, over the window; a watermark that waits longer by ``p99`` would have
    kept all but one in a hundred.
    """

    records: int
    """Records dropped since the query started."""
    min: int | None
    avg: float | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    max: int | None


@dataclass(frozen=True)
class ProcessingDelay:
    """How much older records are at a node than they were at one upstream of it, in milliseconds.

    The difference of the two nodes' figures, statistic by statistic. Of the same records none is negative.
    """

    same_records: bool
    """Whether as many records passed the one node as the other. If not, some were merged, multiplied or
    dropped on the way or are still on it, and the difference is one between two populations."""
    min: float | None
    avg: float | None
    p50: float | None
    p99: float | None
    max: float | None


@dataclass(frozen=True)
class Delays:
    """The delay on the way from one node to another."""

    window: ProcessingDelay
    batch: ProcessingDelay
    """Of the last batch alone."""


@dataclass(frozen=True)
class NodeLatency:
    """One node's figures as the driver has them: latencies in milliseconds, None where unknown.

    Latencies cover a sliding window, by default the last minute; the three counts cover everything since the
    query started. Percentiles are at most 1 % too high; the rest is exact.
    """

    node: str
    records: int
    min: int | None
    avg: float | None
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    p999: int | None
    max: int | None
    without_timestamp: int
    """Records that were not measured: no timestamp, or one before 1970."""
    ahead_of_clock: int
    """Records with a timestamp in the future, measured as a negative latency."""
    max_lead: int | None
    """How far the furthest of those was ahead, in milliseconds."""
    batch: BatchLatency
    upstream: tuple[str, ...]
    """Ids of the nodes whose records come to this one next."""
    delays: Mapping[str, Delays]
    """The delay from each node that is upstream of this one, nearest first."""
    staleness: Staleness | None
    """Of automatic stateful nodes."""
    lateness: Lateness | None
    """Of automatic stateful nodes."""

    if TYPE_CHECKING:  # a strict mypy takes `"sink" in nodes` for a slip, unless a node may equal a string

        def __eq__(self, other: object, /) -> bool: ...


class Nodes(tuple[NodeLatency, ...]):
    """Nodes in the order of the plan, upstream first; by position, or by node id."""

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> NodeLatency: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[NodeLatency, ...]: ...
    def __getitem__(self, key: SupportsIndex | str | slice) -> NodeLatency | tuple[NodeLatency, ...]:
        if not isinstance(key, str):
            return super().__getitem__(key)
        found = [node for node in self if node.node == key]
        if len(found) != 1:
            problem = f"{len(found)} queries have a node" if found else "there is no node"
            raise KeyError(f"{problem} {key!r}; nodes: {', '.join(node.node for node in self) or 'none'}")
        return found[0]

    def __contains__(self, key: object) -> bool:
        """Tells whether there is a node of that id; or, as in any tuple, that very node."""
        return any(node.node == key for node in self) if isinstance(key, str) else super().__contains__(key)

    @overload
    def get(self, key: SupportsIndex | str) -> NodeLatency | None: ...
    @overload
    def get(self, key: SupportsIndex | str, default: T) -> NodeLatency | T: ...
    def get(self, key: SupportsIndex | str, default: object = None) -> object:
        """Returns the node at that position or of that id, or else the default.

        Raises:
            KeyError: several queries have a node of that id.
        """
        there = key in self if isinstance(key, str) else -len(self) <= index(key) < len(self)
        return self[key] if there else default


@dataclass(frozen=True)
class QueryLatency:
    """The nodes of one query."""

    query: str
    """Name of the streaming query, its id where it has no name, ``__batch__`` for batch executions."""
    id: str | None
    """Id of the streaming query, the same after a restart from its checkpoint."""
    run: str | None
    """Id of this run of it: figures begin anew with each run."""
    batches: int
    """Batches that have been measured."""
    nodes: Nodes
    folded: int
    """Nodes and tasks that were beyond ``spark.sparklatency.nodes.max`` and are in ``__other__``."""


@dataclass(frozen=True, repr=False)
class Latency:
    """What :func:`latency` has read: values of one moment, which do not change any more.

    Prints as a table; a notebook shows it as one.
    """

    queries: tuple[QueryLatency, ...]

    @property
    def nodes(self) -> Nodes:
        """The nodes of all queries, one query after another."""
        return Nodes(node for query in self.queries for node in query.nodes)

    def __str__(self) -> str:
        return render.text(self.queries)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return render.html(self.queries)


def latency(query: StreamingQuery | str | None = None) -> Latency:
    """Reads how old records were at the marked nodes.

    A batch counts as soon as the driver has seen it end, some tenths of a second after the fact. Until the
    first one of a running query has, there are no figures of it, and that is no error.

    Args:
        query: a streaming query (this run of it), its name or its id (its newest run); without it, every
            query of the application.

    Raises:
        TypeError: the query is of another type.
        pyspark.errors.IllegalArgumentException: no query of the name or id that was given has been measured,
            and none is running in this session.
        SparkLatencyError: no session is running, it has no jar of sparklatency, or it is Spark Connect's.
    """
    _check_query(query)
    session = running_session()
    if isinstance(query, str):
        return _named(query, session)
    figures = parse(session_api(session).latencyJson(session._jsparkSession, None))
    if query is None:
        return figures
    return Latency(tuple(one for one in figures.queries if one.run == str(query.runId)))


def _check_query(query: object) -> None:
    refuse_connect(query)
    pyspark_version()  # to say first if there is no pyspark
    from pyspark.sql.streaming.query import StreamingQuery

    check_type("latency", "query", query, StreamingQuery, str, type(None))


def _named(query: str, session: SparkSession) -> Latency:
    from pyspark.errors import IllegalArgumentException

    try:
        return parse(session_api(session).latencyJson(session._jsparkSession, query))
    except IllegalArgumentException:
        if any(query in (active.name, str(active.id)) for active in session.streams.active):
            return Latency(())
        raise


def parse(text: str) -> Latency:
    """Makes figures of the façade's JSON."""
    queries = json.loads(text)["queries"]
    return Latency(
        tuple(
            QueryLatency(
                query["query"],
                query["id"],
                query["run"],
                query["batches"],
                Nodes(map(_node, query["nodes"])),
                query["folded"],
            )
            for query in queries
        )
    )


def _node(fields: dict[str, Any]) -> NodeLatency:
    return NodeLatency(
        node=fields["node"],
        records=fields["records"],
        **_whole(fields, "min", "p50", "p90", "p95", "p99", "p999", "max"),
        avg=fields["avg"],
        without_timestamp=fields["withoutTimestamp"],
        ahead_of_clock=fields["aheadOfClock"],
        max_lead=_whole(fields, "maxLead")["maxLead"],
        batch=_batch(fields["batch"]),
        upstream=tuple(fields["upstream"]),
        delays=MappingProxyType(
            {node: Delays(_delay(d["window"]), _delay(d["batch"])) for node, d in fields["delays"].items()}
        ),
        staleness=_staleness(fields["staleness"]),
        lateness=_lateness(fields["lateness"]),
    )


def _batch(fields: dict[str, Any]) -> BatchLatency:
    return BatchLatency(
        records=fields["records"], avg=fields["avg"], **_whole(fields, "min", "p50", "p99", "max")
    )


def _delay(fields: dict[str, Any]) -> ProcessingDelay:
    statistics = {name: fields[name] for name in ("min", "avg", "p50", "p99", "max")}
    return ProcessingDelay(same_records=fields["sameRecords"], **statistics)


def _staleness(fields: dict[str, Any] | None) -> Staleness | None:
    return None if fields is None else Staleness(avg=fields["avg"], **_whole(fields, "min", "max"))


def _lateness(fields: dict[str, Any] | None) -> Lateness | None:
    if fields is None:
        return None
    return Lateness(
        records=fields["records"],
        avg=fields["avg"],
        **_whole(fields, "min", "p50", "p90", "p95", "p99", "max"),
    )


def _whole(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    """Returns fields that hold whole milliseconds."""
    return {name: None if fields[name] is None else int(fields[name]) for name in names}
