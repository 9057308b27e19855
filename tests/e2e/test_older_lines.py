"""One pipeline through `spark-submit --jars` on each line without all suites in `make test`, and on JDK 21.

It goes the way of a user: the line's own pyspark chooses the jar, and every surface shows what was read. For
a Spark 3.5 of Scala 2.13, which pip does not bring, users choose it.
"""

import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http.client import HTTPException
from pathlib import Path
from subprocess import run
from urllib.request import urlopen

import pytest
from children import PATIENCE, Child
from cluster import LINES, OF_SCALA_213, OLDER_LINES, Spark, installed, settings, watched
from history import running_history_server
from jdk import java_home
from waits import EVENTS_WITHIN, await_until

from ports import free_port
from sampling import by_turns
from sparklatency import SparkLatencyError, latency
from sparklatency.values.queries import QueryLatency

SCRIPT = Path(__file__).parent / "older_line.py"
CLIENT = Path(__file__).parent / "connected.py"
FILES = 2
RECORDS = 1000
KEYS = 7
MACHINE = None
"""The JDK that the machine has."""

RUNS = [*((line, MACHINE) for line in [*OLDER_LINES, *OF_SCALA_213]), *((line, 21) for line in LINES[:1])]
"""Lines, and the JDK of each."""


@dataclass(frozen=True)
class Submitted:
    """An application whose queries have ended, and whose UI is there."""

    spark: Spark
    jdk: int | None
    driver: Child
    id: str
    ui: str
    folder: Path
    metrics: str
    """For Prometheus, soon after its queries have ended: those of nodes go two minutes after that."""

    @property
    def events(self) -> Path:
        return self.folder / "events"

    def sparklatency(self, *arguments: str) -> str:
        """What the command prints that is installed beside the line's pyspark."""
        return command(self.spark, *arguments)


def command(spark: Spark, *arguments: str) -> str:
    return run([spark.command, *arguments], check=True, capture_output=True, text=True, timeout=300).stdout


@pytest.fixture(
    scope="module", params=RUNS, ids=lambda run: run[0] if run[1] is MACHINE else f"{run[0]}-jdk{run[1]}"
)
def submitted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Submitted]:
    """The test that ends it comes last."""
    line, jdk = request.param
    folder = tmp_path_factory.mktemp("older-line")
    spark = installed(line, folder / "spark", None if jdk is MACHINE else java_home(folder / "jdk"))
    for part in ("records", "events"):
        (folder / part).mkdir()
    write_records(folder / "records")
    conf = {
        **watched(folder / "events"),
        "spark.sparklatency.recording.level": "TRACE",  # for what stateful operators give out
        "spark.sql.shuffle.partitions": "2",
    }
    jar = str(spark.jar) if line in OF_SCALA_213 else command(spark, "jar").strip()
    submit = ["--master", "local[2]", "--driver-memory", "1g", "--jars", jar, *settings(conf)]
    arguments = (str(folder / "records"), str(folder))
    with spark.start("older-line", folder, "spark-submit", *submit, SCRIPT, *arguments) as driver:
        [[id_, ui]] = driver.until(partial(driver.told, "older_line"), "its queries end", within=120)
        metrics = text(f"{ui}/api/v1/latency/prometheus")
        yield Submitted(spark, jdk, driver, id_, ui, folder, metrics)


def write_records(folder: Path) -> None:
    now = time.time_ns() // 1_000_000
    for file in range(FILES):
        lines = (f"{number % KEYS},{at(now - number)}\n" for number in range(file, RECORDS, FILES))
        (folder / f"{file}.csv").write_text("".join(lines))


