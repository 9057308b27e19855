"""Waits that cannot outlast their bound, also for applications under test: this needs nothing but Python."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

EVENTS_WITHIN = 360
"""Seconds that events of what has ended may take through Spark's queues on a busy machine."""


PATIENT_ATTACHING = "sun.tools.attach.attachTimeout=600000"
"""For what attaches to a JVM. By itself that has ten seconds to answer, and a busy machine may not let it."""


class NotInTimeError(TimeoutError):
    """A condition was not met within its bound: not the TimeoutError of what a condition itself waits for."""


def await_until(condition: Callable[[], T | None], within: float, every: float = 0.1) -> T:
    """Returns the first true value of `condition`; raises NotInTimeError at the bound."""
    deadline = time.monotonic() + within
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise NotInTimeError
        time.sleep(every)
    return value
