"""Spark Connect: a client has no JVM, so the server must bring sparklatency, as it does here."""

from __future__ import annotations

import json

import pyspark
import pytest

from client import answered, asks, parts


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    return answered()


@pytest.fixture
def said(told: dict[str, str], request: pytest.FixtureRequest) -> list[str]:
    printed = told[request.node.name]
    assert "Traceback" not in printed, printed
    return parts(printed)


@asks(
    """
    df = spark.range(3).select("id", F.current_timestamp().alias("ts"))

    def ids(marked):
        return [row.id for row in marked.collect()]

    say(lambda: ids(with_e2e_latency(df, "by name", "ts")))
    say(lambda: ids(with_e2e_latency(df, "by column", F.col("ts"), level="info")))
    rate = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    say(lambda: with_e2e_latency(rate, "watermarked", level="DEBUG").schema.simpleString())
    say(lambda: with_e2e_latency(df, "node", "when"))
    say(lambda: with_e2e_latency(df.withColumnRenamed("ts", "at").drop("at"), "node", "ts"))
    say(lambda: with_e2e_latency(df.select("id", "ts", F.col("ts").alias("ts")), "node", "ts"))
    say(lambda: with_e2e_latency(df, "node", "`ts"))
    say(lambda: with_e2e_latency(df, "node"))
    say(lambda: with_e2e_latency(df, "node", "ts", level="LOUD"))
    say(lambda: with_e2e_latency(with_e2e_latency(df, "node", "ts"), "node", "ts"))

    spark.conf.set("spark.sql.optimizer.disableHints", True)
    say(lambda: with_e2e_latency(df, "dropped", "ts"))
    spark.conf.set("spark.sql.optimizer.disableHints", "TRUE ")
    say(lambda: with_e2e_latency(df, "dropped", "ts"))
    spark.conf.set("spark.sql.optimizer.disableHints", False)

    url = ui()
    await_until(lambda: len(latency(url=url).nodes) >= 2, WITHIN)
    say(lambda: {node.node: node.records for node in latency(url=url).nodes})
    streamed = with_e2e_latency(rate, "streamed").writeStream.queryName("rates").format("noop").start()
    history = await_until(lambda: latency(streamed, url=url).history(1), WITHIN)
    say(lambda: [node.node for node in history[0].nodes])
    streamed.stop()
    """
)
def test_a_server_with_sparklatency_measures_and_answers_mistakes_at_the_call(said: list[str]) -> None:
    by_name, by_column, watermarked, unknown, lost, several, quoting, *others = said
    none, level, twice, dropped, dropped_too, figures, history = others
    assert by_name == by_column == "[0, 1, 2]"
    assert watermarked == "struct<timestamp:timestamp,value:bigint>"
    assert unknown.startswith(
        "IllegalArgumentException node 'node': there is no column 'when' among 'id', 'ts'; name"
    )
    assert lost.startswith(
        "IllegalArgumentException node 'node': there is no column 'ts' among 'id'; the projection to id "
        "and at renames it to 'at', and the projection to id drops that; "
        "no column here holds a timestamp: keep one"
    )
    assert several.startswith("IllegalArgumentException node 'node': there are several columns 'ts'; rename")
    assert quoting.startswith("IllegalArgumentException node 'node': '`ts' cannot be read as the name of a")
    assert none.startswith(
        "IllegalArgumentException node 'node': no timestamp was given, and a batch query has no"
    )
    assert level.startswith(
        "IllegalArgumentException node 'node': there is no recording level 'LOUD'; use one of"
    )
    assert twice.startswith("IllegalArgumentException node 'node' is in this plan already")
    assert dropped == dropped_too
    assert dropped.startswith(
        "SparkLatencyError spark.sql.optimizer.disableHints is true in this session. Under"
    )
    assert figures == "{'by name': 3, 'by column': 3}"
    assert history == "['streamed']"


