"""The application under test: a task deletes what a shuffle behind an ingestion timestamp has written.

It does so once in each case, when one task of the next stage has ended and others are to come. Each case
prints one line of JSON: what came out of it, or why it failed.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from pyspark import RDD, TaskContext
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import udf

from sparklatency import with_ingestion_timestamp

ROWS = 4000
TASKS = 4


class Cases:
    """Each public method is a case, run and reported under its name."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder = spark, folder
        self._rows = str(folder / "rows")
        spark.range(0, ROWS, 1, TASKS).write.parquet(self._rows)

    def given_out(self) -> list[int]:
        return self._losing("given_out", self._stamped().repartition(TASKS)).collect()

    def by_key(self) -> list[int]:
        """A stream: nothing of its stamps is in the key."""
        return self._stream("by_key", "id")

    def in_turn(self) -> list[int]:
        return self._stream("in_turn")

    def in_turn_again(self) -> list[int]:
        """From the checkpoint of the query that failed."""
        return self._stream("in_turn")

    def _stamped(self) -> DataFrame:
        return with_ingestion_timestamp(self._spark.read.parquet(self._rows))

    def _losing(self, name: str, dealt: DataFrame) -> "RDD[int]":
        folder = self._folder

        def losing(task: int, rows: Iterable[Row]) -> list[int]:
            ids = [row.id for row in rows]
            lose(task, folder, name)
            return ids

        return dealt.rdd.mapPartitionsWithIndex(losing)

    def _stream(self, name: str, *key: str) -> list[int]:
        folder = self._folder

        def losing(row: int) -> int:
            task = TaskContext.get()
            assert task is not None
            lose(task.partitionId(), folder, name)
            return row

        rows = with_ingestion_timestamp(self._spark.readStream.schema("id LONG").parquet(self._rows))
        dealt = rows.repartition(TASKS, *key)
        harmed = dealt.select(udf(losing, "long", useArrow=False)("id").alias("id"), "ingestion_time")
        out = str(folder / f"{name}-out")
        writer = harmed.writeStream.format("parquet").option("checkpointLocation", str(folder / name))
        writer.trigger(availableNow=True).start(out).awaitTermination()
        return [row.id for row in self._spark.read.parquet(out).collect()]


def lose(task: int, folder: Path, name: str) -> None:
    done = folder / f"{name}-lost"
    if task == 1 and not done.exists():
        done.touch()
        for file in (folder / "local").rglob("shuffle_*_*_*.*"):
            file.unlink()


def main(folder: str, *names: str) -> None:
    spark = SparkSession.builder.appName("lost_shuffles").getOrCreate()
    cases = Cases(spark, Path(folder))
    for name in names:
        told: dict[str, object] = {"case": name}
        try:
            rows = getattr(cases, name)()
            told |= {"rows": len(rows), "distinct": len(set(rows))}
        except Exception as failure:
            told["failure"] = str(failure)
        print(json.dumps(told), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
