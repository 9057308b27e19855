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

    from pyspark.sql import SparkSession

PLUGIN = "io.sparklatency.LatencyPlugin"
_ADD_JAR = "org.apache.spark.sql.internal.NonClosableMutableURLClassLoader"
"""Spark's class loader of what ``ADD JAR`` brings."""

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


def other_version(version: str) -> str:
    """Says that the jar, of that version, is not of this one."""
    return (
        f"sparklatency is {__version__} in Python and {version} in the JVM. "
        f"Use the jar that `sparklatency jar` prints, or pip install sparklatency=={version}. "
        "An old jar often stays in $SPARK_HOME/jars or on extraClassPath."
    )


def _check_fit(api: Any, spark_version: str) -> None:
    version, line = api.version(), api.sparkLine()
    if version != __version__:
        raise SparkLatencyError(other_version(version))
    if line != spark_line(spark_version):
        raise SparkLatencyError(
            f"The session runs Spark {spark_version} with sparklatency's jar for Spark {line}. "
            f'Give it the one that fits: "$(sparklatency jar --spark {spark_line(spark_version)})". '
            "Look for the other in spark.jars, --jars, extraClassPath and $SPARK_HOME/jars."
        )
