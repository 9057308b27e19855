"""Streams that a reader in Python reads: it answers the query's own thread, and nobody else."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark import cloudpickle
from pyspark.errors import StreamingQueryException
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadMaxRows, ReadMinRows

from sparklatency import latency, with_e2e_latency
from support import NOW, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

# Python's workers cannot import this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

pytestmark = pytest.mark.usefixtures("running")

RECORDS = 12
LIMIT = 3
FEWEST = 10


class Counted(DataSourceStreamReader):
    """Goes by how many records have been read, in one partition."""

    def initialOffset(self) -> dict[str, int]:  # noqa: N802  Spark's name
        return {"read": 0}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return [InputPartition((start["read"], end["read"]))]


class Countdown(Counted):
    """Records that are 12 to 1 seconds old, three of them in each batch."""

    def __init__(self, asked: str) -> None:
        self.asked = Path(asked)

    def getDefaultReadLimit(self) -> ReadMaxRows:  # noqa: N802
        with self.asked.open("a") as file:
            file.write("asked\n")
        return ReadMaxRows(LIMIT)

    def latestOffset(self, start: dict[str, int], limit: ReadMaxRows) -> dict[str, int]:  # type: ignore[override]  # noqa: N802
        return {"read": min(start["read"] + limit.max_rows, RECORDS)}

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        return {"read": RECORDS}

    def read(self, partition: InputPartition) -> Iterator[tuple[int, datetime]]:
        for value in range(*partition.value):
            yield value, datetime.fromtimestamp(NOW / 1000 - (RECORDS - value), UTC)


class Countdowns(DataSource):
    @classmethod
    def name(cls) -> str:
        return "countdown"

    def schema(self) -> str:
        return "value LONG, ts TIMESTAMP"

    def streamReader(self, schema: Any) -> Countdown:  # noqa: N802, ARG002
        return Countdown(self.options["asked"])


class Moments(Counted):
    """Records of the moments that stand in a file, which are read when there are ten more."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def getDefaultReadLimit(self) -> ReadMinRows:  # noqa: N802
        return ReadMinRows(FEWEST)

    def latestOffset(self, start: dict[str, int], limit: ReadMinRows) -> dict[str, int]:  # type: ignore[override]  # noqa: N802
        with (self.folder / "looks").open("a") as file:
            file.write("looked\n")
        there = len((self.folder / "moments").read_text().splitlines())
        return start if there - start["read"] < limit.min_rows else {"read": there}

    def read(self, partition: InputPartition) -> Iterator[tuple[datetime]]:
        moments = (self.folder / "moments").read_text().splitlines()
        for moment in moments[slice(*partition.value)]:
            yield (datetime.fromtimestamp(float(moment), UTC),)


class MomentsOfFile(DataSource):
    @classmethod
    def name(cls) -> str:
        return "moments"

    def schema(self) -> str:
        return "ts TIMESTAMP"

    def streamReader(self, schema: Any) -> Moments:  # noqa: N802, ARG002
        return Moments(self.options["folder"])


def countdown(spark: SparkSession, asked: Path) -> DataFrame:
    spark.dataSource.register(Countdowns)
    return spark.readStream.format("countdown").option("asked", str(asked)).load()


def through(start: Callable[[], StreamingQuery]) -> StreamingQuery:
    """A query that has read all there is. Spark waits ten seconds for its reader's worker to start."""

    def begun() -> StreamingQuery | None:
        query = start()
        try:
            query.processAllAvailable()
        except StreamingQueryException as refused:
            if "failed to connect back" not in str(refused):
                raise
            query.stop()
            return None
        return query

    return eventually(begun)


@pytest.fixture
def automatic(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sparklatency.auto", "source")
    yield
    spark.conf.unset("spark.sparklatency.auto")


@pytest.mark.usefixtures("automatic", "clock")
def test_a_reader_is_asked_for_its_limit_once_however_many_batches_it_has(
    spark: SparkSession, tmp_path: Path
) -> None:
    asked = tmp_path / "asked"
    stream = countdown(spark, asked)
    writer = stream.withWatermark("ts", "1 second").writeStream.format("memory").queryName("countdown")
    query = through(writer.start)
    assert sorted(row.value for row in spark.table("countdown").collect()) == list(range(RECORDS))
    batches = RECORDS // LIMIT
    eventually(lambda: True if len(latency(query).history().batches) == batches else None)
    assert asked.read_text().splitlines() == ["asked"]
    [source] = latency(query).nodes
    assert source.node == "source-0-python"
    assert (source.records, source.min, source.max) == (RECORDS, 1_000, RECORDS * 1_000)


def test_the_limit_of_a_reader_is_named_that_left_records_behind(spark: SparkSession, tmp_path: Path) -> None:
    """By the clock on the wall, as Spark's progress is. Records are as old as that makes them."""
    read = with_e2e_latency(countdown(spark, tmp_path / "asked"), "read", "ts")
    query = through(read.writeStream.format("noop").queryName("limited").start)
    eventually(lambda: latency(query).history().batches[RECORDS // LIMIT - 1 :] or None)
    assert "ReadMaxRows has left some behind since its first batch" in latency(query).headline.text


def test_what_a_reader_keeps_until_there_is_more_waits_by_its_limit(
    spark: SparkSession, tmp_path: Path
) -> None:
    def add(records: int) -> None:
        with (tmp_path / "moments").open("a") as file:
            file.write(f"{time.time()}\n" * records)

    def looks() -> int:
        return len((tmp_path / "looks").read_text().splitlines())

    spark.dataSource.register(MomentsOfFile)
    add(FEWEST)
    read = spark.readStream.format("moments").option("folder", str(tmp_path)).load()
    writer = with_e2e_latency(read, "read", "ts").writeStream.format("noop").queryName("moments")
    query = through(writer.start)
    [first] = [one for one in query.recentProgress if one["numInputRows"]]
    add(FEWEST - 1)
    before, left = looks(), time.monotonic()
    eventually(lambda: looks() > before + 40 or None)
    # For so long that the batch that reads them makes them little older, however slow this machine is.
    long = 3 * first["durationMs"]["triggerExecution"] / 1000
    time.sleep(max(0, left + long - time.monotonic()))
    add(1)
    query.processAllAvailable()
    eventually(lambda: latency(query).history().batches[1:] or None)
    assert "ReadMinRows waits for more of them. Lower it." in latency(query).headline.text
