"""What records wait for that a function of Python keeps: by the clock on the wall, as Spark's progress is."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark import cloudpickle
from pyspark.sql import Row
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from sparklatency import latency, with_e2e_latency
from support import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

    from sparklatency.view import Latency

pytestmark = pytest.mark.usefixtures("rocks", "running")

# Python's workers cannot import this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
SCHEMA = "ts TIMESTAMP"
AGE_SECONDS = 60


@pytest.fixture
def rocks(spark: SparkSession) -> Iterator[None]:
    spark.conf.set(PROVIDER, "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
    yield
    spark.conf.unset(PROVIDER)


class Keeping(StatefulProcessor):
    """Keeps the first record until another comes or, where it sets a timer, until that expires."""

    def __init__(self, *, timed: bool) -> None:
        self.timed = timed

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.kept = handle.getValueState("kept", SCHEMA)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: N802, N803, ARG002  Spark's names
        [happened] = self.timestamps(rows)
        kept = self.kept.get()
        if kept is None:
            self.kept.update((happened,))
            if self.timed:
                self.handle.registerTimer(int((time.time() - AGE_SECONDS / 2) * 1_000))
        elif not self.timed:
            yield self.out(kept[0])

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Any:  # noqa: N802, N803, ARG002
        kept = self.kept.get()
        assert kept is not None
        yield self.out(kept[0])

    def timestamps(self, rows: Any) -> list[datetime]:
        raise NotImplementedError

    def out(self, at: datetime) -> Any:
        raise NotImplementedError

    def close(self) -> None:
        pass


class InPandas(Keeping):
    def timestamps(self, rows: Any) -> list[datetime]:
        return [at.to_pydatetime() for at in pd.concat(rows).ts]

    def out(self, at: datetime) -> pd.DataFrame:
        return pd.DataFrame({"ts": [at]})


class InRows(Keeping):
    def timestamps(self, rows: Any) -> list[datetime]:
        return [row.ts for row in rows]

    def out(self, at: datetime) -> Row:
        return Row(ts=at)


def in_pandas(events: DataFrame, *, timed: bool) -> DataFrame:
    mode = "EventTime" if timed else "None"
    return events.groupBy("key").transformWithStateInPandas(InPandas(timed=timed), SCHEMA, "Append", mode)


def in_rows(events: DataFrame, *, timed: bool) -> DataFrame:
    mode = "EventTime" if timed else "None"
    return events.groupBy("key").transformWithState(InRows(timed=timed), SCHEMA, "Append", mode)


GIVEN_OUT = "They leave when the function that keeps them gives them out"
OR_TIMER = (
    ", as it may when the watermark of file[in], 1 s behind its newest event, passes a time that it has set"
)


@pytest.mark.parametrize(
    ("keep", "timed", "leave"),
    [
        (in_pandas, True, f"{GIVEN_OUT}{OR_TIMER}."),
        (in_rows, True, f"{GIVEN_OUT}{OR_TIMER}."),
        (in_rows, False, f"{GIVEN_OUT}."),
    ],
)
def test_what_a_function_keeps_waits_in_state_until_it_gives_it_out(
    spark: SparkSession,
    tmp_path: Path,
    keep: Callable[..., DataFrame],
    timed: bool,
    leave: str,
) -> None:
    folder = str(tmp_path / "in")

    def comes(age_seconds: int) -> int:
        happened = int((time.time() - age_seconds) * 1_000)
        record = spark.range(0, 1, 1, 1).select(
            F.lit("a").alias("key"), F.timestamp_millis(F.lit(happened)).alias("ts")
        )
        record.write.mode("append").parquet(folder)
        return happened

    old = comes(AGE_SECONDS)
    events = (
        spark.readStream.schema("key STRING, ts TIMESTAMP").parquet(folder).withWatermark("ts", "1 second")
    )
    kept = keep(with_e2e_latency(events, "read"), timed=timed)
    given = with_e2e_latency(kept, "given out", "ts")
    query = given.writeStream.queryName(f"{keep.__name__}_{timed}").format("noop").start()
    query.processAllAvailable()
    young = comes(0)
    query.processAllAvailable()

    def told() -> Latency | None:
        found = latency(query)
        return found if found.nodes and found.nodes["given out"].records else None

    found = eventually(told)
    assert [(node.node, node.records) for node in found.nodes] == [("read", 2), ("given out", 1)]
    assert found.headline.text.startswith("Records wait in state before given out, ")
    assert found.headline.text.endswith(leave)
    [waited] = [part.ms for part in found.parts.of if part.code == "waited-in-state"]
    commit = found.nodes["given out"].commit
    assert commit is not None
    assert commit.avg is not None
    assert young - old - 1 <= waited <= commit.avg
    assert found.parts.whole == pytest.approx(sum(part.ms for part in found.parts.of))
    assert found.parts.whole == pytest.approx(commit.avg, abs=1)
