"""Starts the JVM in which Spark's suites run, with the jar or without it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, BinaryIO

from outcomes import SuiteRun, runs_of, why_none_began

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

PACKAGE = "io.sparklatency.sparksuites"

EVERYTHING = {
    "spark.sql.extensions": "org.apache.spark.sql.latency.application.LatencyExtensions",
    "spark.sparklatency.auto": "source,terminal,stateful",
    "spark.sparklatency.auto.batch": "true",
    "spark.sparklatency.auto.acrossShuffles": "true",
    "spark.sparklatency.recording.level": "TRACE",
    "spark.sparklatency.granularity": "subtask",
}
"""Spark's test sessions find no extensions by themselves. All else is as much of the jar as there is."""

SPARK_TESTS = {
    "spark.testing": "1",
    "spark.ui.enabled": "false",
    "spark.master.rest.enabled": "false",
    "spark.extraListeners": f"{PACKAGE}.Measured",
}
"""As Spark's own build starts its tests, and a listener of ours."""


SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Hardly a plan in these tests runs twice: the optimising compiler would take longer than it saves."""


class SuiteJvm:
    """Starts JVMs on the class path that the build has written into the folder `target`."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._classpath = _lines(target / "classpath.txt")
        self._options = _lines(target / "jvm.txt")
        self.jars = _lines(target / "suites.txt")

    def suites(self) -> list[tuple[str, str]]:
        """Kind and name of each suite in Spark's jars of tests that the rule in `Suites.scala` takes."""
        command = ["java", "-cp", os.pathsep.join(self._classpath), f"{PACKAGE}.Suites", *self.jars]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return [(kind, name) for kind, name in (line.split("\t") for line in listed.splitlines())]

    def run(
        self, tests: Mapping[str, Sequence[str]], jar: Path | None, folder: Path, within: float
    ) -> Iterator[SuiteRun]:
        """Runs suites one after the other in one JVM; each run comes as soon as its suite ends.

        Where the JVM ends early, the suites that it has not begun are missing; one that runs alone never is.

        Args:
            tests: for each suite ScalaTest's arguments that choose among its tests; none for all of them.
            jar: goes first on the class path, and marks every query at every place; None runs Spark alone.
            folder: takes the JVM's output and what it wrote of the tests, named after the first suite.
            within: seconds that a suite may take; then the JVM is killed.
        """
        name = next(iter(tests)).rpartition(".")[2]
        scratch, written = folder / f"{name}.scratch", folder / f"{name}.jsonl"
        written.unlink(missing_ok=True)
        shutil.rmtree(scratch, ignore_errors=True)
        (scratch / "tmp").mkdir(parents=True)
        told: list[SuiteRun] = []
        with (folder / f"{name}.log").open("wb") as log:
            process = _started(self._command(tests, jar, scratch, written), scratch, log)
            try:
                since, ended = time.monotonic(), None
                while not ended:
                    ended = _ended(process, time.monotonic() - since > within)
                    for run in runs_of(_lines(written), ended)[len(told) :]:
                        told.append(run)
                        since = time.monotonic()
                        yield run
            finally:
                _kill(process)
        shutil.rmtree(scratch, ignore_errors=True)
        if not told and len(tests) == 1:
            yield SuiteRun(next(iter(tests)), "aborted", why_none_began(_lines(written)) or ended)

    def _command(
        self, tests: Mapping[str, Sequence[str]], jar: Path | None, scratch: Path, written: Path
    ) -> list[str]:
        properties = {
            **SPARK_TESTS,
            "spark.test.home": self._target / "home",
            "java.io.tmpdir": scratch / "tmp",
            "sparksuites.outcomes": written,
            **(EVERYTHING if jar else {}),
        }
        return [
            "java",
            *self._options,
            *SHORT_LIVED,
            *(f"-D{key}={value}" for key, value in properties.items()),
            "-cp",
            os.pathsep.join([*([str(jar)] if jar else []), *self._classpath]),
            "org.scalatest.tools.Runner",
            *words("-R", self.jars),
            *("-C", f"{PACKAGE}.Outcomes", "-oW"),
            *(argument for suite, chosen in tests.items() for argument in ("-s", suite, *chosen)),
        ]


def words(option: str, values: Iterable[str]) -> list[str]:
    """An option before each of the values."""
    return [word for value in values for word in (option, value)]


def _started(command: Sequence[str], folder: Path, log: BinaryIO) -> subprocess.Popen[bytes]:
    """Starts a process in a group of its own. Some suites start workers in Python."""
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    return subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env={**os.environ, **python, "SPARK_LOCAL_IP": "127.0.0.1"},
        start_new_session=True,
    )


def _ended(process: subprocess.Popen[bytes], is_too_late: bool) -> str | None:
    """How a process ended within the next second; None where it still runs."""
    if is_too_late:
        _kill(process)
        return "timed out"
    try:
        return f"its JVM ended with {process.wait(1)}"
    except subprocess.TimeoutExpired:
        return None


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []
