"""The one gate to the JVM. What stands in the way is told apart here, each with its remedy.

A class that is not on the JVM's class path looks to py4j like a package, and fails when it is called, far
from the cause. So nothing else in this project touches ``_jvm`` but to hand it to this module.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sparklatency._version import __version__
from sparklatency.binding.jars import jar_path, pyspark_version, spark_line
from sparklatency.errors import SparkLatencyError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

PLUGIN = "io.sparklatency.LatencyPlugin"
_DISABLE_HINTS = "spark.sql.optimizer.disableHints"
_ADD_JAR = "org.apache.spark.sql.internal.NonClosableMutableURLClassLoader"
"""Spark's class loader of what ``ADD JAR`` brings."""

_NO_QUESTIONS = "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION"
"""Spark's word for a question within a function that defines a flow of a declarative pipeline."""

_STOPPED = "the SparkContext has been stopped"
"""What the JVM says of an application that has ended there: on YARN it may be killed, say."""

_HOW_TO_START = f"""\
  from Python:       spark = configure(SparkSession.builder).getOrCreate()
  on a command line: spark-submit --jars "$(sparklatency jar)" --conf spark.plugins={PLUGIN} …"""


def session_api(session: SparkSession) -> Any:
    """Returns the Scala façade as that session sees it.

    Raises:
        SparkLatencyError: the session is stopped or lives behind Spark Connect, its JVM has no jar of
            sparklatency, or one for another version or another line of Spark.
    """
    refuse_connect(session)
    if session.sparkContext._jsc is None:
        raise SparkLatencyError(f"The Spark session has been stopped. Start another:\n{_HOW_TO_START}")
    api = jvm_api(session.sparkContext._jvm)
    if api is None:
        jar_path(session.version)  # to say first if there is no jar that could be used
        raise SparkLatencyError(
            "The jar of sparklatency is not in this Spark session. Start the session with it:\n"
            f"{_HOW_TO_START}\n"
            "A JVM that runs cannot load it any more, not by ADD JAR either. Leave this Python process "
            "(restart the kernel) first."
        )
    _check_fit(api, session.version)
    return api


def jvm_api(jvm: Any) -> Any | None:
    """Returns the Scala façade in a JVM, or None if its class path has none.

    What ``ADD JAR`` has brought is found, and is as good as none: the threads that take what tasks give back
    do not find it, and each action on a mark would fail.
    """
    from py4j.java_gateway import JavaClass

    api = jvm.io.sparklatency.spark.PythonApi
    if not isinstance(api, JavaClass):
        return None
    loader = api._java_lang_class.getClassLoader()
    return None if loader.getClass().getName() == _ADD_JAR else api


def reaching_jvm() -> AbstractContextManager[None]:
    """Tells within it what is ours from an application that has ended, of which only py4j's error tells.

    Without py4j, as beside a client of Spark Connect alone, nothing reaches a JVM.

    Raises:
        SparkLatencyError: the JVM has gone, or it has stopped the application by itself.
    """
    return _telling_of_the_end() if find_spec("py4j") else nullcontext()


@contextmanager
def _telling_of_the_end() -> Iterator[None]:
    from py4j.protocol import Py4JJavaError, Py4JNetworkError

    try:
        yield
    except Py4JJavaError as failed:
        said = failed.java_exception.getMessage()
        if said != _STOPPED:
            raise
        raise SparkLatencyError(
            f"The application has ended: {said}. Start another session:\n{_HOW_TO_START}"
        ) from failed
    except (Py4JNetworkError, OSError) as gone:
        raise SparkLatencyError(
            f"The application has ended: its JVM does not answer ({gone}). "
            "Leave this Python process (restart the kernel), and start another session."
        ) from gone


def running_session() -> SparkSession:
    """Returns the session of this thread, or else the process's first.

    Raises:
        SparkLatencyError: none is running, or pyspark is not installed.
    """
    pyspark_version()
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession() or SparkSession._instantiatedSession
    if session is None:
        raise SparkLatencyError(f"No Spark session is running in this process. Start one:\n{_HOW_TO_START}")
    return session


def is_connect(thing: object) -> bool:
    """Tells whether a session, DataFrame or query is Spark Connect's, without importing its client."""
    return type(thing).__module__.startswith("pyspark.sql.connect.")


def refuse_connect(thing: object) -> None:
    """Raises SparkLatencyError for a session or query that has no JVM in reach."""
    if is_connect(thing):
        raise SparkLatencyError(
            "A Spark Connect client does not reach the driver's JVM. Read the figures from the driver's UI:\n"
            '  latency("orders", url="http://<driver>:4040")'
        )


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
        raise SparkLatencyError(_other_version(version))
    return True


def is_on(session: SparkSession, key: str) -> bool:
    """Tells whether a setting is true. Spark gives it as it was written, and reads it in any case."""
    return (session.conf.get(key, None) or "").strip().lower() == "true"


def _check_fit(api: Any, spark_version: str) -> None:
    version, line = api.version(), api.sparkLine()
    if version != __version__:
        raise SparkLatencyError(_other_version(version))
    if line != spark_line(spark_version):
        raise SparkLatencyError(
            f"The session runs Spark {spark_version} with sparklatency's jar for Spark {line}. "
            f'Give it the one that fits: "$(sparklatency jar --spark {spark_line(spark_version)})". '
            "Look for the other in spark.jars, --jars, extraClassPath and $SPARK_HOME/jars."
        )


def _other_version(version: str) -> str:
    return (
        f"sparklatency is {__version__} in Python and {version} in the JVM. "
        f"Use the jar that `sparklatency jar` prints, or pip install sparklatency=={version}. "
        "An old jar often stays in $SPARK_HOME/jars or on extraClassPath."
    )
