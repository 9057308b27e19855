"""Reading the figures of an application's queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparklatency.arguments import check_text, check_type
from sparklatency.binding.gateway import reaching_jvm, refuse_connect, running_session
from sparklatency.binding.jars import pyspark_version
from sparklatency.errors import NoFiguresError
from sparklatency.extras import frames
from sparklatency.reading.application import Application
from sparklatency.reading.jvm import JvmReader
from sparklatency.reading.rest import RestReader
from sparklatency.rendering import queries as rendering
from sparklatency.values.history import MEASURES, History
from sparklatency.values.nodes import Nodes, NodeSnapshot
from sparklatency.values.operators import OperatorLatency
from sparklatency.values.queries import QueryLatency
from sparklatency.words import NOTHING, names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from sparklatency.values.answer import Headline, Note, Parts, Progress
    from sparklatency.values.markers import Markers
    from sparklatency.values.operators import Operators
    from sparklatency.values.queries import EarlierRun


@dataclass(frozen=True, repr=False)
class Latency:
    """What :func:`latency` has read: values of one moment, which do not change any more.

    Prints as a table; a notebook shows it as one.
    """

    queries: tuple[QueryLatency, ...]
    """The newest run of each query: first those of this driver, as first seen, then others, newest first."""
    earlier_runs: tuple[EarlierRun, ...] = ()
    """Runs that newer ones have followed. ``latency(run.run)`` reads one."""

    @property
    def query(self) -> QueryLatency:
        """The query, if these are figures of one.

        Raises:
            NoFiguresError: nothing is known of it yet.
            ValueError: these are figures of several queries.
        """
        query = self._only("figures")
        if query is None:
            raise NoFiguresError(NOTHING)
        return query

    @property
    def nodes(self) -> Nodes[NodeSnapshot]:
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

    @property
    def headline(self) -> Headline:
        """What makes the query's records old; raises what :attr:`query` does."""
        return self.query.headline

    @property
    def cause(self) -> str:
        """What makes records old, in a word: :attr:`QueryLatency.cause`; raises what :attr:`query` does."""
        return self.query.cause

    @property
    def status(self) -> str | None:
        """Whether the run goes on: :attr:`QueryLatency.status`; raises what :attr:`query` does."""
        return self.query.status

    @property
    def progress(self) -> Progress:
        """How the run goes: its batch, its last commit, what waits; raises what :attr:`query` does."""
        return self.query.progress

    @property
    def parts(self) -> Parts:
        """The mean age of the query's records in parts; raises what :attr:`query` does."""
        return self.query.parts

    @property
    def operators(self) -> Operators | None:
        """Which operators were at work for the query's last batch; raises what :attr:`query` does."""
        return self.query.operators

    @property
    def operators_so_far(self) -> Operators | None:
        """The same of the batch in progress, up to now; raises what :attr:`query` does."""
        return self.query.operators_so_far

    @property
    def markers(self) -> Markers | None:
        """The latency markers of the query, None where it has none; raises what :attr:`query` does."""
        return self.query.markers

    @property
    def notes(self) -> tuple[Note, ...]:
        """What else one should know to read the figures; raises what :attr:`query` does."""
        return self.query.notes

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

        Columns are named as the fields of :class:`QueryLatency` and :class:`NodeSnapshot`; those of a measure
        begin with its name, such as ``commit_p99`` and ``operator_latency``. Milliseconds; unknown is
        ``<NA>``.

        Raises:
            SparkLatencyError: pandas is not installed.
        """
        rows = ((query, node) for query in self.queries for node in query.nodes)
        return frames.frame((QueryLatency, NodeSnapshot), {**MEASURES, "operator": OperatorLatency}, rows)

    def plot(self, limit: int = 100, ax: Axes | None = None) -> Axes:
        """Draws the history of the query: see :meth:`History.plot`."""
        return self.history(limit).plot(ax)

    def __str__(self) -> str:
        return rendering.text(self.queries)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return rendering.html(self.queries)

    def _only(self, what: str) -> QueryLatency | None:
        if len(self.queries) > 1:
            known = names(query.query for query in self.queries)
            raise ValueError(f"each query has its own {what}: choose one of queries[…] ({known})")
        return self.queries[0] if self.queries else None


def latency(
    query: StreamingQuery | str | None = None, *, url: str | None = None, app: str | None = None
) -> Latency:
    """Reads how old records were at the marked nodes.

    A batch counts as soon as the driver has seen its commit, some tenths of a second after the fact. A
    running query has no figures before that, and it is no error.

    Args:
        query: a streaming query (this run of it), its name or its id (its newest run), or the id of a run;
            without it, the newest run of every query of the application.
        url: of the UI of a driver elsewhere, ``http://driver:4040``, or of a History Server. It takes neither
            pyspark nor a session, and is the way under Spark Connect. Without it, the session of this process
            is read.
        app: id or name of the application, where that UI shows several.

    Raises:
        TypeError: the query is of another type.
        ValueError: the URL is none, has a password or is that of a page; there is an ``app`` and no URL; or a
            name cannot be written as UTF-8 (it has a lone surrogate).
        NoFiguresError: the query, or none of the name or id that was given, has been measured, and it is not
            running (of a name or id, in this session).
        SparkLatencyError: no session is running or the application has ended, it has no jar of sparklatency
            or a setting of it that is not valid, or it is Spark Connect's; or nothing answers at the URL, or
            no application with sparklatency.
    """
    if url is not None:
        check_type("latency", "url", url, str)
        check_type("latency", "app", app, str, type(None))
        return _remote(query, Application(RestReader(url, app)))
    if app is not None:
        raise ValueError("latency: app chooses among the applications of a UI. Give the url of the UI too.")
    _check_query(query)
    with reaching_jvm():
        application = Application(JvmReader(running_session()))
        if isinstance(query, str):
            return _named(query, application)
        return _read(application) if query is None else _of_run(query, application)


def _remote(query: object, application: Application) -> Latency:
    # pyspark may be absent, and Spark Connect's queries are of another type
    with reaching_jvm():
        is_query = hasattr(query, "runId")
    if is_query:
        return _of_run(query, application)
    check_type("latency", "query", query, str, type(None))
    check_text("latency", "query", query)
    return _read(application, None if query is None else str(query))


def _of_run(query: Any, application: Application) -> Latency:
    try:
        return _read(application, str(query.runId))
    except NoFiguresError:
        if getattr(query, "isActive", False):  # else none will come
            return Latency(())
        raise


def _check_query(query: object) -> None:
    refuse_connect(query)
    pyspark_version()  # to say first if there is no pyspark
    from pyspark.sql.streaming.query import StreamingQuery

    check_type("latency", "query", query, StreamingQuery, str, type(None))
    check_text("latency", "query", query)


def _named(query: str, application: Application) -> Latency:
    try:
        return _read(application, query)
    except NoFiguresError:
        active = running_session().streams.active
        if any(query in (one.name, str(one.id)) for one in active):
            return Latency(())
        raise


def _read(application: Application, query: str | None = None) -> Latency:
    return Latency(*application.queries(query))
