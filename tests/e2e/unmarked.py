"""An application without a mark: a query by itself, with automatic nodes, and with latency markers, too."""

import json
import sys
from contextlib import redirect_stdout, suppress
from functools import partial
from io import StringIO

from pipeline import read
from pyspark.sql import SparkSession
from pyspark.sql.functions import count, window
from pyspark.sql.streaming.query import StreamingQuery
from waits import EVENTS_WITHIN, await_until

from sparklatency import NoFiguresError, latency


def main(brokers: str, records: str, results: str, checkpoint: str) -> None:
    spark = SparkSession.builder.appName("unmarked").getOrCreate()
    print(spark.sparkContext.applicationId, flush=True)
    # What is explained is the last batch: without this that is an empty one, which reads no topic.
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    kinds = "source,terminal,stateful"
    for name, auto, interval in (("plain", "", "0"), ("automatic", kinds, "0"), ("markers", kinds, "1ms")):
        spark.conf.set("spark.sparklatency.auto", auto)
        spark.conf.set("spark.sparklatency.markers.interval", interval)
        counted = (
            read(spark, brokers, records)
            .filter("key IS NOT NULL")
            .dropDuplicates(["timestamp", "key", "value"])
            .groupBy(window("timestamp", "1 second"), "key")
            .agg(count("*").alias("records"))
        )
        query = (
            counted.selectExpr(
                "key",
                "cast(records AS STRING) AS value",
                "array(struct('of' AS key, encode(key, 'UTF-8') AS value)) AS headers",
                "window.end AS timestamp",
            )
            .drop("timestamp")
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
        nodes = {node.node: node.records for node in latency().nodes}
        said = {"plan": plan.getvalue(), "nodes": nodes, "markers": took(name)}
        print(json.dumps(said), flush=True)
    print(json.dumps(written(spark, brokers, f"{results}-.*")), flush=True)


def written(spark: SparkSession, brokers: str, topics: str) -> dict[str, list[list[str]]]:
    """What each topic holds: keys, values and headers. Which record came first is nobody's to say."""
    records = spark.read.format("kafka").option("kafka.bootstrap.servers", brokers)
    rows = records.option("subscribePattern", topics).option("includeHeaders", "true").load()
    texts = rows.selectExpr("topic", "hex(key)", "hex(value)", "to_json(headers)").collect()
    found: dict[str, list[list[str]]] = {}
    for topic, *texts_of_one in sorted(map(list, texts)):
        found.setdefault(topic, []).append(texts_of_one)
    return found


def has_told(query: StreamingQuery) -> bool:
    """Whether all events of a query that has ended have come. With the jar alone nobody has seen it start."""
    with suppress(NoFiguresError):
        return [one.status for one in latency(query).queries] == ["FINISHED"]
    return False


def took(name: str) -> list[list[str | int | None]]:
    """From which node to which partition of which node latency markers came, and how many."""
    found = [query.markers for query in latency().queries if query.query == name]
    return [
        [marker.source_id, marker.operator_id, marker.operator_subtask_index, marker.latency.count]
        for markers in found
        if markers
        for marker in markers.of
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
