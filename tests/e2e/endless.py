"""From Kafka to Kafka in real-time mode, with more records than a step can take: says again and again what
its query says. No batch ends there, so it is not one of `causes.PIPELINES`, which are watched batch by batch.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from pipeline import read
from pyspark.sql import SparkSession
from pyspark.sql.functions import expr

from sparklatency import NoFiguresError, latency, with_e2e_latency

NAME = "real_time"
BEGINS = "records may come"

ROW_MS = 40
"""What each record takes at ``scored``, so that the tasks of two partitions take fifty a second."""
RATE = 100
"""How many come a second."""
RECORDS = 600 * RATE

EXPECTED = ["source-queuing", "scored"]
"""The cause, and whose it is: records wait to be read, for a task that is at work there all the time."""

LOOKS = 10
"""How many more there are once the cause has been named. Each is of another second of work."""

SECONDS = 360
"""How long it may take until then, beside other work. Less than ten are usual, for tasks have to start."""


def looks(spark: SparkSession, folder: Path, brokers: str, topics: str) -> Iterator[dict[str, object]]:
    """What the query says, once a second from its first figures on, of topics whose names begin so."""
    print(BEGINS, flush=True)
    read_at = with_e2e_latency(read(spark, brokers, f"{topics}-records"), "source")
    slept = read_at.withColumn("score", expr(f"reflect('java.lang.Thread', 'sleep', {ROW_MS}L)"))
    scored = with_e2e_latency(slept, "scored").select("key", expr("score AS value"))
    query = (
        scored.writeStream.format("kafka")
        .option("kafka.bootstrap.servers", brokers)
        .option("topic", f"{topics}-results")
        .option("checkpointLocation", str(folder / NAME))
        .outputMode("update")
        .trigger(realTime="20 minutes")  # type: ignore[call-overload]
        .queryName(NAME)
        .start()
    )
    named = 0
    until = time.monotonic() + SECONDS
    try:
        while named <= LOOKS and (named or time.monotonic() < until):
            time.sleep(1)
            if (failure := query.exception()) is not None:
                raise failure
            try:
                seen = latency(NAME).query
            except NoFiguresError:
                continue
            said = [seen.headline.code, seen.headline.node]
            yield {
                "pipeline": NAME,
                "named": said,
                "text": seen.headline.text,
                "slowest": seen.slowest_step,
                "parts": sum(part.ms for part in seen.parts.of),
                "age": seen.nodes["scored"].avg if "scored" in seen.nodes else None,
            }
            named += bool(named or said == EXPECTED)
    finally:
        query.stop()
