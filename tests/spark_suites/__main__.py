"""Runs Spark's own test suites with the jar, and compares each test that does not pass with a run without it.

Ends with 1 if a test ends otherwise with the jar and `known.toml` does not say why, or if the jar measured
nothing at all. Results stand in the folder `target/results` below this file.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import report
from comparison import Compared, Comparison
from differences import Known
from suite_jvm import SuiteJvm, words

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent.resolve()


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # with the JVM
    began = time.monotonic()
    jvm = SuiteJvm(HERE / "target")
    listed = jvm.suites()
    results = HERE / "target" / "results"
    comparison = Comparison(jvm, options.jar, Known(HERE / "known.toml"), results, options.timeout)
    if options.handful:
        found = _handful(comparison, [name for _, name in listed])
    else:
        found = _all(comparison, _chosen(listed, options.only, options.kind), options, began)
    return _end(found, options.what, time.monotonic() - began, results)


def _all(
    comparison: Comparison, suites: Sequence[str], options: argparse.Namespace, began: float
) -> list[Compared]:
    found: dict[str, Compared] = {}

    def tell(what: str) -> None:
        elapsed = report.duration(time.monotonic() - began)
        print(f"[{len(found)}/{len(suites)}, {elapsed}] {what}", flush=True)

    for run in filter(None, map(comparison.earlier, suites if options.resume else [])):
        found[run.suite] = comparison.compared(run, options.both)
    if found:
        tell("ran before with this jar")
    left = [suite for suite in suites if suite not in found]
    for first in range(0, len(left), options.together):
        runs = []
        for run in comparison.run(left[first : first + options.together]):
            runs.append(run)
            found[run.suite] = Compared(run)
            tell(report.line(run))
        for run in runs:
            if options.both or not run.is_settled:
                found[run.suite] = comparison.compared(run, options.both)
                tell(report.compared(found[run.suite]))
    return list(found.values())


def _end(found: Sequence[Compared], what: str, seconds: float, results: Path) -> int:
    lines = report.summary(found, what, seconds)
    (results / "summary.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(["", *lines]))
    problem = report.problem(found)
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem else 0


def _handful(comparison: Comparison, listed: Sequence[str]) -> list[Compared]:
    """The tests that `handful.toml` names, in one JVM."""
    wanted: dict[str, list[str]] = tomllib.loads((HERE / "handful.toml").read_text())
    names = {name.rpartition(".")[2]: name for name in listed}
    tests = {names[suite]: words("-z", parts) for suite, parts in wanted.items()}
    found = []
    for run in comparison.run_parts(tests):
        print(report.line(run), flush=True)
        found.append(comparison.compared(run))
    if missing := tests.keys() - {suite.run.suite for suite in found if suite.run.tests}:
        sys.exit(f"of these suites no test ran: {', '.join(missing)}")
    return found


def _chosen(listed: Sequence[tuple[str, str]], only: str, kind: str) -> list[str]:
    """The suites to run: all of streaming first."""
    kinds = [kind] if kind else ["streaming", "batch"]
    for _, name in (suite for suite in listed if suite[0] == "unloadable"):
        print(f"{name}: left out, it needs a class that is not on the class path")
    suites = [name for wanted in kinds for kind, name in listed if kind == wanted]
    patterns = only.replace(",", " ").split()
    chosen = [s for s in suites if not patterns or any(fnmatch(s.rpartition(".")[2], p) for p in patterns)]
    if not chosen:
        sys.exit(f"no suite is called {only}; there are {len(suites)}, such as {', '.join(suites[:3])}")
    return chosen


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="spark_suites", description=__doc__)
    parser.add_argument("--jar", type=lambda jar: Path(jar).resolve(), required=True, help="of sparklatency")
    parser.add_argument("--what", default="Spark's own suites", help="what the summary calls them")
    parser.add_argument("--only", default="", help="names of suites, with * and ?")
    parser.add_argument("--kind", default="", choices=["", "streaming", "batch"])
    parser.add_argument("--handful", action="store_true", help="only the tests of handful.toml, in one JVM")
    parser.add_argument("--resume", action="store_true", help="go on where a run with the same jar stopped")
    parser.add_argument("--both", action="store_true", help="run everything without the jar, too")
    parser.add_argument("--together", type=int, default=10, help="suites that run in one JVM")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds that a suite may take")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
