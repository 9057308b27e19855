"""What the benchmarks of the tab share: drivers of their own, and what a page of one takes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING
from urllib.request import urlopen

from measuring import HERE, arguments, cpu_clock, local_session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

Times = tuple[float, float]
"""Milliseconds of time, and of CPU in the whole JVM."""


def asked(spark: SparkSession, url: str) -> tuple[str, Times]:
    """Asks the driver for a page. Returns its text, and what it took."""
    clock = cpu_clock(spark)
    wall, cpu = time.perf_counter_ns(), time.clock_gettime_ns(clock)
    with urlopen(url, timeout=600) as answer:  # noqa: S310  our own UI
        text = answer.read().decode()
    wall, cpu = time.perf_counter_ns() - wall, time.clock_gettime_ns(clock) - cpu
    return text, (wall / 1e6, cpu / 1e6)


def of_drivers(
    what: str | None,
    times: Callable[[SparkSession], Mapping[str, Times]],
    settings: Mapping[str, str] | None = None,
) -> list[dict[str, Times]]:
    """Returns what `times` finds in several drivers, one after another, each in a process of its own.

    Args:
        what: the benchmark's description for its `--help`.
        times: asks a driver for pages. Called in the processes that hold the drivers.
        settings: of Spark, beside those of all benchmarks.
    """
    parser = arguments(what)
    parser.add_argument("--once", action="store_true", help="be one of the drivers, and print its figures")
    options = parser.parse_args()
    if options.once:
        page = {"spark.ui.enabled": "true", "spark.ui.port": "0"}
        spark = local_session(options.jar, {**page, **(settings or {})})
        print(json.dumps(times(spark)))
        spark.stop()
        sys.exit()
    command = [sys.executable, sys.argv[0], "--jar", str(options.jar), "--once"]
    return [
        json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
        for _ in range(options.rounds)
    ]


def write(stem: str, lines: list[str]) -> None:
    """Writes a table beside those of the other benchmarks, and shows it."""
    text = "\n".join([*lines, ""])
    (HERE / "results" / f"{stem}.md").write_text(text, encoding="utf-8")
    print(text)
