"""What the JVMs of tests are started with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