@asks(
    """
    marked = with_e2e_latency(spark.range(3).withColumn("ts", F.current_timestamp()), "read twice", "ts")
    say(lambda: marked.union(marked).count())
    say(lambda: marked.join(marked, "id").count())
    """
)
def test_a_marked_dataframe_may_be_united_and_joined_with_itself(said: list[str]) -> None:
    """The client sends the hint twice."""
    assert said == ["6", "3"]


@asks(
    """
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()
    pair = F.expr("a.value = b.value AND a.timestamp = b.timestamp")

    def joined(source, node):
        marked = with_e2e_latency(source, node)
        both = marked.alias("a").join(marked.alias("b"), pair)
        query = both.writeStream.format("noop").trigger(availableNow=True).start()
        query.awaitTermination()
        return query.exception()

    say(lambda: joined(rate.withWatermark("timestamp", "10 seconds"), "joined by event time"))
    say(lambda: joined(with_system_time_watermark(rate, "timestamp", "10 days"), "joined by the clock"))
    """
)
def test_a_marked_stream_may_be_joined_with_itself(said: list[str]) -> None:
    """In its batches each side is a stream of its own."""
    assert said == ["None", "None"]


@asks(
    """
    df = spark.range(3).withColumn("ts", F.current_timestamp())
    rate = spark.readStream.format("rate").load().withWatermark("timestamp", "10 seconds")

    def own_columns(given):
        return given.select(*[given[name] for name in given.columns]).columns

    for level in "INFO", "TRACE":
        marked = with_e2e_latency(df, "of " + level, df["ts"], level)
        say(lambda: own_columns(marked))
        say(lambda: marked.join(df, marked["id"] == df["id"]).select(marked["ts"]).count())
    say(lambda: own_columns(with_system_time_watermark(df, "ts", "1 second")))
    say(lambda: own_columns(with_idle_timeout(rate, "1 minute")))
    say(lambda: with_idle_timeout(rate, "1 minute").select(rate["value"]).columns)
    """
)
def test_a_client_asks_for_columns_of_what_has_a_hint(said: list[str]) -> None:
    """Also where nothing is left of the hint: its level leaves the node out, or a batch has no watermark."""
    of_batch, of_stream = "['id', 'ts']", "['timestamp', 'value']"
    assert said == [of_batch, "3", of_batch, "3", of_batch, of_stream, "['value']"]


@asks(
    """
    df = spark.range(4).withColumn("ts", F.current_timestamp())
    few = spark.range(3).select("id", F.timestamp_seconds("id").alias("ts"))
    joined = df.join(few, df["id"] == few["id"])
    say(lambda: with_e2e_latency(joined, "by few", few["ts"]).count())
    """
)
def test_of_two_columns_of_one_name_a_client_gives_the_one_of_a_dataframe(said: list[str]) -> None:
    assert said == ["3"]


@asks(
    """
    spark.conf.set("spark.sql.optimizer.disableHints", True)
    df = spark.range(3)
    stamped = with_ingestion_timestamp(df, "read at")
    say(lambda: stamped.dtypes)
    begin = time.time()
    say(lambda: stamped.filter(F.unix_millis("read at") >= int(begin * 1000)).count())
    say(lambda: with_ingestion_timestamp(df, "ID"))
    say(lambda: with_ingestion_timestamp(df, " "))
    spark.conf.set("spark.sql.caseSensitive", "True")
    say(lambda: with_ingestion_timestamp(df, "ID").columns)
    spark.conf.unset("spark.sql.caseSensitive")
    rate = with_ingestion_timestamp(spark.readStream.format("rate").load())
    say(lambda: rate.withWatermark("ingestion_time", "0 seconds").columns)
    """
)
def test_a_client_stamps_records_also_where_hints_are_dropped(said: list[str]) -> None:
    columns, fresh, taken, empty, other, streamed = said
    assert columns == "[('id', 'bigint'), ('read at', 'timestamp')]"
    assert fresh == "3"
    assert taken == (
        "IllegalArgumentException there is a column 'id' already; give the ingestion timestamp another name"
    )
    assert empty.startswith("IllegalArgumentException the column of an ingestion timestamp needs a name")
    assert other == "['id', 'ID']"
    assert streamed == "['timestamp', 'value', 'ingestion_time']"


