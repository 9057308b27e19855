"""`configure` appends and never replaces.

Most of it is decided before there is a JVM, so those cases are processes of their own.
"""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from sparklatency import SparkLatencyError, __version__, configure, jar_path
from sparklatency.binding.jars import fits, is_ours, jar_of, pyspark_version, spark_line
from support import empty_jar, python

PLUGIN = "io.sparklatency.LatencyPlugin"
JAR = jar_path()


def configured(builder: str = "SparkSession.builder", **environment: str) -> tuple[str | None, str | None]:
    """What `spark.jars` and `spark.plugins` are on the builder, in a process that has no JVM."""
    options = json.loads(
        python(
            f"""
            import json
            from pyspark.sql import SparkSession
            from sparklatency import configure
            print(json.dumps(configure({builder})._options))
            """,
            **environment,
        )
    )
    return options.get("spark.jars"), options.get("spark.plugins")


def told_to_the_jvm(
    builder: str = "SparkSession.builder", **environment: str
) -> tuple[str | None, str | None]:
    """What `spark.jars` is on the builder, and what PYSPARK_SUBMIT_ARGS is then."""
    jars, arguments = json.loads(
        python(
            f"""
            import json, os
            from pyspark.sql import SparkSession
            from sparklatency import configure
            jars = configure({builder})._options.get("spark.jars")
            print(json.dumps([jars, os.environ.get("PYSPARK_SUBMIT_ARGS")]))
            """,
            **environment,
        )
    )
    return jars, arguments


def refused(**environment: str) -> str:
    return python(
        """
        from pyspark.sql import SparkSession
        from sparklatency import SparkLatencyError, configure
        try:
            configure(SparkSession.builder)
        except SparkLatencyError as error:
            print(error)
        """,
        **environment,
    )


def test_a_user_who_has_set_nothing() -> None:
    assert configured() == (JAR, PLUGIN)


def test_what_is_on_the_builder_stays() -> None:
    builder = (
        "SparkSession.builder.config('spark.jars', '/a.jar, /b.jar').config('spark.plugins', 'my.Plugin')"
    )
    assert configured(builder) == (f"/a.jar,/b.jar,{JAR}", f"my.Plugin,{PLUGIN}")


def test_twice_is_as_good_as_once() -> None:
    assert configured("configure(SparkSession.builder)") == (JAR, PLUGIN)


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
    assert said == f"spark.jars.packages has {other}. It does not fit: take it out. {JAR} does.\n"


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
    assert said == f"spark.jars has {stranger}. It does not fit: take it out. {JAR} does.\n"


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


def test_a_jar_of_ours_that_does_not_fit_is_refused() -> None:
    stranger = "/old/sparklatency-spark_4.0_2.13-0.0.1.jar"
    builder = SparkSession.Builder().config("spark.jars", stranger)
    with pytest.raises(
        SparkLatencyError, match=f"spark.jars has {stranger}. It does not fit: take it out. .* does."
    ):
        configure(builder)


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


LEVEL = "spark.sparklatency.recording.level"


def test_the_level_of_a_name_that_spark_would_cut_is_refused_until_the_jvm_runs() -> None:
    """The JVM is started with `--conf key=value`."""
    said = python(
        """
        from pyspark.sql import SparkSession
        from sparklatency import configure
        configure(SparkSession.Builder().remote("sc://elsewhere"), levels={"region=eu": "TRACE"})
        try:
            configure(SparkSession.builder, levels={"region=eu": "TRACE"})
        except ValueError as error:
            print(error)
        """
    )
    assert said == (
        "configure: the query 'region=eu' in levels has a '=' in its name, and no JVM can be started "
        f"with that. Set its level when the session runs: spark.conf.set('{LEVEL}.…', …).\n"
    )


@pytest.mark.usefixtures("spark")
def test_where_a_jvm_runs_the_level_of_any_name_is_set() -> None:
    options = configure(SparkSession.Builder(), levels={"region=eu": "TRACE"})._options
    assert options[f"{LEVEL}.region=eu"] == "TRACE"


@pytest.mark.usefixtures("spark")
def test_levels_of_single_queries_are_settings_of_the_session() -> None:
    options = configure(SparkSession.Builder(), levels={"orders": "TRACE", "a b": "none"})._options
    levels = {key: level for key, level in options.items() if key.startswith(LEVEL)}
    assert levels == {f"{LEVEL}.orders": "TRACE", f"{LEVEL}.a b": "none"}
    elsewhere = SparkSession.Builder()
    elsewhere._options["spark.remote"] = "sc://elsewhere"
    assert set(configure(elsewhere, levels={"orders": "TRACE"})._options) == {
        "spark.remote",
        f"{LEVEL}.orders",
    }


@pytest.mark.parametrize(
    ("levels", "error", "message"),
    [
        (["orders"], TypeError, "levels takes collections.abc.Mapping, not ['orders'] (list)."),
        ({7: "INFO"}, TypeError, "a query in levels takes str, not 7 (int)."),
        ({"orders": 1}, TypeError, "the level of 'orders' takes str, not 1 (int)."),
        (
            {"orders": "LOUD"},
            ValueError,
            "the level of 'orders' is 'LOUD'; use one of NONE, INFO, DEBUG, TRACE.",
        ),
        ({"": "INFO"}, ValueError, "a query in levels has no name."),
        ({"\ud800": "INFO"}, ValueError, r"a query in levels '\ud800' cannot be written as UTF-8."),
    ],
)
def test_levels_that_will_not_do(levels: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(f'configure: {message}')}$"):
        configure(SparkSession.Builder(), levels=levels)


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


@pytest.mark.parametrize(
    "levels",
    [
        {"q" * 1_000_000: "LOUD"},
        {"orders": "L" * 1_000_000},
        [1] * 1_000_000,
        pd.DataFrame({"a": range(1_000_000)}),
    ],
)
def test_what_is_said_of_levels_is_short(levels: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^configure: ") as said:
        configure(SparkSession.Builder(), levels=levels)
    assert len(str(said.value)) < 400
