"""The suites that took longest, of all that `make test` ran: from the reports of sbt and pytest."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ROOT = Path(__file__).parents[2]
_REPORTS = {
    "core": "jvm/core/target/test-reports/*.xml",
    "bridge": "jvm/spark/target/*/test-reports/*.xml",
    "python": "target/reports/python-*.xml",
}


def slowest(own: Iterable[tuple[str, float]], count: int = 10) -> list[tuple[str, float]]:
    """Returns the names and seconds of the slowest suites, the slowest first.

    Args:
        own: the names and seconds of tests that have no report yet; those of one name are one suite.
        count: how many suites.
    """
    suites: dict[str, float] = defaultdict(float)
    for name, seconds in (*_reported(), *own):
        suites[name] += seconds
    return sorted(suites.items(), key=lambda suite: -suite[1])[:count]


def _reported() -> Iterator[tuple[str, float]]:
    for part, pattern in _REPORTS.items():
        for file in _ROOT.glob(pattern):
            line = "".join(re.findall(r"[/-](\d\.\d)[/.]", str(file.relative_to(_ROOT))))
            for test in ElementTree.parse(file).iter("testcase"):  # noqa: S314  our own test runners wrote it
                suite = test.get("classname", "").rpartition(".")[2]
                yield f"{part} {line} {suite}".replace("  ", " "), float(test.get("time", 0))
