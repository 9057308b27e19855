"""Spark Connect: its client has no JVM, so marks and watermarks go to the server as hints and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparklatency._version import __version__
from sparklatency.binding.gateway import PLUGIN, is_connect, other_version
from sparklatency.binding.jars import pyspark_version, spark_line
from sparklatency.errors import SparkLatencyError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DISABLE_HINTS = "spark.sql.optimizer.disableHints"
_NO_QUESTIONS = "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION"
"""Spark's word for a question within a function that defines a flow of a declarative pipeline."""


def refuse_old_connect(df: object) -> None:
    """Raises SparkLatencyError for a DataFrame of a Spark Connect before 4.0, which is none of pyspark's."""
    from pyspark.sql import DataFrame

    if is_connect(df) and not isinstance(df, DataFrame):
        raise SparkLatencyError(
            f"Under Spark Connect sparklatency needs pyspark 4.0 or newer, and this is {pyspark_version()}. "
            "Without Connect it works here: start the session with master(), not with remote()."
        )


def hinted(df: DataFrame, hint: str, *parameters: Any) -> DataFrame:
    """Gives a Spark Connect client's ``df`` a hint of ours, and has the server analyse it at once.

    In a function that defines a flow of a declarative pipeline it is analysed later, with the pipeline.

    Raises:
        pyspark.errors.IllegalArgumentException: what the server finds wrong with the parameters.
        SparkLatencyError: the server has no sparklatency, or another version of it; or it drops the hints of
            this session.
    """
    session = df.sparkSession
    is_checked = check_connect_server(session)
    if is_on(session, _DISABLE_HINTS):
        raise SparkLatencyError(
            f"{_DISABLE_HINTS} is true in this session. Under Spark Connect marks and system-time watermarks "
            "are hints, and the server would drop them. Allow hints first: "
            f'spark.conf.set("{_DISABLE_HINTS}", False).'
        )
    if not is_checked:
        # Of a hint that a server does not know it says nothing, of a function it does.
        return df.where("e2e_latency_version() IS NOT NULL").hint(hint, *parameters)
    analysed = df.hint(hint, *parameters)
    # A question that only an analysed plan answers, so that a mistake shows here, not at the first action.
    # (The schema would not do: the client takes it over from the DataFrame below a hint.)
    analysed.isStreaming  # noqa: B018
    return analysed


def check_connect_server(session: SparkSession) -> bool:
    """Makes sure that a Spark Connect server knows our hints; one that does not drops them in silence.

    Returns:
        False if that cannot be told now: a function that defines a flow of a declarative pipeline may not ask
        the server.

    Raises:
        SparkLatencyError: the server has no sparklatency, or another version of it.
    """
    from pyspark.errors import PySparkException

    try:
        is_there = session.catalog.functionExists("e2e_latency_version")
    except PySparkException as refused:
        if refused.getCondition() != _NO_QUESTIONS:
            raise
        return False
    if not is_there:
        raise SparkLatencyError(
            "The Spark Connect server does not have sparklatency. A client cannot bring it. "
            f'Start the server with --jars "$(sparklatency jar --spark {spark_line(session.version)})" '
            f"--conf spark.plugins={PLUGIN}."
        )
    [[version]] = session.sql("SELECT e2e_latency_version()").collect()
    if version != __version__:
        raise SparkLatencyError(other_version(version))
    return True


def is_on(session: SparkSession, key: str) -> bool:
    """Tells whether a setting is true. Spark gives it as it was written, and reads it in any case."""
    return (session.conf.get(key, None) or "").strip().lower() == "true"
