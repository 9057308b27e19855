"""What is said at the end of all tests of the suites that took longest."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from fabricated import report

pytestmark = pytest.mark.one_line

SLOWEST = Path(__file__).parents[1] / "e2e" / "slowest.py"


@pytest.fixture
def slowest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """It lies with the tests from end to end, whose folder is not on the path here."""
    spec = importlib.util.spec_from_file_location("slowest_suites", SLOWEST)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "_ROOT", tmp_path)
    return module.slowest


def case(suite: str, seconds: float) -> str:
    return f'<testcase classname="{suite}" name="one" time="{seconds}"/>'


def test_the_ten_suites_that_took_longest_are_named_each_with_its_line(slowest: Any, tmp_path: Path) -> None:
    core = tmp_path / "jvm/core/target/test-reports/TEST-ages.xml"
    report(core, case("io.AgesSuite", 1.5), case("io.AgesSuite", 2.5))
    for line, seconds in (("4.2", 6), ("4.3", 5)):
        report(tmp_path / f"jvm/spark/target/{line}/test-reports/TEST-tab.xml", case("io.TabSuite", seconds))
    report(tmp_path / "target/reports/python-4.3.xml", case("tests.python.test_rest", 3))
    own = [("e2e test_soak", 4.0), ("e2e test_soak", 3.0), *((f"e2e {n}", n / 100) for n in range(8))]
    assert slowest(own) == [
        ("e2e test_soak", 7.0),
        ("bridge 4.2 TabSuite", 6.0),
        ("bridge 4.3 TabSuite", 5.0),
        ("core AgesSuite", 4.0),
        ("python 4.3 test_rest", 3.0),
        *((f"e2e {n}", n / 100) for n in (7, 6, 5, 4, 3)),
    ]
