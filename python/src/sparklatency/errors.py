"""What goes wrong on this side of the JVM."""


class SparkLatencyError(RuntimeError):
    """Python, the jar and the Spark session do not fit together; the message says how to mend it.

    A wrong argument is not one of these. It raises ``TypeError`` or ``ValueError`` here, or pyspark's
    ``IllegalArgumentException`` where only Spark can tell (an unknown column, a duplicate node id).
    """


class NoFiguresError(SparkLatencyError):
    """There are no figures of the query that was asked for: not yet, no more, or there is no such query."""
