"""Breaks the code in one way after another, and runs the suite that must notice. Fails if one mutant lives.

It works in a copy of the checkout, ``target/checkout``, which stays for the next run. Each suite must first
pass on the code as it is. What was printed lies in ``target/printed``.
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

TARGET = FOLDER / "target"
COPY = TARGET / "checkout"
TOOLS = (".tools", ".venv")
"""What the copy has in common with the checkout."""
JARS = "python/src/sparklatency/jars"
KILLED = "killed"


def _hunted(chosen: list[Mutant], line: str) -> list[str]:
    """Returns what became of mutants whose suites run in one way, and prints it as it goes."""
    runner = Sbt(COPY, line) if _runs_by_sbt(chosen[0]) else Pytest(COPY, line)
    try:
        suites = sorted({suite for mutant in chosen for suite in mutant.suites})
        unbroken = {suite: _kept(suite, ran).how for suite, ran in runner.run_all(suites).items()}
        verdicts = []
        for mutant in chosen:
            begin = time.monotonic()
            verdicts.append(_verdict(mutant, runner, unbroken))
            print(f"{verdicts[-1]:24}{time.monotonic() - begin:6.1f} s  {mutant.name}", flush=True)
        return verdicts
    finally:
        runner.close()


def _verdict(mutant: Mutant, runner: Sbt | Pytest, unbroken: Mapping[str, str]) -> str:
    with _broken(mutant) as applies:
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
def _broken(mutant: Mutant) -> Iterator[bool]:
    """Applies a mutant to the copy, and takes it back."""
    applies = mutant.applies(COPY)
    try:
        yield applies
    finally:
        for file, _ in mutant.hunks:
            shutil.copyfile(CHECKOUT / file, COPY / file)


def _copy() -> None:
    """Makes the copy what the checkout is, with what is not committed. Writes only what differs."""
    found = files()
    COPY.mkdir(parents=True, exist_ok=True)
    known = TARGET / "copied.txt"
    for gone in set(known.read_text(encoding="utf-8").splitlines() if known.exists() else ()) - found:
        (COPY / gone).unlink(missing_ok=True)
    for file in found:
        source, copy = CHECKOUT / file, COPY / file
        if not copy.exists() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
    for tools in TOOLS:
        if not (COPY / tools).exists():
            (COPY / tools).symlink_to((CHECKOUT / tools).resolve())
    shutil.copytree(CHECKOUT / JARS, COPY / JARS, dirs_exist_ok=True)
    known.write_text("\n".join(sorted(found)), encoding="utf-8")


def _runs_by_sbt(mutant: Mutant) -> bool:
    return not mutant.suites[0].startswith("pytest ")


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
    _copy()
    groups = [list(group) for _, group in groupby(sorted(chosen, key=_order), _runs_by_sbt)]
    with ThreadPoolExecutor() as pool:
        hunts = pool.map(lambda group: _hunted(group, asked.line), groups)
        verdicts = Counter(said for hunt in hunts for said in hunt)
    print(f"{len(chosen)} mutants: {', '.join(f'{count} {said}' for said, count in verdicts.most_common())}")
    return 0 if verdicts[KILLED] == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
