"""The mutants are patches, and patches rot: each must still apply, in one place. `make mutants` runs them."""

from __future__ import annotations

import re

import pytest

from mutants import CHECKOUT, Mutant, mutants

pytestmark = pytest.mark.one_line

SUITES = {file.stem for file in (CHECKOUT / "tests/jvm").rglob("*.scala")}
ALL = pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)


@ALL
def test_it_still_applies_and_in_one_place(mutant: Mutant) -> None:
    assert mutant.applies(CHECKOUT, "--check")
    places = [(CHECKOUT / file).read_text(encoding="utf-8").count(text) for file, text in mutant.hunks]
    assert places == [1] * len(places)


@ALL
def test_it_says_what_is_broken_and_names_suites_that_there_are(mutant: Mutant) -> None:
    assert re.fullmatch(r"[^\n]+\.", mutant.words)
    assert mutant.suites
    for suite in mutant.suites:
        of_scala = re.match(r"(?:core|bridge)/testOnly \*\.(\w+)(?: -- -z \"[^\"]+\")?$", suite)
        of_python = re.match(r"pytest (tests/python/\w+\.py)(?: -k \w+)?$", suite)
        assert of_scala or of_python, suite
        if of_scala:
            assert of_scala[1] in SUITES
        if of_python:
            assert (CHECKOUT / of_python[1]).is_file()


def test_there_are_some_for_each_part() -> None:
    parts = [mutant.name.split("/")[0] for mutant in mutants()]
    assert len(parts) >= 60
    assert set(parts) == {"bridge", "core", "python"}
