"""What the chore makes of the runs of suites, which are told to it here instead of run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import report
from comparison import Compared, Comparison
from differences import Known
from outcomes import Outcome, SuiteRun, runs_of
from suite_jvm import SuiteJvm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

SUITE = "org.apache.spark.sql.streaming.SomeSuite"


def ran(end: str = "completed", batches: int = 3, **tests: str) -> SuiteRun:
    outcomes = {name: Outcome(outcome, message=f"why {name}") for name, outcome in tests.items()}
    return SuiteRun(SUITE, end, batches=batches, nodes=2 * batches, tests=outcomes)


class Told(SuiteJvm):
    """Runs nothing: it has been told how the suite ends with the jar, without it, and with the jar again."""

    def __init__(
        self, with_jar: SuiteRun, without: SuiteRun | None = None, again: SuiteRun | None = None
    ) -> None:
        self.runs = {"with": with_jar, "without": without, "again": again or with_jar}
        self.asked: list[tuple[str, Sequence[str]]] = []

    def run(
        self, tests: Mapping[str, Sequence[str]], jar: Path | None, folder: Path, within: float
    ) -> Iterator[SuiteRun]:
        ((suite, chosen),) = tests.items()
        self.asked.append((folder.name, chosen))
        told = self.runs[folder.name]
        assert told is not None, f"{suite} was not to be run with {jar} within {within} seconds"
        yield told


@pytest.fixture
def known(tmp_path: Path) -> Path:
    file = tmp_path / "known.toml"
    file.write_text("")
    return file


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    file = tmp_path / "some.jar"
    file.write_text("one")
    return file


def compared(jvm: SuiteJvm, jar: Path, known: Path, both: bool = False) -> Compared:
    comparison = Comparison(jvm, jar, Known(known), jar.parent / "results", within=1)
    (run,) = comparison.run([SUITE])
    return comparison.compared(run, both)


def test_a_suite_that_passes_is_not_run_without_the_jar(jar: Path, known: Path) -> None:
    jvm = Told(ran(a="passed", b="ignored"))
    found = compared(jvm, jar, known)
    assert (found.differences, report.problem([found])) == ([], None)
    assert report.line(found.run) == "SomeSuite: 1 passed, 1 ignored (0 s, 3 batches measured)"


def test_only_what_does_not_pass_runs_without_the_jar_and_may_end_as_it_does_there(
    jar: Path, known: Path
) -> None:
    jvm = Told(ran(a="passed", b="failed", c="canceled"), ran(batches=0, b="failed", c="canceled"))
    found = compared(jvm, jar, known)
    assert jvm.asked == [("with", []), ("without", ["-t", "b", "-t", "c"])]
    assert (found.as_without, found.differences, report.problem([found])) == (["b", "c"], [], None)
    assert report.summary([found], "All", 61)[-1] == (
        "All: 1 suites in 1 min 1 s, 1 tests passed, 0 ignored by Spark, 2 ended as without the jar, "
        "0 differ (0 for no known reason), 0 suites do not start, 3 batches measured at 6 nodes"
    )


def test_a_test_that_fails_only_with_the_jar_is_a_problem(jar: Path, known: Path) -> None:
    found = compared(Told(ran(a="failed", b="failed"), ran(a="passed", b="failed")), jar, known)
    assert list(map(str, found.differences)) == [
        "SomeSuite: a: failed with the jar, passed without\n    why a"
    ]
    assert report.problem([found]) == "There are differences for no known reason."


def test_a_known_difference_is_told_with_its_reason_and_is_no_problem(jar: Path, known: Path) -> None:
    known.write_text('[SomeSuite]\na = "counts the operators of a plan"\n')
    found = compared(Told(ran(a="failed"), ran(a="passed")), jar, known)
    assert list(map(str, found.differences)) == [
        "SomeSuite: a: failed with the jar, passed without (known: counts the operators of a plan)"
    ]
    assert report.problem([found]) is None


def test_a_difference_that_is_gone_when_the_test_runs_again_is_told_and_is_no_problem(
    jar: Path, known: Path
) -> None:
    jvm = Told(ran(a="passed", b="failed"), ran(b="passed"), again=ran(b="passed"))
    found = compared(jvm, jar, known)
    assert jvm.asked[-1] == ("again", ["-t", "b"])
    assert (found.differences, [d.test for d in found.unsteady], found.run.count("passed")) == ([], ["b"], 2)
    assert "SomeSuite: b: failed with the jar, passed without" in report.summary([found], "All", 1)[0]
    assert report.problem([found]) is None


def test_a_suite_that_starts_only_without_the_jar_is_a_problem(jar: Path, known: Path) -> None:
    jvm = Told(ran("aborted"), ran(a="passed"))
    found = compared(jvm, jar, known)
    assert jvm.asked == [("with", []), ("without", []), ("again", [])]
    assert [(d.test, d.with_jar, d.without) for d in found.differences] == [
        ("a", "did not run", "passed"),
        ("the suite", "aborted", "completed"),
    ]


def test_a_suite_that_starts_neither_way_is_named_and_no_problem(jar: Path, known: Path) -> None:
    found = compared(Told(ran("aborted"), ran("aborted")), jar, known)
    beside = Compared(ran(a="passed"))
    lines = report.summary([found, beside], "All", 1)
    assert lines[0] == "SomeSuite does not start: no message"
    assert lines[-1].startswith("All: 1 suites in 1 s, 1 tests passed")
    assert report.problem([found, beside]) is None


def test_on_demand_each_test_is_compared(jar: Path, known: Path) -> None:
    jvm = Told(ran(a="passed", b="ignored"), ran(a="failed", b="ignored"))
    assert [d.test for d in compared(jvm, jar, known, both=True).differences] == ["a"]


def test_suites_of_which_nothing_was_measured_are_a_problem(jar: Path, known: Path) -> None:
    found = compared(Told(ran(batches=0, a="passed")), jar, known)
    assert report.problem([found]) == "Nothing was measured: these suites say nothing about the jar."


def test_a_run_without_the_jar_is_kept(jar: Path, known: Path) -> None:
    compared(Told(ran(a="failed", b="failed"), ran(a="failed", b="failed")), jar, known)
    again = Told(ran(b="failed"))
    assert compared(again, jar, known).as_without == ["b"]
    other = Told(ran(c="failed"), ran(c="failed"))
    compared(other, jar, known)
    assert [kind for kind, _ in other.asked] == ["with", "without"], "of c nothing was known"


def test_resuming_takes_only_what_ran_with_this_very_jar(jar: Path, known: Path) -> None:
    compared(Told(ran(a="passed")), jar, known)

    def earlier() -> SuiteRun | None:
        return Comparison(Told(ran()), jar, Known(known), jar.parent / "results", 1).earlier(SUITE)

    assert earlier() == ran(a="passed")
    jar.write_text("two")
    assert earlier() is None


def line(suite: str = SUITE, **line: object) -> str:
    return json.dumps({"suite": suite, "message": "", **line})


def end(suite: str, at: int, batches: int, end: str = "completed") -> str:
    return line(suite, end=end, at=at, batches=batches, nodes=2 * batches)


def test_a_suite_that_hangs_leaves_what_it_did_and_where_it_hangs() -> None:
    lines = [
        line(begun=1000),
        line(test="a", outcome="started", ms=0),
        line(test="a", outcome="passed", ms=1500),
        line(test="b", outcome="started", ms=0),
        '{"suite": "org.ap',
    ]
    assert runs_of(lines) == []
    (run,) = runs_of(lines, "timed out")
    assert (run.end, run.unsettled) == ("timed out", ["b"])
    assert run.tests == {"a": Outcome("passed", 1.5), "b": Outcome("unfinished")}


def test_of_several_suites_in_one_jvm_each_has_its_own_time_and_batches() -> None:
    lines = [line("x.A", begun=0), end("x.A", 2000, 3), line("x.B", begun=2000), end("x.B", 9000, 10)]
    runs = [
        (run.suite, run.seconds, run.batches, run.nodes) for run in runs_of(lines, "its JVM ended with 0")
    ]
    assert runs == [("x.A", 2, 3, 6), ("x.B", 7, 7, 14)]


class Dying(SuiteJvm):
    """Each JVM ends after so many suites; one of them it cannot even make."""

    def __init__(self, after: int, unmakable: str = "") -> None:
        self.after, self.unmakable = after, unmakable
        self.asked: list[list[str]] = []

    def run(
        self, tests: Mapping[str, Sequence[str]], jar: Path | None, folder: Path, within: float
    ) -> Iterator[SuiteRun]:
        assert jar, (folder, within)
        self.asked.append(list(tests))
        if self.unmakable not in tests:
            yield from (SuiteRun(suite, "completed") for suite in list(tests)[: self.after])
        elif len(tests) == 1:
            yield SuiteRun(self.unmakable, "aborted")


def test_what_a_jvm_did_not_come_to_runs_in_the_next(jar: Path, known: Path) -> None:
    jvm = Dying(after=2)
    comparison = Comparison(jvm, jar, Known(known), jar.parent / "results", 1)
    assert [run.suite for run in comparison.run(["A", "B", "C"])] == ["A", "B", "C"]
    assert jvm.asked == [["A", "B", "C"], ["C"]]


def test_a_suite_that_cannot_be_made_spoils_no_other(jar: Path, known: Path) -> None:
    jvm = Dying(after=9, unmakable="B")
    comparison = Comparison(jvm, jar, Known(known), jar.parent / "results", 1)
    assert [run.end for run in comparison.run(["A", "B", "C"])] == ["completed", "aborted", "completed"]
    assert jvm.asked == [["A", "B", "C"], ["A"], ["B"], ["C"]]
