"""The table of runs in tests.md: made of reports, and of nothing else."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import runs
from fabricated import report

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.one_line


def test_a_cell_counts_what_passed_and_what_failed_on_its_line_and_nothing_that_was_skipped(
    tmp_path: Path,
) -> None:
    report(
        tmp_path / "jvm/spark/target/4.0/test-reports/TEST-a.xml",
        '<testcase classname="io.sparklatency.spark.LatencyTabSuite" name="one"/>',
        '<testcase classname="io.sparklatency.spark.LatencyTabSuite" name="two"/>',
        '<testcase classname="io.sparklatency.spark.LatencyTabSuite" name="REST too"><failure/></testcase>',
        '<testcase classname="io.sparklatency.spark.LatencyTabSuite" name="none"><skipped/></testcase>',
    )
    report(
        tmp_path / "target/reports/python-4.10.xml",
        '<testcase classname="" file="../tests/python/test_connect.py" name="test_a_server"/>',
    )
    report(
        tmp_path / "target/reports/e2e.xml",
        '<testcase classname="" file="../tests/e2e/test_latency_tab.py" name="test_a[4.10-light]"/>',
        '<testcase classname="" file="../tests/e2e/test_latency_tab.py" name="test_no_line"/>',
        '<testcase classname="" file="../tests/e2e/test_older_lines.py" name="test_the_tab[4.0]"/>',
        '<testcase classname="" file="../tests/e2e/test_older_lines.py" name="test_history_server[4.0]"/>',
    )
    found = dict(
        row.split(" | ", 1) for row in runs.table(runs.collected(tmp_path)).splitlines() if " | " in row
    )
    assert found["| tests that passed"] == "Spark 4.0 | Spark 4.10 |"
    assert found["| tab"] == "2 in Scala, 1 end to end, 1 failed | 1 end to end |"
    assert found["| REST"] == "1 failed | none ran |"
    assert found["| History Server"] == "1 end to end | none ran |"
    assert found["| Spark Connect"] == "none ran | 1 in Python |"


def test_what_did_not_have_its_turn_stays_as_it_was() -> None:
    earlier = {
        "tab": {"4.0": {"in Scala": 23, "end to end": 1, "failed": 1}, "4.2": {"in Scala": 35}},
        "gone": {"4.0": {"in Scala": 1}},
    }
    now = {"tab": {"4.0": {"end to end": 2}, "4.3": {"in Python": 3}}, "new": {}}
    assert runs.after(earlier, now) == {
        "tab": {
            "4.0": {"in Scala": 23, "end to end": 2},
            "4.2": {"in Scala": 35},
            "4.3": {"in Python": 3},
        },
        "new": {},
    }


def test_the_table_of_the_page_is_that_of_the_runs() -> None:
    check = [sys.executable, runs.__file__, "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
