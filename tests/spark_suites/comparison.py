"""Runs suites with the jar, and again without it what did not simply pass. Keeps each run as a file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from differences import WHOLE_SUITE, Difference, Known, differing
from outcomes import COMPLETED, SuiteRun
from suite_jvm import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from suite_jvm import SuiteJvm


@dataclass(frozen=True)
class Compared:
    """A suite's run with the jar, and what was found different without it.

    `unsteady` are tests that differed when they first ran, among other suites in a JVM, and not when they
    ran again.
    """

    run: SuiteRun
    differences: list[Difference] = field(default_factory=list)
    unsteady: list[Difference] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.run.suite.rpartition(".")[2]

    @property
    def unknown(self) -> list[Difference]:
        return [difference for difference in self.differences if difference.reason is None]

    @property
    def as_without(self) -> list[str]:
        """The tests that do not pass, with the jar or without it."""
        differ = {difference.test for difference in self.differences}
        return [test for test in self.run.unsettled if test not in differ]


class Comparison:
    """Compares runs with one jar.

    A test that passes with the jar says all there is to say. So only the others run without the jar, or the
    whole suite where it did not complete, or all of them where `both` asks for that. Without the jar nothing
    of ours is in the process: such a run is kept and not done again.
    """

    def __init__(self, jvm: SuiteJvm, jar: Path, known: Known, results: Path, within: float) -> None:
        self._jvm, self._jar, self._known, self._results, self._within = jvm, jar, known, results, within
        self._digest = sha256(jar.read_bytes()).hexdigest()

    def earlier(self, suite: str) -> SuiteRun | None:
        """The kept run of a whole suite with this very jar."""
        return SuiteRun.read(self._file("with", suite), jar=self._digest)

    def run(self, suites: Sequence[str]) -> Iterator[SuiteRun]:
        """Runs suites with the jar, in one JVM as long as that lives; each run comes when its suite ends."""
        left = list(suites)
        while left:
            began = len(left)
            for run in self._jvm.run(
                {suite: [] for suite in left}, self._jar, self._folder("with"), self._within
            ):
                run.write(self._file("with", run.suite), jar=self._digest)
                left.remove(run.suite)
                yield run
            if len(left) == began:  # one that cannot be made keeps all from beginning
                for suite in left:
                    yield from self.run([suite])
                return

    def run_parts(self, tests: Mapping[str, Sequence[str]]) -> list[SuiteRun]:
        """Parts of suites, in one JVM; what they say is not kept as a run of the suite."""
        return list(self._jvm.run(tests, self._jar, self._folder("handful"), self._within))

    def compared(self, run: SuiteRun, both: bool = False) -> Compared:
        """Compares a run with one without the jar. What differs must differ again, in a JVM of its own."""
        if run.is_settled and not both:
            return Compared(run)
        without = self._without(run, both or run.end != COMPLETED)
        found = differing(run, without, self._known)
        if not found:
            return Compared(run)
        again = self._again(run, [difference.test for difference in found])
        differences = differing(again, without, self._known)
        steady = {difference.test for difference in differences}
        return Compared(again, differences, [first for first in found if first.test not in steady])

    def _without(self, run: SuiteRun, whole: bool) -> SuiteRun:
        file = self._file("without", run.suite)
        kept = SuiteRun.read(file, tests_run="all")
        if not kept and not whole:
            kept = SuiteRun.read(file, tests_run="some")
        if kept and (whole or kept.tests.keys() >= set(run.unsettled)):
            return kept
        chosen = [] if whole else words("-t", run.unsettled)
        (without,) = self._jvm.run({run.suite: chosen}, None, self._folder("without"), self._within)
        without.write(file, tests_run="all" if whole else "some")
        return without

    def _again(self, run: SuiteRun, tests: Sequence[str]) -> SuiteRun:
        whole = WHOLE_SUITE in tests
        chosen = [] if whole else words("-t", tests)
        (again,) = self._jvm.run({run.suite: chosen}, self._jar, self._folder("again"), self._within)
        return again if whole else replace(run, end=again.end, tests={**run.tests, **again.tests})

    def _folder(self, kind: str) -> Path:
        return self._results / kind

    def _file(self, kind: str, suite: str) -> Path:
        return self._folder(kind) / f"{suite.rpartition('.')[2]}.json"
