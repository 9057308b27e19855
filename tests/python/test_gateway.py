"""What stands between Python and the JVM is told apart.

`'JavaPackage' object is not callable` is never seen.
"""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

import sparklatency.binding.gateway
from sparklatency import (
    SparkLatencyError,
    jar_path,
    latency,
    with_e2e_latency,
    with_idle_timeout,
    with_ingestion_timestamp,
    with_system_time_watermark,
)
from sparklatency.binding.jars import jar_lines, pyspark_version, spark_line
from support import aged, python

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

SESSION = """
    from pyspark.sql import SparkSession, functions as F
    from sparklatency import SparkLatencyError, configure, latency
    from sparklatency import with_e2e_latency, with_ingestion_timestamp

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")

    def say(call):
        try:
            call()
        except SparkLatencyError as error:
            print(error, "\\n--")
        else:
            print("worked\\n--")

    def mark(spark):
        with_e2e_latency(spark.range(1).select(F.current_timestamp().alias("ts")), "node", "ts")
"""


def said(script: str) -> list[str]:
    printed = python(textwrap.dedent(SESSION) + textwrap.dedent(script))
    return [part.strip() for part in printed.split("--\n")][:-1]


@pytest.mark.one_line
def test_a_session_that_was_started_without_the_jar() -> None:
    before, marking, reading, configuring, stopped = said(
        """
    say(latency)
    spark = builder.getOrCreate()
    df = spark.range(1).select(F.current_timestamp().alias("ts"))
    say(lambda: mark(spark))
    say(latency)
    say(lambda: configure(builder))
    spark.stop()
    say(lambda: with_e2e_latency(df, "node", "ts"))
    """
    )
    assert before.startswith("No Spark session is running in this process. Start one:")
    assert "configure(SparkSession.builder).getOrCreate()" in before
    assert marking == reading
    assert marking.startswith(
        "The jar of sparklatency is not in this Spark session. Start the session with it:"
    )
    assert 'spark-submit --jars "$(sparklatency jar)"' in marking
    assert configuring.startswith("This process has a JVM already, started without the jar of sparklatency")
    assert "restart the Python process (the kernel)" in configuring
    assert stopped.startswith("The Spark session has been stopped. Start another:")


@pytest.mark.one_line
def test_a_jar_that_was_added_to_a_running_session() -> None:
    """Of those classes the threads know nothing that take what tasks give back: each action would fail."""
    marking, reading, configuring = said(
        f"""
    spark = builder.getOrCreate()
    spark.sql("ADD JAR {jar_path()}")
    say(lambda: mark(spark))
    say(latency)
    say(lambda: configure(builder))
    spark.stop()
    """
    )
    assert marking == reading
    assert marking.startswith(
        "The jar of sparklatency is not in this Spark session. Start the session with it:"
    )
    assert "A JVM that runs cannot load it any more, not by ADD JAR either." in marking
    assert configuring.startswith("This process has a JVM already, started without the jar of sparklatency")


@pytest.mark.one_line
def test_a_session_with_the_jar_of_another_line() -> None:
    own = spark_line(pyspark_version())
    other = next(line for line in jar_lines() if line != own)
    [marking] = said(f'say(lambda: mark(builder.config("spark.jars", "{jar_path(other)}").getOrCreate()))')
    assert marking.startswith(
        f"The session runs Spark {pyspark_version()} with sparklatency's jar for Spark {other}."
    )
    assert f'"$(sparklatency jar --spark {own})"' in marking


@pytest.mark.one_line
def test_a_session_with_the_jar_alone_needs_no_configuration() -> None:
    [marking] = said(f'say(lambda: mark(builder.config("spark.jars", "{jar_path()}").getOrCreate()))')
    assert marking == "worked"


