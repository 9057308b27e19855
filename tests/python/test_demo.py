"""The demo ends by itself, names the slow node by its figures, and can be interrupted."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from sparklatency.demo import picture, slow_step, summary
from support import PATIENCE_SECONDS
from test_view import figures, node, query, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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


def test_the_slow_step_is_where_the_median_grows_most() -> None:
    nodes = figures(
        query("q", node("a", p50=500.0), node("b", p50=400.0), node("c", p50=900.0), node("d", p50=950.0))
    )
    step = slow_step(nodes.nodes)
    assert step is not None
    assert [n.node for n in step] == ["b", "c"]


def test_a_node_without_figures_is_passed_over() -> None:
    nodes = figures(query("q", node("a", p50=1.0), unknown("b"), node("c", p50=9.0)))
    assert summary(nodes).endswith(
        "The slow node is c: on the way to it from a the median latency grows by 8 ms, from 1 to 9 ms."
    )


def test_what_waits_for_the_slow_step_is_told_from_it() -> None:
    shown = query(
        "q",
        node("a", p50=900.0, avg=950.0, own=950.0),
        node("b", p50=1_500.0, avg=1_600.0, own=650.0, upstream=["a"]),
        slowestStep="a",
        criticalPath=["a", "b"],
    )
    told = summary(figures(shown))
    assert told.endswith(
        "from 900 to 1,500 ms. Records that come in meanwhile wait for the next batch, and so are 950 ms old "
        "on average when they reach a."
    )
    assert "wait for" not in summary(figures({**shown, "slowestStep": "b"}))


def test_without_figures_no_step_is_called_slow() -> None:
    for shown in (figures(), figures(query("q", node("a"))), figures(query("q", unknown("a"), unknown("b")))):
        assert slow_step(shown.nodes) is None
        assert summary(shown).startswith("The figures of fewer than two nodes are known")


def words(svg: str) -> str:
    """What a reader of the picture sees, with single blanks."""
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314  our own
    return " ".join(" ".join(word for text in texts for word in text.itertext()).split())


def test_the_picture_shows_the_last_table_and_the_slow_step() -> None:
    shown = figures(query("demo", node("source"), node("sink", p50=1_500.0, max=1_234_567.0)))
    rule = "─" * 68
    assert words(picture(shown)) == (
        "sparklatency demo demo · 1,234 batches · latency in ms over the window, records since the start "
        f"node records min avg p50 p90 p99 max {rule} "
        "source 12,000 3 1,017.2 612 2,007 3,007 3,019 "
        "sink 12,000 3 1,017.2 1,500 2,007 3,007 1,234,567 "
        "The slow node is sink: on the way to it from source the median latency grows by 888 ms, "
        "from 612 to 1,500 ms."
    )


def test_it_ends_by_itself_and_names_the_slow_node(demo: subprocess.Popen[str], tmp_path: Path) -> None:
    out, err = demo.communicate(timeout=4 * PATIENCE_SECONDS)
    assert demo.returncode == 0, out + err
    assert re.search(r"^Spark UI: http://127\.0\.0\.1:\d+$", out, re.MULTILINE)
    assert re.search(r"^JMX: +jconsole \d+,", out, re.MULTILINE)
    assert re.search(r"^ *\d+ s  source: records [\d,]+  min ", out, re.MULTILINE)
    assert re.search(
        r"^The slow node is sink: on the way to it from windowed the median latency grows by", out, re.M
    )
    assert "WARN" not in err.replace("WARNING: Using incubator modules", "")
    assert "ERROR" not in err
    assert [left.name for left in tmp_path.iterdir()] == ["demo.svg"]
    assert "The slow node is sink" in words(tmp_path.joinpath("demo.svg").read_text(encoding="utf-8"))


def test_an_interrupt_ends_it_in_good_order(demo: subprocess.Popen[str]) -> None:
    assert demo.stdout is not None
    for line in demo.stdout:
        if "source: records" in line:
            break
    os.killpg(demo.pid, signal.SIGINT)
    _, err = demo.communicate(timeout=4 * PATIENCE_SECONDS)
    assert demo.returncode == 130
    assert "Traceback" not in err
    assert "ERROR" not in err
