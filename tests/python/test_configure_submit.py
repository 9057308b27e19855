"""`configure` keeps what is set in spark-defaults.conf, in a properties file, or in PYSPARK_SUBMIT_ARGS."""

from __future__ import annotations

from pathlib import Path

import pytest

from configuring import JAR, PLUGIN, configured, refused, unfit
from support import python


def test_what_is_in_spark_defaults_stays(tmp_path: Path) -> None:
    settings = (
        "# spark.jars /no.jar\nspark.jars   /site.jar\nspark.plugins=site.Plugin\nspark.jarsx /no.jar\n"
    )
    Path(tmp_path, "spark-defaults.conf").write_text(settings)
    expected = (f"/site.jar,{JAR}", f"site.Plugin,{PLUGIN}")
    assert configured(SPARK_CONF_DIR=str(tmp_path)) == expected


def test_a_list_of_spark_defaults_may_go_over_several_lines(tmp_path: Path) -> None:
    """As Java reads it, which also knows escapes: many who write such a file put them before each colon."""
    settings = (
        "# of the site \\\n"
        "spark.jars  hdfs\\://site/a.jar,\\\n"
        "            C:\\\\jars\\\\b.jar,\\\n"
        "  # c.jar\n"
        "! spark.jars /no.jar\n"
        "spark.plugins  site.\\\n"
        "\tPlugin,o\\u0074her.Plugin"
    )
    Path(tmp_path, "spark-defaults.conf").write_text(settings)
    assert configured(SPARK_CONF_DIR=str(tmp_path)) == (
        f"hdfs://site/a.jar,C:\\jars\\b.jar,# c.jar,{JAR}",
        f"site.Plugin,other.Plugin,{PLUGIN}",
    )


@pytest.mark.parametrize("empty", ["spark.plugins=", "spark.plugins = ", "spark.plugins", "spark.plugins :"])
def test_a_key_without_a_value_in_spark_defaults_has_none(tmp_path: Path, empty: str) -> None:
    Path(tmp_path, "spark-defaults.conf").write_text(f"{empty}\nspark.jars /site.jar\n")
    assert configured(SPARK_CONF_DIR=str(tmp_path)) == (f"/site.jar,{JAR}", PLUGIN)


def test_a_comment_of_spark_defaults_in_another_encoding_is_no_hindrance(tmp_path: Path) -> None:
    Path(tmp_path, "spark-defaults.conf").write_bytes(b"# f\xfcr alle\nspark.jars /site.jar\n")
    assert configured(SPARK_CONF_DIR=str(tmp_path)) == (f"/site.jar,{JAR}", PLUGIN)


def test_what_is_in_a_properties_file_stays(tmp_path: Path) -> None:
    own = tmp_path / "own.conf"
    own.write_text("spark.jars: /own.jar\n")
    arguments = f"--properties-file {own} pyspark-shell"
    assert configured(PYSPARK_SUBMIT_ARGS=arguments) == (f"/own.jar,{JAR}", PLUGIN)


def test_submit_arguments_that_leave_jars_and_plugins_alone_are_no_hindrance() -> None:
    assert configured(PYSPARK_SUBMIT_ARGS="--conf spark.x=y pyspark-shell") == (JAR, PLUGIN)


def test_submit_arguments_that_have_ours_are_taken_as_they_are() -> None:
    arguments = f"--jars /a.jar,{JAR} --conf spark.plugins={PLUGIN} pyspark-shell"
    assert configured(PYSPARK_SUBMIT_ARGS=arguments) == (None, PLUGIN)


def test_submit_arguments_with_jars_that_spark_prefers_to_the_builders_are_refused() -> None:
    said = refused(PYSPARK_SUBMIT_ARGS="--jars /a.jar pyspark-shell")
    assert said == (
        "PYSPARK_SUBMIT_ARGS sets spark.jars to /a.jar, and Spark prefers that to the builder's. "
        f"Append {JAR} to it there, after a comma. Or move the setting to the builder.\n"
    )
    stranger = "/old/sparklatency-spark_4.0_2.13-0.0.1.jar"
    said = refused(PYSPARK_SUBMIT_ARGS=f"--jars {stranger} pyspark-shell")
    assert said == f"{unfit('spark.jars', stranger)}\n"


def test_a_plugin_of_the_submit_arguments_stays_and_the_builders_is_started_too() -> None:
    arguments = "--conf spark.plugins=my.P --conf spark.ui.enabled=false pyspark-shell"
    assert configured(PYSPARK_SUBMIT_ARGS=arguments) == (JAR, f"my.P,{PLUGIN}")
    builder = "SparkSession.builder.config('spark.plugins', 'builders.P')"
    assert configured(builder, PYSPARK_SUBMIT_ARGS=arguments) == (JAR, f"builders.P,{PLUGIN}")


@pytest.mark.one_line
def test_spark_starts_the_builders_plugins_where_the_submit_arguments_have_others() -> None:
    """Ours reads the settings and refuses what is not valid; without it nobody would yet."""
    started = python(
        """
        from pyspark.sql import SparkSession
        from sparklatency import configure
        builder = SparkSession.builder.master("local[1]").config("spark.sparklatency.num.samples", "many")
        try:
            configure(builder).getOrCreate()
        except Exception as refused:
            print("spark.sparklatency.num.samples=many is not valid" in str(refused))
        """,
        PYSPARK_SUBMIT_ARGS="--conf spark.plugins= --conf spark.ui.enabled=false pyspark-shell",
    )
    assert started == "True\n"
