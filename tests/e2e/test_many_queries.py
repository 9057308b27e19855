"""Queries that come and go leave no gauge, bean or thread behind, and on the heap what is known."""

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

A_FEW_THREADS = 15
"""However many queries there are: each could leave one."""

ONCE = 200
"""So many of a class the JVM and Spark make as they go, also if there are few queries."""

OURS = ("io.sparklatency.", "org.apache.spark.sql.latency.")

A_LEAK, MANY, SOME = 100, 1000, 1_000_000
"""Bytes of each query that are seen if there are many of them; else how many more the heap may have."""

BY_TIME = {"io.sparklatency.figures.WindowSamples$Sample"}
"""Of which those queries that are kept have more or fewer, as their records came."""

KEPT = {
    # Ours, the last ten thousand: which tasks, plannings and runs have ended.
    "scala.collection.mutable.LinkedHashSet$Entry": 4,
    # Three of these are their ids. Spark, also without us, keeps an accumulator: its id, and where it is.
    "java.lang.Long": 4.3,
    "java.lang.ref.WeakReference": 1,
    "java.util.concurrent.ConcurrentHashMap$Node": 1,
    # The ids of a thousand runs are ours; others are Spark's.
    "java.lang.String": 1.5,
    "[B": 1.5,
    # Of Spark alone there are as many.
    "java.util.WeakHashMap$Entry": 1.1,
    # These grow with what is in them.
    "[Lscala.collection.mutable.LinkedHashSet$Entry;": 0,
    "[Ljava.util.concurrent.ConcurrentHashMap$Node;": 0,
    "[Ljava.util.WeakHashMap$Entry;": 0,
}
"""How many of a class each query may leave, from runs of these queries with and without the jar."""

TEXTS = {"java.lang.String": 24, "[B": 56}
"""Of those that may have any length, how many bytes one is that a query leaves: they are ids."""

SURE = {"scala.collection.mutable.LinkedHashSet$Entry"}
"""Of which neither Spark nor the JVM has more or fewer, as they go."""

TIMERS = {
    "com.codahale.metrics.WeightedSnapshot$WeightedSample",
    "java.lang.Double",
    "java.util.concurrent.ConcurrentSkipListMap$Node",
    "java.util.concurrent.ConcurrentSkipListMap$Index",
}
"""What Spark's timers keep values in: each of them up to 1,028, which some do not have yet at first."""

IN_TIMERS = 1000
"""How many values there is still room for, at the most."""

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
    """How many are on the heap, by class."""
    bytes: dict[str, int]
    """How large they are together."""


@pytest.fixture(scope="module", params=by_turns(LINES))
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Seen, Seen]:
    """Before and after the last queries."""
    folder = tmp_path_factory.mktemp("many")
    spark = Spark(request.param)
    submit = ["--master", "local[1]", "--driver-memory", "1g", "--jars", str(spark.jar), *settings(CONF)]
    arguments = [str(folder / "checkpoints"), str(BEFORE), str(BEFORE + MORE)]
    with spark.start("many", folder, "spark-submit", *submit, SCRIPT, *arguments) as driver:
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
    assert len(after) <= len(before) + A_FEW_THREADS, sorted(after)


def test_of_ours_each_thread_is_there_once_however_many_queries_there_were(seen: tuple[Seen, Seen]) -> None:
    ours = [[name for name in one.threads if "sparklatency" in name] for one in seen]
    assert all(len(set(names)) == len(names) for names in ours), ours


def test_no_object_of_ours_remains(seen: tuple[Seen, Seen]) -> None:
    more = grown(seen)
    assert {name: more[name] for name in more if name.startswith(OURS) and more[name] > A_FEW} == {}


def test_no_other_object_remains(seen: tuple[Seen, Seen]) -> None:
    kept = {**dict.fromkeys(TIMERS, IN_TIMERS), **{name: each * MORE for name, each in KEPT.items()}}
    left = {name: more - kept.get(name, 0) for name, more in grown(seen).items()}
    most = dict.fromkeys(SURE, A_FEW)
    assert {name: more for name, more in left.items() if more > most.get(name, max(A_FEW, ONCE))} == {}


def test_the_heap_does_not_grow(seen: tuple[Seen, Seen]) -> None:
    """But by what is kept. With few queries it is Spark that decides how much larger it is."""
    before, after = (one.bytes for one in seen)
    names = (before.keys() | after.keys()) - (KEPT.keys() - TEXTS.keys()) - TIMERS
    kept = {name: KEPT[name] * MORE * size for name, size in TEXTS.items()}
    growth = {name: after.get(name, 0) - before.get(name, 0) - kept.get(name, 0) for name in names}
    most = dict(sorted(growth.items(), key=lambda one: -abs(one[1]))[:20])
    assert sum(growth.values()) < (A_LEAK * MORE if MORE >= MANY else SOME), most


def grown(seen: tuple[Seen, Seen]) -> dict[str, int]:
    """How many more of each class there are."""
    before, after = (one.objects for one in seen)
    return {name: after[name] - before.get(name, 0) for name in after.keys() - BY_TIME}
