"""How long the tab takes to show a run of 200 nodes and 1,000 batches, also as the first page of a driver.

Each round is a driver of its own, which keeps the batches as it keeps those of its queries: their events go
over its listener bus. Then it is asked for the query's page, three times, and for the list of queries. Needs
nothing but the jar.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from measuring import arguments, local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NODES, BATCHES, RUN = 200, 1000, "long-run"
EVENT = Path(__file__).parents[1] / "jvm" / "resources" / "latency-batch-2.json"
"""A batch as an event log has it, whose nodes lend theirs their figures."""

QUERY = f"/latency/query/?id={RUN}"
ASKED = {"first page of the driver": QUERY, "second": QUERY, "third": QUERY, "list of queries": "/latency/"}


def keep_batches(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    context = spark._jsc.sc()
    jvm.io.sparklatency.spark.PythonApi.latencyJson(spark._jsparkSession, None)  # the application is there
    event = json.loads(EVENT.read_text())
    [source, sink] = [node["measures"] for node in event["nodes"]]
    # Twenty ways of ten steps each.
    nodes = [
        {
            "id": f"node-{number}",
            "upstream": [f"node-{number - 20}"] if number >= 20 else [],
            "measures": sink if number >= NODES - 20 else source,
        }
        for number in range(NODES)
    ]
    protocol = jvm.org.apache.spark.util.JsonProtocol
    for batch in range(BATCHES):
        at = event["committedMs"] + 1000 * batch
        event |= {"query": "long", "queryId": None, "runId": RUN, "batch": batch, "nodes": nodes}
        event |= {"startMs": at - 900, "committedMs": at}
        context.listenerBus().post(protocol.sparkEventFromJson(json.dumps(event)))
    context.listenerBus().waitUntilEmpty(600_000)


def ask(spark: SparkSession) -> dict[str, tuple[float, float]]:
    """Milliseconds that each page took, of time and of CPU in the whole JVM, as they were asked for."""
    jvm: Any = spark._jvm
    cpu_clock = (~jvm.java.lang.ProcessHandle.current().pid() << 3) | 2  # as clock_getcpuclockid(3) has it
    found = {}
    for page, path in ASKED.items():
        wall, cpu = time.perf_counter_ns(), time.clock_gettime_ns(cpu_clock)
        with urlopen(f"{spark.sparkContext.uiWebUrl}{path}", timeout=600) as answer:  # noqa: S310  our own UI
            text = answer.read().decode()
        wall, cpu = time.perf_counter_ns() - wall, time.clock_gettime_ns(cpu_clock) - cpu
        found[page] = (wall / 1e6, cpu / 1e6)
        if path == QUERY and text.count('latency-chart"') != 4:
            raise ValueError(f"{page}: {text}")
    return found


def one_driver(jar: Path) -> None:
    settings = {"spark.ui.enabled": "true", "spark.ui.port": "0"}
    spark = local_session(jar, settings)
    keep_batches(spark)
    print(json.dumps(ask(spark)))
    spark.stop()


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--once", action="store_true", help="be one of the drivers, and print its figures")
    options = parser.parse_args()
    if options.once:
        one_driver(options.jar)
        return
    command = [sys.executable, __file__, "--jar", str(options.jar), "--once"]
    rounds = [
        json.loads(subprocess.check_output(command, text=True).splitlines()[-1])
        for _ in range(options.rounds)
    ]
    for page in ASKED:
        walls, cpus = zip(*(one[page] for one in rounds), strict=True)
        print(
            f"{page}: median {median(walls):.0f} ms, {min(walls):.0f} to {max(walls):.0f}; "
            f"CPU {median(cpus):.0f} ms; {len(walls)} drivers"
        )


if __name__ == "__main__":
    main()
