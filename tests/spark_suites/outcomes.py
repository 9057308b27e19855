"""What became of a suite's tests in one run, as the JVM wrote it down line by line."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

COMPLETED = "completed"
UNFINISHED = "unfinished"


@dataclass(frozen=True)
class Outcome:
    """How a test ended: passed, failed, canceled, pending, ignored, or unfinished if its JVM ended first."""

    outcome: str
    seconds: float = 0
    message: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether no run without the jar can change what it says: it passes, or Spark's source ignores it."""
        return self.outcome in ("passed", "ignored")


@dataclass(frozen=True)
class SuiteRun:
    """One run of a suite, or of some of its tests.

    Attributes:
        end: of the suite: completed, aborted, timed out, or how its JVM ended before the suite did.
        message: why it did not complete.
        batches: how many batches the jar measured meanwhile.
        nodes: at how many nodes, summed over the batches.
    """

    suite: str
    end: str
    message: str = ""
    seconds: float = 0
    batches: int = 0
    nodes: int = 0
    tests: dict[str, Outcome] = field(default_factory=dict)

    @property
    def unsettled(self) -> list[str]:
        return [name for name, test in self.tests.items() if not test.is_settled]

    @property
    def is_settled(self) -> bool:
        return self.end == COMPLETED and not self.unsettled

    def count(self, outcome: str) -> int:
        return sum(test.outcome == outcome for test in self.tests.values())

    def write(self, file: Path, **beside: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({**beside, **asdict(self)}, indent=1) + "\n")

    @classmethod
    def read(cls, file: Path, **beside: str) -> SuiteRun | None:
        """What :meth:`write` wrote, or None where nothing was written or something else beside it."""
        if not file.exists():
            return None
        stored: dict[str, Any] = json.loads(file.read_text())
        if any(stored.pop(name, None) != value for name, value in beside.items()):
            return None
        tests = {name: Outcome(**test) for name, test in stored.pop("tests").items()}
        return cls(**stored, tests=tests)


def runs_of(lines: list[str], ended: str | None = None) -> list[SuiteRun]:
    """The runs of the suites that one JVM has brought to an end, of which it wrote `lines`, in that order.

    Args:
        lines: each of JSON; the last one may be cut off.
        ended: how the JVM ended, if it has. The suite that was under way then ended that way.
    """
    runs: list[SuiteRun] = []
    under_way: dict[str, SuiteRun] = {}
    began, batches, nodes = 0, 0, 0
    for line in filter(None, map(_parsed, lines)):
        name = line["suite"]
        if "begun" in line:
            under_way[name], began = SuiteRun(name, UNFINISHED), line["begun"]
        elif "test" in line:
            outcome = UNFINISHED if line["outcome"] == "started" else line["outcome"]
            under_way[name].tests[line["test"]] = Outcome(outcome, line["ms"] / 1000, line["message"])
        elif name in under_way:
            # The JVM counts what was measured from its start on.
            run = replace(
                under_way.pop(name),
                end=line["end"],
                message=line["message"],
                seconds=(line["at"] - began) / 1000,
                batches=line["batches"] - batches,
                nodes=line["nodes"] - nodes,
            )
            batches, nodes = line["batches"], line["nodes"]
            runs.append(run)
    return [*runs, *(replace(run, end=ended) for run in under_way.values() if ended)]


def why_none_began(lines: list[str]) -> str:
    """What ScalaTest said where it could not even make the suites."""
    ends = [line for line in map(_parsed, lines) if line and "end" in line]
    return str(ends[-1]["message"]) if ends else ""


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        parsed: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    return parsed
