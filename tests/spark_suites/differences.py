"""What differs between a run of a suite with the jar and one without it, and which of that is known."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from outcomes import SuiteRun

WHOLE_SUITE = "the suite"
ABSENT = "did not run"


@dataclass(frozen=True)
class Difference:
    """A test that ends otherwise with the jar. `reason` says why, where that is known."""

    suite: str
    test: str
    with_jar: str
    without: str
    message: str
    reason: str | None = None

    def __str__(self) -> str:
        told = f"{self.suite}: {self.test}: {self.with_jar} with the jar, {self.without} without"
        return f"{told} (known: {self.reason})" if self.reason else f"{told}\n    {self.message.strip()}"


class Known:
    """The differences whose reason is known, by suite and test."""

    def __init__(self, file: Path) -> None:
        self._reasons: dict[str, dict[str, str]] = tomllib.loads(file.read_text())

    def reason(self, suite: str, test: str) -> str | None:
        return self._reasons.get(suite, {}).get(test)


def differing(with_jar: SuiteRun, without: SuiteRun, known: Known) -> list[Difference]:
    """Compares what `without` ran with the same tests of `with_jar`.

    `without` may be a run of some tests only: of those that could end otherwise. Where it ran more, each
    of its tests counts, also one that the run with the jar never came to.
    """
    suite = with_jar.suite.rpartition(".")[2]
    names = dict.fromkeys([*with_jar.unsettled, *without.tests])
    pairs = [(name, with_jar.tests.get(name), without.tests.get(name)) for name in names]
    found = [
        Difference(
            suite,
            name,
            ours.outcome if ours else ABSENT,
            theirs.outcome if theirs else ABSENT,
            (ours.message if ours else "") or (theirs.message if theirs else ""),
            known.reason(suite, name),
        )
        for name, ours, theirs in pairs
        if (ours and ours.outcome) != (theirs and theirs.outcome)
    ]
    if with_jar.end != without.end:
        message = with_jar.message or without.message
        reason = known.reason(suite, WHOLE_SUITE)
        found.append(Difference(suite, WHOLE_SUITE, with_jar.end, without.end, message, reason))
    return found
