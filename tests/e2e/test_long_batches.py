"""In real-time mode long batches are usual: no exported alert is raised for one, though for a micro-batch.

The driver has a query of each, which a real Prometheus watches at the same time.
"""

import time
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from broker import Broker, resolved
from children import PATIENCE, Child
from cluster import LINES, Spark, settings
from long_batches import MICRO_BATCH, REAL_TIME
from waits import await_until

from sampling import by_turns
from scraping import Prometheus, judged_often, scraping
from sparklatency import SparkLatencyError, latency
from support import exported

SCRIPT = Path(__file__).parent / "long_batches.py"
BATCH = "32 seconds"
"""A micro-batch of half a minute is stalled, if nobody knows that it is usual."""

LIMIT = 80
"""Seconds that a watermark may be behind. It trails its records by a minute, and moves when a batch ends."""

BEHIND = 100
"""Seconds that it is then, unless rules count batches."""

SCRAPED = "5s"
"""How often: one that looks more often waits for an answer for less time than a busy machine takes."""

PLANNED_WITHIN = 20
"""Seconds. Where a slow machine plans the first batch for longer, that hangs for whoever looks."""

WARM_UP, RECORDS, A_SECOND = 2, 100_000, 20
CONF = {
    "spark.driver.host": "127.0.0.1",
    "spark.plugins": "io.sparklatency.LatencyPlugin",
    "spark.sparklatency.auto": "source,terminal",
    "spark.ui.port": "0",
}


@pytest.fixture(scope="module", params=by_turns(LINES))
def prometheus(
    request: pytest.FixtureRequest, broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """Until the query of real-time mode is in its third batch."""
    spark, folder = Spark(request.param), tmp_path_factory.mktemp("long-batches")
    records, results = f"{folder.name}-records", f"{folder.name}-results"
    broker.create_topics(folder, {records: "CreateTime", results: "CreateTime"})
    jars = ",".join([str(spark.jar), *resolved("connector")])
    submit = ["--master", "local[4]", "--driver-memory", "1g", "--jars", jars, *settings(CONF)]
    arguments = [broker.address, records, results, str(folder), BATCH]
    rules = judged_often(exported("prometheus-rules", "--watermark-lag", f"{LIMIT}s"))
    with spark.start("driver", folder, "spark-submit", *submit, SCRIPT, *arguments) as driver:
        ui = driver.until(partial(told, driver), "it has a UI", within=120)
        began = time.monotonic()
        # The first record waits until tasks run.
        with broker.program(folder, "Producer", records, str(WARM_UP), str(A_SECOND)) as producer:
            producer.finish(within=30)
        driver.until(partial(has_read, ui), "it reads in real-time mode", within=120)
        with broker.program(folder, "Producer", records, str(RECORDS), str(A_SECOND)):
            if time.monotonic() - began > PLANNED_WITHIN:
                driver.until(partial(has_committed, ui), "its first batch ends", within=120)
            with scraping(ui, folder, rules, interval=SCRAPED) as prometheus:
                behind = f'sparklatency_watermark_lag_seconds{{query="{REAL_TIME}"}} > {BEHIND}'
                driver.until(partial(prometheus.series, behind), "the watermark is behind", within=240)
                driver.until(partial(has_committed, ui, 2), "two batches have ended", within=60)
                yield prometheus


def told(driver: Child) -> str | None:
    """Where the UI is."""
    return next((line.split()[1] for line in driver.lines() if line.startswith("long_batches: ")), None)


def has_read(ui: str) -> bool:
    try:
        nodes = latency(REAL_TIME, url=ui).nodes
    except SparkLatencyError:  # also where a UI that has just begun does not answer in time
        return False
    return bool(nodes) and all(node.records >= WARM_UP for node in nodes)


def has_committed(ui: str, batches: int = 1) -> bool:
    try:
        return latency(REAL_TIME, url=ui).query.batches >= batches
    except SparkLatencyError:
        return False


def test_no_alert_is_raised_for_a_long_batch_of_real_time_mode(prometheus: Prometheus) -> None:
    def raised() -> dict[str, set[str]] | None:
        """All there were, also those that waited, once both of the other query have come."""
        found = defaultdict(set)
        for labels, _ in prometheus.series("count_over_time(ALERTS[1h])") or []:
            found[labels["query"]].add(labels["alertname"])
        return found if len(found[MICRO_BATCH]) > 1 else None

    alerts = await_until(raised, within=PATIENCE * 60)
    # That ages are high is true where a machine is slow.
    assert alerts[REAL_TIME] & {"SparkBatchStalled", "SparkRecordsWait", "SparkWatermarkBehind"} == set()
    assert alerts[MICRO_BATCH] >= {"SparkBatchStalled", "SparkRecordsWait"}
