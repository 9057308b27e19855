"""Breaks the code in one way after another, and runs the suite that must notice. Fails if one mutant lives.

It works side by side in copies of the checkout, ``target/sbt-1``, ``target/sbt-2`` and ``target/pytest``.
They stay for the next run. Each suite must first pass on the code as it is. What was printed lies in
``target/printed``.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING

from mutants import CHECKOUT, FOLDER, Mutant, files, mutants
from suites import FAILED, PASSED, Pytest, Ran, Sbt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

TARGET = FOLDER / "target"
SBTS = 2
"""As many run side by side: each waits half of its time, for one thread to compile or for a suite."""
TOOLS = (".tools", ".venv")
"""What a copy has in common with the checkout."""
JARS = "python/src/sparklatency/jars"
KILLED = "killed"


def _hunted(place: str, chosen: list[Mutant], line: str) -> list[str]:
    """Returns what became of mutants whose suites run in one way, in one copy, and prints it as it goes."""
    copy = TARGET / place
    _fill(copy)
    runner = Sbt(copy, line) if _runs_by_sbt(chosen[0]) else Pytest(copy, line)
    try:
        suites = sorted({suite for mutant in chosen for suite in mutant.suites})
        unbroken = {suite: _kept(suite, ran).how for suite, ran in runner.run_all(suites).items()}
        verdicts = []
        for mutant in chosen:
            begin = time.monotonic()
            verdicts.append(_verdict(mutant, copy, runner, unbroken))
            print(f"{verdicts[-1]:24}{time.monotonic() - begin:6.1f} s  {mutant.name}", flush=True)
        return verdicts
    finally:
        runner.close()


def _verdict(mutant: Mutant, copy: Path, runner: Sbt | Pytest, unbroken: Mapping[str, str]) -> str:
    with _broken(mutant, copy) as applies:
        if not applies:
            return "does not apply"
        for suite in mutant.suites:
            if unbroken[suite] != PASSED:
                return f"{suite}: {unbroken[suite]} without it"
            how = _kept(mutant.name, runner.run(suite)).how
            if how != FAILED:
                return "survived" if how == PASSED else how
    return KILLED


def _kept(name: str, ran: Ran) -> Ran:
    file = TARGET / "printed" / (re.sub(r"[^\w/]+", "-", name) + ".txt")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(ran.printed, encoding="utf-8")
    return ran


@contextmanager
def _broken(mutant: Mutant, copy: Path) -> Iterator[bool]:
    """Applies a mutant to a copy, and takes it back."""
    applies = mutant.applies(copy)
    try:
        yield applies
    finally:
        for file, _ in mutant.hunks:
            shutil.copyfile(CHECKOUT / file, copy / file)


def _fill(copy: Path) -> None:
    """Makes a copy what the checkout is, with what is not committed. Writes only what differs."""
    found = files()
    copy.mkdir(parents=True, exist_ok=True)
    known = copy.with_suffix(".txt")
    for gone in set(known.read_text(encoding="utf-8").splitlines() if known.exists() else ()) - found:
        (copy / gone).unlink(missing_ok=True)
    for file in found:
        source, here = CHECKOUT / file, copy / file
        if not here.exists() or here.read_bytes() != source.read_bytes():
            here.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, here)
    for tools in TOOLS:
        if not (copy / tools).exists():
            (copy / tools).symlink_to((CHECKOUT / tools).resolve())
    shutil.copytree(CHECKOUT / JARS, copy / JARS, dirs_exist_ok=True)
    known.write_text("\n".join(sorted(found)), encoding="utf-8")


def _runs_by_sbt(mutant: Mutant) -> bool:
    return not mutant.suites[0].startswith("pytest ")


def _places(chosen: list[Mutant]) -> dict[str, list[Mutant]]:
    """Returns the mutants of each copy. Those of one suite share one."""
    suites = groupby(sorted(chosen, key=_order), lambda mutant: (_runs_by_sbt(mutant), mutant.suites[0]))
    places: dict[str, list[Mutant]] = {}
    for number, ((by_sbt, _), these) in enumerate(suites):
        place = f"sbt-{number % SBTS + 1}" if by_sbt else "pytest"
        places.setdefault(place, []).extend(these)
    return places


def _order(mutant: Mutant) -> tuple[bool, bool, str, str]:
    """Mutants of one suite follow one another; first come those of core, whose suites need no Spark."""
    return _runs_by_sbt(mutant), not mutant.suites[0].startswith("core/"), mutant.suites[0], mutant.name


def main() -> int:
    """Goes after the mutants that were asked for; returns 0 if each was killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="how names begin, such as core or python/slo; all without it")
    parser.add_argument("--line", default="4.2", help="the line of Spark")
    asked = parser.parse_args()
    chosen = [one for one in mutants() if one.name.startswith(tuple(asked.only or [""]))]
    if not chosen:
        parser.error(f"there is no mutant {' or '.join(asked.only)}")
    with ThreadPoolExecutor() as pool:
        hunts = [pool.submit(_hunted, place, these, asked.line) for place, these in _places(chosen).items()]
        verdicts = Counter(said for hunt in hunts for said in hunt.result())
    print(f"{len(chosen)} mutants: {', '.join(f'{count} {said}' for said, count in verdicts.most_common())}")
    return 0 if verdicts[KILLED] == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
