"""What the tests share: data with exact timestamps, waiting for figures, Python in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
import zipfile
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryFile
from threading import Thread
from typing import TYPE_CHECKING, TypeVar
from urllib.request import urlopen

from click.testing import CliRunner
from pyspark.sql import functions as F  # noqa: N812

from sparklatency import NoFiguresError, latency
from sparklatency.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from sparklatency.values.nodes import NodeSnapshot

T = TypeVar("T")

NOW = 1_700_000_000_000
"""Where the tests' clock stands: milliseconds since the epoch."""

TICK = 11
"""In milliseconds: the clock that gives files their times moves on every ten; and one for rounding."""

STEP = "# "
"""How a line begins by which a process says that it goes on."""

WAITS = Path(__file__).parents[1] / "e2e"
"""Where `waits` is, for Python in a process of its own."""

PATIENCE_SECONDS = 180
"""How long anything may take on a busy machine. Nothing waits that long unless it fails."""


def aged(spark: SparkSession, *ages: int | None) -> DataFrame:
    """Records with a column `ts` so many milliseconds before NOW; None is a record without a timestamp."""
    rows = [(None if age is None else NOW - age,) for age in ages]
    return spark.createDataFrame(rows, "millis LONG").select(F.timestamp_millis("millis").alias("ts"))


def run(df: DataFrame) -> None:
    df.write.format("noop").mode("overwrite").save()


def figures(node: str, records: int) -> NodeSnapshot:
    """A node's figures, once the driver has counted so many records. No two tests may use one node id."""

    def counted() -> NodeSnapshot | None:
        return next((n for n in latency().nodes if n.node == node and n.records >= records), None)

    found = eventually(counted)
    assert found.records == records
    return found


def eventually(attempt: Callable[[], T | None]) -> T:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (result := attempt()) is None:
        assert time.monotonic() < deadline, f"{attempt} came to nothing in {PATIENCE_SECONDS} s"
        time.sleep(0.02)
    return result


def once_known(read: Callable[[], T]) -> T:
    """What `read` gives once its query is known. One without a mark is known by events alone."""

    def attempt() -> T | None:
        try:
            return read()
        except NoFiguresError:
            return None

    return eventually(attempt)


def get(url: str) -> str:
    """Returns what our own UI has there."""
    with urlopen(url, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310  our own
        return str(answer.read().decode())


def python(script: str, **environment: str) -> str:
    """Runs Python in a process of its own, which must succeed, and returns what it printed.

    It may take as long as it goes on: it is given up when it has printed nothing for four times our patience.
    A line that begins with STEP only says that it goes on, and is left out of what is returned. What it waits
    for, it can wait for by `waits`.
    """
    path = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(WAITS)]))
    lines: Queue[str | None] = Queue()
    printed: list[str] = []
    with TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-u", "-c", textwrap.dedent(script)],
            env={**os.environ, "PYTHONPATH": path, **environment},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                lines.put(line)
            lines.put(None)

        def told() -> str:
            errors.seek(0)
            return "".join(printed) + errors.read()

        Thread(target=read, daemon=True).start()
        with process:
            try:
                while (line := lines.get(timeout=4 * PATIENCE_SECONDS)) is not None:
                    printed.append(line)
            except Empty:
                process.kill()
                raise AssertionError(f"nothing printed for {4 * PATIENCE_SECONDS} s\n{told()}") from None
        assert process.returncode == 0, f"exit {process.returncode}\n{told()}"
    return "".join(line for line in printed if not line.startswith(STEP))


def exported(*arguments: str) -> str:
    """What the command prints for a monitoring system."""
    printed = CliRunner().invoke(main, ["export", *arguments], prog_name="sparklatency")
    assert printed.exit_code == 0, printed.output
    return printed.stdout


def empty_jar(path: Path) -> str:
    with zipfile.ZipFile(path, "w"):
        return str(path)
