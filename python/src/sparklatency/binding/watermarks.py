"""A watermark that goes by the clock, and one that does not wait for a silent source."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sparklatency.binding.connect import hinted
from sparklatency.binding.dataframes import check, in_jvm
from sparklatency.binding.gateway import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DAY = timedelta(days=1) // timedelta(microseconds=1)


def with_system_time_watermark(df: DataFrame, column: str, lag: str | timedelta) -> DataFrame:
    """A watermark that trails the clock by ``lag``, whether records arrive or not.

    Windows close though no event comes. It takes the place of ``withWatermark``. Rows pass unchanged and cost
    nothing; a query that keeps state runs a batch each
    ``spark.sparklatency.watermark.interval``, also without data.

    Args:
        df: a stream; a batch DataFrame is returned as it is.
        column: the name of a column that says when the event happened, of type TIMESTAMP, or of a window.
        lag: an interval such as ``"10 seconds"``, or a timedelta. A record that comes later than that may be
            dropped.

    Returns:
        ``df`` with the watermark.

    Raises:
        TypeError: an argument is of the wrong Python type.
        ValueError: a string cannot be written as UTF-8 (it has a lone surrogate).
        pyspark.errors.IllegalArgumentException: an unknown column or one of another type, a lag that is no
            interval, is negative or is longer than a year, or a watermark below this one.
        SparkLatencyError: the session has no jar of sparklatency, or one that does not fit.
    """
    check("with_system_time_watermark", df, column=(column, (str,)), lag=(lag, (str, timedelta)))
    interval = _interval(lag)
    if is_connect(df):
        return hinted(df, "SYSTEM_TIME_WATERMARK", column, interval)
    return in_jvm(df, "withSystemTimeWatermark", column, interval)


def with_idle_timeout(df: DataFrame, timeout: str | timedelta) -> DataFrame:
    """Of several sources this one no longer holds the others back when it has been silent for ``timeout``.

    Until it has a record again. Call it after ``withWatermark``. For all sources of a query alike there is
    the setting ``spark.sparklatency.watermark.idle.timeout``.

    Args:
        df: a stream with a watermark; a batch DataFrame is returned as it is.
        timeout: an interval such as ``"5 minutes"``, or a timedelta.

    Returns:
        ``df`` with the timeout at its watermark.

    Raises:
        TypeError: an argument is of the wrong Python type.
        ValueError: a string cannot be written as UTF-8 (it has a lone surrogate).
        pyspark.errors.IllegalArgumentException: a timeout that is no interval, is shorter than a
            millisecond or longer than a year, no watermark, or one that goes by the clock.
        SparkLatencyError: the session has no jar of sparklatency, or one that does not fit.
    """
    check("with_idle_timeout", df, timeout=(timeout, (str, timedelta)))
    interval = _interval(timeout)
    if is_connect(df):
        return hinted(df, "IDLE_TIMEOUT", interval)
    return in_jvm(df, "withIdleTimeout", interval)


def _interval(of: str | timedelta) -> str:
    """In words of Spark, where neither days nor microseconds overflow; both have the sign of the whole."""
    if isinstance(of, str):
        return of
    sign = "-" if of < timedelta(0) else ""
    days, rest = divmod(abs(of // timedelta(microseconds=1)), _DAY)
    return f"{sign}{days} days {sign}{rest} microseconds" if days else f"{sign}{rest} microseconds"
