"""Nodes before and after Python in a stream: each record once, on either side of the time that Python took.

What Python does is fenced in by its own readings of the clock, which come out as columns. All records of a
batch have passed the node before it when it begins, and none has reached the node behind it when it ends.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import functions as F  # noqa: N812

from sparklatency import latency, with_e2e_latency
from support import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sparklatency.values.nodes import NodeSnapshot

    Shape = Callable[[DataFrame], DataFrame]

# Python workers cannot import it.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

pytestmark = pytest.mark.usefixtures("running")

RECORDS = 12
DELAY_SECONDS = 0.2
WORKED = "started LONG, finished LONG"


def work(records: int = 1) -> tuple[int, int]:
    """What takes all records at once takes as long as what takes one after another: longer than all else."""
    started = time.time_ns()
    time.sleep(records * DELAY_SECONDS)
    return started, time.time_ns()


def map_in_pandas(events: DataFrame) -> DataFrame:
    """Gives out each record twice."""

    def twice(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            started, finished = work(len(frame))
            worked = frame.assign(started=started, finished=finished)
            yield pd.concat([worked, worked])

    return events.mapInPandas(twice, f"timestamp TIMESTAMP, value LONG, {WORKED}")


def map_in_arrow(events: DataFrame) -> DataFrame:
    """Keeps every third record."""

    def some(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            started, finished = work(batch.num_rows)
            kept = batch.take(pa.array(range(0, batch.num_rows, 3)))
            times = [pa.array([at] * kept.num_rows, pa.int64()) for at in (started, finished)]
            yield pa.RecordBatch.from_arrays(
                [*kept.columns, *times], names=[*kept.schema.names, "started", "finished"]
            )

    return events.mapInArrow(some, f"timestamp TIMESTAMP, value LONG, {WORKED}")


def by_udf(events: DataFrame, function: Any) -> DataFrame:
    return events.withColumn("worked", function("value")).select("timestamp", "value", "worked.*")


def python_udf(events: DataFrame) -> DataFrame:
    return by_udf(events, F.udf(lambda _: work(), f"struct<{WORKED}>", useArrow=False))


def arrow_optimized_udf(events: DataFrame) -> DataFrame:
    return by_udf(events, F.udf(lambda _: work(), f"struct<{WORKED}>", useArrow=True))


def pandas_udf(events: DataFrame) -> DataFrame:
    def worked(values: pd.Series) -> pd.DataFrame:
        started, finished = work(len(values))
        return pd.DataFrame({"started": [started] * len(values), "finished": [finished] * len(values)})

    worked.__annotations__ = {"values": pd.Series, "return": pd.DataFrame}  # as Spark evaluates them
    return by_udf(events, F.pandas_udf(worked, WORKED))  # type: ignore[attr-defined]


def arrow_udf(events: DataFrame) -> DataFrame:
    def worked(values: pa.Array) -> pa.Array:
        columns = [pa.array([at] * len(values), pa.int64()) for at in work(len(values))]
        return pa.StructArray.from_arrays(columns, names=["started", "finished"])

    worked.__annotations__ = {"values": pa.Array, "return": pa.Array}
    return by_udf(events, F.arrow_udf(worked, WORKED))  # type: ignore[attr-defined]


SHAPES = [map_in_pandas, map_in_arrow, python_udf, arrow_optimized_udf, pandas_udf, arrow_udf]
KEPT = {"map_in_pandas": 2 * RECORDS, "map_in_arrow": RECORDS // 3}
"""How many records come out where it is not each of them."""


@dataclass(frozen=True)
class Seen:
    """One batch, and what came out of it."""

    query: StreamingQuery
    happened: int
    ended: int
    rows: list[Any]

    def nodes(self) -> dict[str, NodeSnapshot]:
        eventually(lambda: latency(self.query).history().batches or None)
        return {node.node: node for node in latency(self.query).nodes}

    def check(self, before: NodeSnapshot, after: NodeSnapshot) -> None:
        assert before.records == RECORDS
        assert after.records == len(self.rows)
        assert before.min is not None
        assert before.max is not None
        assert after.min is not None
        assert after.max is not None
        started, finished = ([self.age(row[name]) for row in self.rows] for name in ("started", "finished"))
        assert 0 <= before.min <= before.max <= min(started)
        assert min(finished) <= after.min <= after.max <= self.ended - self.happened
        assert max(finished) <= after.max
        assert after.min - before.max >= DELAY_SECONDS * 1_000

    def age(self, nanos: int) -> int:
        return nanos // 1_000_000 - self.happened


def run(spark: SparkSession, name: str, transform: Callable[[DataFrame], DataFrame]) -> Seen:
    """Runs a query with one batch of records that happened now."""
    happened = time.time_ns() // 1_000_000
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", RECORDS)
    events = source.option("numPartitions", 1).option("startTimestamp", happened).load()
    writer = transform(events).writeStream.format("memory").queryName(name).trigger(availableNow=True)
    query = writer.start()
    query.awaitTermination()
    return Seen(query, happened, time.time_ns() // 1_000_000, spark.table(f"`{name}`").collect())


@pytest.fixture
def automatic(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sparklatency.auto", "source,terminal")
    yield
    spark.conf.unset("spark.sparklatency.auto")


def by_hand(spark: SparkSession, shape: Shape) -> tuple[Seen, list[str]]:
    def marked(events: DataFrame) -> DataFrame:
        return with_e2e_latency(shape(with_e2e_latency(events, "before", "timestamp")), "after", "timestamp")

    return run(spark, f"hand_{shape.__name__}", marked), ["before", "after"]


def automatically(spark: SparkSession, shape: Shape) -> tuple[Seen, list[str]]:
    """Behind what makes new columns a watermark says which of them is the timestamp, whatever its name."""

    def watermarked(events: DataFrame) -> DataFrame:
        return shape(events).withWatermark("timestamp", "1 minute")

    return run(spark, f"auto_{shape.__name__}", watermarked), ["source-0-rate-micro-batch", "sink"]


@pytest.mark.sampled(of="shape", by="marked")
@pytest.mark.parametrize("marked", [by_hand, automatically])
@pytest.mark.parametrize("shape", SHAPES)
def test_nodes_stand_on_either_side_of(
    spark: SparkSession,
    shape: Shape,
    marked: Callable[[SparkSession, Shape], tuple[Seen, list[str]]],
    request: pytest.FixtureRequest,
) -> None:
    if marked is automatically:
        request.getfixturevalue("automatic")
    seen, names = marked(spark, shape)
    assert len(seen.rows) == KEPT.get(shape.__name__, RECORDS)
    nodes = seen.nodes()
    assert list(nodes) == names
    seen.check(*nodes.values())
    longest = max(latency(seen.query).query.operators.steps, key=lambda step: step.ms)  # type: ignore[union-attr]
    # Looks tell Python's part from the rest of the stage where as many records leave it as come to it.
    told = ("stage", tuple(names)) if shape.__name__ in KEPT else ("node", (names[-1],))
    assert (longest.kind, longest.nodes) == told


@pytest.mark.usefixtures("automatic")
@pytest.mark.parametrize("shape", [map_in_pandas, map_in_arrow])
def test_behind_new_columns_without_a_watermark_the_name_says_which_is_the_timestamp(
    spark: SparkSession, shape: Shape
) -> None:
    seen = run(spark, f"named_{shape.__name__}", shape)
    nodes = seen.nodes()
    assert list(nodes) == ["source-0-rate-micro-batch", "sink"]
    seen.check(nodes["source-0-rate-micro-batch"], nodes["sink"])
