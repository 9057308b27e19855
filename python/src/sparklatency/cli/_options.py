"""What several commands share: where to read, how to print, and durations."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sparklatency.arguments import is_text
from sparklatency.errors import SparkLatencyError
from sparklatency.reading import documents
from sparklatency.reading.rest import RestReader
from sparklatency.words import NOTHING, cut, names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    _Milliseconds = click.ParamType[int]
else:
    _Milliseconds = click.ParamType  # which takes no type before click 8.4

F = TypeVar("F", bound="Callable[..., Any]")

MISSED = 3
UNKNOWN = 4

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, named as in REST.")
query = click.option(
    "--query",
    metavar="QUERY",
    help="Name or id of the query, or id of a run. Not needed where there is one query.",
)
_URL = click.option(
    "--url",
    default="http://localhost:4040",
    show_default=True,
    envvar="SPARKLATENCY_URL",
    show_envvar=True,
    help="The UI of the driver, or of a History Server.",
)
_APP = click.option("--app", help="Id or name of the application. Not needed where the UI shows one.")


def application(command: F) -> F:
    """Adds --url and --app."""
    return _URL(_APP(command))


class Duration(_Milliseconds):
    """A duration such as 500ms, 5s or 2m, in milliseconds.

    Args:
        within: the shortest and the longest that will do, if not all do.
    """

    name = "duration"
    _UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}  # noqa: RUF012  read only

    def __init__(self, within: tuple[str, str] | None = None) -> None:
        self._within = within

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Returns milliseconds; a duration without a unit is refused."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d{1,12}(?:\.\d+)?)(ms|s|m|h|d)", value)  # of 400 digits a float is infinite
        if found is None:
            wanted = "Write it like 500ms, 5s, 2m, 1h or 1d"
            self.fail(f"{cut(repr(value))} is not a duration. {wanted}.", param, ctx)
        took = round(float(found[1]) * self._UNITS[found[2]])
        if self._within is not None:
            least, most = (Duration().convert(bound, param, ctx) for bound in self._within)
            if not least <= took <= most:
                self.fail(f"{cut(repr(value))} is not between {' and '.join(self._within)}.", param, ctx)
        return took


def reader(url: str, app: str | None) -> RestReader:
    """Returns a reader of the application; a bad URL is wrong usage."""
    try:
        return RestReader(url, app)
    except ValueError as bad:
        raise click.BadParameter(str(bad), param_hint="--url") from bad


def one_query(source: RestReader, name: str | None) -> Mapping[str, Any]:
    """Returns the document of one query: the one that is named, or the only one.

    Raises:
        SparkLatencyError: there is none, or several; or another version of sparklatency tells of them.
    """
    if name is not None and not is_text(name):
        raise click.BadParameter(f"{cut(repr(name))} cannot be written as UTF-8", param_hint="--query")
    found: list[Mapping[str, Any]] = source.queries(name)["queries"]
    if len(found) != 1:
        with documents.of_this_version():
            known = names(one["query"] for one in found)
        several = f"There are figures of several queries. Name one by --query: {known}"
        raise SparkLatencyError(several if found else NOTHING)
    return found[0]


def print_json(document: Any) -> None:
    """Prints JSON that is meant for programs and can be read by people, as far as the locale lets them."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2)
    click.echo(text)
