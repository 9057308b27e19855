"""Several processes that measure the same: code is compiled well in one, and badly in another."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from measuring import R, arguments, local_session

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

    from measuring import Run
    from pyspark.sql import SparkSession


def arguments_of_processes(description: str | None, *, rows: int, processes: int) -> argparse.ArgumentParser:
    """Returns the parser of a benchmark in several processes, with its defaults."""
    parser = arguments(description)
    parser.add_argument("--rows", type=int, default=rows, help="records of a run")
    parser.add_argument(
        "--processes", type=int, default=processes, help="how many measure, one after another"
    )
    parser.add_argument("--process", type=int, help="measure here, as the process of this number")
    parser.set_defaults(rounds=4)
    return parser


def measure(
    options: argparse.Namespace, runs_of: Callable[[SparkSession, int, int, int], Iterable[Run]]
) -> None:
    """Measures in this process, in a session with the jar on its class path, and tells all runs.

    Args:
        options: as parsed by :func:`arguments_of_processes`.
        runs_of: measures so many records, as the process of this number, in so many rounds.
    """
    spark = local_session(options.jar, {"spark.driver.extraClassPath": str(options.jar)})
    tell(spark.version, runs_of(spark, options.rows, options.process, options.rounds))
    spark.stop()


def tell(version: str, runs: Iterable[Run]) -> None:
    """Prints the version of Spark, and each run as a line of JSON as soon as it is there."""
    print(json.dumps({"version": version}), flush=True)
    for run in runs:
        print(json.dumps(asdict(run)), flush=True)


def gathered(options: argparse.Namespace, kind: type[R], more: Sequence[str] = ()) -> tuple[str, list[R]]:
    """Runs this program once for each process. Returns the version of Spark and what they have told.

    Args:
        options: as parsed by :func:`arguments_of_processes`.
        kind: of a run.
        more: arguments of the processes beside those of this program.
    """
    runs: list[R] = []
    version = ""
    for process in range(1, options.processes + 1):
        print(f"process {process} of {options.processes}", file=sys.stderr, flush=True)
        again = [sys.executable, *sys.argv, *more, "--process", str(process)]
        done = subprocess.run(again, check=True, stdout=subprocess.PIPE, text=True)
        first, *rest = done.stdout.splitlines()
        version = json.loads(first)["version"]
        runs += [kind(**json.loads(line)) for line in rest]
    return version, runs
