"""A query that goes on for a quarter of an hour keeps no more at its end than half-way."""

import json
from pathlib import Path

import pytest
from cluster import LINES, Spark, settings
from test_many_queries import BY_TIME, CONF, OURS

from sampling import IS_FULL

SCRIPT = Path(__file__).parent / "soak.py"
FEW, MANY = 4500, 9000
"""Batches. After the first of them all that is bounded is full: also the ids of the last ten thousand tasks,
plannings and runs that have ended. Each batch has two or three."""

A_LEAK = 200
"""Bytes of each batch that are seen."""

pytestmark = pytest.mark.skipif(not IS_FULL, reason="goes on for long: make test-full")


@pytest.mark.parametrize("line", LINES)
def test_a_query_that_goes_on_keeps_nothing_of_its_batches(line: str, tmp_path: Path) -> None:
    spark = Spark(line)
    submit = ["--master", "local[1]", "--driver-memory", "1g", "--jars", str(spark.jar), *settings(CONF)]
    arguments = [str(tmp_path / "checkpoint"), str(FEW), str(MANY)]
    with spark.start("soak", tmp_path, "spark-submit", *submit, SCRIPT, *arguments) as driver:
        lines = driver.finish(within=300 + MANY)
    _, before, after = (json.loads(one.removeprefix("soak: ")) for one in lines if one.startswith("soak: "))
    assert (after["gauges"], after["beans"]) == (before["gauges"], before["beans"])
    more = {name: count - before["objects"].get(name, 0) for name, count in after["objects"].items()}
    kept = {name: count for name, count in more.items() if name.startswith(OURS) and name not in BY_TIME}
    assert {name: count for name, count in kept.items() if count > (MANY - FEW) // 100} == {}
    largest = dict(sorted(more.items(), key=lambda one: -abs(one[1]))[:20])
    assert after["size"] - before["size"] < A_LEAK * (MANY - FEW), largest
