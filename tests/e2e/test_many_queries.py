"""Queries that come and go leave no gauge, bean or thread behind, and nothing of ours on the heap."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from cluster import LINES, Spark, settings

from sampling import IS_FULL, by_turns

SCRIPT = Path(__file__).parent / "many.py"
BEFORE = 105
"""A few more than the hundred ended queries whose last figures can be read."""

MORE = int(os.environ.get("MANY_QUERIES", "1000" if IS_FULL else "45"))
"""The more, the surer, and the longer it takes."""

A_FEW = MORE // 3
"""Pools grow and shrink, and Spark cleans up when it comes to it; what each query leaves comes to MORE."""

BY_TIME = {"io.sparklatency.figures.WindowSamples$Sample"}
"""Of which those queries that are kept have more or fewer, as their records came."""

ALL_GARBAGE = "-XX:SoftRefLRUPolicyMSPerMB=0 -XX:MarkSweepAlwaysCompactCount=1"
"""Has a collection take what is kept while there is room, and leave no room between objects. Three of four
others leave up to a twentieth of the heap as such room, and it counts as arrays of numbers."""

CONF = {
    "spark.driver.extraJavaOptions": ALL_GARBAGE,
    "spark.metrics.conf.*.sink.jmx.class": "org.apache.spark.metrics.sink.JmxSink",
    "spark.plugins": "io.sparklatency.LatencyPlugin",
    "spark.sparklatency.granularity": "subtask",
    "spark.sparklatency.history.batches": "3",
    "spark.sql.streaming.ui.retainedQueries": "3",
    "spark.sql.ui.retainedExecutions": "3",
    "spark.ui.port": "0",
    "spark.ui.retainedJobs": "3",
    "spark.ui.retainedStages": "3",
    "spark.ui.retainedTasks": "3",
}


@dataclass(frozen=True)
class Seen:
    """What the application is made of."""

    queries: int
    gauges: int
    beans: dict[str, int]
    threads: list[str]
    objects: dict[str, int]
    """Of ours on the heap, by class."""
    bytes: dict[str, int]
    """Of all that is on the heap, by class."""


@pytest.fixture(scope="module", params=by_turns(LINES))
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Seen, Seen]:
    """Before and after the last queries."""
    folder = tmp_path_factory.mktemp("many")
    spark = Spark(request.param)
    submit = ["--master", "local[1]", "--driver-memory", "1g", "--jars", str(spark.jar), *settings(CONF)]
    counts = [str(BEFORE), str(BEFORE + MORE)]
    with spark.start("many", folder, "spark-submit", *submit, SCRIPT, *counts) as driver:
        lines = driver.finish(within=900 + 5 * MORE)
    told = [json.loads(line.removeprefix("many: ")) for line in lines if line.startswith("many: ")]
    before, after = (Seen(**one) for one in told)
    return before, after


def test_the_last_hundred_can_be_read(seen: tuple[Seen, Seen]) -> None:
    assert [one.queries for one in seen] == [100, 100]


def test_no_gauge_and_no_bean_remains(seen: tuple[Seen, Seen]) -> None:
    before, after = seen
    assert (after.gauges, after.beans["sparklatency"]) == (2, 1), "but of the clock"
    assert after.beans == before.beans


def test_no_thread_remains(seen: tuple[Seen, Seen]) -> None:
    """But in two pools of Spark, which grow to a hundred each."""
    before, after = ([name for name in one.threads if not name.startswith("block-manager-")] for one in seen)
    assert len(after) <= len(before) + A_FEW, sorted(after)


def test_no_object_of_ours_remains(seen: tuple[Seen, Seen]) -> None:
    before, after = seen
    classes = after.objects.keys() - BY_TIME
    grown = {name: after.objects[name] - before.objects.get(name, 0) for name in classes}
    assert {name: more for name, more in grown.items() if more > A_FEW} == {}


def test_the_heap_does_not_grow(seen: tuple[Seen, Seen]) -> None:
    before, after = (one.bytes for one in seen)
    grown = {name: after.get(name, 0) - before.get(name, 0) for name in before.keys() | after.keys()}
    most = dict(sorted(grown.items(), key=lambda one: -abs(one[1]))[:20])
    assert sum(grown.values()) < 3_000_000, most
