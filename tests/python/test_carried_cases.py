"""The tables of cases carried over from other systems: each test that one names is there."""

from __future__ import annotations

import re

import pytest

from mutants import CHECKOUT

pytestmark = pytest.mark.one_line

TABLES = {
    "Hazelcast's": ("time.md", "C", 15),
    "Apex's": ("measured.md", "B", 9),
    "Kafka Streams'": ("measured.md", "A", 15),
    "Flink's": ("markers.md", "D", 6),
}
"""The page that has the table, the letter of its cases, and how many there are."""


def rows(system: str) -> list[tuple[str, str]]:
    page, letter, _ = TABLES[system]
    text = (CHECKOUT / "python/docs" / page).read_text(encoding="utf-8")
    table = text.partition(f"# {system} cases\n")[2]
    return re.findall(rf"^\| ({letter}\d+(?:, {letter}\d+)*) [^|]*\| (.*) \|$", table, re.MULTILINE)


def patterns() -> list[re.Pattern[str]]:
    """What tests are called. A name in Scala may have values in it, which may be anything, and words too."""
    found = []
    for suite in (CHECKOUT / "tests/jvm").rglob("*.scala"):
        text = suite.read_text(encoding="utf-8")
        for name in re.findall(r'\btest\(\s*s?"((?:[^"\\]|\\.)*)"', text):
            words = re.split(r"\$(?:\w+|\{[^}]*\})", name)
            if re.search(r"\w", "".join(words)):
                found.append(".+".join(map(re.escape, words)))
    for suite in (CHECKOUT / "tests/python").glob("test_*.py"):
        found += re.findall(r"^def (test_\w+)", suite.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.compile(name) for name in found]


TESTS = patterns()
ROWS = [pytest.param(here, id=f"{system} {cases}") for system in TABLES for cases, here in rows(system)]


@pytest.mark.parametrize("system", TABLES)
def test_all_cases_are_in_the_table(system: str) -> None:
    cases = [int(case) for cases, _ in rows(system) for case in re.findall(r"\d+", cases)]
    assert sorted(cases) == list(range(1, TABLES[system][2] + 1))


@pytest.mark.parametrize("here", ROWS)
def test_each_test_that_a_row_names_is_there_and_a_row_without_one_says_why(here: str) -> None:
    named = re.findall(r"\*([^*]+)\*", here)
    assert [name for name in named if not any(test.fullmatch(name) for test in TESTS)] == []
    assert named or here.startswith("none: ")
