"""What `configure` makes of a builder before there is a JVM, each time in a process of its own."""

from __future__ import annotations

import json

from sparklatency import jar_path
from support import python

PLUGIN = "io.sparklatency.LatencyPlugin"
JAR = jar_path()


def configured(builder: str = "SparkSession.builder", **environment: str) -> tuple[str | None, str | None]:
    """What `spark.jars` and `spark.plugins` are on the builder, in a process that has no JVM."""
    options = json.loads(
        python(
            f"""
            import json
            from pyspark.sql import SparkSession
            from sparklatency import configure
            print(json.dumps(configure({builder})._options))
            """,
            **environment,
        )
    )
    return options.get("spark.jars"), options.get("spark.plugins")


def told_to_the_jvm(
    builder: str = "SparkSession.builder", **environment: str
) -> tuple[str | None, str | None]:
    """What `spark.jars` is on the builder, and what PYSPARK_SUBMIT_ARGS is then."""
    jars, arguments = json.loads(
        python(
            f"""
            import json, os
            from pyspark.sql import SparkSession
            from sparklatency import configure
            jars = configure({builder})._options.get("spark.jars")
            print(json.dumps([jars, os.environ.get("PYSPARK_SUBMIT_ARGS")]))
            """,
            **environment,
        )
    )
    return jars, arguments


def refused(**environment: str) -> str:
    return python(
        """
        from pyspark.sql import SparkSession
        from sparklatency import SparkLatencyError, configure
        try:
            configure(SparkSession.builder)
        except SparkLatencyError as error:
            print(error)
        """,
        **environment,
    )


def unfit(key: str, jar: str) -> str:
    """What is said of a jar of ours that a setting names, and that does not fit."""
    of = "a jar of sparklatency for another Spark or of another version"
    return f"{key} names {jar}, {of}. Take it out, and use {JAR}."
