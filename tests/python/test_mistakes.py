"""A user's mistake fails at the call, in words that name the thing, the value and the remedy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import functions as F  # noqa: N812

from sparklatency import NoFiguresError, latency, with_e2e_latency, with_ingestion_timestamp
from support import aged

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def df(spark: SparkSession) -> DataFrame:
    columns = ("ts", "ts AS placed_at", "1 AS amount", "cast(ts AS STRING) AS text")
    return aged(spark, 1).selectExpr(*columns)


CANDIDATES = "name a timestamp; columns that hold one: 'ts', 'placed_at'"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("n", "when"),
            f"node 'n': there is no column 'when' among 'ts', 'placed_at', 'amount', 'text'; {CANDIDATES}",
        ),
        (("n", "amount"), f"node 'n': column 'amount' is of type INT, .*; {CANDIDATES}"),
        (("n", "text"), f"node 'n': column 'text' is of type STRING, .*; {CANDIDATES}"),
        (("n",), f"node 'n': no timestamp was given, and a batch query has no watermark; {CANDIDATES}"),
        (("", "ts"), "a node id must not be empty"),
        ((" ", "ts"), "a node id must not be empty"),
        (("x" * 257, "ts"), "the node id 'xxx.*…' has 257 characters; at most 256 are allowed"),
        (("n", "ts", "LOUD"), "node 'n': there is no recording level 'LOUD'; use one of INFO, DEBUG, TRACE"),
        (("n", "ts", "NONE"), "node 'n': there is no recording level 'NONE'; use one of INFO, DEBUG, TRACE"),
    ],
)
def test_what_only_spark_can_tell(df: DataFrame, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(IllegalArgumentException, match=f"^{message}"):
        with_e2e_latency(df, *arguments)


def test_a_column_object_that_will_not_do(df: DataFrame) -> None:
    with pytest.raises(IllegalArgumentException, match=f"there is no column 'when' among .*; {CANDIDATES}"):
        with_e2e_latency(df, "n", F.col("when"))
    with pytest.raises(IllegalArgumentException, match=f"timestamp '1' is of type INT, .*; {CANDIDATES}"):
        with_e2e_latency(df, "n", F.lit(1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((7, "ts"), "node_id takes str, not 7 (int)."),
        ((None, "ts"), "node_id takes str, not None (NoneType)."),
        (("n", 7), "timestamp takes str or pyspark.sql.column.Column or None, not 7 (int)."),
        (("n", "ts", 1), "level takes str, not 1 (int)."),
    ],
)
def test_a_value_of_the_wrong_python_type(df: DataFrame, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(f"with_e2e_latency: {message}")):
        with_e2e_latency(df, *arguments)


@pytest.mark.parametrize(("query", "value"), [(5, "5 (int)"), (["q"], "['q'] (list)")])
def test_something_that_is_no_query(query: Any, value: str) -> None:
    expected = "pyspark.sql.streaming.query.StreamingQuery or str or None"
    message = f"latency: query takes {expected}, not {value}."
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        latency(query)


def test_something_that_is_no_dataframe() -> None:
    frame: Any = [1, 2]
    with pytest.raises(
        TypeError, match=re.escape("df takes pyspark.sql.dataframe.DataFrame, not [1, 2] (list).")
    ):
        with_e2e_latency(frame, "n")


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b"x" * 1_000, f"b'{'x' * 97}… (bytes)"),
        (pd.DataFrame({"a": [1]}), r"   a\n0  1 (pandas.core.frame.DataFrame)"),
        (Unshowable(), "a value that cannot be shown (test_mistakes.Unshowable)"),
    ],
)
def test_a_value_that_is_large_or_odd_stays_on_one_line(df: DataFrame, value: Any, shown: str) -> None:
    for call in (lambda: with_e2e_latency(df, value), lambda: latency(value)):
        with pytest.raises(TypeError, match=re.escape(f"not {shown}.")):
            call()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [(("\ud800", "ts"), "node_id"), (("n", "\ud800"), "timestamp"), (("n", "ts", "\ud800"), "level")],
)
def test_text_that_utf_8_does_not_have_is_refused_in_a_sentence(
    df: DataFrame, arguments: tuple[str, ...], name: str
) -> None:
    said = rf"with_e2e_latency: {name} '\ud800' cannot be written as UTF-8."
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        with_e2e_latency(df, *arguments)


LONG = "x" * 1_000_000


@pytest.mark.parametrize(
    "arguments",
    [
        (LONG, "ts"),
        ("n", LONG),
        ("n", f"`{LONG}"),
        ("n", "ts", LONG),
        ([1] * 1_000_000, "ts"),
        ("n", [LONG]),
        ("n", pd.DataFrame({"a": range(1_000_000)})),
        ("n", "ts", {LONG: 1}),
    ],
)
def test_what_is_said_of_a_mistake_is_short(df: DataFrame, arguments: tuple[Any, ...]) -> None:
    with pytest.raises((IllegalArgumentException, TypeError)) as said:
        with_e2e_latency(df, *arguments)
    assert len(str(said.value)) < 1_500
    assert "\n" not in str(said.value)


@pytest.mark.usefixtures("spark")
def test_what_is_said_of_a_query_is_short() -> None:
    with pytest.raises(NoFiguresError) as said:
        latency(LONG)
    assert len(str(said.value)) < 1_500


def test_of_many_columns_the_nearest_are_named(spark: SparkSession) -> None:
    wide = aged(spark, 1).selectExpr(*(f"ts AS event_{i}" for i in range(2_000)))
    nearest = ["event_77", *(f"event_77{i}" for i in range(9))]
    ten = f"{', '.join(map(repr, nearest))} and 1,990 more"
    problem = f"there is no column 'event_77x' among {ten}"
    message = f"node 'n': {problem}; name a timestamp; columns that hold one: {ten}"
    with pytest.raises(IllegalArgumentException, match=f"^{re.escape(message)}$"):
        with_e2e_latency(wide, "n", "event_77x")


def test_a_name_that_two_columns_have_or_that_is_not_well_quoted(df: DataFrame) -> None:
    several = "there are several columns 'ts'; rename all but one, or give the one as a Column"
    unread = "cannot be read as the name of a column; a dot leads into a struct; a name that has a dot in it"
    with pytest.raises(IllegalArgumentException, match=f"^node 'n': {several}$"):
        with_e2e_latency(df.toDF("ts", "ts", "amount", "text"), "n", "ts")
    with pytest.raises(IllegalArgumentException, match=f"^node 'n': '`ts' {unread}"):
        with_e2e_latency(df, "n", "`ts")


def test_a_column_of_another_data_frame_is_named_without_a_plan(df: DataFrame, spark: SparkSession) -> None:
    other = aged(spark, 2).withColumnRenamed("ts", "when")
    message = f"node 'n': column 'when' is of another DataFrame; {CANDIDATES}"
    with pytest.raises(IllegalArgumentException, match=f"^{re.escape(message)}$"):
        with_e2e_latency(df, "n", other.when)


@pytest.mark.parametrize("url", [None, "http://127.0.0.1:1"])
@pytest.mark.usefixtures("spark")
def test_a_query_that_utf_8_does_not_have_is_refused_in_a_sentence(url: str | None) -> None:
    said = r"latency: query 'a\udfff' cannot be written as UTF-8."
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        latency("a\udfff", url=url)


def test_no_column_that_could_be_a_timestamp(spark: SparkSession) -> None:
    with pytest.raises(
        IllegalArgumentException, match="no column here holds a timestamp: keep one through the steps"
    ):
        with_e2e_latency(spark.range(1), "n")


NOWHERE = "no column here holds a timestamp: keep one through the steps"


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (
            lambda df: df.drop("ts", "placed_at"),
            "there is no column 'ts' among 'amount', 'text'; the projection to amount and text drops it; "
            f"{NOWHERE}",
        ),
        (
            lambda df: df.groupBy("amount").count(),
            f"there is no column 'ts' among 'amount', 'count'; the aggregation by amount drops it; {NOWHERE}",
        ),
        (
            lambda df: df.select("ts").withColumnRenamed("ts", "at"),
            "there is no column 'ts' among 'at'; the projection to at renames it to 'at'; name a timestamp",
        ),
        (
            lambda df: df.select(F.col("ts").cast("string")),
            "column 'ts' is of type STRING, and a timestamp or a window is needed; the projection to ts "
            f"casts it from the TIMESTAMP 'ts'; {NOWHERE}",
        ),
        (
            lambda df: df.mapInPandas(lambda batches: batches, "amount INT"),
            f"there is no column 'ts' among 'amount'; the step MapInPandas drops it; {NOWHERE}",
        ),
    ],
)
def test_the_step_that_lost_a_timestamp_is_named(
    df: DataFrame, steps: Callable[[DataFrame], DataFrame], said: str
) -> None:
    with pytest.raises(IllegalArgumentException, match=re.escape(f"node 'n': {said}")):
        with_e2e_latency(steps(df), "n", "ts")


TAKEN = "there is a column 'ts' already; give the ingestion timestamp another name"
NAMELESS = "the column of an ingestion timestamp needs a name; the usual one is 'ingestion_time'"


@pytest.mark.parametrize(
    ("column", "message"), [("ts", TAKEN), ("TS", TAKEN), ("", NAMELESS), (" ", NAMELESS)]
)
def test_a_name_that_an_ingestion_timestamp_cannot_have(df: DataFrame, column: str, message: str) -> None:
    with pytest.raises(IllegalArgumentException, match=f"^{re.escape(message)}$"):
        with_ingestion_timestamp(df, column)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2],), "df takes pyspark.sql.dataframe.DataFrame, not [1, 2] (list)."),
        ((None, 7), "column takes str, not 7 (int)."),
        ((None, None), "column takes str, not None (NoneType)."),
    ],
)
def test_what_an_ingestion_timestamp_cannot_be_made_of(
    df: DataFrame, arguments: tuple[Any, ...], message: str
) -> None:
    first, *rest = arguments
    with pytest.raises(TypeError, match=re.escape(f"with_ingestion_timestamp: {message}")):
        with_ingestion_timestamp(df if first is None else first, *rest)


def test_the_name_of_an_ingestion_timestamp_that_utf_8_does_not_have(df: DataFrame) -> None:
    said = r"with_ingestion_timestamp: column '\ud800' cannot be written as UTF-8."
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        with_ingestion_timestamp(df, "\ud800")


def test_a_long_name_that_is_taken_is_cut(df: DataFrame) -> None:
    taken = df.withColumnRenamed("ts", LONG)
    with pytest.raises(IllegalArgumentException) as said:
        with_ingestion_timestamp(taken, LONG)
    assert len(str(said.value)) < 1_500


def test_two_columns_that_have_a_watermark(spark: SparkSession) -> None:
    def rates(name: str) -> DataFrame:
        events = spark.readStream.format("rate").load()
        return events.select(F.col("timestamp").alias(name), "value").withWatermark(name, "1 second")

    joined = rates("ordered").join(rates("paid"), "value")
    with pytest.raises(
        IllegalArgumentException, match="several columns have a watermark: 'ordered', 'paid'; name one"
    ):
        with_e2e_latency(joined, "n")


def test_a_node_id_that_the_plan_has_already(df: DataFrame) -> None:
    with pytest.raises(IllegalArgumentException, match=r"^node 'twice' is in this plan already"):
        with_e2e_latency(with_e2e_latency(df, "twice", "ts").where("amount > 0"), "twice", "ts")
