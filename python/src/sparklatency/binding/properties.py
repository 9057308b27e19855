"""Reading a file of settings, ``spark-defaults.conf``, as the JVM does: by Java's rules for properties."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def setting(path: Path, key: str) -> str:
    """Returns what a key has there, without blanks around it; of several the last, of none nothing."""
    # A key may have no value: what is on the next line is none.
    line = re.compile(rf"{re.escape(key)}(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+|$)(.*)")
    found = [line.fullmatch(one) for one in _lines(path.read_text(encoding="utf-8", errors="replace"))]
    values = [_plain(match[1]).strip() for match in found if match]
    return values[-1] if values else ""


def _lines(text: str) -> Iterator[str]:
    """Returns what is no comment. A line that ends in a backslash, if no other escapes it, goes on."""
    begun = ""
    for line in text.split("\n"):
        whole = begun + line.lstrip(" \t\f")
        if not begun and whole.startswith(("#", "!")):
            continue
        goes_on = (len(whole) - len(whole.rstrip("\\"))) % 2 == 1
        begun = whole[:-1] if goes_on else ""
        if not goes_on:
            yield whole
    yield begun


def _plain(written: str) -> str:
    def of(escape: re.Match[str]) -> str:
        if len(escape[1]) > 1:
            return chr(int(escape[1][1:], 16))
        return _CONTROLS.get(escape[1], escape[1])

    return _ESCAPED.sub(of, written)
