"""What the chore says: a line for each suite, and a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outcomes import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from comparison import Compared
    from outcomes import SuiteRun


def line(run: SuiteRun) -> str:
    """A run with the jar, in one line."""
    others = sorted({test.outcome for test in run.tests.values()} - {"passed"})
    told = ", ".join(f"{run.count(outcome):,} {outcome}" for outcome in ["passed", *others] if run.tests)
    ended = "" if run.end == COMPLETED else f"{', ' if told else ''}{run.end}"
    name = run.suite.rpartition(".")[2]
    return f"{name}: {told}{ended} ({duration(run.seconds)}, {run.batches:,} batches measured)"


def compared(found: Compared) -> str:
    """What a suite says that did not simply pass."""
    if not found.differences:
        return f"{found.name}: as without the jar"
    return "\n".join(map(str, found.differences))


def summary(found: Sequence[Compared], what: str, seconds: float) -> list[str]:
    """What all of it says, the last line in one sentence."""
    runs = [suite.run for suite in found]
    not_started = [suite for suite in found if suite.run.end == "aborted" and not suite.run.tests]
    differences = [difference for suite in found for difference in suite.differences]
    unknown = sum(len(suite.unknown) for suite in found)
    counted = [
        f"{len(found) - len(not_started)} suites in {duration(seconds)}",
        f"{sum(run.count('passed') for run in runs):,} tests passed",
        f"{sum(run.count('ignored') for run in runs):,} ignored by Spark",
        f"{sum(len(suite.as_without) for suite in found):,} ended as without the jar",
        f"{len(differences):,} differ ({unknown:,} for no known reason)",
        f"{len(not_started)} suites do not start",
        f"{sum(run.batches for run in runs):,} batches measured at {sum(run.nodes for run in runs):,} nodes",
    ]
    unmeasured = sorted(suite.name for suite in found if suite.run.tests and not suite.run.batches)
    return [
        *(_as_without(suite, test) for suite in found for test in suite.as_without),
        *(f"{suite.name} does not start: {_first(suite.run.message)}" for suite in not_started),
        *(
            [f"Nothing was measured, for want of timestamps, in {', '.join(unmeasured)}"]
            if unmeasured
            else []
        ),
        *(f"{unsteady} (not when it ran again)" for suite in found for unsteady in suite.unsteady),
        *map(str, differences),
        f"{what}: {', '.join(counted)}",
    ]


def _as_without(suite: Compared, test: str) -> str:
    found = suite.run.tests[test]
    return f"{suite.name}: {test}: {found.outcome} as without the jar: {_first(found.message)}"


def problem(found: Sequence[Compared]) -> str | None:
    """Why all of it is not good, in words."""
    if any(suite.unknown for suite in found):
        return "There are differences for no known reason."
    # Batch queries are measured where they read Kafka, which those of Spark's own suites do not.
    streaming = [suite.run for suite in found if ".streaming." in suite.run.suite]
    if streaming and not any(run.batches for run in streaming):
        return "Nothing was measured: these suites say nothing about the jar."
    return None


def duration(seconds: float) -> str:
    """As people say it: 48 s, 12 min 3 s, 2 h 5 min."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _first(message: str) -> str:
    return next((line.strip()[:160] for line in message.splitlines() if line.strip()), "no message")
