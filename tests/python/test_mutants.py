"""The mutants are patches, and patches rot: each must still apply, in one place. `make mutants` runs them."""

from __future__ import annotations

import re

import pytest

from mutants import CHECKOUT, Mutant, mutants

pytestmark = pytest.mark.one_line

SUITES = {
    room: {
        file.stem: file.read_text(encoding="utf-8")
        for folder in folders
        for file in (CHECKOUT / "tests/jvm" / folder).rglob("*.scala")
    }
    for room, folders in (("core", ["core"]), ("bridge", ["spark", "shims"]))
}
"""What each suite says, of those that are run in a room."""
INTERPOLATED = {
    "files of csv",
    "itself asks for, shuffled being false",
    "itself asks for, shuffled being true",
    "pruned",
    "shuffled being false",
    "shuffled being true",
    "wait for a function",
    "with markers: pruned",
}
"""Of names of tests that are put together from several."""
ALL = pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)


@ALL
def test_a_mutant_still_applies_and_in_one_place(mutant: Mutant) -> None:
    assert mutant.applies(CHECKOUT, "--check")
    places = [(CHECKOUT / file).read_text(encoding="utf-8").count(text) for file, text in mutant.hunks]
    assert places == [1] * len(places)


@ALL
def test_a_mutant_says_what_is_broken_and_names_suites_that_there_are(mutant: Mutant) -> None:
    assert re.fullmatch(r"[^\n]+\.", mutant.words)
    assert mutant.suites
    for suite in mutant.suites:
        of_scala = re.match(r"(core|bridge)/testOnly \*\.(\w+)(?: -- -z \"([^\"]+)\")?$", suite)
        of_python = re.match(r"pytest (tests/python/\w+\.py)(?: -k (\w+))?$", suite)
        assert of_scala or of_python, suite
        if of_scala:
            room, name, words = of_scala.groups()
            assert name in SUITES[room]
            assert words is None or words in SUITES[room][name] or words in INTERPOLATED
        if of_python:
            file, word = of_python.groups()
            text = (CHECKOUT / file).read_text(encoding="utf-8")
            assert word is None or re.search(rf"^def test_\w*{word}", text, re.MULTILINE)


def test_there_are_mutants_of_each_part() -> None:
    parts = [mutant.name.split("/")[0] for mutant in mutants()]
    assert len(parts) >= 60
    assert set(parts) == {"bridge", "core", "python"}
