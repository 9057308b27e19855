"""Which tests are run: `make test-full` runs all, `make test` a sample.

A product is that of two parameters. Its test says so: ``@pytest.mark.sampled(of="shape", by="mode")``. A
sample has each shape in one mode, and each mode at least once. Seeds that follow one another have other
samples, and as many of them as there are modes have the whole product. With ``alone=True`` it has one shape
in one mode, and as many seeds as the product has pairs have all of it. Without shapes, as in
``sampled(by="mode")``, it has one mode.

What hardly depends on the line of Spark, ``@pytest.mark.one_line``, runs on the line whose turn it is: that
of its parameter ``cluster``, or of the pyspark that is installed.

``TEST_FULL`` runs all. ``SAMPLE_SEED`` runs a sample again; without it the day is the seed.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

T = TypeVar("T")

_SECONDS_OF_A_DAY = 86_400

IS_FULL = bool(os.environ.get("TEST_FULL"))
SEED = int(os.environ.get("SAMPLE_SEED") or time.time() // _SECONDS_OF_A_DAY)

LINES = os.environ.get("SPARK_LINES", "").split()
"""Of which each has a run of the same tests."""


def is_in_sample(shape: int, mode: int, modes: int, seed: int = SEED) -> bool:
    """Whether a sample has a shape in one of so many modes, each told by its place."""
    return mode == (shape + seed) % modes


def by_turns(modes: Sequence[T]) -> list[T]:
    """The mode whose turn it is, or all of them; for what hardly depends on the mode."""
    return [mode for i, mode in enumerate(modes) if IS_FULL or is_in_sample(0, i, len(modes))]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "one_line: hardly depends on the line of Spark")
    config.addinivalue_line(
        "markers", "sampled(by, of='', alone=False): parameters of whose product a sample is run"
    )


def pytest_report_header() -> str:
    return "all tests" if IS_FULL else f"a sample of tests, SAMPLE_SEED={SEED}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if IS_FULL:
        return
    values = _values(items)
    left_out = {item for item in items if not _is_run(item, values)}
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def _is_run(item: pytest.Item, values: Mapping[tuple[object, str], list[object]]) -> bool:
    if item.get_closest_marker("one_line") and not _is_our_turn(item):
        return False
    own = _parameters(item)
    for of, by, alone in _products(item):
        shapes, modes = values[item.parent, of], values[item.parent, by]
        shape = shapes.index(own[of]) if of else 0
        if not is_in_sample(shape, modes.index(own[by]), len(modes)):
            return False
        if alone and shape != SEED // len(modes) % len(shapes):
            return False
    return True


def _is_our_turn(item: pytest.Item) -> bool:
    line = _parameters(item).get("cluster") or ".".join(version("pyspark").split(".")[:2])
    return line not in LINES or line in by_turns(LINES)


def _values(items: Iterable[pytest.Item]) -> dict[tuple[object, str], list[object]]:
    """By module and parameter, the values there are. Some of them have no hash."""
    found: dict[tuple[object, str], list[object]] = defaultdict(list)
    for item in items:
        for name in (name for of, by, _ in _products(item) for name in (of, by) if name):
            known, value = found[item.parent, name], _parameters(item)[name]
            if value not in known:
                known.append(value)
    return found


def _products(item: pytest.Item) -> list[tuple[str, str, bool]]:
    """Those of which the test has the parameters, for a module may have tests without: of what, by what."""
    marks = (mark.kwargs for mark in item.iter_markers("sampled"))
    products = ((mark.get("of", ""), mark["by"], mark.get("alone", False)) for mark in marks)
    return [(of, by, alone) for of, by, alone in products if {of or by, by} <= _parameters(item).keys()]


def _parameters(item: pytest.Item) -> Mapping[str, object]:
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
