"""What an ingestion timestamp costs a query that does next to nothing, beside the cost of a column more.

Each of several processes measures all variants with one task thread, as in pipelines.py: in every round each
variant runs once, in an order drawn anew, and is compared with the plain query of the same round. The CPU
time of the task counts. `plain again` is the noise. Writes a table and every single run beside those of
pipelines.py.
"""

from __future__ import annotations

import os
import random
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

from measuring import PLAIN, TimedRun, estimate, executed_plan, timed, write_results
from processes import arguments_of_processes, gathered, measure
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

from sparklatency import with_e2e_latency, with_ingestion_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import DataFrame, SparkSession

WARM_UPS = 2
"""Rounds of each process that count for nothing."""

PASSING = "ingestion_time > TIMESTAMP '2020-01-01'"
UNREAD = "a stamp that nobody reads"


@dataclass(frozen=True)
class StampRun(TimedRun):
    """One run in one of the processes."""

    process: int


def column_more(ids: DataFrame) -> DataFrame:
    """A timestamp that is computed of the row: what a column more costs, whatever is in it."""
    return ids.withColumn("ingestion_time", F.timestamp_micros(F.col("id") + 1_700_000_000_000_000))


def marked(ids: DataFrame) -> DataFrame:
    return with_e2e_latency(with_ingestion_timestamp(ids), "node", "ingestion_time")


VARIANTS: dict[str, Callable[[DataFrame], DataFrame]] = {
    PLAIN: lambda ids: ids,
    "plain again": lambda ids: ids,
    "a computed column, written": column_more,
    "a stamp, written": with_ingestion_timestamp,
    "a computed column, in a filter": lambda ids: column_more(ids).filter(PASSING).select("id"),
    "a stamp, in a filter": lambda ids: with_ingestion_timestamp(ids).filter(PASSING).select("id"),
    UNREAD: lambda ids: with_ingestion_timestamp(ids).select("id"),
    "a stamp, a mark that reads it, written": marked,
}


def runs_of(spark: SparkSession, rows: int, process: int, rounds: int) -> Iterable[StampRun]:
    ids = spark.range(0, rows, 1, 1)
    if executed_plan(VARIANTS[UNREAD](ids)) != executed_plan(ids.select("id")):
        raise SystemExit(f"with {UNREAD} the plan is {executed_plan(VARIANTS[UNREAD](ids))}")
    order = random.Random(process)  # noqa: S311  not a secret
    for number in range(1 - WARM_UPS, rounds + 1):
        for variant in order.sample(list(VARIANTS), len(VARIANTS)):
            writer = VARIANTS[variant](ids).write.format("noop").mode("overwrite")
            cost = timed(spark, writer.save)
            load = os.getloadavg()[0]
            yield StampRun("range", variant, number, rows, load=load, process=process, **asdict(cost))


def table(runs: Sequence[StampRun], processes: int) -> str:
    plain = {(run.process, run.round): run.task_ns / run.rows for run in runs if run.variant == PLAIN}
    lines = [
        f"{max(run.rows for run in runs):,} records a run, {processes} processes, "
        f"{median(ns for (_, number), ns in plain.items() if number > 0):.1f} ns a record without a stamp",
        "",
        "| | CPU ns a record over plain: minimum | median, with 95 % interval |",
        "|---|---:|---:|",
    ]
    for variant in list(VARIANTS)[1:]:
        more: dict[int, list[float]] = {}
        for run in runs:
            if run.variant == variant and run.round > 0:
                same = plain[run.process, run.round]
                more.setdefault(run.process, []).append(run.task_ns / run.rows - same)
        medians = [median(rounds) for rounds in more.values()]
        lines.append(f"| {variant} | {min(medians):.1f} | {estimate(medians).text('.1f')} |")
    return "\n".join(lines)


def main() -> None:
    options = arguments_of_processes(__doc__, rows=12_000_000, processes=10).parse_args()
    if options.process is not None:
        measure(options, runs_of)
        return
    version, runs = gathered(options, StampRun)
    what = "an ingestion timestamp, CPU time of the task, "
    write_results(options, "ingestion", version, what, [table(runs, options.processes)], runs)


if __name__ == "__main__":
    main()
