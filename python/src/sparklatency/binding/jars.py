"""The jars inside this package: one for each line of Spark, named after it."""

import re
from pathlib import Path

from sparklatency._version import __version__
from sparklatency.errors import SparkLatencyError
from sparklatency.words import cut, value

_FOLDER = Path(__file__).parents[1] / "jars"
_NAME = re.compile(r"(?:[\w.-]+_)?sparklatency-spark_(?P<line>\d+\.\d+)_2\.1[23]-(?P<version>.+)\.jar")
"""Before it stands the organisation where ``--packages`` has brought the jar."""
_SCALA = {"3.5": "2.12"}
"""Of pyspark; that of all other lines is of Scala 2.13."""


def jar_path(spark_version: str | None = None) -> str:
    """Returns the path of the jar for a Spark, as ``spark-submit --jars`` and ``spark.jars`` take it.

    Args:
        spark_version: a release or a line of Spark, such as ``"4.2.1"`` or ``"4.2"``; without it,
            the version of the installed pyspark.

    Raises:
        SparkLatencyError: no jar was built for that line, or pyspark is asked for and not installed.
    """
    asked = pyspark_version() if spark_version is None else spark_version
    line = spark_line(asked)
    scala = _SCALA.get(line, "2.13")
    if re.search(r"_2\.\d+$", asked) and not asked.endswith(f"_{scala}"):
        raise SparkLatencyError(
            f"{value(asked)}: the wheel's jar for Spark {line} is for Scala {scala}. "
            "`make build` in a checkout leaves all jars that there are in dist/."
        )
    path = _FOLDER / f"sparklatency-spark_{line}_{scala}-{__version__}.jar"
    if not path.is_file():
        raise SparkLatencyError(_no_jar(asked, line))
    return str(path)


def jar_lines() -> list[str]:
    """Returns the lines of Spark that this installation carries a jar for, oldest first."""
    names = (_NAME.fullmatch(path.name) for path in _FOLDER.glob("*.jar"))
    lines = {name["line"] for name in names if name and name["version"] == __version__}
    return sorted(lines, key=lambda line: [int(part) for part in line.split(".")])


def is_ours(jar: str) -> bool:
    """Tells whether a path or URL names a jar of this project, of any version."""
    return _named(jar) is not None


def jar_of(package: str) -> str:
    """Returns the name of the jar that ``--packages`` brings for ``organisation:name:version``."""
    organisation, _, rest = package.strip().partition(":")
    return f"{organisation}_{rest.replace(':', '-')}.jar"


def fits(jar: str, other: str) -> bool:
    """Tells whether two jars of this project are of one version and for one line of Spark.

    Of which Scala they are is left to the JVM, which knows its own and refuses what does not fit.
    """
    one, two = _named(jar), _named(other)
    return one is not None and two is not None and one.groups() == two.groups()


def spark_line(version: str) -> str:
    """Returns the line, ``"4.2"``, of a version such as ``"4.2.1"``, ``"4.2"`` or ``"4.2.0.dev1"``."""
    found = re.match(r"(\d+\.\d+)(?!\d)", version)
    if found is None:
        raise SparkLatencyError(f"{value(version)} is not a version of Spark. Write it like 4.2 or 4.2.1.")
    return found[1]


def pyspark_version() -> str:
    """Returns the version of the installed pyspark."""
    try:
        import pyspark
    except ImportError as missing:
        line = (jar_lines() or ["<line>"])[-1]
        raise SparkLatencyError(
            f"pyspark is not installed here. Install the one you want: pip install 'pyspark=={line}.*'. "
            f"For the path of a jar alone, name the line: sparklatency jar --spark {line}."
        ) from missing
    return pyspark.__version__


def _named(jar: str) -> re.Match[str] | None:
    return _NAME.fullmatch(re.split(r"[/\\]", jar)[-1])  # Windows has backslashes


def _no_jar(asked: str, line: str) -> str:
    lines = jar_lines()
    if not lines:
        return (
            f"This installation of sparklatency {__version__} has no jar. "
            "In a checkout, run `make build` first. Otherwise install the wheel."
        )
    return (
        f"sparklatency {__version__} has no jar for Spark {line} (asked for {cut(asked)}). "
        f"It has one for Spark {', '.join(lines)}. "
        f"Install pyspark of such a line: pip install 'pyspark=={lines[-1]}.*'. "
        "Or build the wheel for yours, if README lists it: SPARK=<line> make build."
    )
