"""`configure` takes recording levels of single queries."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from sparklatency import configure
from support import python

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
