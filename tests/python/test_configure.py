"""`configure` appends to what a builder has and never replaces it."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import SparkSession

from configuring import JAR, PLUGIN, configured
from sparklatency import configure
from sparklatency.binding.jars import pyspark_version, spark_line
from support import empty_jar

if TYPE_CHECKING:
    from pathlib import Path


def test_a_user_who_has_set_nothing() -> None:
    assert configured() == (JAR, PLUGIN)


def test_what_is_on_the_builder_stays() -> None:
    builder = (
        "SparkSession.builder.config('spark.jars', '/a.jar, /b.jar').config('spark.plugins', 'my.Plugin')"
    )
    assert configured(builder) == (f"/a.jar,/b.jar,{JAR}", f"my.Plugin,{PLUGIN}")


def test_twice_is_as_good_as_once() -> None:
    assert configured("configure(SparkSession.builder)") == (JAR, PLUGIN)


@pytest.mark.usefixtures("spark")
def test_the_builder_for_a_connect_server_elsewhere_is_left_alone() -> None:
    builder = SparkSession.Builder()
    builder._options["spark.remote"] = "sc://elsewhere"
    assert configure(builder)._options == {"spark.remote": "sc://elsewhere"}


SINCE_SPARK_4 = pytest.mark.skipif(spark_line(pyspark_version()) == "3.5", reason="has no such mode")


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("option", "environment"),
    [
        ({"spark.remote": "local[2]"}, {}),
        ({}, {"SPARK_REMOTE": "local"}),
        ({"spark.api.mode": "Connect"}, {}),
        ({}, {"SPARK_API_MODE": "connect"}),
        pytest.param({}, {"SPARK_CONNECT_MODE": "1"}, marks=SINCE_SPARK_4),
        pytest.param({"spark.api.mode": "any"}, {"SPARK_CONNECT_MODE": "1"}, marks=SINCE_SPARK_4),
    ],
)
def test_a_connect_server_of_this_process_gets_a_warning_that_it_has_no_plugin(
    monkeypatch: pytest.MonkeyPatch, option: dict[str, str], environment: dict[str, str]
) -> None:
    builder = SparkSession.Builder()
    builder._options.update(option)
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    with pytest.warns(
        UserWarning, match=r"^configure: Spark starts a Connect server in this process"
    ) as warned:
        assert JAR in configure(builder)._options["spark.jars"]
    assert [one.filename for one in warned] == [__file__]
    elsewhere = SparkSession.Builder()
    elsewhere._options["spark.remote"] = "sc://elsewhere"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        configure(elsewhere)
        monkeypatch.delenv("SPARK_REMOTE", raising=False)
        configure(SparkSession.Builder().config("spark.api.mode", "classic"))


def test_the_session_has_the_jars_of_both(spark: SparkSession, user_jar: str) -> None:
    assert spark.sparkContext.getConf().get("spark.jars") == f"{user_jar},{JAR}"
    assert spark.sparkContext.getConf().get("spark.plugins") == PLUGIN


@pytest.mark.usefixtures("spark")
def test_in_a_process_whose_jvm_has_the_jar_nothing_is_added_twice(user_jar: str) -> None:
    options = configure(SparkSession.Builder())._options
    jars = [jar.removeprefix("file://") for jar in options["spark.jars"].split(",")]
    assert jars == [user_jar, JAR]
    assert options["spark.plugins"] == PLUGIN


@pytest.mark.usefixtures("spark")
def test_the_builder_wins_over_what_the_jvm_was_started_with(tmp_path: Path) -> None:
    other = empty_jar(tmp_path / "other.jar")
    options = configure(SparkSession.Builder().config("spark.jars", other))._options
    assert options["spark.jars"] == f"{other},{JAR}"


@pytest.mark.parametrize(
    ("builder", "given"),
    [
        (5, "5 (int)"),
        (None, "None (NoneType)"),
        (SparkSession, "<class 'pyspark.sql.session.SparkSession'> (type)"),
    ],
)
def test_what_is_no_builder_is_refused(builder: Any, given: str) -> None:
    message = f"configure: builder takes SparkSession.builder, not {given}."
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        configure(builder)
