"""README's Python examples run, one after another in one namespace, as a reader would try them.

A block that cannot run here (it needs a broker, say) opens with ```python no-run.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

README = Path(__file__).parents[2] / "README.md"


def examples() -> list[str]:
    text = README.read_text(encoding="utf-8") if README.is_file() else ""
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.usefixtures("running")
@pytest.mark.skipif(not examples(), reason="README.md has no Python example")
def test_examples(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, Any] = {"spark": spark}
    for number, example in enumerate(examples(), 1):
        exec(compile(example, f"README.md, example {number}", "exec"), namespace)
        for query in spark.streams.active:
            assert query.exception() is None, capsys.readouterr().out
