"""Where what is printed goes."""

from __future__ import annotations

import io
import sys

from rich.console import Console


def console(*, soft_wrap: bool = False) -> Console:
    """Returns where tables go: as wide as they need to be where nobody looks, whatever FORCE_COLOR says.

    A character that the locale does not have is a question mark.
    """
    out, is_seen = sys.stdout, sys.stdout.isatty()
    if isinstance(out, io.TextIOWrapper):
        out.reconfigure(errors="replace")
    return Console(
        file=out,
        highlight=False,
        soft_wrap=soft_wrap,
        force_terminal=None if is_seen else False,
        width=None if is_seen else 10_000,
    )
