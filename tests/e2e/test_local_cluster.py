"""Executors in JVMs of their own without a cluster to submit to: Spark's master ``local-cluster``."""

import time
from pathlib import Path

import pytest
from cluster import LINES, OLDER_LINES, WORKERS, cluster_in_driver
from submitted import CONF, gauge, gauges, probing

from sampling import by_turns

SCRIPT = Path(__file__).parent / "local_cluster.py"
FILES = 4
RECORDS = 1000
KEYS = 7
PLUGIN = {
    "spark.plugins": "io.sparklatency.LatencyPlugin",
    # Lest the first executor read all files.
    "spark.cores.max": str(WORKERS),
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "10m",
    "spark.sql.files.minPartitionNum": str(FILES),
}


# Scala 2.12, which only Spark 3.5 has, sends objects to executors in another way.
@pytest.fixture(scope="module", params=by_turns([*LINES, *(line for line in OLDER_LINES if line == "3.5")]))
def counted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """What JMX shows of the only batch: the query finds all files when it starts."""
    folder, home = tmp_path_factory.mktemp("local-cluster"), tmp_path_factory.mktemp("home")
    records = folder / "records"
    records.mkdir()
    now = time.time_ns() // 1_000_000
    for file in range(FILES):
        lines = (f"{number % KEYS},{now}\n" for number in range(file, RECORDS, FILES))
        (records / f"{file}.csv").write_text("".join(lines))
    cluster = cluster_in_driver(request.param, home)
    arguments = (str(records), str(folder / "checkpoint"))
    with (
        cluster.running(
            folder, SCRIPT, *arguments, jars=[str(cluster.spark.jar)], conf={**CONF, **PLUGIN}
        ) as app,
        probing(app, folder) as probe,
    ):
        ended = gauge("driver", "sink", "records")
        app.driver.until(lambda: gauges(probe).get(ended), "its batch has ended", within=90, every=0.5)
        return gauges(probe)


@pytest.mark.parametrize(("node", "records"), [("source", RECORDS), ("sink", KEYS)])
def test_the_driver_counts_each_record_once(counted: dict[str, float], node: str, records: int) -> None:
    assert counted[gauge("driver", node, "records")] == records
    assert counted[gauge("driver", node, "records-without-timestamp")] == 0


def test_each_executor_tells_what_it_read_and_together_they_read_all(counted: dict[str, float]) -> None:
    read = [counted[gauge(str(executor), "source", "records")] for executor in range(WORKERS)]
    assert all(read)
    assert sum(read) == RECORDS
