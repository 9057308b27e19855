"""Spark Connect without what it needs: sparklatency at the server, py4j at the client."""

from __future__ import annotations

from client import CLIENT, parts
from support import python


def test_a_server_without_sparklatency_is_told_from_one_that_drops_a_hint() -> None:
    script = """
    spark = builder.getOrCreate()
    df = spark.range(3).select(F.current_timestamp().alias("ts"))
    say(lambda: with_e2e_latency(df, "node", "ts"))
    say(lambda: with_ingestion_timestamp(df))
    say(lambda: with_system_time_watermark(df, "ts", "1 second"))
    say(latency)
    """
    marking, stamping, watermark, reading = parts(python(CLIENT + script, SPARK_TESTING="1"))
    assert stamping == watermark == marking
    assert marking.startswith("SparkLatencyError The Spark Connect server does not have sparklatency")
    assert "--conf spark.plugins=io.sparklatency.LatencyPlugin" in marking
    assert reading.startswith("SparkLatencyError A Spark Connect client does not reach the driver's JVM.")


def test_a_client_without_py4j_is_told_where_to_read() -> None:
    """As pip's pyspark-client is. Nothing is asked of the server, so there need be none."""
    script = """
    import sys
    sys.modules["py4j"] = None
    from pyspark.sql import SparkSession
    from sparklatency import SparkLatencyError, latency

    def say(call):
        try:
            print(call())
        except SparkLatencyError as error:
            print(error)
        print("--")

    say(latency)
    spark = SparkSession.builder.remote("sc://localhost:1").getOrCreate()
    say(latency)
    say(lambda: latency("orders"))
    import os
    os._exit(0)  # to release a session asks the server
    """
    none, everything, one = parts(python(script, SPARK_SKIP_CONNECT_COMPAT_TESTS="1"))
    assert none.startswith("No Spark session is running in this process.")
    assert everything == one
    assert one.startswith("A Spark Connect client does not reach the driver's JVM. Read the figures from")
