"""What goes wrong on this side of the JVM."""


class SparkLatencyError(RuntimeError):
    """Python, the jar and the Spark session do not fit together; the message says how to mend it.

    A wrong argument is not one of these: it raises ``TypeError`` here, or pyspark's
    ``IllegalArgumentException`` where only Spark can tell (an unknown column, a duplicate node id).
    """


class NoFiguresError(SparkLatencyError):
    """There are no figures of the query that was asked for: not yet, no more, or there is no such query."""


def check_type(function: str, name: str, value: object, *allowed: type) -> None:
    """Raises TypeError when an argument of one of our functions is of none of the types that it takes."""
    if not isinstance(value, allowed):
        expected = " or ".join("None" if one is type(None) else one.__name__ for one in allowed)
        raise TypeError(f"{function}: {name} takes {expected}, not {value!r} ({type(value).__name__}).")
