"""How long after the results of a batch could be read the driver takes it for committed.

Against what the sinks themselves leave: the time of the entry in a file sink's log, and when the function of
foreachBatch returned. One batch a run; needs nothing but the jar.
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from measuring import arguments, local_session
from pyspark.sql import functions as F  # noqa: N812  as all of Spark's documentation has it

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def to_files(stream: DataFrame, folder: Path) -> tuple[StreamingQuery, float]:
    writer = stream.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(folder / "out"))
    query.awaitTermination()
    return query, (folder / "out" / "_spark_metadata" / "0").stat().st_mtime


def to_a_function(stream: DataFrame, _: Path) -> tuple[StreamingQuery, float]:
    returned: list[float] = []

    def write(batch: DataFrame, _: int) -> None:
        batch.collect()
        returned.append(time.time())

    query = stream.writeStream.foreachBatch(write).trigger(availableNow=True).start()
    query.awaitTermination()
    return query, returned[0]


def after_ms(spark: SparkSession, sink: Callable[[DataFrame, Path], tuple[StreamingQuery, float]]) -> float:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stamped = spark.range(0, 1000, 1, 1).select(F.timestamp_millis(F.lit(0)).alias("ts"))
        stamped.write.parquet(str(folder / "in"))
        read = spark.readStream.schema("ts TIMESTAMP").parquet(str(folder / "in"))
        query, readable = sink(read.hint("E2E_LATENCY", "sink", "ts"), folder)
        table = spark.sql("SELECT * FROM e2e_latency()").where(F.col("run_id") == str(query.runId))
        [[committed]] = table.select("record_commit_latency_max").collect()
        return float(committed) - readable * 1000


def main() -> None:
    options = arguments(__doc__).parse_args()
    spark = local_session(options.jar, {})
    for sink in (to_files, to_a_function):
        measure = partial(after_ms, spark, sink)
        measure()  # warms up
        differences = [measure() for _ in range(options.rounds)]
        print(
            f"Spark {spark.version}, {sink.__name__}: median {median(differences):.1f} ms, "
            f"{min(differences):.1f} to {max(differences):.1f} in {options.rounds} batches"
        )
    spark.stop()


if __name__ == "__main__":
    main()
