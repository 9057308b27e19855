"""What `sparklatency top` prints, and how it ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from rich.console import Console
from rich.live import Live

from fabricated import earlier, node, query
from orders import ORDERS, sparklatency
from sparklatency.cli import main, reading
from sparklatency.rendering import terminal
from ui import APP

if TYPE_CHECKING:
    from collections.abc import Callable

    from ui import UI

pytestmark = pytest.mark.one_line


def test_top_shows_the_newest_run_of_every_query(ui: UI) -> None:
    ui.queries = [ORDERS, query("clicks", node("source"))]
    ui.earlier_runs = [earlier("orders", "d3d78cee-90f0-4f0d-b079-5b8b86986877")]
    printed = sparklatency(ui, "top", "--once").stdout
    assert [line for line in printed.splitlines() if "·" in line] == [
        "orders · 1,234 batches · latency in ms over the window, records since the start",
        "clicks · 1,234 batches · latency in ms over the window, records since the start",
    ]
    assert "Slowest step: sink, 4.2 s of 5.2 s (80 %)" in printed


def test_top_goes_on_until_ctrl_c_and_says_that_it_was_interrupted(
    ui: UI, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def interrupted(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(reading, "time", SimpleNamespace(sleep=interrupted))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(terminal, "console", lambda: Console(force_terminal=True, width=200))
    ui.queries = [ORDERS]
    printed = sparklatency(ui, "top", "--every", "100ms")
    assert (printed.exit_code, printed.stderr, waits) == (130, "", [0.1] * 3)
    assert [path.endswith("/latency") for path in ui.asked].count(True) == 3
    assert "Slowest step: sink" in printed.stdout
    assert "\x1b[?25h" in printed.stdout, "the cursor is shown again"


def watched(
    ui: UI, monkeypatch: pytest.MonkeyPatch, height: int, *turns: Callable[[], None]
) -> list[list[str]]:
    """The screens of `top`, after what happens between two looks; the last one is what it leaves."""
    screens: list[list[str]] = []
    happens = iter(turns)
    console = Console(force_terminal=True, width=80, height=height, color_system=None)

    class Watched(Live):
        def refresh(self) -> None:
            lines = console.render_lines(self.get_renderable(), pad=False)
            screens.append(["".join(segment.text for segment in line).rstrip() for line in lines])
            super().refresh()

    def sleep(_seconds: float) -> None:
        turn = next(happens, None)
        if turn is None:
            raise KeyboardInterrupt
        turn()

    monkeypatch.setattr(reading, "Live", Watched)
    monkeypatch.setattr(reading, "time", SimpleNamespace(sleep=sleep))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(terminal, "console", lambda: console)
    assert sparklatency(ui, "top").exit_code == 130
    return screens


def test_top_shows_of_every_query_what_the_screen_has_room_for(
    ui: UI, monkeypatch: pytest.MonkeyPatch
) -> None:
    ui.queries = [ORDERS, query("clicks", node("source"))]
    orders, clicks = "orders · 1,234 batches", "clicks · 1,234 batches"
    of_nodes = " · latency in ms over the window, records since the start"
    table = [
        "node     records   min       avg   p50     p90     p99     max",
        "─" * 62,
        "source    12,000     3   1,017.3   612   2,007   3,007   3,019",
    ]
    sink = "sink      12,000     3   5,200.0   612   2,007   3,007   3,019"
    step = "Slowest step: sink, 4.2 s of 5.2 s (80 %)"
    work = [
        "Batch 1,233: the operators before sink took longest: 1 s of 1.1 s (98 %) from",
        "the first read to the last write.",
    ]
    other = [
        "Records are 1.0 s old at source on average. Mark another node to see which step",
        "takes the time.",
    ]
    more = "… There is more than fits on this screen. Add --once to see it all."
    whole = [orders + of_nodes, *table, sink, step, *work, "", clicks + of_nodes, *table, *other]
    assert watched(ui, monkeypatch, 15) == [whole, whole]
    short = [orders + of_nodes, *table, sink, step, clicks + of_nodes, *table, *other, more]
    assert watched(ui, monkeypatch, 14) == [short, whole], "what it leaves may scroll"
    assert watched(ui, monkeypatch, 13)[0] == short
    assert watched(ui, monkeypatch, 12)[0] == [orders, step, clicks, *other, more]
    assert watched(ui, monkeypatch, 5)[0] == [orders, step, clicks, other[0], more]


def test_top_outlives_a_question_that_fails(ui: UI, monkeypatch: pytest.MonkeyPatch) -> None:
    """As while a driver collects garbage for long."""
    ui.queries = [ORDERS]

    def fail() -> None:
        ui.instead = {f"applications/{APP}/latency": (500, "out of memory")}

    def mend() -> None:
        ui.instead = {}

    def differ() -> None:
        ui.queries = [{**ORDERS, "headline": None}]

    figures, failed, again, other, left = watched(ui, monkeypatch, 24, fail, mend, differ)
    assert figures == again == left
    assert "Slowest step: sink, 4.2 s of 5.2 s (80 %)" in figures
    assert " ".join(failed) == f"{ui.url} answers 500 Internal Server Error: out of memory"
    assert " ".join(other).startswith("The figures hold what is never in them. Another version of")


@pytest.mark.parametrize("environment", [{"FORCE_COLOR": "1"}, {"TTY_COMPATIBLE": "1"}])
def test_top_looks_once_where_the_output_is_no_terminal(
    ui: UI, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    """Whatever a build server says of colours."""
    monkeypatch.setattr(reading, "time", None)
    ui.queries = [query("orders", node("n" * 48))]
    printed = CliRunner().invoke(main, ["top"], env={"SPARKLATENCY_URL": ui.url, **environment})
    assert printed.exit_code == 0, printed.output
    assert "n" * 48 in printed.stdout
    assert "\x1b" not in printed.stdout


def test_top_looks_once_where_a_terminal_cannot_be_drawn_on(ui: UI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(reading, "time", None)
    monkeypatch.setattr(terminal, "console", lambda: Console(force_terminal=True, width=200))
    ui.queries = [ORDERS]
    printed = sparklatency(ui, "top")
    assert printed.exit_code == 0, printed.exception
    assert "Slowest step: sink" in printed.stdout
