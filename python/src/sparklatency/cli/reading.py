"""The commands that show figures: ``top``, ``operators``, ``path``, ``info`` and ``watermarks``."""

from __future__ import annotations

import time
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

import click
from rich.live import Live
from rich.text import Text

from sparklatency.cli import _options
from sparklatency.errors import SparkLatencyError
from sparklatency.reading import documents
from sparklatency.reading.application import Application
from sparklatency.rendering import commands, terminal
from sparklatency.rendering.queries import tables
from sparklatency.rendering.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console, RenderableType

    from sparklatency.reading.rest import RestReader
    from sparklatency.values.queries import QueryLatency


@click.command()
@_options.application
@click.option(
    "--every",
    default="2s",
    show_default=True,
    type=_options.Duration(within=("100ms", "1d")),
    help="How often to look: 100ms to 1d.",
)
@click.option("--once", is_flag=True, help="Look once. Where the output is no terminal that is done anyway.")
@_options.as_json
def top(url: str, app: str | None, every: int, once: bool, as_json: bool) -> None:
    """Show all queries and nodes, again and again until Ctrl-C."""
    source, out = _options.reader(url, app), terminal.console()
    if as_json:
        _options.print_json(source.queries())
    elif once or not out.is_interactive:
        out.print(_all(source))
    else:
        _watch(source, every / 1000, out)


def _of_one_query(
    table: Callable[[QueryLatency], RenderableType],
) -> Callable[[Callable[[Mapping[str, Any]], Any]], click.Command]:
    """Makes a command that prints a table of one query, of the function that returns its answer as JSON."""

    def made(answer: Callable[[Mapping[str, Any]], Any]) -> click.Command:
        @click.command()
        @_options.application
        @_options.query
        @_options.as_json
        @wraps(answer)
        def command(url: str, app: str | None, query: str | None, as_json: bool) -> None:
            document = _options.one_query(_options.reader(url, app), query)
            if as_json:
                with documents.of_this_version():
                    answered = answer(document)
                _options.print_json(answered)
            else:
                [read] = documents.queries({"queries": [document]})
                terminal.console().print(table(read))

        return command

    return made


@_of_one_query(commands.operators)
def operators(document: Mapping[str, Any]) -> Any:
    """Show the nodes of a query: own time, share, operator latency, percentiles, critical path, staleness."""
    return document["nodes"]


@_of_one_query(commands.path)
def path(document: Mapping[str, Any]) -> Any:
    """Show which operators were at work for the last batch: steps on its critical path, and each node."""
    return {field: document[field] for field in ("query", "operators", "operatorsSoFar")}


@_of_one_query(commands.info)
def info(document: Mapping[str, Any]) -> Any:
    """Show where the time of a query's records goes: parts, slowest step, critical path, last batch."""
    return document


@_of_one_query(commands.watermarks)
def watermarks(document: Mapping[str, Any]) -> Any:
    """Show the watermark of each source, which one holds the query back, and what was dropped late."""
    late = [
        {"node": one["node"], "kind": kind, **one[field]}
        for one in document["nodes"]
        for kind, field in (("event-time", "lateness"), ("system-time", "systemTimeLateness"))
        if one[field]
    ]
    batch = document["lastBatch"] or {}
    known = {field: batch.get(field) for field in ("committed", "watermark", "watermarkLag")}
    return {"query": document["query"], **known, "watermarks": batch.get("watermarks", []), "late": late}


def _all(source: RestReader) -> RenderableType:
    return tables(_queries(source))


def _watch(source: RestReader, seconds: float, out: Console) -> NoReturn:
    """Shows all queries until it is interrupted. Only the first question has to be answered."""
    queries = _queries(source)
    with Live(Screen(queries), console=out, auto_refresh=False) as live:
        try:
            while True:
                time.sleep(seconds)
                try:
                    queries = _queries(source)
                except SparkLatencyError as error:
                    live.update(Text(f"{error}"), refresh=True)
                else:
                    live.update(Screen(queries), refresh=True)
        except KeyboardInterrupt:
            live.update(tables(queries))  # what stays there may scroll
            raise


def _queries(source: RestReader) -> Sequence[QueryLatency]:
    queries, _ = Application(source).queries()
    return queries
