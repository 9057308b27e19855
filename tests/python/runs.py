"""The table of what was seen to work on each line of Spark: every cell is of tests that ran.

`python tests/python/runs.py` reads the reports that `make test` left, keeps what they say in `runs.json`, and
rewrites what stands in tests.md between the comments `runs` and `end of runs`; with `--check` it fails where
that is not what `runs.json` says. Not every test has its turn each day: what none ran of stays as it was.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).with_suffix(".json")

ROWS = {
    "marked by hand": r"((Streaming|ForeachBatch)Suite|test_streaming|test_kafka_to_jmx) |"
    "test_a_query_marked_by_hand",
    "automatic nodes": r"(Automatic\w+|Carried\w+|AcrossShuffles\w+|test_automatic_nodes) |"
    "test_a_query_without_a_mark",
    "real-time mode": r"test_real_time |.*in real-time mode",
    "tab": r"(LatencyTab\w*Suite|test_latency_tab) |test_the_tab",
    "History Server": r".*history[ _]server",
    "REST": r"test_rest |.*\bREST\b|test_a_query_marked_by_hand",
    "Spark Connect": r"test_connect\w* |test_a_client_of_spark_connect",
    "windows that close in silence": r"(SystemTime|Idle|test_silent|test_idle|test_killed_in_silence)\w* ",
    "latency markers": r"Marker\w+ |test_latency_markers",
    "the plan stays the same": r"(PlanMatrixSuite|AutomaticPlansSuite) |test_the_plan_is_that_of",
    "each record counts once": r"(test_exactly_once|ActionMatrixSuite) |.*counts?[ _].*once|"
    "test_a_query_marked_by_hand",
}
"""What a row is about, and how its tests begin: with their suite, or with their name."""

ABSENT = {("real-time mode", line): "Spark has none" for line in ("3.5", "4.0")}
"""Where tests of the same names run something else instead."""

KINDS = {
    "in Scala": "jvm/spark/target/*/test-reports/*.xml",
    "in Python": "target/reports/python-*.xml",
    "end to end": "target/reports/e2e.xml",
}
_LINE = re.compile(r"\d\.\d+")
_BLOCK = re.compile(r"(<!-- runs -->\n).*?(<!-- end of runs -->)", re.DOTALL)

Runs = dict[str, dict[str, dict[str, int]]]
"""By row and line: how many tests passed, of each kind, and how many failed."""


def collected(root: Path) -> Runs:
    """Returns what the reports below a checkout say."""
    runs: Runs = {row: defaultdict(lambda: defaultdict(int)) for row in ROWS}
    for line, kind, suite, name, outcome in _tests(root):
        for row, pattern in ROWS.items():
            is_of_row = re.match(pattern, f"{suite} {name}", re.I) or re.match(pattern, name, re.I)
            if is_of_row and outcome != "skipped":
                runs[row][line][kind if outcome == "passed" else "failed"] += 1
    return runs


def _tests(root: Path) -> Iterator[tuple[str, str, str, str, str]]:
    for kind, reports in KINDS.items():
        for report in sorted(root.glob(reports)):
            of_report = line_of(report, root)
            for suite, name, found in tests_of(report):
                line = of_report or _LINE.search(name.partition("[")[2])
                if line is not None:  # else the test has nothing to do with a line
                    yield line[0], kind, suite, name, "passed" if found is None else found.tag


def line_of(report: Path, root: Path) -> re.Match[str] | None:
    """Returns the Spark line that the place of a report names."""
    return _LINE.search(str(report.relative_to(root)))


def tests_of(report: Path) -> Iterator[tuple[str, str, ElementTree.Element | None]]:
    """Yields suite and name of each test of a report, and what it says of one that did not pass."""
    for test in ElementTree.parse(report).iter("testcase"):  # noqa: S314  our own test runners wrote it
        suite = Path(test.get("file") or test.get("classname", "").replace(".", "/") + ".scala").stem
        found = next((found for found in test if found.tag in ("failure", "error", "skipped")), None)
        yield suite, test.get("name", ""), found


def table(runs: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """Returns the table, a column for each line, oldest first."""
    lines = sorted(
        {line for of in runs.values() for line in of}, key=lambda line: [*map(int, line.split("."))]
    )
    columns = " | ".join(f"Spark {line}" for line in lines)
    head = f"| tests that passed | {columns} |\n|---|{'---|' * len(lines)}\n"
    return head + "".join(
        f"| {row} | {' | '.join(ABSENT.get((row, line)) or _cell(of.get(line, {})) for line in lines)} |\n"
        for row, of in runs.items()
    )


def after(earlier: Runs, runs: Runs) -> Runs:
    """Returns the runs, with what passed in earlier ones where no test of the kind ran now."""
    merged: Runs = {}
    for row, now in runs.items():
        before = earlier.get(row, {})
        merged[row] = {line: _passed(before.get(line, {})) | now.get(line, {}) for line in {**before, **now}}
    return merged


def _passed(counts: Mapping[str, int]) -> dict[str, int]:
    return {kind: counts[kind] for kind in KINDS if kind in counts}


def _cell(counts: Mapping[str, int]) -> str:
    return (
        ", ".join(f"{counts[kind]} {kind}" for kind in (*KINDS, "failed") if counts.get(kind)) or "none ran"
    )


def filled(page: str, runs: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """Returns the page with that table."""
    return _BLOCK.sub(lambda found: f"{found[1]}\n{table(runs)}\n{found[2]}", page)


def main() -> None:
    page = ROOT / "python/docs/tests.md"
    if sys.argv[1:] == ["--check"]:
        if filled(page.read_text(), json.loads(KEPT.read_text())) != page.read_text():
            sys.exit(
                "the runs in tests.md are not those of runs.json; python tests/python/runs.py writes them"
            )
    else:
        runs = after(json.loads(KEPT.read_text()), collected(ROOT))
        KEPT.write_text(json.dumps(runs, indent=1) + "\n")
        page.write_text(filled(page.read_text(), runs))


if __name__ == "__main__":
    main()
