"""The time that Python takes below a mark is in the mark's figure.

The records' way is fenced in by two clock readings: the function below the mark ends with one, another above
the mark begins with one. The figure must lie between them, so nothing depends on how long anything takes.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812

from sparklatency import latency, with_e2e_latency
from support import eventually, figures

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

DELAY_SECONDS = 0.05
RECORDS = 10


def python_udf() -> Any:
    return clock_after_a_delay(useArrow=False)


def arrow_udf() -> Any:
    return clock_after_a_delay(useArrow=True)


def pandas_udf() -> Any:
    def slow(
        ids: pd.Series,
    ) -> pd.Series:  # without a parameter, as Spark evaluates the hints
        time.sleep(DELAY_SECONDS)
        return pd.Series([time.time_ns()] * len(ids))

    return F.pandas_udf(slow, "LONG")  # type: ignore[attr-defined]


def clock_after_a_delay(*, useArrow: bool) -> Any:  # noqa: N803  Spark's name
    def slow(_: Any) -> Any:
        time.sleep(DELAY_SECONDS)
        return time.time_ns()

    return F.udf(slow, "LONG", useArrow=useArrow)


def clock() -> Any:
    return F.udf(lambda _: time.time_ns(), "LONG", useArrow=False)


@pytest.mark.parametrize("slow_udf", [python_udf, arrow_udf, pandas_udf])
def test_a_mark_takes_the_clock_after_the(spark: SparkSession, slow_udf: Callable[[], Any]) -> None:
    node = f"after {slow_udf.__name__}"
    happened = time.time_ns() // 1_000_000
    events = spark.range(0, RECORDS, 1, 1).withColumn("ts", F.timestamp_millis(F.lit(happened)))
    marked = with_e2e_latency(events.withColumn("below", slow_udf()("id")), node, "ts")
    rows = marked.withColumn("above", clock()("below")).collect()

    def latency(nanos: int) -> int:
        return nanos // 1_000_000 - happened

    measured = figures(node, records=RECORDS)
    assert measured.min is not None
    assert measured.max is not None
    assert latency(min(row.below for row in rows)) <= measured.min
    assert latency(max(row.below for row in rows)) <= measured.max <= latency(max(row.above for row in rows))
    assert measured.min >= DELAY_SECONDS * 1_000


def test_why_a_function_failed_is_told(spark: SparkSession) -> None:
    def fails(_: Any) -> Any:
        raise ValueError("no rights")

    rate = spark.readStream.format("rate").option("rowsPerSecond", 10).load()
    read = with_e2e_latency(rate, "read before it fails", timestamp="timestamp")
    failing = read.select(F.udf(fails, "LONG", useArrow=False)("value"))
    query = failing.writeStream.format("noop").queryName("fails").start()
    with pytest.raises(StreamingQueryException):
        query.awaitTermination()

    def told() -> list[str] | None:
        return [note.text for note in latency("fails").notes if note.code == "failed"] or None

    [why] = eventually(told)
    assert why.startswith("An error ended this run: ")
    assert why.endswith("ValueError: no rights")
