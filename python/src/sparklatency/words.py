"""Names, numbers and any other value as people read them: on one line, and never too long for it."""

from __future__ import annotations

from itertools import islice
from math import floor
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Iterable

NOTHING = (
    "No figures yet: no batch of a query with a marked node has ended. "
    "If none is marked, mark one by hand, or set spark.sparklatency.auto."
)
NO_FIGURES = "no figures of a query"
"""How the JVM, and so REST, begins what it says of a query that it does not know."""
UNKNOWN = "–"  # noqa: RUF001  an en dash, as in printed tables
NAME_WIDTH = 48
_ELLIPSIS = "…"
_MOST_CHARACTERS = 100
_MOST_NAMES = 10
_ONE_PERCENT = 0.01


def name(raw: str, width: int = NAME_WIDTH) -> str:
    r"""Returns a name or id as it is shown: on one line, and without its middle where it is too wide.

    What cannot be seen is written as in Python (``\n``, ``\x1b``). Ids that end differently stay different.
    """
    shown = _pieces(raw)
    if cell_len("".join(shown)) <= width:
        return "".join(shown)
    tail = _fitting(reversed(shown), (width - 1) // 2)[::-1]
    head = _fitting(shown, width - 1 - cell_len("".join(tail)))
    return "".join([*head, _ELLIPSIS, *tail])


def names(raw: Iterable[str]) -> str:
    """Returns a list of names for a sentence: the first of them, and how many there are besides."""
    remaining = iter(raw)
    shown = ", ".join(name(one) for one in islice(remaining, _MOST_NAMES))
    more = sum(1 for _ in remaining)
    return f"{shown} and {more:,} more" if more else shown or "none"


def printable(raw: str) -> str:
    """Returns a text on one line: what cannot be seen is written as in Python."""
    return "".join(_pieces(raw))


def cut(raw: str, most: int = _MOST_CHARACTERS) -> str:
    """Returns the beginning of a text, on one line."""
    shown = _pieces(raw[: most + 1])  # the rest may be as long as it likes
    if cell_len("".join(shown)) <= most:
        return "".join(shown)
    return "".join([*_fitting(shown, most - 1), _ELLIPSIS])


def value(of: object) -> str:
    """Returns any value as a message shows it, however large or odd it is."""
    try:
        return cut(repr(of))
    except Exception:  # a value that cannot be shown must not hide what is wrong with it
        return "a value that cannot be shown"


def type_name(of: type) -> str:
    """Returns the name of a type with its module, for there is more than one ``DataFrame``."""
    return of.__qualname__ if of.__module__ == "builtins" else f"{of.__module__}.{of.__qualname__}"


def milliseconds(latency: float | None) -> str:
    """Returns a latency without its unit: whole where it is exact, one decimal for a mean."""
    if latency is None:
        return UNKNOWN
    if not isinstance(latency, float):
        return f"{latency:,}"
    tenths = floor(latency * 10 + 0.5)  # as the tab rounds it: of 1.25 Python alone would make 1.2
    return f"{tenths / 10:,.1f}"


def percent(share: float | None) -> str:
    """Returns a part of a whole, between 0 and 1, as the tab writes it."""
    if share is None:
        return UNKNOWN
    return "< 1 %" if 0 < share < _ONE_PERCENT else f"{floor(share * 100 + 0.5)} %"


def counted(number: int, one: str, more: str) -> str:
    """Returns a number and what it counts."""
    return f"{number:,} {one if number == 1 else more}"


def _pieces(raw: str) -> list[str]:
    return [char if char.isprintable() else char.encode("unicode_escape").decode() for char in raw]


def _fitting(pieces: Iterable[str], width: int) -> list[str]:
    """Returns the first of the pieces, as many as fit."""
    fitting: list[str] = []
    for piece in pieces:
        width -= cell_len(piece)
        if width < 0:
            break
        fitting.append(piece)
    return fitting