def at(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")


def text(url: str) -> str:
    # The first question starts Spark's REST service, which takes long on a busy machine.
    with urlopen(url, timeout=PATIENCE * 60) as answer:  # noqa: S310
        return str(answer.read().decode())


def told(query: str, url: str, app: str | None = None) -> QueryLatency:
    """What is said of a query once its run is not said to go on: events of its end take their time."""

    def ended() -> QueryLatency | None:
        with suppress(SparkLatencyError):  # also where it does not answer in time
            [one] = latency(query, url=url, app=app).queries
            return one if one.status != "RUNNING" else None
        return None

    return await_until(ended, EVENTS_WITHIN)


def records(query: str, url: str, app: str | None = None) -> dict[str, int]:
    return {node.node: node.records for node in told(query, url, app).nodes}


def test_a_query_marked_by_hand_counts_each_record(submitted: Submitted) -> None:
    assert records("by_hand", submitted.ui) == {"source": RECORDS, "sink": KEYS}
    query = told("by_hand", submitted.ui)
    source, sink = query.nodes
    assert source.max is not None
    assert source.min is not None
    assert source.max - source.min >= RECORDS - KEYS  # each record is a millisecond older than the one before
    assert sink.commit is not None
    assert query.status == "FINISHED"


def test_a_query_without_a_mark_has_automatic_nodes(submitted: Submitted) -> None:
    found = {name.partition("[")[0]: count for name, count in records("automatic", submitted.ui).items()}
    assert found == {"source-0-file": RECORDS, "deduplicate-1": RECORDS, "sink": RECORDS}


def test_an_application_runs_on_the_jdk_that_is_meant(submitted: Submitted) -> None:
    environment = json.loads(text(f"{submitted.ui}/api/v1/applications/{submitted.id}/environment"))
    version = environment["runtime"]["javaVersion"]
    assert submitted.jdk is MACHINE or version.startswith(f"{submitted.jdk}."), version


def test_the_tab_and_prometheus_show_a_query(submitted: Submitted) -> None:
    assert told("by_hand", submitted.ui).batches
    assert "by_hand" in text(f"{submitted.ui}/latency/")
    counted = rf'sparklatency_records_total{{.*node="source",query="by_hand"}} {RECORDS}\.0'
    assert re.search(counted, submitted.metrics)


def test_check_finds_that_all_fits(submitted: Submitted) -> None:
    findings = {
        one["what"]: (one["status"], one["detail"])
        for one in json.loads(submitted.sparklatency("check", "--url", submitted.ui, "--json"))
    }
    line = submitted.spark.line
    assert {status for status, _ in findings.values()} == {"ok"}
    assert findings["pyspark"][1].startswith(f"{line}.")
    assert f"sparklatency-spark_{line}_" in findings["jar"][1]
    assert f"Spark {line}." in findings["application"][1]


@pytest.mark.sampled(by="submitted")
def test_the_history_server_shows_the_same(submitted: Submitted, tmp_path: Path) -> None:
    """It ends the application."""
    live = {query: records(query, submitted.ui) for query in ("by_hand", "automatic")}
    (submitted.folder / "end").touch()
    submitted.driver.finish(within=60)

    def knows(server: str) -> bool:
        try:
            return submitted.id in text(f"{server}/api/v1/applications")
        except (OSError, HTTPException):  # it is starting up
            return False

    with running_history_server(submitted.spark, submitted.events, tmp_path, knows) as server:
        assert {query: records(query, server, submitted.id) for query in live} == live
        assert "by_hand" in text(f"{server}/history/{submitted.id}/latency/")


@pytest.mark.parametrize("key", OF_SCALA_213)
def test_a_jar_for_another_scala_says_so(key: str, tmp_path: Path) -> None:
    """It is the one that pip brings."""
    spark, conf = installed(key, tmp_path / "spark"), {"spark.plugins": "io.sparklatency.LatencyPlugin"}
    submit = ["--master", "local[1]", "--jars", str(Spark("3.5").jar), *settings(conf)]
    arguments = (str(tmp_path), str(tmp_path))
    with spark.start("refused", tmp_path, "spark-submit", *submit, SCRIPT, *arguments) as driver:
        await_until(lambda: driver.ended() is not None, within=PATIENCE * 60)
        assert driver.ended() != 0
        log = driver.log.read_text()
    assert "sparklatency-spark_3.5_2.12 is not for this Spark, which is 3.5.9 with Scala 2.13." in log
    assert "Take sparklatency-spark_3.5_2.13, " in log


@pytest.mark.parametrize("line", [line for line in OLDER_LINES if line != "3.5"][:1] if LINES else [])
def test_a_jar_for_another_line_alone_says_so_and_lets_the_application_go_on(
    line: str, tmp_path: Path
) -> None:
    """Without the plugin Spark finds us when it makes a session."""
    script = tmp_path / "counting.py"
    script.write_text(
        "from pyspark.sql import SparkSession\n"
        "print('rows:', SparkSession.builder.getOrCreate().range(3).count())\n"
    )
    spark, other = Spark(line), Spark(LINES[0])
    submit = ["--master", "local[1]", "--conf", "spark.ui.enabled=false", "--jars", str(other.jar)]
    with spark.start("alone", tmp_path, "spark-submit", *submit, script) as driver:
        assert driver.finish(within=60) == ["rows: 3"]
        log = driver.log.read_text()
    assert f"{other.artifact} is not for this Spark, which is {line}." in log
    assert f"Take {spark.artifact}, " in log


@pytest.mark.parametrize("line", by_turns([line for line in OLDER_LINES if line != "3.5"]))  # which has none
def test_a_client_of_spark_connect_marks_and_reads(line: str, tmp_path: Path) -> None:
    """The client is that of the newest line, where it is installed."""
    (tmp_path / "records").mkdir()
    write_records(tmp_path / "records")
    server, port = Spark(line), free_port()
    conf = {
        "spark.plugins": "io.sparklatency.LatencyPlugin",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
    }
    main = "org.apache.spark.sql.connect.service.SparkConnectServer"
    submit = ["--class", main, "--master", "local[2]", "--driver-memory", "1g", "--jars", str(server.jar)]
    arguments = [f"sc://127.0.0.1:{port}", str(tmp_path / "records"), str(tmp_path / "checkpoint")]
    with server.start(
        "server", tmp_path, "spark-submit", *submit, *settings(conf), "spark-internal"
    ) as child:
        child.until(lambda: "Spark Connect server started" in child.log.read_text(), "it starts", within=90)
        with Child("client", [Spark(LINES[0]).python, CLIENT, *arguments], tmp_path) as client:
            figures, mistake = (json.loads(said) for said in client.finish(within=90))
    assert figures == [["connected", "source", RECORDS]]
    assert "'when'" in mistake