@pytest.mark.one_line
def test_what_is_planned_when_the_session_has_stopped_shows_nowhere() -> None:
    """A query may plan another batch while its session stops."""
    planned, physical, beans = said(
        """
    spark = configure(builder).getOrCreate()
    stamped = with_ingestion_timestamp(spark.range(1))
    marked = with_e2e_latency(stamped, "node", "ingestion_time")
    late, jvm, gateway = marked._jdf.queryExecution(), spark._jvm, spark.sparkContext._gateway
    spark.stop()
    print(late.optimizedPlan().toString(), "\\n--")
    print(late.sparkPlan().toString(), "\\n--")
    methods = jvm.java.lang.Class.forName("javax.management.MBeanServer").getMethods()
    [query] = [one for one in methods if one.getName() == "queryNames"]
    asked = gateway.new_array(jvm.java.lang.Object, 2)
    asked[0] = jvm.javax.management.ObjectName("sparklatency:*")
    found = query.invoke(jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer(), asked)
    print(found.toString(), "\\n--")
    """
    )
    assert "LatencyMark node" in planned
    assert "Range" in physical, "Spark's own error is to end it"
    assert beans == "[]"


@pytest.mark.one_line
def test_a_task_that_outlives_its_session_shows_in_no_other() -> None:
    """Spark waits for none, and none has to listen to it."""
    first, second = said(
        """
    import threading, time

    builder.config("spark.sparklatency.publish.after", "200ms")
    sleep = "reflect('java.lang.Thread', 'sleep', 100L) AS slept"

    def write(spark, node, rows):
        slow = spark.range(0, rows, 1, 1).selectExpr("id", "current_timestamp() AS ts", sleep)
        with_e2e_latency(slow, node, "ts").write.format("noop").mode("overwrite").save()

    def nodes():
        return [node.node for node in latency().nodes]

    def write_for_long(spark):
        try:
            write(spark, "old", 200)
        except Exception:
            pass  # the session stops

    spark = configure(builder).getOrCreate()
    threading.Thread(target=write_for_long, args=[spark]).start()
    while not nodes():
        time.sleep(0.1)
    print(nodes(), "\\n--")
    spark.stop()
    spark = configure(builder).getOrCreate()
    write(spark, "new", 10)
    while not nodes():
        time.sleep(0.1)
    print(nodes(), "\\n--")
    spark.stop()
    """
    )
    assert (first, second) == ("['old']", "['new']")


@pytest.mark.one_line
def test_a_setting_that_is_not_valid_is_no_lack_of_figures() -> None:
    """With the jar alone it shows first where figures are read."""
    told = said(
        f"""
    builder.config("spark.jars", "{jar_path()}").config("spark.sparklatency.num.samples", "many")
    spark = builder.getOrCreate()
    say(latency)
    say(lambda: latency("orders"))
    query = spark.readStream.format("rate").load().writeStream.queryName("orders").format("noop").start()
    say(lambda: latency(query))
    spark.stop()
    """
    )
    problem = "spark.sparklatency.num.samples=many is not valid: a whole number from 1 to 100 is allowed"
    assert told == [problem] * 3


@pytest.mark.one_line
@pytest.mark.skipif(
    spark_line(pyspark_version()) in ("4.0", "4.1"), reason="its REST knows us only when we are used"
)
def test_check_names_a_setting_that_is_not_valid_where_only_the_log_has_told() -> None:
    [checked] = said(
        f"""
    from urllib.request import urlopen
    from click.testing import CliRunner
    from sparklatency.cli import main

    builder.config("spark.ui.enabled", "true").config("spark.ui.port", "0")
    builder.config("spark.jars", "{jar_path()}")
    builder.config("spark.sparklatency.auto", "source").config("spark.sparklatency.num.samples", "many")
    spark = builder.getOrCreate()
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    rate.writeStream.format("noop").trigger(availableNow=True).start().awaitTermination()
    # The first question starts Spark's REST service, which takes long on a busy machine.
    urlopen(spark.sparkContext.uiWebUrl + "/api/v1/applications", timeout=600).read()
    checked = CliRunner().invoke(main, ["check", "--url", spark.sparkContext.uiWebUrl])
    print(checked.exit_code, checked.stdout, "\\n--")
    spark.stop()
    """
    )
    problem = "spark.sparklatency.num.samples=many is not valid: a whole number from 1 to 100 is allowed"
    assert checked.startswith("3 ")
    assert f"answers 503 Service Unavailable: {problem}" in checked
    assert "No figures yet" not in checked


