"""The table of Hazelcast's cases: each test that it names is there."""

from __future__ import annotations

import re

import pytest

from mutants import CHECKOUT

pytestmark = pytest.mark.one_line

PAGE = (CHECKOUT / "python/docs/time.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (C\d+(?:, C\d+)*) [^|]*\| (.*) \|$", PAGE, re.MULTILINE)
TESTS = {
    name
    for suite in (CHECKOUT / "tests/jvm").rglob("*.scala")
    for name in re.findall(r'\btest\(\s*"((?:[^"\\]|\\.)*)"', suite.read_text(encoding="utf-8"))
}


def test_all_fifteen_are_there() -> None:
    cases = [int(case) for cases, _ in ROWS for case in re.findall(r"C(\d+)", cases)]
    assert sorted(cases) == list(range(1, 16))


@pytest.mark.parametrize(("cases", "here"), ROWS, ids=[cases for cases, _ in ROWS])
def test_each_test_that_a_row_names_is_there_and_a_row_without_one_says_why(cases: str, here: str) -> None:
    named = re.findall(r"\*([^*]+)\*", here)
    assert [name for name in named if name not in TESTS] == []
    assert named or here.startswith("none: "), cases
