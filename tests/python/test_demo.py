"""The demo ends by itself, names the slow node by its figures, and can be interrupted."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from rich.console import Console

from fabricated import figures, node, query, slowest, unknown
from sparklatency.demo import names_a_step, picture, show_lines, summary
from support import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.one_line


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A demo of three seconds, in a process group of its own, as in a terminal."""
    with subprocess.Popen(
        [sys.executable, "-m", "sparklatency", "demo", "--seconds", "3", "--svg", "demo.svg"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        yield process
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def test_the_summary_of_the_demo_ends_with_the_headline() -> None:
    text = "Slowest step: b, 2.6 s of 4.2 s (62 %)"
    shown = figures(query("q", node("a"), node("b"), headline=slowest("b", 2_600.0, 4_200.0, text)))
    assert names_a_step(shown)
    assert summary(shown) == f"{shown}\n\n{text}"


def test_without_figures_no_step_is_called_slow() -> None:
    nothing = figures()
    assert summary(nothing) == (
        "No figures yet: no batch of a query with a marked node has ended. "
        "If none is marked, mark one by hand, or set spark.sparklatency.auto."
    )
    for shown in (nothing, figures(query("q", node("a"))), figures(query("q", unknown("a"), unknown("b")))):
        assert not names_a_step(shown)
    assert summary(shown).endswith("\n\nNo record with a timestamp has been measured yet.")


def test_a_line_that_says_nothing_new_is_not_printed_again() -> None:
    text = "Slowest step: b, 2.6 s of 4.2 s (62 %)"
    b = query("q", node("a"), node("b"), headline=slowest("b", 2_600.0, 4_200.0, text))
    later = query("q", node("a"), node("b", p50=700.0), headline=b["headline"])
    out = io.StringIO()
    readings = [(0.0, figures(b)), (5.0, figures(b)), (10.0, figures(later)), (12.0, figures(b))]
    last = show_lines(iter(readings), 12, Console(file=out, width=1_000))
    assert last == figures(b)
    assert [line[:17] for line in out.getvalue().splitlines()] == [
        "  0 s  a: records",
        "  0 s  b: records",
        " 10 s  b: records",
    ]


def words(svg: str) -> str:
    """What a reader of the picture sees, with single blanks."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314  our own
    return " ".join(" ".join(word for text in texts for word in text.itertext()).split())


def test_the_picture_shows_the_last_table_and_the_slow_step() -> None:
    text = "Slowest step: sink, 2.6 s of 4.2 s (62 %)"
    headline = slowest("sink", 2_600.0, 4_200.0, text)
    shown = figures(
        query("demo", node("source"), node("sink", p50=1_500.0, max=1_234_567.0), headline=headline)
    )
    rule = "─" * 68
    assert words(picture(shown)) == (
        "sparklatency demo demo · 1,234 batches · latency in ms over the window, records since the start "
        f"node records min avg p50 p90 p99 max {rule} "
        "source 12,000 3 1,017.3 612 2,007 3,007 3,019 "
        "sink 12,000 3 1,017.3 1,500 2,007 3,007 1,234,567 "
        f"{text}"
    )


def test_the_demo_ends_by_itself_and_names_the_slow_node(demo: subprocess.Popen[str], tmp_path: Path) -> None:
    out, err = demo.communicate(timeout=4 * PATIENCE_SECONDS)
    assert demo.returncode == 0, out + err
    assert re.search(r"^Spark UI: http://127\.0\.0\.1:\d+$", out, re.MULTILINE)
    assert re.search(r"^JMX: +jconsole \d+,", out, re.MULTILINE)
    assert re.search(r"^ *\d+ s  source: records [\d,]+  min ", out, re.MULTILINE)
    said = r"Slowest step: sink, [\d.]+ s of [\d.]+ s \(\d+ %\)\. "
    # How the rows of a burst fall to the two partitions is chance.
    advice = (
        r"(Make that faster, or give it more cores|(Partition|All its records) .+ More cores do not help)\.$"
    )
    assert re.match(said + advice, out.splitlines()[-1])
    assert "WARN" not in err.replace("WARNING: Using incubator modules", "")
    assert "ERROR" not in err
    assert [left.name for left in tmp_path.iterdir()] == ["demo.svg"]
    assert "Slowest step: sink, " in words(tmp_path.joinpath("demo.svg").read_text(encoding="utf-8"))


def test_an_interrupt_ends_the_demo_in_good_order(demo: subprocess.Popen[str]) -> None:
    assert demo.stdout is not None
    for line in demo.stdout:
        if "source: records" in line:
            break
    os.killpg(demo.pid, signal.SIGINT)
    _, err = demo.communicate(timeout=4 * PATIENCE_SECONDS)
    assert demo.returncode == 130
    assert "Traceback" not in err
    assert "ERROR" not in err
