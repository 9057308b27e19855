"""One Spark session for all tests, made the way users make it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest
from jvms import PLAIN_FILES, SHORT_LIVED, archived, thrifty
from pyspark.sql import SparkSession

from sparklatency import configure
from sparklatency.binding.jars import pyspark_version, spark_line
from support import NOW, empty_jar
from ui import UI, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
os.environ["SPARK_DIST_CLASSPATH"] = str(PLAIN_FILES)
os.environ["SPARK_SUBMIT_OPTS"] = " ".join(
    [SHORT_LIVED, archived(Path(sys.prefix, "classes.jsa")), thrifty(spark_line(pyspark_version()))]
)


@pytest.fixture(scope="session")
def user_jar(tmp_path_factory: pytest.TempPathFactory) -> str:
    return empty_jar(tmp_path_factory.mktemp("users") / "connector.jar")


@pytest.fixture(scope="session")
def spark(user_jar: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    warehouse = str(tmp_path_factory.mktemp("warehouse"))
    builder = SparkSession.builder.master("local[2]").config(
        map={
            "spark.jars": user_jar,
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": warehouse,
            "spark.ui.port": "0",
            "spark.metrics.conf.*.sink.jmx.class": "org.apache.spark.metrics.sink.JmxSink",
            "spark.ui.showConsoleProgress": "false",
        }
    )
    session = configure(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def url(spark: SparkSession) -> str:
    """Where the session's UI is."""
    found = spark.sparkContext.uiWebUrl
    assert found is not None
    # The first question starts Spark's REST service, which takes long on a busy machine.
    urlopen(f"{found}/api/v1/applications", timeout=600).read()  # noqa: S310
    return found


@pytest.fixture
def clock(spark: SparkSession) -> Iterator[Any]:
    """The clock of the JVM, standing at NOW until it is set or advanced; in milliseconds."""
    jvm: Any = spark._jvm
    manual = jvm.io.sparklatency.time.ManualClock(NOW)
    jvm.io.sparklatency.time.WallClock.install(manual)
    yield manual
    jvm.io.sparklatency.time.WallClock.reset()


@pytest.fixture
def running(spark: SparkSession) -> Iterator[None]:
    """Stops every streaming query that the test leaves."""
    yield
    for query in spark.streams.active:
        query.stop()


@pytest.fixture
def ui() -> Iterator[UI]:
    """A UI that knows one application and nothing of it yet."""
    with serving() as known:
        yield known
