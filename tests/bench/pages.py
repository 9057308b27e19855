"""Puts what the benchmarks found into README and its pages: no figure there is written by hand.

`python tests/bench/pages.py` rewrites what stands between the comments `bench NAME` and `end of bench`;
with `--check` it fails where that is not what the results say, or where the tables of marks are not what the
single runs beside them say.
"""

from __future__ import annotations

import json
import re
import sys
from statistics import median

from measuring import HERE
from pipelines import MARKS, OBSERVE, ONE, TEN, WORKLOADS, MarkRun, over_plain, plain_ns, table

RESULTS = HERE / "results"
ROOT = HERE.parents[1]
PAGES = [
    ROOT / "README.md",
    *(ROOT / "python" / "docs" / page for page in ("cost.md", "ingestion.md", "markers.md", "time.md")),
]
LINES = [file.stem.removeprefix("marks-") for file in sorted(RESULTS.glob("marks-*.jsonl"))]
BLOCK = re.compile(r"(<!-- bench (\S+) -->\n).*?(<!-- end of bench -->)", re.DOTALL)


def summary() -> str:
    """A table of what a mark costs where ages are spread most widely, a column for each Spark line.

    In a query that does next to nothing, and in front of a window aggregate.
    """
    runs = {line: _runs(line) for line in LINES}
    rows = {
        "one mark": [_more(runs[line], ONE) for line in LINES],
        f"each of {MARKS} marks": [_more(runs[line], TEN) / MARKS for line in LINES],
        OBSERVE: [_more(runs[line], OBSERVE) for line in LINES],
        "one mark in front of a window aggregate": [_more(runs[line], ONE, "windows") for line in LINES],
        "all of that query without a mark": [_plain(runs[line], "windows") for line in LINES],
    }
    head = f"| ns a record | {' | '.join(f'Spark {line}' for line in LINES)} |\n|---|{'---:|' * len(LINES)}\n"
    return head + "".join(
        f"| {name} | {' | '.join(f'{value:.1f}' for value in values)} |\n" for name, values in rows.items()
    )


def _runs(line: str) -> list[MarkRun]:
    return [MarkRun(**json.loads(run)) for run in (RESULTS / f"marks-{line}.jsonl").read_text().splitlines()]


def _more(runs: list[MarkRun], variant: str, workload: str = "random") -> float:
    return median(over_plain(runs, workload, variant))


def _plain(runs: list[MarkRun], workload: str) -> float:
    return plain_ns([run for run in runs if run.workload == workload])


def tables_of_runs(line: str) -> str:
    """What stands in the tables of marks of a Spark line below their heading, from its single runs."""
    runs = _runs(line)
    processes = len({run.process for run in runs})
    return "\n\n".join(table(workload, runs, processes) for workload in WORKLOADS) + "\n"


def by_hand() -> list[str]:
    """The tables of marks that say something else than the single runs."""
    files = {line: RESULTS / f"marks-{line}.md" for line in LINES}
    return [
        file.name
        for line, file in files.items()
        if file.read_text().partition("\n\n")[2] != tables_of_runs(line)
    ]


def filled(page: str) -> str:
    """Returns the page with what the results say."""

    def block(found: re.Match[str]) -> str:
        name = found[2]
        content = summary() if name == "summary" else (RESULTS / f"{name}.md").read_text()
        return f"{found[1]}\n{content}\n{found[3]}"

    return BLOCK.sub(block, page)


def main() -> None:
    old = [page for page in PAGES if filled(page.read_text()) != page.read_text()]
    if sys.argv[1:] == ["--check"]:
        if tables := by_hand():
            sys.exit(f"not what the single runs beside them say: {', '.join(tables)}; make bench writes them")
        if old:
            names = ", ".join(page.name for page in old)
            sys.exit(f"not what tests/bench/results say: {names}; python tests/bench/pages.py writes it")
    else:
        for page in old:
            page.write_text(filled(page.read_text()))


if __name__ == "__main__":
    main()
