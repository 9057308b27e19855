"""What the JVMs of tests are started with."""

from __future__ import annotations

from pathlib import Path

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
"""For each JVM below us: it lives for seconds or minutes, too few to win back the time of the optimising
compiler. Without that one the room for code would be a fifth, and when it is full nothing is compiled any
more."""


def archived(classes: Path) -> str:
    """Takes what classes it can from the archive instead of loading them from jars (JEP 350).

    A JVM that cannot use the archive does without, and would say so where it prints.
    """
    return f"-XX:SharedArchiveFile={classes} -Xlog:disable -Xlog:all=error:stderr"


PLAIN_FILES = Path(__file__).parents[2] / ".venv" / "plain-files.jar"
"""Holds the file system of `thrifty`. It belongs at the end of the class path: an archive of classes
knows how that begins."""


def thrifty(line: str) -> str:
    """Has Spark spend less of the processors, and do the same.

    It writes files without starting processes. Where Hadoop has no native library, as with a pyspark from
    pip, the usual file system and the usual manager of checkpoints start `chmod` and `readlink` several times
    for each file.

    A query without a trigger asks its sources ten times a second for records, not a hundred times, which
    would keep a fifth of a processor busy while none come.

    It waits for more than 15 seconds until a worker of Python has answered. A JVM that stands still on a busy
    machine is not given up either; one that is killed is seen to be gone at once all the same.
    """
    room = "" if line in ("3.5", "4.0") else "checkpointing."
    manager = f"org.apache.spark.sql.execution.streaming.{room}FileSystemBasedCheckpointFileManager"
    conf = {
        "spark.hadoop.fs.file.impl": "io.sparklatency.spark.PlainFiles",
        "spark.sql.streaming.checkpointFileManagerClass": manager,
        "spark.sql.streaming.pollingDelay": "100ms",
        "spark.python.authenticate.socketTimeout": "10m",
        "spark.network.timeout": "600s",
        "spark.worker.timeout": "600",
    }
    return " ".join(f"-D{key}={value}" for key, value in conf.items())
