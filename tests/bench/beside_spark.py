"""What a query's page of the tab costs beside Spark's own statistics page of the same query, of 40 nodes.

Each driver is one of its own. It runs a query with 40 marks until both pages show 100 batches. Then they
are asked for by turns, Spark's twice as often: its two halves against each other are the A/A row. Needs
nothing but the jar.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from statistics import median
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from measuring import arguments, local_session
from pyspark.sql.functions import col

from sparklatency import with_e2e_latency

if TYPE_CHECKING:
    from pathlib import Path

NODES, BATCHES = 40, 100
WARM_UP, ROUNDS = 300, 100


def one_driver(jar: Path) -> None:
    spark = local_session(jar, {"spark.ui.enabled": "true", "spark.ui.port": "0"})
    rows = spark.readStream.format("rate").option("rowsPerSecond", 1000).load()
    for number in range(NODES):
        work = rows.withColumn("value", col("value") + 1)
        rows = with_e2e_latency(work, f"node-{number}", "timestamp")
    query = (
        rows.writeStream.format("noop").queryName("long").trigger(processingTime="200 milliseconds").start()
    )
    while query.isActive and ((last := query.lastProgress) is None or last["batchId"] < BATCHES):
        query.processAllAvailable()
    query.stop()
    ui = spark.sparkContext.uiWebUrl
    pages = {
        "Spark": f"{ui}/StreamingQuery/statistics/?id={query.runId}",
        "Spark again": f"{ui}/StreamingQuery/statistics/?id={query.runId}",
        "latency": f"{ui}/latency/query/?id={query.runId}",
    }
    jvm: Any = spark._jvm
    cpu_clock = (~jvm.java.lang.ProcessHandle.current().pid() << 3) | 2  # as clock_getcpuclockid(3) has it
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in pages}
    for _ in range(WARM_UP + ROUNDS):
        for name, url in pages.items():
            wall, cpu = time.perf_counter_ns(), time.clock_gettime_ns(cpu_clock)
            with urlopen(url, timeout=60) as answer:  # noqa: S310  our own UI
                text = answer.read().decode()
            wall, cpu = time.perf_counter_ns() - wall, time.clock_gettime_ns(cpu_clock) - cpu
            if name == "latency" and f"node-{NODES - 1}" not in text:
                raise ValueError(text)
            found[name].append((wall / 1e6, cpu / 1e6))
    medians = {
        name: [median(kind) for kind in zip(*all_of[WARM_UP:], strict=True)] for name, all_of in found.items()
    }
    print(json.dumps(medians))
    spark.stop()


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--once", action="store_true", help="be one of the drivers, and print its figures")
    options = parser.parse_args()
    if options.once:
        one_driver(options.jar)
        return
    command = [sys.executable, __file__, "--jar", str(options.jar), "--once"]
    drivers = [
        json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
        for _ in range(options.rounds)
    ]
    for name in drivers[0]:
        walls, cpus = zip(*(driver[name] for driver in drivers), strict=True)
        times = [driver[name][0] / driver["Spark"][0] for driver in drivers]
        print(
            f"{name}: median {median(walls):.1f} ms, CPU {median(cpus):.1f} ms; {median(times):.2f} times "
            f"Spark's ({min(times):.2f} to {max(times):.2f}); {len(drivers)} drivers"
        )


if __name__ == "__main__":
    main()
