"""Marking a point of a plan, and stamping its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparklatency import words
from sparklatency.binding.connect import check_connect_server, hinted, is_on
from sparklatency.binding.dataframes import check, in_jvm
from sparklatency.binding.gateway import is_connect

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def with_e2e_latency(
    df: DataFrame, node_id: str, timestamp: str | Column | None = None, level: str = "INFO"
) -> DataFrame:
    """Measures how old each record is when it leaves this point of the plan.

    The rows stay as they are. The clock is read after the work below this point, so a slow column that ``df``
    computes is in the figure. Under Spark Connect this is a hint, and the server analyses the plan at once.

    Args:
        df: batch or streaming.
        node_id: names the point in every figure; unique within a query.
        timestamp: when the record's event happened: the name of a column, or a column, of type TIMESTAMP or
            TIMESTAMP_NTZ, or a window, whose end counts. Without it, the one column of ``df`` that has a
            watermark.
        level: INFO, DEBUG or TRACE; a node beyond ``spark.sparklatency.recording.level`` is not measured and
            costs nothing.

    Returns:
        ``df`` with the point marked.

    Raises:
        TypeError: an argument is of the wrong Python type.
        ValueError: a string cannot be written as UTF-8 (it has a lone surrogate).
        pyspark.errors.IllegalArgumentException: an unknown column, one of another type or DataFrame, two of
            that name, no timestamp to be found or several, an empty, oversized or duplicate node id, an
            unknown level.
        SparkLatencyError: the session has no jar of sparklatency, or one that does not fit.
    """
    from pyspark.sql import Column

    check(
        "with_e2e_latency",
        df,
        node_id=(node_id, (str,)),
        timestamp=(timestamp, (str, Column, type(None))),
        level=(level, (str,)),
    )
    if is_connect(df):
        return _by_hint(df, node_id, timestamp, level)
    column = timestamp if timestamp is None or isinstance(timestamp, str) else timestamp._jc
    return in_jvm(df, "withE2ELatency", node_id, column, level)


def with_ingestion_timestamp(df: DataFrame, column: str = "ingestion_time") -> DataFrame:
    """Gives each record one more column: the time at which it is read.

    Put it right on a source. The column is a TIMESTAMP in microseconds, made for each record by the clock
    that marks read, not the one time of the batch that ``current_timestamp()`` is. It may have a watermark,
    ``withWatermark(column, "0 seconds")``, and be the timestamp of a node. A batch that runs again stamps its
    records again. Where nobody reads the column it costs nothing.

    Args:
        df: batch or streaming.
        column: its name, which ``df`` does not have yet.

    Returns:
        ``df`` with the column behind all others.

    Raises:
        TypeError: an argument is of the wrong Python type.
        ValueError: the name cannot be written as UTF-8 (it has a lone surrogate).
        pyspark.errors.IllegalArgumentException: the name is empty or taken.
        SparkLatencyError: the session has no jar of sparklatency, or one that does not fit.
    """
    check("with_ingestion_timestamp", df, column=(column, (str,)))
    if is_connect(df):
        return _by_function(df, column)
    return in_jvm(df, "withIngestionTimestamp", column)


def _by_hint(df: DataFrame, node_id: str, timestamp: str | Column | None, level: str) -> DataFrame:
    from pyspark.sql.connect.functions import lit

    return hinted(df, "E2E_LATENCY", node_id, lit(None) if timestamp is None else timestamp, level)


def _by_function(df: DataFrame, column: str) -> DataFrame:
    from pyspark.errors import IllegalArgumentException
    from pyspark.sql.connect.functions import expr

    session = df.sparkSession
    is_checked = check_connect_server(session)
    if not column.strip():
        raise IllegalArgumentException(
            "the column of an ingestion timestamp needs a name; the usual one is 'ingestion_time'"
        )
    exact = is_on(session, "spark.sql.caseSensitive")
    for taken in df.columns if is_checked else ():
        if column == taken or (not exact and column.lower() == taken.lower()):
            raise IllegalArgumentException(
                f"there is a column '{words.name(taken)}' already; give the ingestion timestamp another name"
            )
    return df.select("*", expr("ingestion_time()").alias(column))
