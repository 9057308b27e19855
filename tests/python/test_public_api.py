"""The public Python API is what `golden/api.txt` lists, and the command line what `golden/cli.txt` does.

Who changes the one changes the other, knowingly. `API_WRITE=1 pytest test_public_api.py` writes them anew.
`PromisedNamesSuite` holds other names that last.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

import sparklatency
import sparklatency.values
from sparklatency.cli import main
from sparklatency.view import Latency

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.one_line

GOLDEN = Path(__file__).parent / "golden"


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


def commands(name: str, command: click.Command) -> Iterator[str]:
    """A line for each command, and for each of its arguments and options: its names, and what it takes."""
    yield name
    for parameter in command.params:
        values = parameter.type.choices if isinstance(parameter.type, click.Choice) else [parameter.type.name]
        takes = "" if getattr(parameter, "is_flag", False) else f" {'|'.join(map(str, values))}"
        times = "" if parameter.nargs == 1 and not parameter.multiple else " ..."
        by_environment = f" or {parameter.envvar}" if parameter.envvar else ""
        written = (
            ", ".join(parameter.opts)
            if isinstance(parameter, click.Option)
            else parameter.human_readable_name
        )
        yield f"{name} {written}{takes}{times}{by_environment}"
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            yield from commands(f"{name} {inner.name}", inner)


def assert_listed(file: str, lines: list[str]) -> None:
    if os.environ.get("API_WRITE"):
        (GOLDEN / file).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert lines == (GOLDEN / file).read_text(encoding="utf-8").splitlines()


def test_the_public_api_is_as_listed() -> None:
    assert_listed("api.txt", api())


def test_the_command_line_is_as_listed() -> None:
    assert_listed("cli.txt", sorted(commands("sparklatency", main)))


def test_a_parameter_more_and_a_name_less_are_found() -> None:
    def latency(query: str) -> None: ...
    def longer(query: str, more: int) -> None: ...

    assert [*told("latency", latency)] == ["latency(query: 'str') -> 'None'"]
    assert [*told("latency", longer)] != [*told("latency", latency)]
