"""Clients of Spark Connect: a script of each test, and one server with sparklatency for them all."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, TypeVar

from support import python

if TYPE_CHECKING:
    from collections.abc import Callable

Test = TypeVar("Test", bound="Callable[..., None]")

CLIENT = """
    import json, sys, time, traceback
    from urllib.request import urlopen
    from pyspark.errors import IllegalArgumentException, PySparkException
    from pyspark.sql import DataFrame, SparkSession, functions as F
    from sparklatency import SparkLatencyError, configure, latency
    from sparklatency import with_e2e_latency, with_idle_timeout
    from sparklatency import with_ingestion_timestamp, with_system_time_watermark
    from waits import await_until

    WITHIN = 360  # seconds, of each wait by itself: who reads what is printed waits for 720

    def say(call):
        try:
            said = call()
            print("a DataFrame" if isinstance(said, DataFrame) else said)  # showing one would analyse it
        except (SparkLatencyError, IllegalArgumentException) as error:
            print(type(error).__name__, error)
        print("--")

    def context():  # of the server, whose JVM is in this process
        from pyspark import SparkContext
        session = SparkContext._jvm.org.apache.spark.sql.classic.SparkSession.builder().getOrCreate()
        return session.sparkContext()

    def ui():  # the first question to it starts Spark's REST service, which takes long on a busy machine
        url = context().uiWebUrl().get()
        urlopen(f"{url}/api/v1/applications", timeout=300).read()
        return url

    builder = SparkSession.builder.remote("local[1]").config("spark.ui.port", "0")
    builder.config("spark.ui.enabled", "true")  # under SPARK_TESTING it is not
"""

ALL = """
    spark = configure(builder).getOrCreate()
    for name, script in {scripts}.items():
        print("=== " + name)
        spark.conf.unset("spark.sql.optimizer.disableHints")
        try:
            exec(script, dict(globals()))
        except Exception:
            traceback.print_exc(file=sys.stdout)
"""

SCRIPTS: dict[str, str] = {}


def asks(script: str) -> Callable[[Test], Test]:
    """Gives the test what a client says to a server with sparklatency, as its argument `said`."""

    def of(test: Test) -> Test:
        SCRIPTS[test.__name__] = dedent(script)
        return test

    return of


def answered() -> dict[str, str]:
    """What the script of each test printed. Their one server takes longer to start than they do."""
    printed = python(CLIENT + ALL.format(scripts=SCRIPTS), SPARK_TESTING="1")
    return dict(part.split("\n", 1) for part in printed.split("=== ")[1:])


def parts(printed: str) -> list[str]:
    return [part.strip() for part in printed.split("--\n")][:-1]
