"""`configure` beside jars that are there already: it knows ours, and keeps those that packages bring."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from configuring import JAR, PLUGIN, configured, refused, told_to_the_jvm, unfit
from sparklatency import SparkLatencyError, __version__, configure
from sparklatency.binding.jars import fits, is_ours, jar_of
from support import empty_jar, python


@pytest.mark.parametrize("folder", ["/opt/jars/", "file:///opt/jars/", "C:\\python\\jars\\", ""])
def test_a_jar_of_ours_is_known_wherever_it_is(folder: str) -> None:
    assert is_ours(folder + Path(JAR).name)
    assert not is_ours(folder + "sparklatency.jar")


OTHER_SCALA = JAR.replace("_2.13-", "_2.12-") if "_2.13-" in JAR else JAR.replace("_2.12-", "_2.13-")
"""The jar for a Spark of the installed line that pip does not bring, as Spark 3.5 of Scala 2.13 is none."""


def test_a_jar_of_ours_is_known_that_packages_have_brought() -> None:
    assert is_ours("file:///home/eve/.ivy2.5.2/jars/io.sparklatency_sparklatency-spark_4.2_2.13-0.1.0.jar")
    assert is_ours(jar_of("com.example.mirror:sparklatency-spark_4.2_2.13:0.1.0"))
    assert not is_ours(jar_of("io.sparklatency:sparklatency:0.1.0"))
    assert not is_ours(jar_of("a:b:1"))


PACKAGE = f"io.sparklatency:{Path(JAR).stem[: -len(__version__) - 1]}:{__version__}"


def test_where_packages_bring_ours_none_is_added(tmp_path: Path) -> None:
    """Nor are the jars set: Spark makes that list of what it fetches."""
    builder = f"SparkSession.builder.config('spark.jars.packages', 'a:b:1, {PACKAGE}')"
    assert configured(builder) == (None, PLUGIN)
    assert told_to_the_jvm(builder) == (None, None)
    assert configured(PYSPARK_SUBMIT_ARGS=f"--packages {PACKAGE},a:b:1 pyspark-shell") == (None, PLUGIN)
    submitted = f"--jars /a.jar --conf spark.jars.packages={PACKAGE} pyspark-shell"
    assert configured(PYSPARK_SUBMIT_ARGS=submitted) == (None, PLUGIN)
    Path(tmp_path, "spark-defaults.conf").write_text(f"spark.jars.packages {PACKAGE}\n")
    assert configured(SPARK_CONF_DIR=str(tmp_path)) == (None, PLUGIN)
    other = "io.sparklatency:sparklatency-spark_4.0_2.13:0.0.1"
    said = refused(PYSPARK_SUBMIT_ARGS=f"--packages {other} pyspark-shell")
    assert said == f"{unfit('spark.jars.packages', other)}\n"


def test_beside_packages_the_jvm_is_told_so_that_what_spark_fetches_stays(tmp_path: Path) -> None:
    packages = "SparkSession.builder.config('spark.jars.packages', 'a:b:1')"
    told = (None, f"--jars {JAR} pyspark-shell")
    assert told_to_the_jvm(packages) == told
    assert told_to_the_jvm(packages, PYSPARK_SUBMIT_ARGS="") == told
    assert told_to_the_jvm(f"configure({packages})") == told
    arguments = "--packages a:b:1 --conf spark.x=y pyspark-shell"
    assert told_to_the_jvm(PYSPARK_SUBMIT_ARGS=arguments) == (None, f"--jars {JAR} {arguments}")
    Path(tmp_path, "spark-defaults.conf").write_text("spark.jars /the site.jar\nspark.jars.packages a:b:1\n")
    defaults = (None, f"--jars '/the site.jar,{JAR}' pyspark-shell")
    assert told_to_the_jvm(SPARK_CONF_DIR=str(tmp_path)) == defaults


def test_who_has_jars_on_the_builder_beside_packages_keeps_them_there() -> None:
    packages = "config('spark.jars.packages', 'a:b:1')"
    own = "config('spark.jars', '/own.jar')"
    both = f"SparkSession.builder.{packages}.{own}"
    assert told_to_the_jvm(both) == (f"/own.jar,{JAR}", None)
    # As of somebody who has no network and brings the jar himself.
    after = f"(configure(SparkSession.builder.{packages}), SparkSession.builder.{own})[1]"
    assert told_to_the_jvm(after) == (f"/own.jar,{JAR}", "pyspark-shell")


@pytest.mark.one_line
def test_the_context_is_given_what_spark_has_fetched_and_our_jar(tmp_path: Path) -> None:
    """Its executors load what the context lists. A package of the local Ivy needs no network."""
    there = tmp_path / "ivy/local/org.example/fetched/1"
    for folder in ("ivys", "jars"):
        (there / folder).mkdir(parents=True)
    (there / "ivys/ivy.xml").write_text(
        '<ivy-module version="2.0"><info organisation="org.example" module="fetched" revision="1"/>'
        '<publications><artifact name="fetched" type="jar" ext="jar"/></publications></ivy-module>'
    )
    empty_jar(there / "jars/fetched.jar")
    listed = python(
        f"""
        from pyspark.sql import SparkSession
        from sparklatency import configure
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        builder.config("spark.jars.packages", "org.example:fetched:1")
        builder.config("spark.jars.ivy", {str(tmp_path / "ivy")!r})
        context = configure(builder).getOrCreate().sparkContext
        print(context.getConf().get("spark.jars"))
        print(context._jsc.sc().listJars().mkString(","))
        """
    )
    names = [sorted(Path(jar).name for jar in line.split(",")) for line in listed.splitlines()]
    assert names == [["org.example_fetched-1.jar", Path(JAR).name]] * 2


def test_of_two_jars_of_ours_those_of_one_version_for_one_line_fit() -> None:
    jar = "sparklatency-spark_3.5_2.12-0.1.0.jar"
    assert fits("file:///opt/sparklatency-spark_3.5_2.13-0.1.0.jar", f"/wheel/{jar}")
    assert not fits("/opt/sparklatency-spark_3.5_2.13-0.0.9.jar", jar)
    assert not fits("/opt/sparklatency-spark_4.0_2.13-0.1.0.jar", jar)
    assert not fits("/opt/connector.jar", jar)


def test_a_jar_for_another_scala_is_left_to_the_jvm_to_judge() -> None:
    assert configured(f"SparkSession.builder.config('spark.jars', {OTHER_SCALA!r})") == (OTHER_SCALA, PLUGIN)
    arguments = f"--jars /a.jar,{OTHER_SCALA} pyspark-shell"
    assert configured(PYSPARK_SUBMIT_ARGS=arguments) == (None, PLUGIN)


def test_a_jar_of_ours_that_does_not_fit_is_refused() -> None:
    stranger = "/old/sparklatency-spark_4.0_2.13-0.0.1.jar"
    builder = SparkSession.Builder().config("spark.jars", stranger)
    with pytest.raises(
        SparkLatencyError,
        match=re.escape(unfit("spark.jars", stranger)),
    ):
        configure(builder)
