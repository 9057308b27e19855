"""The tests in Scala that failed, once more: between them and the end of sbt's log are thousands of lines.

`python tests/python/failed.py` reads the reports that sbt left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runs import KINDS, ROOT, line_of, tests_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def failed(root: Path) -> Iterator[str]:
    """Yields a line for each test that failed, and one with its message, of the reports below a checkout."""
    for reports in ("jvm/core/target/test-reports/*.xml", KINDS["in Scala"]):
        for report in sorted(root.glob(reports)):
            line = line_of(report, root)
            of = "" if line is None else f" on Spark {line[0]}"
            for suite, name, found in tests_of(report):
                if found is not None and found.tag != "skipped":
                    yield f"{suite}{of}: {name}\n    {found.get('message')}"


if __name__ == "__main__":
    print(*failed(ROOT), sep="\n")
