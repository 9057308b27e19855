"""Our jar in Spark's own folder, where an image for many applications has it: no setting takes it away."""

from __future__ import annotations

from pathlib import Path

import pyspark
import pytest

from sparklatency import jar_path
from support import empty_jar, python

pytestmark = pytest.mark.one_line

APPLICATION = """
    from pyspark.sql import SparkSession, functions as F
    from sparklatency import latency, with_e2e_latency
    from waits import EVENTS_WITHIN, await_until

    spark = SparkSession.builder.getOrCreate()
    print("# it has begun")
    jars = spark.sparkContext.getConf().get("spark.jars")
    rows = spark.range(7).withColumn("at", F.current_timestamp())
    with_e2e_latency(rows, "node", timestamp="at").write.format("noop").mode("overwrite").save()

    def records():
        return next((node.records for node in latency().nodes if node.node == "node"), None)

    print(jars, await_until(records, EVENTS_WITHIN))
    spark.stop()
"""


def with_our_jar(home: Path) -> Path:
    """A home of Spark made of links, for a cluster within the driver writes into it."""
    installed = Path(pyspark.__file__).parent
    (home / "jars").mkdir(parents=True)
    for part in installed.iterdir():
        if part.name not in ("jars", "work"):
            (home / part.name).symlink_to(part)
    for jar in [*(installed / "jars").glob("*.jar"), Path(jar_path())]:
        (home / "jars" / jar.name).symlink_to(jar)
    return home


def test_who_submits_with_other_jars_has_figures_too(tmp_path: Path) -> None:
    """The one executor is a JVM of its own. What the defaults say is for all applications."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/spark-defaults.conf").write_text(
        "spark.plugins     io.sparklatency.LatencyPlugin\n"
        "spark.ui.enabled  false\n"
        f"spark.jars        {empty_jar(tmp_path / 'of-all.jar')}\n"
    )
    own = empty_jar(tmp_path / "own.jar")
    printed = python(
        APPLICATION,
        SPARK_HOME=str(with_our_jar(tmp_path / "home")),
        SPARK_CONF_DIR=str(tmp_path / "conf"),
        PYSPARK_SUBMIT_ARGS=f"--master local-cluster[1,1,1024] --jars {own} pyspark-shell",
    )
    assert printed == f"file://{own} 7\n"
