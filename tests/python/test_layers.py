"""Which module may use which: each uses only those before it in one order, also where types alone need it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sparklatency

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.one_line

PACKAGE = "sparklatency"
SOURCE = Path(sparklatency.__file__).parent

ORDER = [
    "_version",
    "errors",
    "words",
    "arguments",
    "extras",
    "extras.frames",
    "extras.plots",
    "values",
    "values.frozen",
    "values.answer",
    "values.statistics",
    "values.operators",
    "values.markers",
    "values.nodes",
    "values.batches",
    "values.history",
    "values.queries",
    "rendering",
    "rendering.terminal",
    "rendering.layout",
    "rendering.queries",
    "rendering.screen",
    "rendering.commands",
    "binding",
    "binding.jars",
    "binding.properties",
    "binding.gateway",
    "binding.connect",
    "binding.dataframes",
    "binding.session",
    "binding.marking",
    "binding.watermarks",
    "reading",
    "reading.documents",
    "reading.application",
    "reading.jvm",
    "reading.rest",
    "view",
    "__init__",
    "demo",
    "assets",
    "assets.metrics",
    "assets.prometheus",
    "assets.grafana",
    "assets.jmx_exporter",
    "assets.opentelemetry",
    "cli._options",
    "cli.check",
    "cli.export",
    "cli.reading",
    "cli.slo",
    "cli",
    "__main__",
]


def modules(source: Path) -> dict[str, Path]:
    """By their names within the package; the package itself is `__init__`."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
    return found


def uses(source: Path) -> dict[str, set[str]]:
    """By module, the modules of the package that it imports, at the top, in a function or for types alone."""
    known = modules(source)
    return {name: imported(path.read_text(encoding="utf-8"), known) for name, path in known.items()}


def imported(code: str, known: Mapping[str, object]) -> set[str]:
    found = set()
    for statement in ast.walk(ast.parse(code)):
        if isinstance(statement, ast.Import):
            found |= {one.name for one in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            assert statement.level == 0, "imports name the package"
            of = statement.module or ""
            inner = {one.name: f"{of}.{one.name}" for one in statement.names}
            found |= {full if within(full) in known else of for full in inner.values()}
    return {within(name) for name in found if name.split(".")[0] == PACKAGE}


def within(name: str) -> str:
    return name.removeprefix(PACKAGE).removeprefix(".") or "__init__"


def breaches(source: Path) -> list[str]:
    """What breaks the order. Where nothing does there is no circle."""
    used = uses(source)
    unknown = [f"{name} has no place in the order" for name in used if name not in ORDER]
    missing = [f"{name} is in the order, and nowhere else" for name in ORDER if name not in used]
    backwards = [
        f"{name} uses {other}, which does not come before it"
        for name in ORDER
        for other in sorted(used.get(name, ()))
        if other in ORDER and ORDER.index(other) >= ORDER.index(name)
    ]
    return unknown + missing + backwards


def test_each_module_uses_only_modules_before_it() -> None:
    assert breaches(SOURCE) == []


@pytest.mark.parametrize(
    "planted",
    [
        "from sparklatency.view import Latency",
        "from sparklatency import view",
        "import sparklatency.view",
        "def late():\n    from sparklatency.view import Latency",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sparklatency.view import Latency",
    ],
)
def test_an_import_against_the_order_is_found(tmp_path: Path, planted: str) -> None:
    for name, path in modules(SOURCE).items():
        copy = tmp_path / path.relative_to(SOURCE)
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(path.read_text(encoding="utf-8") + (f"\n{planted}\n" if name == "words" else ""))
    assert breaches(tmp_path) == ["words uses view, which does not come before it"]


def test_a_module_without_a_place_is_found(tmp_path: Path) -> None:
    tmp_path.joinpath("stray.py").touch()
    assert "stray has no place in the order" in breaches(tmp_path)
