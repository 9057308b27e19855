"""What latency markers cost a streaming query: the CPU time of the whole JVM, tasks, driver and listeners.

All variants have the same automatic nodes, so only what markers add is seen. `plain` and `plain again` have
none: their difference is the noise. In every round each variant runs once, in an order drawn anew, and is
compared with the plain run of the same round. A marker with each batch is the most that an interval can ask
for. Writes a table and every single run beside those of pipelines.py.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from automatic import QUERIES, write_events
from measuring import PLAIN, TimedRun, arguments, local_session, over_plain, timed, write_results

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession

VARIANTS = {PLAIN: "0", "plain again": "0", "a marker each second": "1s", "a marker with each batch": "1ms"}
WARM_UPS = 5
"""Rounds at first, until all of it is compiled."""


def run(spark: SparkSession, query: str, variant: str, folder: Path) -> None:
    spark.conf.set("spark.sparklatency.markers.interval", VARIANTS[variant])
    writer = QUERIES[query](spark, folder).writeStream.outputMode("append").format("noop")
    checkpoint = tempfile.mkdtemp(dir=folder)
    writer.trigger(availableNow=True).option("checkpointLocation", checkpoint).start().awaitTermination()


def measured(spark: SparkSession, query: str, rows: int, count: int, folder: Path) -> Iterable[TimedRun]:
    order = random.Random(1)  # noqa: S311  not a secret
    for number in range(1 - WARM_UPS, count + 1):
        for variant in order.sample(list(VARIANTS), len(VARIANTS)):

            def action(variant: str = variant) -> None:
                run(spark, query, variant, folder)

            cost = timed(spark, action)
            load = os.getloadavg()[0]
            yield TimedRun(query, variant, number, rows, cost.task_ns, load, cost.wall_ns, cost.cpu_ns)


def table(query: str, runs: list[TimedRun]) -> str:
    lines = [
        f"**{query}**, {runs[0].rows:,} records",
        "",
        "| | CPU of the JVM, over plain: % | time, over plain: % |",
    ]
    lines.append("|---|---:|---:|")
    for variant in VARIANTS:
        if variant != PLAIN:
            cpu = over_plain(
                runs, variant, lambda one: one.cpu_ns, lambda own, plain: 100 * (own / plain - 1)
            )
            wall = over_plain(
                runs, variant, lambda one: one.wall_ns, lambda own, plain: 100 * (own / plain - 1)
            )
            lines.append(f"| {variant} | {cpu.text('+.2f')} | {wall.text('+.2f')} |")
    return "\n".join(lines)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=200_000, help="records of a run")
    parser.set_defaults(rounds=40)
    options = parser.parse_args()
    runs: list[TimedRun] = []
    tables = []
    with tempfile.TemporaryDirectory() as name:
        settings = {"spark.sql.shuffle.partitions": "2", "spark.sparklatency.auto": "source,terminal"}
        spark = local_session(options.jar, settings)
        events = write_events(spark, options.rows, Path(name))
        for query in list(QUERIES)[:2]:  # markers do not care whether a timestamp is carried
            of_query = list(measured(spark, query, options.rows, options.rounds, events))
            runs += of_query
            tables.append(table(query, of_query))
        version = spark.version
        spark.stop()
    write_results(options, "markers", version, "latency markers, ", tables, runs)


if __name__ == "__main__":
    main()
