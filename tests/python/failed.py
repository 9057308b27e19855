"""The tests in Scala that failed, once more: between them and the end of sbt's log are thousands of lines.

`python tests/python/failed.py` reads the reports that sbt left.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


def failed(root: Path) -> Iterator[str]:
    """Yields a line for each test that failed, and one with its message, of the reports below a checkout."""
    for report in sorted(root.glob("jvm/*/target/**/test-reports/*.xml")):
        line = report.parent.parent.name  # `target` for what does not depend on the line
        for test in ElementTree.parse(report).iter("testcase"):  # noqa: S314  our own test runner wrote it
            for found in [*test.iter("failure"), *test.iter("error")]:
                of = "" if line == "target" else f" on Spark {line}"
                suite = test.get("classname", "").rpartition(".")[2]
                yield f"{suite}{of}: {test.get('name')}\n    {found.get('message')}"


if __name__ == "__main__":
    print(*failed(ROOT), sep="\n")
