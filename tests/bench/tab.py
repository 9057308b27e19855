"""How long the tab takes to show a run of 200 nodes and 1,000 batches, also as the first page of a driver.

Each round is a driver of its own, which keeps the batches as it keeps those of its queries: their events go
over its listener bus. Then it is asked for the query's page, three times, and for the list of queries. Needs
nothing but the jar.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from driver_pages import Times, asked, of_drivers, write

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


def times(spark: SparkSession) -> dict[str, Times]:
    """Of each page, in the order in which they are asked for."""
    keep_batches(spark)
    found = {}
    for page, path in ASKED.items():
        text, found[page] = asked(spark, f"{spark.sparkContext.uiWebUrl}{path}")
        if path == QUERY and text.count('aria-label="latency over time"') != 4:
            raise ValueError(f"{page}: {text}")
    return found


def main() -> None:
    drivers = of_drivers(__doc__, times)
    lines = [
        f"{NODES} nodes, {BATCHES:,} batches, {len(drivers)} drivers",
        "",
        "| page | ms, median | least to most | CPU ms |",
        "|---|---:|---:|---:|",
    ]
    for page in ASKED:
        walls, cpus = zip(*(driver[page] for driver in drivers), strict=True)
        lines.append(
            f"| {page} | {median(walls):.0f} | {min(walls):.0f} to {max(walls):.0f} | {median(cpus):.0f} |"
        )
    write("tab", lines)


if __name__ == "__main__":
    main()
