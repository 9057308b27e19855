"""Automatic nodes at and behind functions of Python, which Spark cannot look into."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from sparklatency import latency
from support import aged, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from sparklatency.view import Latency

pytestmark = pytest.mark.usefixtures("clock", "running")

# Python's workers cannot import this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

SETTINGS = {
    "spark.sparklatency.auto": "source,terminal,stateful",
    "spark.sparklatency.recording.level": "TRACE",
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state."
    "RocksDBStateStoreProvider",
}
SCHEMA = "key STRING, ts TIMESTAMP"


@pytest.fixture
def events(spark: SparkSession, tmp_path: Path) -> Iterator[DataFrame]:
    """A stream of five records of one key, 10 to 50 ms old, that comes in one batch of a marked query."""
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
    try:
        aged(spark, 10, 20, 30, 40, 50).coalesce(1).write.parquet(str(tmp_path / "in"))
        stream = spark.readStream.schema("ts TIMESTAMP").parquet(str(tmp_path / "in"))
        yield stream.selectExpr("'a' AS key", "ts").withWatermark("ts", "1 second")
    finally:
        for key in SETTINGS:
            spark.conf.unset(key)


def newest(rows: Iterator[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(rows).sort_values("ts").tail(1)


def by_map_in_pandas(events: DataFrame) -> DataFrame:
    def through(frames: Any) -> Any:
        yield newest(frames)

    return events.mapInPandas(through, SCHEMA)


def by_map_in_arrow(events: DataFrame) -> DataFrame:
    def through(batches: Any) -> Any:
        yield from batches

    return events.mapInArrow(through, SCHEMA)


def by_apply_in_pandas_with_state(events: DataFrame) -> DataFrame:
    def of_key(_: Any, rows: Any, state: Any) -> Any:
        state.update((1,))
        yield newest(rows)

    return events.groupBy("key").applyInPandasWithState(of_key, SCHEMA, "seen INT", "update", "NoTimeout")


class Newest(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self.seen = handle.getValueState("seen", "count INT")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: N802, N803, ARG002  Spark's names
        self.seen.update((1,))
        yield newest(rows)

    def close(self) -> None:
        pass


def by_transform_with_state_in_pandas(events: DataFrame) -> DataFrame:
    return events.groupBy("key").transformWithStateInPandas(Newest(), SCHEMA, "Update", "None")


@pytest.mark.parametrize(
    ("function", "operator", "out"),
    [
        (by_map_in_pandas, None, [10]),
        (by_map_in_arrow, None, [10, 20, 30, 40, 50]),
        (by_apply_in_pandas_with_state, "apply-in-pandas-with-state-1", [10]),
        (by_transform_with_state_in_pandas, "transform-with-state-in-pandas-1", [10]),
    ],
)
def test_what_leaves_a_function_is_as_old_as_its_timestamp_of_the_same_name(
    events: DataFrame, function: Callable[[DataFrame], DataFrame], operator: str | None, out: list[int]
) -> None:
    result = function(events)
    query = result.writeStream.queryName(function.__name__).outputMode("update").format("noop").start()
    query.processAllAvailable()

    def measured() -> Latency | None:
        found = latency(query)
        return found if found.nodes and found.nodes["sink"].records else None

    nodes = eventually(measured).nodes
    ends = ["sink"] if operator is None else [operator, "sink"]
    assert [node.node for node in nodes] == ["source-0-file[in]", *ends]
    source = nodes["source-0-file[in]"]
    assert (source.records, source.min, source.max) == (5, 10, 50)
    for end in ends:
        assert (nodes[end].records, nodes[end].min, nodes[end].max) == (len(out), min(out), max(out))
    if operator is not None:
        staleness = nodes[operator].staleness
        assert staleness is not None
        assert (staleness.min, staleness.max) == (10, 50)
