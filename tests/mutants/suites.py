"""Runs suites in a copy of the checkout: those of the JVM by one sbt, those of Python each by itself."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from queue import Empty, Queue
from typing import TYPE_CHECKING

from mutants import tool

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

PASSED, FAILED, UNCOMPILED, UNTOLD = "passed", "failed", "does not compile", "suite did not run"
LONGEST_SECONDS = 600
"""A suite that takes longer hangs, and so it has failed."""
_HOUR = 3600
_ALL_CASES = {**os.environ, "TEST_FULL": "1", "PATIENCE_SECONDS": "60"}
"""Of a sample, which is another one each day, the case that notices would be missing on some days."""


@dataclass(frozen=True)
class Ran:
    """How a suite has ended, and what it has printed."""

    how: str
    printed: str


class Sbt:
    """One sbt in its shell, which is told one command after another, and compiles only what has changed."""

    _ENDED = re.compile(r"unable to continue running tests")
    """ScalaTest ends sbt where it cannot send what a failed property tells."""
    _END = re.compile(r"\[(?:success|error)\] Total time: ")
    _HOW = (
        (UNCOMPILED, re.compile(r"\[error\] \(.*\) Compilation failed")),
        (FAILED, re.compile(r"\[error\] (?:Failed tests|Error during tests):")),
        (PASSED, re.compile(r"Tests: succeeded [1-9]\d*, failed 0,")),
    )

    def __init__(self, checkout: Path, line: str) -> None:
        self._checkout = checkout
        self._bridge = f"bridge{line.replace('.', '')}/"
        self._begin()

    def run(self, suite: str, limit: float = LONGEST_SECONDS) -> Ran:
        """Compiles what a suite needs, and runs it. A patch says `bridge/`, whichever Spark line is meant."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{suite.replace('bridge/', self._bridge)}\n")
        self._process.stdin.flush()
        until, printed, hangs = time.monotonic() + limit, "", False
        while not self._END.search(printed.rpartition("\n")[2]):
            try:
                line = self._lines.get(timeout=max(0.1, until - time.monotonic()))
            except Empty:
                # A suite has a process of its own, whose parent is sbt. sbt then tells that it has ended.
                subprocess.run([tool("pkill"), "-KILL", "-P", str(self._process.pid)], check=False)
                until, hangs = until + LONGEST_SECONDS, True
                continue
            if line is None:
                self._begin()
                return Ran(FAILED if self._ENDED.search(printed) else UNTOLD, printed)
            printed = f"{printed}\n{line.rstrip()}"
        found = next((how for how, sign in self._HOW if sign.search(printed)), UNTOLD)
        return Ran(FAILED if hangs else found, printed)

    def run_all(self, suites: Collection[str]) -> dict[str, Ran]:
        """Runs several suites, as many as can be with one command: that takes one process for all of them."""
        alike = defaultdict(list)
        for suite in suites:
            task, _, names = suite.partition(" ")
            names, _, filters = names.partition(" -- ")
            alike[task, bool(filters)].append((suite, names, filters))
        found: dict[str, Ran] = {}
        for (task, _), these in alike.items():
            names = " ".join(dict.fromkeys(names for _, names, _ in these))
            filters = " ".join(dict.fromkeys(filters for _, _, filters in these))
            together = self.run(f"{task} {names} -- {filters}".removesuffix(" -- "), _HOUR)
            for suite, _, _ in these:
                alone = together if together.how == PASSED else self.run(suite)
                found[suite] = Ran(alone.how, f"{together.printed}\n{alone.printed}")
        return found

    def close(self) -> None:
        """Ends sbt, and waits for that. At the end of its input alone it would wait for other clients."""
        assert self._process.stdin is not None
        self._process.stdin.write("exit\n")
        self._process.stdin.close()
        self._process.wait()

    def _begin(self) -> None:
        [launcher] = self._checkout.glob(".tools/sbt-launch-*.jar")
        self._process = subprocess.Popen(
            [tool("java"), "-Xmx3g", "-jar", str(launcher), "-Dsbt.color=false", "-Dsbt.supershell=false"],
            cwd=self._checkout,
            env=_ALL_CASES,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines: Queue[str | None] = Queue()
        threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()


def _read(lines: Iterable[str], into: Queue[str | None]) -> None:
    for line in lines:
        into.put(line)
    into.put(None)


class Pytest:
    """Python's suites, of the package in the copy."""

    _HOW = (PASSED, FAILED)  # by pytest's exit code

    def __init__(self, checkout: Path, line: str) -> None:
        self._checkout = checkout
        self._python = checkout / ".venv" / line / "bin" / "python"

    def run(self, suite: str) -> Ran:
        """Compiles the package, for a slip of the pen is no mutant; runs a suite up to the first failure."""
        try:
            for file in (self._checkout / "python/src").rglob("*.py"):
                compile(file.read_bytes(), file, "exec")
        except SyntaxError as slip:
            return Ran(UNCOMPILED, str(slip))
        _, *arguments = suite.split()
        # A compiled file is taken for new if its source is of the same second: too coarse for mutants.
        package = {"PYTHONPATH": str(self._checkout / "python/src"), "PYTHONDONTWRITEBYTECODE": "1"}
        process = subprocess.Popen(
            [self._python, "-m", "pytest", "-c", "python/pyproject.toml", "-q", "-x", *arguments],
            cwd=self._checkout,
            env={**_ALL_CASES, **package},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(timeout=LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
            return Ran(FAILED, printed)
        code = process.returncode
        return Ran(self._HOW[code] if code in range(len(self._HOW)) else UNTOLD, printed)

    def run_all(self, suites: Collection[str]) -> dict[str, Ran]:
        """Runs several suites."""
        return {suite: self.run(suite) for suite in suites}

    def close(self) -> None:
        """Nothing is left running."""
