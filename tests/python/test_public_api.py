"""The public Python API is what `golden/api.txt` lists: who changes the one changes the other, knowingly.

`API_WRITE=1 pytest test_public_api.py` writes the list anew.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sparklatency
import sparklatency.values
from sparklatency.view import Latency

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.one_line

LISTED = Path(__file__).parent / "golden" / "api.txt"


def api() -> list[str]:
    """A line for each name that others may use: of the package, and of the values that it gives out."""
    lines = [
        line
        for name in sparklatency.__all__
        for line in told(f"sparklatency.{name}", getattr(sparklatency, name))
    ]
    lines += told("Latency", Latency)
    for module in pkgutil.iter_modules(sparklatency.values.__path__, "sparklatency.values."):
        for name, value in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if value.__module__ == module.name and not name.startswith("_"):
                lines += told(name, value)
    return sorted(lines)


def told(name: str, value: object) -> Iterator[str]:
    if inspect.isclass(value):
        yield f"class {name}"
        own = {field.name: field.type for field in fields(value)} if is_dataclass(value) else {}
        yield from (f"{name}.{field}: {type_}" for field, type_ in own.items() if not field.startswith("_"))
        for member, of in vars(value).items():
            if member.startswith("_") or member in own:
                continue
            if isinstance(of, property) and of.fget:
                yield f"{name}.{member}: {inspect.signature(of.fget).return_annotation}"
            elif inspect.isfunction(of):
                yield f"{name}.{member}{inspect.signature(of)}"
    elif inspect.isfunction(value):
        yield f"{name}{inspect.signature(value)}"
    else:
        yield name


def test_the_public_api_is_as_listed() -> None:
    if os.environ.get("API_WRITE"):
        LISTED.write_text("".join(f"{line}\n" for line in api()), encoding="utf-8")
    assert api() == LISTED.read_text(encoding="utf-8").splitlines()


def test_a_parameter_more_and_a_name_less_are_found() -> None:
    def latency(query: str) -> None: ...
    def longer(query: str, more: int) -> None: ...

    assert [*told("latency", latency)] == ["latency(query: 'str') -> 'None'"]
    assert [*told("latency", longer)] != [*told("latency", latency)]
