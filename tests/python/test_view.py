"""How figures look as text and as HTML: names, lines and what is said."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from fabricated import (
    NEVER,
    TOOK_LONGEST,
    UNKNOWN,
    figures,
    node,
    node_times,
    note,
    operators,
    query,
    stage,
    unknown,
)
from sparklatency import words
from sparklatency.rendering import commands, layout
from sparklatency.rendering.queries import line, tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

pytestmark = pytest.mark.one_line


def test_a_notebook_or_prompt_shows_what_print_shows() -> None:
    shown = figures(query("orders", node("source")))
    assert repr(shown) == str(shown)


def test_a_query_that_no_record_has_reached_is_not_said_to_lack_timestamps() -> None:
    said = note("no-record", "info", "No record has come yet.")
    shown = str(figures(query("orders", unknown("source", records=0), notes=[said])))
    assert "No record has come yet." in shown
    assert "with a timestamp" not in shown.split("No record has come yet.")[1]


def test_what_the_headline_says_is_not_said_again() -> None:
    said = f"Batch 7: {TOOK_LONGEST}"
    headline = {**UNKNOWN, "text": said}
    for shown in (
        str(figures(query("orders", unknown("source"), headline=headline, operators=operators()))),
        figures(query("orders", unknown("source"), headline=headline, operators=operators()))._repr_html_(),
    ):
        assert shown.count(said) == 1


def test_a_note_that_the_headline_says_is_not_said_again() -> None:
    said = "An error ended this run: Stage 3 failed."
    failed = query(
        "orders",
        unknown("source"),
        status="FAILED",
        headline={**UNKNOWN, "code": "failed", "text": said},
        notes=[note("failed", "wrong", said), note("no-record", "info", "No record has come yet.")],
    )
    shown = figures(failed)
    for text in (str(shown), shown._repr_html_()):
        assert text.count(said) == 1
        assert "No record has come yet." in text
    assert [one.code for one in shown.notes] == ["failed", "no-record"]


def test_where_no_record_has_an_age_it_is_said_what_markers_took() -> None:
    text = "Latency markers take 3.6 s from read to the commit, on average."
    markers: dict[str, object] = {
        **dict.fromkeys(("interval", "marked")),
        "granularity": "operator",
        "count": 3,
        "folded": 0,
        "text": text,
        "of": [],
    }
    nothing = {**NEVER, "records": 9}
    assert text in str(figures(query("orders", unknown("read", batch=nothing), markers=markers)))
    assert text not in str(figures(query("orders", node("read"), markers=markers)))


def test_html_escapes_names_and_ids() -> None:
    html = figures(query("<script>q</script>", node("<script>n</script>")))._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;q" in html
    assert "&lt;script&gt;n" in html


@pytest.mark.parametrize(
    ("id_", "shown"),
    [
        ("x" * 48, "x" * 48),
        ("a" * 24 + "z" * 25, "a" * 24 + "…" + "z" * 23),
        ("a" * 128 + "\n" * 128, "a" * 25 + "…" + r"\n" * 11),
        ("宽" * 25, "宽" * 12 + "…" + "宽" * 11),
        (r"C:\new", r"C:\new"),
        ("naïve 宽 🙂", "naïve 宽 🙂"),
    ],
)
def test_an_id_takes_no_more_than_48_columns_of_one_line(id_: str, shown: str) -> None:
    assert words.name(id_) == shown


def test_a_plain_line_stays_one_line() -> None:
    broken, silent = figures(query("q", node("a\nb", max=7.0), unknown(f"c\n{'d' * 99}"))).nodes
    assert line(broken).startswith(r"a\nb: records 12,000  min 3  ")
    assert line(silent) == rf"c\n{'d' * 21}…{'d' * 23}: records 12,000  latency unknown"


def test_in_a_narrow_terminal_ids_give_way_to_figures() -> None:
    ids = ["joined with the customers, first", "joined with the customers, second"]
    shown = figures(query("q", *(node(id_) for id_ in ids)))
    _, headings, _, first, second, *_ = drawn([tables(shown.queries)], 80)
    assert headings.split() == ["node", "records", "min", "avg", "p50", "p90", "p99", "max"]
    assert first == "joined with …mers, first    12,000     3   1,017.3   612   2,007   3,007   3,019"
    assert second == "joined with …ers, second    12,000     3   1,017.3   612   2,007   3,007   3,019"


def drawn(what: Iterable[RenderableType], width: int) -> list[str]:
    """The lines of what is printed in a terminal of that many columns."""
    terminal = Console(file=io.StringIO(), width=width, force_terminal=False, force_jupyter=False)
    with terminal.capture() as captured:
        terminal.print(*what)
    return captured.get().splitlines()


def test_a_name_of_words_that_does_not_fit_is_broken_and_not_cut() -> None:
    sources = ["kafka[orders-eu]", "kafka[orders-us]"]
    row = ["event_time", "event-time", "holds back", "1,000", "2023-11-14 22:13:23.000", "2,000"]
    made = layout.table(
        ("source", "column", "kind", "", "delay", "watermark [UTC]", "lag"),
        [[one, *row] for one in sources],
        left=4,
    )
    cells = [line[:9].split()[0] for line in drawn([made], 80)[2:] if line[:9].strip()]
    assert "".join(cells) == "".join(sources)


def test_the_path_keeps_ids_and_whole_figures_in_a_narrow_terminal() -> None:
    times = [node_times(id_, latency=1_234_567.8, ewt=2_345_678.9) for id_ in ("read", "checked")]
    [query_] = figures(
        query("orders", *(node(id_) for id_ in ("read", "checked")), operators=operators(stage(*times)))
    ).queries
    lines = drawn([commands.path(query_)], 40)
    [of_node] = [line for line in lines if line.startswith("checked")]
    assert of_node.split()[:2] == ["checked", "1,234,567.8"]
    assert "Not shown, for the terminal is too narrow: executor, partition, ewt" in " ".join(
        " ".join(lines).split()
    )


def test_where_a_terminal_is_too_narrow_for_all_figures_whole_columns_go() -> None:
    old = {
        "p90": 3_610_815.0,
        "p95": 3_612_000.0,
        "p99": 3_612_811.0,
        "p999": 3_613_000.0,
        "max": 3_613_088.0,
    }
    [query_] = figures(query("orders", *(node(id_, **old) for id_ in ("read", "checked")))).queries

    _, headings, _, first, second, left_out, *_ = drawn([commands.operators(query_)], 80)
    assert headings.split() == ["node", "records", "own", "share", "p50", "p90", "p99", "max"]
    assert first.split() == [
        "read",
        "12,000",
        words.UNKNOWN,
        words.UNKNOWN,
        *["612", "3,610,815", "3,612,811", "3,613,088"],
    ]
    assert second.split()[0] == "checked"
    assert left_out == "Not shown, for the terminal is too narrow: p95, p99.9"
    wide = drawn([commands.operators(query_)], 120)
    assert "p99.9" in wide[1]
    assert not any("too narrow" in line for line in wide)


def test_a_run_that_an_error_ended_is_said_to_have_failed() -> None:
    ended = {
        status: figures(query("orders", node("sink"), status=status)) for status in ("FINISHED", "FAILED")
    }
    assert {status: of.queries[0].has_failed for status, of in ended.items()} == {
        "FINISHED": False,
        "FAILED": True,
    }
    assert "orders · 1,234 batches · failed · latency in ms over the window" in str(ended["FAILED"])
    assert "orders · 1,234 batches · finished · latency in ms over the window" in str(ended["FINISHED"])
