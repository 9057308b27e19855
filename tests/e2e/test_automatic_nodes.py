"""Nodes that nobody wrote, on a Kafka topic: names, counts, and the plan that they leave as it is."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from broker import Broker, resolved
from cluster import Cluster

RECORDS = 300
RATE = 300


@pytest.fixture(scope="module")
def runs(
    cluster: Cluster, broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What the application says of the query without automatic nodes, and with them."""
    folder = tmp_path_factory.mktemp("unmarked")
    records, results = f"{folder.name}-records", f"{folder.name}-results"
    broker.create_topics(folder, {records: "CreateTime", results: "LogAppendTime"})
    with broker.program(folder, "Producer", records, str(RECORDS), str(RATE)) as producer:
        producer.finish(within=30)
    conf = {"spark.sparklatency.recording.level": "TRACE", "spark.sql.shuffle.partitions": "2"}
    jars = [str(cluster.spark.jar), *resolved("connector")]
    script = Path(__file__).parent / "unmarked.py"
    arguments = (broker.address, records, results, str(folder / "checkpoint"))
    with cluster.running(folder, script, *arguments, jars=jars, conf=conf) as app:
        said = [json.loads(line) for line in app.driver.finish(within=120) if line.startswith("{")]
    return {"topic": {"name": records}, **dict(zip(("plain", "automatic"), said, strict=True))}


def test_a_kafka_topic_and_the_operators_behind_it_are_nodes(runs: dict[str, dict[str, Any]]) -> None:
    nodes = runs["automatic"]["nodes"]
    source = f"source-0-kafka[{runs['topic']['name']}]"
    assert list(nodes) == [source, "deduplicate-1", "aggregate-1"]
    assert nodes[source] == nodes["deduplicate-1"] == RECORDS
    # What the aggregation gives out holds no timestamp any more: it tells only what it took in.
    assert nodes["aggregate-1"] == 0
    assert runs["plain"]["nodes"] == {}


def test_the_plan_is_that_of_the_query_without_them(runs: dict[str, dict[str, Any]]) -> None:
    assert "record_e2e_latency" in runs["automatic"]["plan"]
    assert _operators(runs["automatic"]["plan"]) == _operators(runs["plain"]["plan"])


def _operators(plan: str) -> list[str]:
    """Returns the operators of a plan in order, with their stage of generated code, without marks and ids."""
    lines = (re.sub(r"^[ :+\-]*", "", line) for line in plan.splitlines())
    kept = (line for line in lines if not re.search(r"Filter record_(e2e_latency|staleness|lateness)", line))
    ids = r"#\d+L?|plan_id=\d+|[0-9a-f-]{36}|(runId|checkpoint|batchId)\s*[=:][^,]*|-(plain|automatic)"
    ids += r"|@[0-9a-f]+"
    return [re.sub(ids, "", line) for line in kept]
