"""The command ``check``: whether what is installed and what runs fit together."""

from __future__ import annotations

import platform
import zipfile
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from sparklatency._version import __version__
from sparklatency.binding.gateway import PLUGIN
from sparklatency.binding.jars import jar_lines, jar_path, pyspark_version, spark_line
from sparklatency.cli import _options
from sparklatency.errors import SparkLatencyError
from sparklatency.reading.application import Application
from sparklatency.reading.rest import RestReader
from sparklatency.rendering import terminal
from sparklatency.rendering.layout import table
from sparklatency.words import NOTHING, counted, name, names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparklatency.values.queries import QueryLatency

_BUILD = "io/sparklatency/build.properties"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, or a note of the JVM."""

    status: str
    """``ok``, ``warn`` or ``wrong``."""
    what: str
    """What was looked at, or the note's code."""
    detail: str


@click.command()
@click.option("--url", envvar="SPARKLATENCY_URL", help="Look at the application of that UI too.")
@click.option("--app", help="Id or name of the application. Not needed where the UI shows one.")
@_options.as_json
def check(url: str | None, app: str | None, as_json: bool) -> None:
    """Tell what does not fit together. Exits with 3 if something is wrong, else with 0."""
    if app is not None and url is None:
        raise click.UsageError("--app chooses among the applications of a UI. Name the UI by --url.")
    findings = list(_installed())
    if url is None:
        findings.append(Finding("warn", "application", "None was looked at. Name its UI by --url."))
    else:
        looked = list(_running(_options.reader(url, app)))
        findings += looked
        if any((one.status, one.what) in _ELSEWHERE for one in looked):
            findings += _beside(url)
    if as_json:
        _options.print_json([asdict(finding) for finding in findings])
    else:
        rows = [[one.status, one.what, one.detail] for one in findings]
        terminal.console().print(table(("", "", ""), rows, left=3))
    if any(finding.status == "wrong" for finding in findings):
        raise SystemExit(_options.MISSED)


def _installed() -> Iterator[Finding]:
    yield Finding("ok", "Python", platform.python_version())
    yield Finding("ok", "sparklatency", f"{__version__}, jars for Spark {', '.join(jar_lines()) or 'none'}")
    try:
        version = pyspark_version()
    except SparkLatencyError:
        yield Finding("warn", "pyspark", "not installed here. Figures can be read by --url alone.")
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
        return Finding("wrong", "jar", f"{path} cannot be read ({broken}). Install sparklatency again.")
    build = dict(line.split("=", 1) for line in lines if "=" in line)
    if (build.get("version"), build.get("spark")) != (__version__, spark_line(spark)):
        built = f"sparklatency {build.get('version')} for Spark {build.get('spark')}"
        return Finding("wrong", "jar", f"{path} is {built}. Install sparklatency again.")
    return Finding("ok", "jar", path)


def _running(source: RestReader) -> Iterator[Finding]:
    try:
        version = source.spark_version()
        settings = source.settings()
        line = spark_line(version)
    except SparkLatencyError as error:
        yield Finding("wrong", "application", str(error))
        return
    found = f"{name(settings.get('spark.app.name', ''))}, Spark {version}"
    if line in jar_lines():
        yield Finding("ok", "application", found)
    else:
        jars = ", ".join(jar_lines()) or "none"
        yield Finding("warn", "application", f"{found}. This wheel has no jar for it. There are: {jars}.")
    if PLUGIN in settings.get("spark.plugins", ""):
        yield Finding("ok", "plugin", "is set")
    else:
        lost = "On a cluster long tasks show late, and clocks are not corrected."
        yield Finding("warn", "plugin", f"Is not set. {lost} Set --conf spark.plugins={PLUGIN}")
    try:
        queries, _ = Application(source).queries()
    except SparkLatencyError as error:
        yield Finding("wrong", "figures", str(error))
        return
    if not queries:
        yield Finding("warn", "figures", NOTHING)
    for query in queries:
        yield from _query(query)


_ELSEWHERE = {("wrong", "application"), ("wrong", "figures"), ("warn", "figures")}
"""What is found where the application that is meant has another address."""


def _beside(url: str) -> Iterator[Finding]:
    """Spark gives the second driver of a host the next port. A look at another host could take long."""
    asked = urlsplit(url.strip())
    if asked.hostname not in ("localhost", "127.0.0.1") or asked.port is None:
        return
    beside = f"{asked.scheme}://{asked.hostname}:{asked.port + 1}"
    try:
        found = RestReader(beside, None).settings().get("spark.app.name", "")
    except (SparkLatencyError, ValueError):  # after the last port there is none
        return
    yield Finding("warn", "application", f"There is another one, {name(found)}. Is it meant? --url {beside}")


def _query(query: QueryLatency) -> Iterator[Finding]:
    """Passes on what the JVM has found; a query of which it has nothing to say is in order."""
    found = [note for note in query.notes if note.level in ("warn", "wrong")]
    for note in found:
        yield Finding(note.level, note.code, f"{name(query.query)}: {note.text}")
    for note in query.notes:
        if note.code == "left-out":
            yield Finding("ok", note.code, f"{name(query.query)}: {note.text}")
    by: dict[str, list[str]] = {}
    for node in query.nodes:
        if node.timestamp is not None:
            by.setdefault(node.timestamp, []).append(node.node)
    for column, nodes in by.items():
        verb = "goes" if len(nodes) == 1 else "go"
        yield Finding("ok", "timestamp", f"{name(query.query)}: {names(nodes)} {verb} by {name(column)}")
    if not found:
        size = f"{counted(query.batches, 'batch', 'batches')}, {counted(len(query.nodes), 'node', 'nodes')}"
        yield Finding("ok", "query", f"{name(query.query)}, {size}")
