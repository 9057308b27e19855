"""What a batch of 1,000 partitions costs at twenty nodes, beside what it costs with another jar.

A streaming query with the plugin runs batch after batch. Its tasks do nothing but take a thousand records
each through the nodes. When the first batches have warmed it up, it tells how long one takes on average, and
the CPU time of the JVM for it, with all that the driver does between two batches. Each query has a process of
its own. In each round the other jar runs once, and this one twice: how far its two rows differ is chance.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from measuring import arguments, cpu_clock, local_session
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

from sparklatency import with_e2e_latency

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

PARTITIONS, NODES, RECORDS = 1000, 20, 1000
WARM_UP, BATCHES = 15, 30
VARIANTS = ("other", "this", "this again")
PLUGIN = {"spark.plugins": "io.sparklatency.LatencyPlugin"}


def one_batch(spark: SparkSession) -> tuple[float, float]:
    """Seconds that it takes on average, by the wall and of CPU."""
    clock = cpu_clock(spark)
    read = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", RECORDS * PARTITIONS)
    rows = read.option("numPartitions", PARTITIONS).load().withColumn("ts", F.current_timestamp())
    for node in range(NODES):
        rows = with_e2e_latency(rows, f"node-{node}", "ts")
    query = rows.writeStream.format("noop").start()
    begun, ended = (when_ended(query, number, clock) for number in (WARM_UP, WARM_UP + BATCHES))
    query.stop()
    batches, wall, cpu = (after - before for before, after in zip(begun, ended, strict=True))
    return wall / batches, cpu / batches


def when_ended(query: StreamingQuery, number: int, clock: int) -> tuple[float, float, float]:
    """Waits for that batch. Returns which has ended then, the time, and the CPU time of the process."""
    while (last := query.lastProgress) is None or last["batchId"] < number:
        if (failure := query.exception()) is not None:
            raise failure
        time.sleep(0.005)
    return last["batchId"], time.perf_counter(), time.clock_gettime(clock)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--other", type=Path, help="the jar of an earlier version")
    parser.add_argument("--once", action="store_true", help="run one query, and print its figures")
    parser.set_defaults(rounds=5)
    options = parser.parse_args()
    if options.once:
        print(json.dumps(one_batch(local_session(options.jar, PLUGIN))))
        return
    if options.other is None:
        parser.error("--other: with what is it compared?")
    took: dict[str, list[tuple[float, float]]] = {variant: [] for variant in VARIANTS}
    loads = []
    for number in range(options.rounds):
        first = number % len(VARIANTS)
        for variant in VARIANTS[first:] + VARIANTS[:first]:
            jar = options.other if variant == "other" else options.jar
            command = [sys.executable, __file__, "--jar", str(jar.resolve()), "--once"]
            wall, cpu = json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
            took[variant].append((wall, cpu))
            loads.append(os.getloadavg()[0])
    text = table(took, f"load average {min(loads):.1f} to {max(loads):.1f}")
    (options.out / "many-partitions.md").write_text(text, encoding="utf-8")
    print(text)


def table(took: dict[str, list[tuple[float, float]]], load: str) -> str:
    lines = [
        f"{PARTITIONS:,} partitions of {RECORDS:,} records, {NODES} nodes, medians of "
        f"{len(took['other'])} processes; {load}",
        "",
        "| jar | a batch, s | CPU, s | time more than the other, round by round | CPU more |",
        "|---|---:|---:|---:|---:|",
    ]
    for variant, runs in took.items():
        means = [f"{median(of):.3f}" for of in zip(*runs, strict=True)]
        pairs = zip(runs, took["other"], strict=True)
        ratios = zip(
            *[[own / other - 1 for own, other in zip(*pair, strict=True)] for pair in pairs], strict=True
        )
        more = ["" if variant == "other" else f"{median(of):+.1%}" for of in ratios]
        lines.append(f"| {variant} | {' | '.join([*means, *more])} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
