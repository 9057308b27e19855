"""The command ``check``: whether what is installed and what runs fit together."""

from __future__ import annotations

import platform
import zipfile
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from sparklatency import _parse
from sparklatency._gateway import PLUGIN
from sparklatency._jar import jar_lines, jar_path, pyspark_version, spark_line
from sparklatency._version import __version__
from sparklatency.cli import _options, _tables
from sparklatency.errors import SparkLatencyError
from sparklatency.render import counted, name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparklatency._rest import RestReader
    from sparklatency.queries import QueryLatency

_BUILD = "io/sparklatency/build.properties"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    status: str
    """``ok``, ``warn`` or ``wrong``."""
    what: str
    detail: str


@click.command()
@click.option("--url", envvar="SPARKLATENCY_URL", help="Look at the application of that UI too.")
@click.option("--app", help="Id or name of the application; not needed where the UI shows one.")
@_options.as_json
def check(url: str | None, app: str | None, as_json: bool) -> None:
    """Tell what does not fit together: exit 0 nothing is wrong, 3 something is."""
    findings = list(_installed())
    if url is not None:
        findings += _running(_options.reader(url, app))
    if as_json:
        _options.print_json([asdict(finding) for finding in findings])
    else:
        rows = [[one.status, one.what, one.detail] for one in findings]
        _options.console().print(_tables.table(("", "", ""), rows, left=3))
    if any(finding.status == "wrong" for finding in findings):
        raise SystemExit(_options.MISSED)


def _installed() -> Iterator[Finding]:
    yield Finding("ok", "Python", platform.python_version())
    yield Finding("ok", "sparklatency", f"{__version__}, jars for Spark {', '.join(jar_lines()) or 'none'}")
    try:
        version = pyspark_version()
    except SparkLatencyError:
        yield Finding("warn", "pyspark", "not installed here: figures can be read by --url alone")
        return
    yield Finding("ok", "pyspark", version)
    try:
        yield _jar(jar_path(version), version)
    except SparkLatencyError as none:
        yield Finding("wrong", "jar", str(none))


def _jar(path: str, spark: str) -> Finding:
    """A jar says in itself what it was built for."""
    try:
        with zipfile.ZipFile(path) as jar:
            lines = jar.read(_BUILD).decode().splitlines()
    except (OSError, KeyError, zipfile.BadZipFile) as broken:
        return Finding("wrong", "jar", f"{path} cannot be read ({broken}): install sparklatency again")
    build = dict(line.split("=", 1) for line in lines if "=" in line)
    if (build.get("version"), build.get("spark")) != (__version__, spark_line(spark)):
        built = f"sparklatency {build.get('version')} for Spark {build.get('spark')}"
        return Finding("wrong", "jar", f"{path} is {built}: install sparklatency again")
    return Finding("ok", "jar", path)


def _running(source: RestReader) -> Iterator[Finding]:
    try:
        version = source.spark_version()
        settings = source.settings()
    except SparkLatencyError as error:
        yield Finding("wrong", "application", str(error))
        return
    if spark_line(version) in jar_lines():
        yield Finding("ok", "application", f"{settings.get('spark.app.name', '')}, Spark {version}")
    else:
        yield Finding("wrong", "application", f"Spark {version}: there are jars for {', '.join(jar_lines())}")
    if PLUGIN in settings.get("spark.plugins", ""):
        yield Finding("ok", "plugin", "is set")
    else:
        yield Finding("warn", "plugin", f"long tasks show late: set --conf spark.plugins={PLUGIN}")
    try:
        queries = _parse.queries({"queries": _options.newest(list(source.queries()["queries"]))})
    except SparkLatencyError as error:
        yield Finding("wrong", "figures", str(error))
        return
    if not queries:
        yield Finding("warn", "figures", "none: no batch of a query with a marked node has ended")
    for query in queries:
        yield from _query(query)


def _query(query: QueryLatency) -> Iterator[Finding]:
    if query.has_failed:
        yield Finding("wrong", "query", f"{name(query.query)}: an error ended its run {query.run}")
    elif query.query == query.id:
        yield Finding("warn", "query", f"{query.id} has no name: name it by .queryName(…), to be found again")
    else:
        size = f"{counted(query.batches, 'batch', 'batches')}, {counted(len(query.nodes), 'node', 'nodes')}"
        yield Finding("ok", "query", f"{name(query.query)}, {size}")
    for node in query.nodes:
        where = f"{name(query.query)}, {name(node.node)}"
        if node.records and node.without_timestamp == node.records:
            yield Finding("wrong", "timestamps", f"{where}: no record has one; mark it by another column")
        elif node.without_timestamp:
            without = counted(node.without_timestamp, "record has", "records have")
            yield Finding("warn", "timestamps", f"{where}: {without} none")
        if node.ahead_of_clock:
            lead = "" if node.max_lead is None else f", by up to {node.max_lead:,} ms"
            ahead = counted(node.ahead_of_clock, "record comes", "records come")
            yield Finding("warn", "clocks", f"{where}: {ahead} from the future{lead}")
