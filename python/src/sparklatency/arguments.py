"""What our functions say of an argument that they cannot take."""

from __future__ import annotations

from operator import index
from typing import Any

from sparklatency import words


def check_type(function: str, name: str, value: object, *allowed: type) -> None:
    """Raises TypeError when an argument is of none of the types that a function takes."""
    if not isinstance(value, allowed):
        raise _other_type(function, name, value, *allowed)


def whole_number(function: str, name: str, value: Any) -> int:
    """Returns a whole number of any kind, as numpy has many; raises TypeError for anything else."""
    try:
        return index(value)
    except TypeError:
        raise _other_type(function, name, value, int) from None


def check_text(function: str, name: str, value: object) -> None:
    """Raises ValueError for a string that the JVM and a URL cannot take, with a lone surrogate."""
    if isinstance(value, str) and not is_text(value):
        raise ValueError(f"{function}: {name} {words.value(value)} cannot be written as UTF-8.")


def is_text(value: str) -> bool:
    """Tells whether a string can be written as UTF-8: one with a lone surrogate cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _other_type(function: str, name: str, value: object, *allowed: type) -> TypeError:
    expected = " or ".join("None" if one is type(None) else words.type_name(one) for one in allowed)
    given = f"{words.value(value)} ({words.type_name(type(value))})"
    return TypeError(f"{function}: {name} takes {expected}, not {given}.")
