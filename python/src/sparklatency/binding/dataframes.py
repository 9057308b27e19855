"""What the functions on a DataFrame have in common: their checks, and the call in the JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparklatency.arguments import check_text, check_type
from sparklatency.binding.connect import refuse_old_connect
from sparklatency.binding.gateway import reaching_jvm, session_api

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def check(function: str, df: object, /, **of: tuple[object, tuple[type, ...]]) -> None:
    """Raises what is wrong with the arguments of a function: first with their types, then with texts.

    Args:
        function: its name.
        df: its first argument.
        of: the others by their names, each with the types that it may have.
    """
    from pyspark.sql import DataFrame

    refuse_old_connect(df)
    check_type(function, "df", df, DataFrame)
    for name, (value, allowed) in of.items():
        check_type(function, name, value, *allowed)
    for name, (value, _) in of.items():
        check_text(function, name, value)


def in_jvm(df: DataFrame, method: str, *arguments: Any) -> DataFrame:
    """Returns what a method of the Scala façade makes of a DataFrame; raises what ``session_api`` does.

    Raises:
        SparkLatencyError: the application has ended.
    """
    from pyspark.sql import DataFrame

    session = df.sparkSession
    with reaching_jvm():
        return DataFrame(getattr(session_api(session), method)(df._jdf, *arguments), session)
