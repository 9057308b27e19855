"""What it saves to leave out an ingestion timestamp that nothing reads, with records of one byte.

Records go through one shuffle: the place where a column that nobody reads would cost most. Each of several
processes measures all variants with one task thread, as in ingestion.py: in every round each variant runs
once, in an order drawn anew, and is compared with the others of the same round. The CPU time of the task
counts, and what Spark says it wrote to the shuffle. `plain again` is the noise. Writes a table and every
single run beside those of pipelines.py.
"""

from __future__ import annotations

import os
import random
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

from measuring import PLAIN, TimedRun, counter, estimate, executed_plan, timed, write_results
from processes import arguments_of_processes, gathered, measure
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

from sparklatency import with_ingestion_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import DataFrame, SparkSession

WARM_UPS = 2
"""Rounds of each process that count for nothing."""

FORCE = "spark.sparklatency.forceTimestampSupport"
UNREAD, KEPT = "a stamp that nothing reads", f"the same, kept by {FORCE}=true"


@dataclass(frozen=True)
class ShuffledRun(TimedRun):
    """One run in one of the processes."""

    process: int
    shuffled: int
    """Bytes."""


def plain(records: DataFrame) -> DataFrame:
    return records.repartition(8, "b").select("b")


def stamped(records: DataFrame) -> DataFrame:
    return plain(with_ingestion_timestamp(records))


def kept(records: DataFrame) -> DataFrame:
    spark = records.sparkSession
    spark.conf.set(FORCE, "true")
    try:
        return stamped(records)
    finally:
        spark.conf.unset(FORCE)


VARIANTS: dict[str, Callable[[DataFrame], DataFrame]] = {
    PLAIN: plain,
    "plain again": plain,
    UNREAD: stamped,
    KEPT: kept,
}


def runs_of(spark: SparkSession, rows: int, process: int, rounds: int) -> Iterable[ShuffledRun]:
    records = spark.range(0, rows, 1, 1).select((F.col("id") % 100).cast("byte").alias("b"))
    for variant, stamps in ((UNREAD, 0), (KEPT, 1)):
        if executed_plan(VARIANTS[variant](records)).count("ingestion_time()") != stamps:
            raise SystemExit(f"with {variant} the plan is {executed_plan(VARIANTS[variant](records))}")
    shuffled = counter(spark, "shuffleBytesWritten")
    order = random.Random(process)  # noqa: S311  not a secret
    for number in range(1 - WARM_UPS, rounds + 1):
        for variant in order.sample(list(VARIANTS), len(VARIANTS)):
            writer = VARIANTS[variant](records).write.format("noop").mode("overwrite")
            before = shuffled.getCount()
            cost = timed(spark, writer.save)
            written = shuffled.getCount() - before
            load = os.getloadavg()[0]
            taken = {"process": process, "shuffled": written, **asdict(cost)}
            yield ShuffledRun("bytes", variant, number, rows, load=load, **taken)


def table(runs: Sequence[ShuffledRun], processes: int) -> str:
    counted = [run for run in runs if run.round > 0]
    base = {(run.process, run.round): run.task_ns for run in counted if run.variant == PLAIN}
    unread = {(run.process, run.round): run.task_ns for run in counted if run.variant == UNREAD}
    rows = max(run.rows for run in counted)
    lines = [
        f"{rows:,} records a run, {processes} processes, "
        f"{median(base.values()) / rows:.1f} ns a record without a stamp",
        "",
        "| | CPU ns a record over plain, with 95 % interval | shuffled bytes a record |",
        "|---|---:|---:|",
    ]
    for variant in VARIANTS:
        own = [run for run in counted if run.variant == variant]
        more = [(run.task_ns - base[run.process, run.round]) / run.rows for run in own]
        size = median(run.shuffled / run.rows for run in own)
        shown = "" if variant == PLAIN else estimate(more).text(".1f")
        lines.append(f"| {variant} | {shown} | {size:.2f} |")
    gain = estimate(
        [100 * (run.task_ns / unread[run.process, run.round] - 1) for run in counted if run.variant == KEPT]
    )
    lines += ["", f"Without the stamp the same CPU time is enough for {gain.text('.0f')} % more records."]
    return "\n".join(lines)


def main() -> None:
    options = arguments_of_processes(__doc__, rows=4_000_000, processes=5).parse_args()
    if options.process is not None:
        measure(options, runs_of)
        return
    version, runs = gathered(options, ShuffledRun)
    what = "an ingestion timestamp that nothing reads, CPU time of the task, "
    write_results(options, "unread", version, what, [table(runs, options.processes)], runs)


if __name__ == "__main__":
    main()
