"""What is said once more of the tests in Scala that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from failed import failed

from fabricated import report

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.one_line


def test_each_test_that_failed_is_named_with_its_suite_its_line_and_its_message(tmp_path: Path) -> None:
    report(
        tmp_path / "jvm/core/target/test-reports/TEST-ages.xml",
        '<testcase classname="io.AgesSuite" name="one"><error message="None.get"/></testcase>',
        '<testcase classname="io.AgesSuite" name="two"/>',
    )
    report(
        tmp_path / "jvm/spark/target/4.0/test-reports/TEST-tab.xml",
        '<testcase classname="io.spark.TabSuite" name="a page"><failure message="1 was not 2"/></testcase>',
        '<testcase classname="io.spark.TabSuite" name="none"><skipped/></testcase>',
    )
    assert list(failed(tmp_path)) == [
        "AgesSuite: one\n    None.get",
        "TabSuite on Spark 4.0: a page\n    1 was not 2",
    ]
