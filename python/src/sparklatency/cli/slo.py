"""The command ``slo``: whether a node keeps its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sparklatency.cli import _options
from sparklatency.errors import NoFiguresError
from sparklatency.reading import documents
from sparklatency.rendering import terminal
from sparklatency.rendering.layout import table
from sparklatency.words import milliseconds, names, value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_FIGURES = ("avg", "p50", "p90", "p95", "p99", "p999", "max")
_EXIT = {"met": 0, "missed": _options.MISSED, "unknown": _options.UNKNOWN}


def _limits(command: Callable[..., None]) -> Callable[..., None]:
    """Adds an option for each figure, of the latency at the node and at the commit."""
    for prefix, what in (("commit-", "at the commit"), ("", "at the node")):
        for figure in reversed(_FIGURES):
            option = click.option(
                f"--{prefix}{figure}", type=_options.Duration(), help=f"Limit of the {figure} {what}."
            )
            command = option(command)
    return command


@click.command()
@_options.application
@click.option("--query", required=True, metavar="QUERY", help="Name or id of the query.")
@click.option("--node", required=True, help="Id of the node.")
@_limits
@_options.as_json
def slo(url: str, app: str | None, query: str, node: str, as_json: bool, **limits: int | None) -> None:
    """Tell whether a node keeps limits such as --p99 5s. Exits with 0 (met), 3 (missed) or 4 (unknown).

    Figures are those of the window, by default the last 60 to 90 seconds. A figure is unknown where there is
    no record to tell by, or no such query or node yet. If one limit is missed and another unknown, the exit
    code is 3. A query that an error ended misses all its limits. At the last nodes, a batch that has run for
    longer than a limit misses it: all its records have waited as long. A limit of max is also missed if one
    record has waited longer for its commit. A batch that hangs misses them at every node. Before it is known
    to hang, one that has found no record for longer than a limit makes that unknown at every node.
    Records of the node that come from the future or have no timestamp are told of on stderr.
    """
    asked = {figure: limit for figure, limit in limits.items() if limit is not None}
    if not asked:
        raise click.UsageError("name at least one limit, such as --p99 5s")
    source = _options.reader(url, app)
    problem: str | None
    doubts: list[str] = []
    try:
        run = _options.one_query(source, query)
    except NoFiguresError as none:
        judged, problem = [_judge(figure, limit, {}) for figure, limit in asked.items()], str(none)
    else:
        with documents.of_this_version():
            judged, problem = _judged(run, node, asked)
            doubts = _doubts(run, node)
    status = max((one["status"] for one in judged), key=["met", "unknown", "missed"].index)
    if as_json:
        _options.print_json(
            {"query": query, "node": node, "status": status, "problem": problem, "limits": judged}
        )
    else:
        rows = [
            [one["figure"], one["status"], milliseconds(one["value"]), milliseconds(one["limit"])]
            for one in judged
        ]
        terminal.console().print(table(("figure", "", "ms", "limit"), rows, left=2))
    for line in filter(None, (problem, *doubts)):
        click.echo(line, err=True)
    raise SystemExit(_EXIT[status])


def _judged(
    run: Mapping[str, Any], node: str, asked: Mapping[str, int]
) -> tuple[list[dict[str, Any]], str | None]:
    """Returns what is found of each limit; and why it is, where the figure alone does not tell."""
    figures, problem = _figures(run, node, asked)
    judged = [_judge(figure, limit, figures) for figure, limit in asked.items()]
    nothing = _finding_nothing(run)
    undecided = [one for one in judged if one["status"] == "met" and nothing > one["limit"]]
    if undecided:
        problem = (
            "whether records wait is not known: the batch in progress has run for "
            f"{milliseconds(nothing)} ms and has found none yet"
        )
        judged = [{**one, "status": "unknown"} if one in undecided else one for one in judged]
    for waits, why, of in _waiting(run, node):
        late = [one for one in judged if waits > one["limit"] and one["figure"].removeprefix("commit-") in of]
        if late:
            problem = why
            judged = [{**one, "status": "missed"} if one in late else one for one in judged]
    if run["status"] == "FAILED":
        problem = f"an error ended the query's run {run['run']}"
        judged = [{**one, "status": "missed"} for one in judged]
    return judged, problem


def _doubts(run: Mapping[str, Any], node: str) -> list[str]:
    """What is wrong with the records that a node's figures are of: that they come from the future, say."""
    return [one["text"] for one in run["notes"] if one["node"] == node and one["level"] != "info"]


def _figures(
    query: Mapping[str, Any], node: str, asked: Iterable[str]
) -> tuple[Mapping[str, Any], str | None]:
    """Returns the figures of a node as they are asked for; and why one of them cannot be had."""
    found = next((one for one in query["nodes"] if one["node"] == node), None)
    if found is None:
        return {}, f"there is no node {value(node)}; nodes: {names(one['node'] for one in query['nodes'])}"
    problem = None
    if found["commit"] is None and any(figure.startswith("commit_") for figure in asked):
        problem = f"node {value(node)} has no commit latency" + (
            " yet: no batch with its records has been committed, or results can be seen before the commit"
            if node in _last(query)
            else ": only the last nodes of a query have one"
        )
    commit = found["commit"] or {}
    return {**found, **{f"commit_{figure}": value for figure, value in commit.items()}}, problem


def _last(query: Mapping[str, Any]) -> set[str]:
    """The nodes that records leave last: of those that pass on to none, the ones with a commit latency.

    Before the first commit none has one yet.
    """
    passed_on = {upstream for one in query["nodes"] for upstream in one["upstream"]}
    last = [one for one in query["nodes"] if one["node"] not in passed_on]
    return {one["node"] for one in last if one["commit"] is not None} or {one["node"] for one in last}


def _waiting(query: Mapping[str, Any], node: str) -> Iterator[tuple[int, str, Iterable[str]]]:
    """For how long records have waited for their commit, why it is known, and whose figures tell of them."""
    progress = query["progress"]
    running, oldest = progress["running"], progress["oldestUncommitted"]
    is_last = node in _last(query)
    if progress["stalled"]:
        # Whether there is a record is not known where the batch waits for its source's offsets.
        yield running, f"the batch in progress hangs: it has run for {milliseconds(running)} ms", _FIGURES
    elif is_last and running is not None and (progress["activity"] or {"hasData": False})["hasData"]:
        yield (
            running,
            f"the records of the batch in progress have waited for {milliseconds(running)} ms",
            _FIGURES,
        )
    if is_last and oldest is not None:
        why = f"the oldest record that waits for its commit is at least {milliseconds(oldest)} ms old"
        yield oldest, why, ("max",)


def _finding_nothing(query: Mapping[str, Any]) -> int:
    """For how long a batch runs that has found no record yet. Meanwhile nobody knows whether any waits."""
    progress = query["progress"]
    has_data = (progress["activity"] or {"hasData": True})["hasData"]
    return 0 if has_data else progress["running"] or 0


def _judge(figure: str, limit: int, figures: Mapping[str, Any]) -> dict[str, Any]:
    found = figures.get(figure)
    if found is not None and not figure.endswith("avg"):
        found = int(found)
    status = "unknown" if found is None else "met" if found <= limit else "missed"
    return {"figure": figure.replace("_", "-"), "limit": limit, "value": found, "status": status}
