"""Nodes that nobody wrote, on a Kafka topic: names, counts, and the plan that they leave as it is."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from broker import Broker, resolved
from cluster import Cluster
from unmarked import FIRST_INTERFACE

pytestmark = pytest.mark.one_line

WAYS = ("plain", "automatic", "markers")
SHAPES = ("", "stateless-")
RUNS = [f"{shape}{way}" for shape in SHAPES for way in WAYS]
BATCH_READS = [*FIRST_INTERFACE]
RECORDS = 300
RATE = 300


SCRIPT = Path(__file__).parent / "unmarked.py"
CONF = {
    "spark.sparklatency.auto.batch": "true",
    "spark.sparklatency.recording.level": "TRACE",
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="module")
def topic(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a topic that holds all records; those of the results begin with it."""
    folder = tmp_path_factory.mktemp("unmarked")
    results = {f"{folder.name}-results-{run}": "LogAppendTime" for run in RUNS}
    broker.create_topics(folder, {folder.name: "CreateTime", **results})
    with broker.program(folder, "Producer", folder.name, str(RECORDS), str(RATE)) as producer:
        producer.finish(within=30)
    return folder.name


@pytest.fixture(scope="module")
def runs(
    cluster: Cluster, broker: Broker, topic: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What the application says of both queries without automatic nodes, with them, and with markers, and of
    batch reads."""
    folder = tmp_path_factory.mktemp("unmarked-runs")
    arguments = (broker.address, topic, f"{topic}-results", str(folder / "checkpoint"), str(RECORDS))
    jars = [str(cluster.spark.jar), *resolved("connector")]
    with cluster.running(folder, SCRIPT, *arguments, jars=jars, conf=CONF) as app:
        said = [json.loads(line) for line in app.driver.finish(within=240) if line.startswith("{")]
    return dict(zip((*RUNS, *BATCH_READS, "written"), said, strict=True))


def test_a_kafka_topic_and_the_operators_behind_it_are_nodes(
    topic: str, runs: dict[str, dict[str, Any]]
) -> None:
    nodes = runs["automatic"]["nodes"]
    source = f"source-0-kafka[{topic}]"
    assert list(nodes) == [source, "deduplicate-1", "aggregate-1", "sink"]
    assert nodes[source] == nodes["deduplicate-1"] == RECORDS
    assert 0 < nodes["aggregate-1"] == nodes["sink"] <= RECORDS
    assert runs["plain"]["nodes"] == {}


def test_the_plan_is_that_of_the_query_without_automatic_nodes(runs: dict[str, dict[str, Any]]) -> None:
    """But for the window, which comes out of the aggregation for the nodes and is dropped behind them."""
    assert "record_e2e_latency" in runs["automatic"]["plan"]
    plain, automatic = (_operators(runs[name]["plan"]) for name in ("plain", "automatic"))
    assert any(operator.endswith("KafkaScan") for operator in plain)
    passing = re.compile(r"Project \[key, value, headers(, window\S*)?\]$")
    carried = [operator for operator in automatic if passing.search(operator)]
    assert [len(operator.split(", ")) for operator in carried] == [3, 4]
    assert [operator for operator in automatic if operator not in carried] == plain


def test_what_a_query_writes_is_the_same_with_automatic_nodes(
    topic: str, runs: dict[str, dict[str, Any]]
) -> None:
    """Each key, value and header, though an end without a timestamp is given one, and loses it again."""
    plain, *others = (runs["written"][f"{topic}-results-{way}"] for way in WAYS)
    assert 0 < len(plain) == runs["automatic"]["nodes"]["sink"]
    assert all(json.loads(record[-1])[0]["key"] == "of" for record in plain)
    assert others == [plain, plain]


def test_what_a_query_without_a_shuffle_writes_is_the_same_in_the_same_order(
    topic: str, runs: dict[str, dict[str, Any]]
) -> None:
    plain, *others = (runs["written"][f"{topic}-results-stateless-{way}"] for way in WAYS)
    assert runs["stateless-automatic"]["nodes"] == {f"source-0-kafka[{topic}]": RECORDS, "sink": RECORDS}
    assert len(plain) == RECORDS
    assert others == [plain, plain]


def test_latency_markers_go_from_the_partitions_of_a_topic_through_the_shuffle_to_the_commit(
    topic: str, runs: dict[str, dict[str, Any]]
) -> None:
    source = f"source-0-kafka[{topic}]"
    own = {
        (operator, subtask): count
        for marked, operator, subtask, count in runs["markers"]["markers"]
        if marked == source
    }
    # The topic has two partitions, and there are two behind each shuffle, which get the markers of both.
    expected: dict[tuple[str, int | None], int] = {("__commit__", None): 2}
    for subtask in (0, 1):
        expected[source, subtask] = 1
        expected |= {(node, subtask): 2 for node in ("deduplicate-1", "aggregate-1", "sink")}
    assert own == expected
    assert len(own) == len(runs["markers"]["markers"])
    assert runs["plain"]["markers"] == runs["automatic"]["markers"] == []


def test_the_plan_is_that_of_the_query_without_markers(runs: dict[str, dict[str, Any]]) -> None:
    assert _operators(runs["markers"]["plan"]) == _operators(runs["automatic"]["plan"])


def test_a_batch_read_of_a_topic_is_a_node_through_either_of_sparks_interfaces(
    topic: str, runs: dict[str, dict[str, Any]]
) -> None:
    assert [runs[read]["nodes"] for read in BATCH_READS] == [
        {f"source-0-kafka[{topic}]": RECORDS * reads, "sink": RECORDS * reads} for reads in (1, 2)
    ]


def _operators(plan: str) -> list[str]:
    """Returns the operators of a plan in order, with their stage of generated code, without marks and ids."""
    lines = (re.sub(r"^[ :+\-]*", "", line) for line in plan.splitlines())
    mark = r"(Filter|RecordLatency) record_(e2e_latency|staleness|lateness)"
    kept = (line for line in lines if not re.search(mark, line))
    ids = r"#\d+L?|plan_id=\d+|[0-9a-f-]{36}|(runId|checkpoint|batchId)\s*[=:][^,]*|-(plain|automatic)"
    ids += r"|@[0-9a-f]+"
    return [re.sub(ids, "", line) for line in kept]
