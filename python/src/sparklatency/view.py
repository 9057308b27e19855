"""Reading the figures of an application's queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparklatency import _parse, render
from sparklatency._gateway import refuse_connect, running_session
from sparklatency._jar import pyspark_version
from sparklatency._readers import JvmReader, Reader
from sparklatency._rest import RestReader
from sparklatency.errors import NoFiguresError, check_type
from sparklatency.history import History
from sparklatency.nodes import Nodes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from sparklatency.figures import NodeLatency
    from sparklatency.queries import QueryLatency


@dataclass(frozen=True, repr=False)
class Latency:
    """What :func:`latency` has read: values of one moment, which do not change any more.

    Prints as a table; a notebook shows it as one.
    """

    queries: tuple[QueryLatency, ...]

    @property
    def query(self) -> QueryLatency:
        """The query, if these are figures of one.

        Raises:
            NoFiguresError: no batch of it has been measured yet.
            ValueError: these are figures of several queries.
        """
        query = self._only("figures")
        if query is None:
            raise NoFiguresError(render.NOTHING)
        return query

    @property
    def nodes(self) -> Nodes[NodeLatency]:
        """The nodes of all queries, one query after another."""
        return Nodes(node for query in self.queries for node in query.nodes)

    @property
    def critical_path(self) -> tuple[str, ...]:
        """Ids of the nodes on the slowest way through the query, upstream first; empty without figures.

        Raises:
            ValueError: these are figures of several queries, of which each has its own.
        """
        query = self._only("critical_path")
        return () if query is None else query.critical_path

    def history(self, limit: int = 100) -> History:
        """Reads the last batches of the query, oldest first: see :meth:`QueryLatency.history`.

        Raises:
            ValueError: these are figures of several queries; or the limit is less than 1.
            SparkLatencyError: the application has ended or is out of reach.
        """
        query = self._only("history()")
        return History("", ()) if query is None else query.history(limit)

    def to_pandas(self) -> DataFrame:
        """Returns one row for each query and node.

        Columns are named as the fields of :class:`QueryLatency` and :class:`NodeLatency`; those of a measure
        begin with its name, such as ``commit_p99``. Milliseconds; unknown is ``<NA>``.

        Raises:
            SparkLatencyError: pandas is not installed.
        """
        from sparklatency._frames import of_queries

        return of_queries(self.queries)

    def plot(self, limit: int = 100, ax: Axes | None = None) -> Axes:
        """Draws the history of the query: see :meth:`History.plot`."""
        return self.history(limit).plot(ax)

    def __str__(self) -> str:
        return render.text(self.queries)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return render.html(self.queries)

    def _only(self, what: str) -> QueryLatency | None:
        if len(self.queries) > 1:
            names = ", ".join(query.query for query in self.queries)
            raise ValueError(f"each query has its own {what}: choose one of queries[…] ({names})")
        return self.queries[0] if self.queries else None


def latency(
    query: StreamingQuery | str | None = None, *, url: str | None = None, app: str | None = None
) -> Latency:
    """Reads how old records were at the marked nodes.

    A batch counts as soon as the driver has seen it end, some tenths of a second after the fact. Until the
    first one of a running query has, there are no figures of it, and that is no error.

    Args:
        query: a streaming query (this run of it), its name or its id (its newest run); without it, every
            query of the application.
        url: of the UI of a driver elsewhere, ``http://driver:4040``, or of a History Server. It takes neither
            pyspark nor a session, and is the way under Spark Connect. Without it, the session of this process
            is read.
        app: id or name of the application, where that UI shows several.

    Raises:
        TypeError: the query is of another type.
        ValueError: the URL is none, or there is an ``app`` and no URL.
        NoFiguresError: no query of the name or id that was given has been measured, and none is running in
            this session.
        SparkLatencyError: no session is running, it has no jar of sparklatency, or it is Spark Connect's; or
            nothing answers at the URL, or no application with sparklatency.
    """
    if url is not None:
        return _remote(query, RestReader(url, app))
    if app is not None:
        raise ValueError("latency: app chooses among the applications of a UI, so it takes a url too")
    _check_query(query)
    reader = JvmReader(running_session())
    if isinstance(query, str):
        return _named(query, reader)
    return _read(reader) if query is None else _of_run(query.runId, reader)


def _remote(query: object, reader: RestReader) -> Latency:
    # pyspark may be absent, and Spark Connect's queries are of another type
    run = getattr(query, "runId", None)
    if run is not None:
        return _of_run(run, reader)
    check_type("latency", "query", query, str, type(None))
    return _read(reader, query)


def _of_run(run: object, reader: Reader) -> Latency:
    try:
        return _read(reader, str(run))
    except NoFiguresError:
        return Latency(())


def _check_query(query: object) -> None:
    refuse_connect(query)
    pyspark_version()  # to say first if there is no pyspark
    from pyspark.sql.streaming.query import StreamingQuery

    check_type("latency", "query", query, StreamingQuery, str, type(None))


def _named(query: str, reader: JvmReader) -> Latency:
    try:
        return _read(reader, query)
    except NoFiguresError:
        active = running_session().streams.active
        if any(query in (one.name, str(one.id)) for one in active):
            return Latency(())
        raise


def _read(reader: Reader, query: Any = None) -> Latency:
    return Latency(_parse.queries(reader.queries(query), reader))