@asks(
    """
    spark.conf.set("spark.sql.shuffle.partitions", 1)

    def counting(name, column, watermark):
        rate = spark.readStream.format("rate").option("rowsPerSecond", 5).load().where("value < 5")
        events = watermark(with_ingestion_timestamp(rate), column, "1 second")
        counts = events.groupBy(F.window(column, "1 second")).count()
        return counts.writeStream.format("memory").queryName(name).start()

    def counted(name):
        return sum(row["count"] for row in spark.table(name).collect())

    def all_of(name):
        await_until(lambda: counted(name) >= 5, WITHIN)
        return counted(name)

    counting("by_event_time", "timestamp", lambda df, *watermark: df.withWatermark(*watermark))
    counting("by_clock", "timestamp", with_system_time_watermark)
    counting("by_stamp", "ingestion_time", with_system_time_watermark)
    say(lambda: all_of("by_clock"))
    say(lambda: all_of("by_stamp"))
    say(lambda: counted("by_event_time"))
    for query in spark.streams.active:
        query.stop()
    """
)
def test_a_client_has_windows_that_close_by_themselves(said: list[str]) -> None:
    by_clock, by_stamp, by_event_time = said
    assert by_clock == by_stamp == "5"
    # All of them happened within the lag, so it waits for an event.
    assert by_event_time == "0"


@asks(
    """
    say(lambda: context().getConf().get("spark.plugins"))
    """
)
def test_spark_replaces_the_plugins_of_a_server_that_it_starts_in_this_process(said: list[str]) -> None:
    """So `configure` warns, and says what is lost."""
    assert said == ["org.apache.spark.sql.connect.SparkConnectPlugin"]


@asks(
    """
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()

    def write(batch, number):
        from sparklatency import with_e2e_latency  # this runs in a worker of the server
        with_e2e_latency(batch, "in the function", "timestamp").write.format("noop").mode("append").save()

    marked = with_e2e_latency(rate, "before it", "timestamp")
    def start():
        try:
            writer = marked.writeStream.queryName("handed on").foreachBatch(write)
            return writer.trigger(availableNow=True).start()
        except Exception as refused:  # Spark waits ten seconds for its worker, which has to start
            if "failed to connect back" not in str(refused):
                raise

    query = await_until(start, WITHIN)
    query.awaitTermination()
    ours = "node IN ('in the function', 'before it')"
    of_both = spark.sql(f"SELECT query, node, records FROM e2e_latency() WHERE {ours}")
    rows = await_until(lambda: len(found := of_both.collect()) >= 2 and found, WITHIN)
    say(lambda: query.exception())
    say(lambda: sorted(tuple(row) for row in rows))
    """
)
def test_a_mark_in_foreach_batch_is_in_its_query_where_the_server_tells_which(said: list[str]) -> None:
    """The function runs in a worker that is a client of the server like any other.

    Spark 4.3 gives it the query's own session.
    """
    query = "__batch__" if pyspark.__version__ < "4.3" else "handed on"
    rows = sorted([(query, "in the function", 5), ("handed on", "before it", 5)])
    assert said == ["None", str(rows)]