@pytest.mark.one_line
def test_an_application_that_ended_in_the_jvm_is_said_to_have_ended() -> None:
    """Python is not told: of a session that YARN has killed, say."""
    told = said(
        """
    def start():
        spark = configure(builder).getOrCreate()
        stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
        query = stream.writeStream.format("noop").trigger(availableNow=True).start()
        query.awaitTermination()
        rows = spark.range(1).select(F.current_timestamp().alias("ts"))
        return spark, query, latency(query), rows

    def ask(query, shown, rows):
        mark = lambda: with_e2e_latency(rows, "node", "ts")
        for call in (latency, lambda: latency("orders"), lambda: latency(query), shown.history, mark):
            say(call)

    spark, *begun = start()
    spark._jsparkSession.stop()
    ask(*begun)
    spark.stop()
    spark, *begun = start()
    jvm = spark.sparkContext._gateway.proc
    jvm.kill()
    jvm.wait()
    ask(*begun)
    say(lambda: latency(begun[0], url="http://localhost:1"))
    say(lambda: configure(SparkSession.builder))
    """
    )
    assert told[0].startswith("The application has ended: the SparkContext has been stopped. Start another")
    assert told[5].startswith("The application has ended: its JVM does not answer (")
    assert told[5].endswith("Leave this Python process (restart the kernel), and start another session.")
    assert [one.split(":")[1].split(" (")[0] for one in told] == (
        [" the SparkContext has been stopped. Start another session"] * 5 + [" its JVM does not answer"] * 7
    )


@pytest.mark.one_line
def test_a_query_that_has_ended_unseen_has_no_figures_and_never_will(tmp_path: Path) -> None:
    """With the jar alone nobody has seen it start. While it runs, they may come."""
    running, by_rest, ended, by_rest_ended = said(
        f"""
    from sparklatency import NoFiguresError

    builder.config("spark.ui.enabled", "true").config("spark.ui.port", "0")
    spark = builder.config("spark.jars", "{jar_path()}").getOrCreate()
    silent = spark.readStream.schema("ts TIMESTAMP").parquet("{tmp_path}")
    query = silent.writeStream.format("noop").start()

    def ask(url):
        try:
            print(len(latency(query, url=url).queries))
        except NoFiguresError as error:
            print(str(error).replace(query.runId, "RUN"))

    say(lambda: ask(None))
    say(lambda: ask(spark.sparkContext.uiWebUrl))
    query.stop()
    say(lambda: ask(None))
    say(lambda: ask(spark.sparkContext.uiWebUrl))
    """
    )
    assert running == by_rest == "0\nworked"
    assert ended == by_rest_ended
    assert ended.startswith(
        "no figures of a query 'RUN': there is no query of this name or id, none of its batches"
    )


def test_reading_without_pyspark_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    for query in (None, "orders"):
        with pytest.raises(SparkLatencyError, match=r"^pyspark is not installed here"):
            latency(query)


def test_a_jar_of_another_version(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    version = sparklatency.__version__
    monkeypatch.setattr(sparklatency.binding.gateway, "__version__", "99.0")
    for call in (lambda: with_e2e_latency(aged(spark, 1), "node", "ts"), latency):
        with pytest.raises(SparkLatencyError) as raised:
            call()
        assert str(raised.value).startswith(
            f"sparklatency is 99.0 in Python and {version} in the JVM. Use the jar"
        )
        assert f"pip install sparklatency=={version}" in str(raised.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda df: with_e2e_latency(df, "node"),
        with_ingestion_timestamp,
        lambda df: with_system_time_watermark(df, "ts", "1 second"),
        lambda df: with_idle_timeout(df, "1 minute"),
    ],
)
def test_a_spark_connect_of_before_spark_4_is_refused(call: Callable[[Any], object]) -> None:
    """Its DataFrame is of another class than pyspark's."""
    old = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()
    with pytest.raises(SparkLatencyError, match=r"needs pyspark 4\.0 or newer, and this is "):
        call(old)
