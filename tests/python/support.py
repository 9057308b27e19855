"""What the tests share: data with exact timestamps, waiting for figures, Python in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
import zipfile
from typing import TYPE_CHECKING, TypeVar

from click.testing import CliRunner
from pyspark.sql import functions as F  # noqa: N812

from sparklatency import latency
from sparklatency.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from sparklatency.values.nodes import NodeSnapshot

T = TypeVar("T")

NOW = 1_700_000_000_000
"""Where the tests' clock stands: milliseconds since the epoch."""

PATIENCE_SECONDS = 60
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


def python(script: str, **environment: str) -> str:
    """Runs Python in a process of its own, which must succeed, and returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def exported(*arguments: str) -> str:
    """What the command prints for a monitoring system."""
    printed = CliRunner().invoke(main, ["export", *arguments], prog_name="sparklatency")
    assert printed.exit_code == 0, printed.output
    return printed.stdout


def empty_jar(path: Path) -> str:
    with zipfile.ZipFile(path, "w"):
        return str(path)