@asks(
    """
    rate = spark.readStream.format("rate").load()
    batch = spark.range(3).select(F.current_timestamp().alias("at"))
    say(lambda: with_system_time_watermark(batch, "at", "1 second").count())
    say(lambda: with_system_time_watermark(rate, "timestamp", "-1 second"))
    say(lambda: with_system_time_watermark(rate, "timestamp", "10000 days"))
    say(lambda: with_system_time_watermark(rate, "when", "1 second"))
    say(lambda: with_system_time_watermark(rate, "value", "1 second"))
    say(lambda: with_idle_timeout(rate, "1 minute"))
    once = with_system_time_watermark(rate, "timestamp", "1 second")
    say(lambda: with_system_time_watermark(once, "timestamp", "1 second"))
    spark.conf.set("spark.sql.optimizer.disableHints", True)
    say(lambda: with_system_time_watermark(rate, "timestamp", "1 second"))
    """
)
def test_a_client_is_told_at_the_call_what_is_wrong_with_a_system_time_watermark(said: list[str]) -> None:
    batch, negative, absurd, missing, typed, idle, second, dropped = said
    assert batch == "3"
    lag = "IllegalArgumentException the lag '{}' of a system-time watermark is {}"
    assert negative.startswith(lag.format("-1 second", "negative"))
    assert absurd.startswith(lag.format("10000 days", "longer than a year"))
    column = "IllegalArgumentException system-time watermark: the column '{}' {}"
    assert missing.startswith(column.format("when", "is not there; the columns are 'timestamp', 'value'"))
    assert typed.startswith(column.format("value", "is of type BIGINT; a watermark needs a TIMESTAMP"))
    assert idle.startswith("IllegalArgumentException idle timeout: ")
    assert second.startswith(column.format("timestamp", "would be the second watermark on this path"))
    assert dropped == (
        "SparkLatencyError spark.sql.optimizer.disableHints is true in this session. Under Spark Connect "
        "marks and system-time watermarks are hints, and the server would drop them. Allow hints first: "
        'spark.conf.set("spark.sql.optimizer.disableHints", False).'
    )


@asks(
    """
    def rows(statement, enough):
        def found():
            of_now = [row.asDict() for row in spark.sql(statement).collect()]
            return enough(of_now) and of_now

        return await_until(found, WITHIN)

    df = spark.range(3).select("id", F.current_timestamp().alias("ts"))
    both = with_e2e_latency(with_e2e_latency(df, "first", "ts").where("id > 0"), "second", "ts")
    assert len(both.collect()) == 2
    ours = "query = '__batch__' AND node IN ('first', 'second')"
    of_batch = f"SELECT node, upstream, records FROM e2e_latency() WHERE {ours}"
    say(lambda: json.dumps(rows(of_batch, lambda found: len(found) == 2)))
    table = spark.sql("SELECT * FROM e2e_latency()")
    say(lambda: table.where(ours).where("records > 2").select(F.upper("node")).collect()[0][0])

    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()
    marked = with_e2e_latency(rate, "sink", "timestamp")
    query = marked.writeStream.queryName("fives").format("noop").trigger(availableNow=True).start()
    query.awaitTermination()
    figures = "node, records, record_e2e_latency_max AS oldest, record_commit_latency_max AS committed"
    of_query = f"SELECT {figures}, run_id, headline FROM e2e_latency() WHERE query = 'fives'"
    say(lambda: json.dumps(rows(of_query, lambda found: found and found[0]["committed"])))

    shown = latency("fives", url=ui())
    sink = shown.nodes["sink"]
    same = {"node": sink.node, "records": sink.records, "oldest": sink.max, "committed": sink.commit.max}
    say(lambda: json.dumps([same | {"run_id": str(query.runId), "headline": shown.headline.text}]))
    say(lambda: spark.table("e2e_latency_view").count() if spark.sql(
        "CREATE OR REPLACE TEMPORARY VIEW e2e_latency_view AS "
        "SELECT node FROM e2e_latency() WHERE node IN ('first', 'second', 'sink')"
    ) else None)

    def mistaken():
        try:
            return spark.sql("SELECT * FROM e2e_latency('rates')").collect()
        except PySparkException as error:
            return error
    say(mistaken)
    """
)
def test_a_client_reads_figures_by_sql(said: list[str]) -> None:
    batch, filtered, streamed, by_rest, by_name, refused = said
    assert json.loads(batch) == [
        {"node": "first", "upstream": [], "records": 3},
        {"node": "second", "upstream": ["first"], "records": 2},
    ]
    assert filtered == "FIRST"
    [sink] = json.loads(streamed)
    assert (sink["node"], sink["records"]) == ("sink", 5)
    assert json.loads(by_rest) == [sink]
    assert by_name == "3"
    assert "e2e_latency('rates'): it takes no arguments; select with WHERE query = " in refused
