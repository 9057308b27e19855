"""An application without a mark: a query by itself, with automatic nodes, and with latency markers, too.

And one that keeps no state, in the same three ways. Then batch reads of the topic, through either of Spark's
interfaces to it.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from functools import partial
from io import StringIO
from itertools import product

from pipeline import read
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import count, window
from pyspark.sql.streaming.query import StreamingQuery
from waits import EVENTS_WITHIN, await_until

from sparklatency import NoFiguresError, latency
from sparklatency.values.queries import QueryLatency


def stateless(records: DataFrame) -> DataFrame:
    """Without the timestamp, which comes along to the end for the node there."""
    return records.select("key", "value")


def counted(records: DataFrame) -> DataFrame:
    counts = (
        records.dropDuplicates(["timestamp", "key", "value"])
        .groupBy(window("timestamp", "1 second"), "key")
        .agg(count("*").alias("records"))
    )
    return counts.selectExpr(
        "key",
        "cast(records AS STRING) AS value",
        "array(struct('of' AS key, encode(key, 'UTF-8') AS value)) AS headers",
        "window.end AS timestamp",
    ).drop("timestamp")


SHAPES = {"": counted, "stateless-": stateless}
KINDS = "source,terminal,stateful"
WAYS = {"plain": ("", "0"), "automatic": (KINDS, "0"), "markers": (KINDS, "1ms")}
"""Which nodes are automatic, and how often there are markers."""

FIRST_INTERFACE = {"by-the-first": "kafka", "by-the-second": ""}
"""Of each batch read: of which sources Spark takes its first interface."""


def main(brokers: str, records: str, results: str, checkpoint: str, count: str) -> None:
    spark = SparkSession.builder.appName("unmarked").getOrCreate()
    print(spark.sparkContext.applicationId, flush=True)
    # What is explained is the last batch: without this that is an empty one, which reads no topic.
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    for (shape, make), (way, (auto, interval)) in product(SHAPES.items(), WAYS.items()):
        name = f"{shape}{way}"
        spark.conf.set("spark.sparklatency.auto", auto)
        spark.conf.set("spark.sparklatency.markers.interval", interval)
        query = (
            make(read(spark, brokers, records).filter("key IS NOT NULL"))
            .writeStream.format("kafka")
            .option("kafka.bootstrap.servers", brokers)
            .option("topic", f"{results}-{name}")
            .option("checkpointLocation", f"{checkpoint}-{name}")
            .outputMode("update")
            .trigger(availableNow=True)
            .queryName(name)
            .start()
        )
        query.awaitTermination()
        if auto:  # without nodes there is nothing to wait for
            await_until(partial(has_told, query), EVENTS_WITHIN)
        with redirect_stdout(StringIO()) as plan:
            query.explain()
        of_it = [query for query in latency().queries if query.query == name]
        nodes = {node.node: node.records for query in of_it for node in query.nodes}
        said = {"plan": plan.getvalue(), "nodes": nodes, "markers": took(of_it)}
        print(json.dumps(said), flush=True)
    for nodes in counted_in_batches(spark, brokers, records, int(count)):
        print(json.dumps({"nodes": nodes}), flush=True)
    print(json.dumps(written(spark, brokers, f"{results}-.*")), flush=True)


def counted_in_batches(
    spark: SparkSession, brokers: str, topic: str, records: int
) -> Iterator[dict[str, int]]:
    """What the nodes of all batch reads have counted, after each of them."""
    spark.conf.set("spark.sparklatency.auto", "source,terminal")
    spark.conf.set("spark.sparklatency.markers.interval", "0")
    read = spark.read.format("kafka").option("kafka.bootstrap.servers", brokers).option("subscribe", topic)
    for reads, sources in enumerate(FIRST_INTERFACE.values(), start=1):
        spark.conf.set("spark.sql.sources.useV1SourceList", sources)
        by_key = read.load().filter("key IS NOT NULL").repartition("key")
        by_key.write.format("noop").mode("overwrite").save()
        await_until(partial(has_counted, reads * records), EVENTS_WITHIN)
        yield {node.node: node.records for node in latency("__batch__").nodes}
    spark.conf.unset("spark.sql.sources.useV1SourceList")
    spark.conf.set("spark.sparklatency.auto", "")


def has_counted(records: int) -> bool:
    """Whether the driver has counted as many at the end: it learns of them from events."""
    with suppress(NoFiguresError):
        nodes = latency("__batch__").nodes
        return any(node.node == "sink" and node.records >= records for node in nodes)
    return False


def written(spark: SparkSession, brokers: str, topics: str) -> dict[str, list[list[str | int | None]]]:
    """What each topic holds: partitions, keys, values and headers. Behind a shuffle it is nobody's to say
    which record came first; where there is none, the offsets say it."""
    records = spark.read.format("kafka").option("kafka.bootstrap.servers", brokers)
    rows = records.option("subscribePattern", topics).option("includeHeaders", "true").load()
    place = ["topic", "partition", "IF(topic LIKE '%-stateless-%', offset, NULL)"]
    texts = rows.selectExpr(*place, "hex(key)", "hex(value)", "to_json(headers)").collect()
    found: dict[str, list[list[str | int | None]]] = {}
    for topic, *of_one in sorted(map(list, texts)):
        found.setdefault(topic, []).append(of_one)
    return found


def has_told(query: StreamingQuery) -> bool:
    """Whether all events of a query that has ended have come. With the jar alone nobody has seen it start."""
    with suppress(NoFiguresError):
        return [one.status for one in latency(query).queries] == ["FINISHED"]
    return False


def took(queries: list[QueryLatency]) -> list[list[str | int | None]]:
    """From which node to which partition of which node latency markers came, and how many."""
    return [
        [marker.source_id, marker.operator_id, marker.operator_subtask_index, marker.latency.count]
        for query in queries
        if query.markers
        for marker in query.markers.of
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
