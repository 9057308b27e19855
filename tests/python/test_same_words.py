"""One document, and every surface that Python has: each shows the same words of the JVM."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from pyspark.sql import functions as F  # noqa: N812

from fabricated import NO_PARTS, NO_PROGRESS, figures, node, note, operators, part, progress, query, slowest
from sparklatency import latency, with_e2e_latency, with_system_time_watermark
from sparklatency.cli import main
from sparklatency.demo import summary
from sparklatency.words import milliseconds
from support import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from sparklatency.values.batches import Batch
    from ui import UI

pytestmark = pytest.mark.one_line

HEADLINE = "Slowest step: [b]sink</b>, 2.6 s of 4.2 s (62 %)"
PROGRESS = (
    "Batch 8 has run for 2.6 s: [b]Processing</b> new data, 0 of 1 task done. "
    "The last commit was 2.7 s ago; usually there is one every 3.8 s."
)
PARTS = "source queuing 1.2 s, processing 3.0 s, commit 40 ms: 4.2 s on average in the last batch"
WORK = (
    "Batch 7: the operators before [b]sink</b> took longest: 2 s of 3 s (67 %) from the first read to the "
    "last write."
)
NOTES = [
    "An error ended this run.",
    "The nodes' own times add up to 4 s, and records are 3.1 s old at the end: those that "
    "leave [b]sink</b> are younger on average than those that come to it.",
    "No record with a timestamp came within the last 1 min: each node shows its last batch.",
    "source & more: 12 of 40 records have no timestamp and are not measured.",
    "The query is shown by its id: it has no name, or another running query has the same. "
    "Name it by .queryName(…) to find it again.",
]
DOCUMENT = query(
    "orders",
    node("source & more", own=1_600.0, share=0.38),
    node("[b]sink</b>", own=2_600.0, share=0.62),
    headline=slowest("[b]sink</b>", 2_600.0, 4_200.0, HEADLINE),
    progress=progress(PROGRESS),
    parts={
        "whole": 4_240.0,
        "text": PARTS,
        "of": [part(["source queuing", "processing"], 4_240.0, 1.0, "source queuing and processing 4.2 s")],
    },
    operators=operators(text=WORK),
    notes=[note(f"code-{place}", level, text) for place, (level, text) in enumerate(
        zip(["wrong", "info", "info", "warn", "warn"], NOTES, strict=True)
    )],
)  # fmt: skip


def of_a_notebook(_: UI, document: dict[str, Any]) -> str:
    return html.unescape(figures(document)._repr_html_().replace("<div>", "\n").replace("</div>", "\n"))


def of_print(_: UI, document: dict[str, Any]) -> str:
    return str(figures(document))


def of_the_ui(ui: UI, document: dict[str, Any]) -> str:
    ui.queries = [document]
    return repr(latency("orders", url=ui.url))


def of_the_demo(_: UI, document: dict[str, Any]) -> str:
    return summary(figures(document))


def of_the_command(name: str) -> Callable[[UI, dict[str, Any]], str]:
    def printed(ui: UI, document: dict[str, Any]) -> str:
        ui.queries = [document]
        done = CliRunner().invoke(main, [name, "--url", ui.url])
        assert done.exit_code == 0, done.output
        return done.stdout

    return printed


each_surface = pytest.mark.parametrize(
    "surface",
    [
        pytest.param(of_a_notebook, id="a notebook"),
        pytest.param(of_print, id="print"),
        pytest.param(of_the_ui, id="latency(q)"),
        pytest.param(of_the_demo, id="demo"),
        *(pytest.param(of_the_command(name), id=name) for name in ("top", "operators", "info")),
    ],
)


@each_surface
def test_the_same_words_stand_in(ui: UI, surface: Callable[[UI, dict[str, Any]], str]) -> None:
    said = [HEADLINE, PARTS, WORK, PROGRESS, *NOTES]
    lines = [line.strip() for line in surface(ui, DOCUMENT).splitlines()]
    assert [line for line in lines if line in said][: len(said)] == said


@each_surface
def test_what_is_not_known_takes_no_line_in(ui: UI, surface: Callable[[UI, dict[str, Any]], str]) -> None:
    shown = surface(ui, {**DOCUMENT, "progress": NO_PROGRESS, "parts": NO_PARTS, "operators": None})
    assert HEADLINE in shown
    assert "The last commit was" not in shown
    assert "on average in the last batch" not in shown
    assert "took longest" not in shown
    assert "None" not in shown


@pytest.mark.parametrize(
    ("mean", "shown"),
    [(1.25, "1.3"), (0.15, "0.2"), (1234.56, "1,234.6"), (-0.01, "0.0"), (-1.25, "-1.2"), (-2.0, "-2.0")],
)
def test_a_mean_is_rounded_as_the_tab_rounds_it(mean: float, shown: str) -> None:
    assert milliseconds(mean) == shown  # as `Readable.milliseconds`


def test_the_demo_ends_with_the_headline() -> None:
    assert summary(figures(DOCUMENT)).splitlines()[-1] == HEADLINE


def test_check_passes_on_what_is_wrong(ui: UI) -> None:
    ui.queries = [DOCUMENT]
    done = CliRunner().invoke(main, ["check", "--url", ui.url])
    assert done.exit_code == 3
    found = [line.rstrip().split(maxsplit=2) for line in done.stdout.splitlines() if "code-" in line]
    assert found == [
        ["wrong", "code-0", f"orders: {NOTES[0]}"],
        ["warn", "code-3", f"orders: {NOTES[3]}"],
        ["warn", "code-4", f"orders: {NOTES[4]}"],
    ]


def test_sql_and_the_terminal_and_python_say_the_same_of_each_watermark(
    spark: SparkSession, url: str
) -> None:
    rate = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
    by_events = with_e2e_latency(rate, "source", "timestamp").withWatermark("timestamp", "2 seconds")
    by_clock = with_system_time_watermark(rate.withColumnRenamed("timestamp", "at"), "at", "3 seconds")
    both = by_events.union(by_clock).groupBy(F.window("timestamp", "1 second")).count()
    stream = both.writeStream.queryName("same_watermarks").outputMode("update").format("noop").start()

    def batch() -> Batch | None:
        found = latency(stream).query.last_batch
        return found if found and all(one.watermark for one in found.watermarks) else None

    try:
        eventually(batch)
    finally:
        stream.stop()
    # What comes late would be in what is read last, and not in what is read first.
    eventually(lambda: latency(stream).query.status == "FINISHED" or None)
    last = latency("same_watermarks").query.last_batch
    assert last is not None
    in_python = [
        {
            "source": one.source,
            "column": one.column,
            "kind": one.kind,
            "delay": one.delay,
            "watermark": one.watermark and round(one.watermark.timestamp() * 1_000),
            "lag": one.lag,
            "holds_back": one.holds_back,
        }
        for one in last.watermarks
    ]
    assert [(one["source"], one["column"], one["kind"], one["delay"]) for one in in_python] == [
        ("rate", "timestamp", "event-time", 2_000),
        ("rate", "at", "system-time", 3_000),
    ]
    [row, *_] = spark.sql("SELECT watermarks FROM e2e_latency() WHERE query = 'same_watermarks'").collect()
    in_sql = [one.asDict() for one in row.watermarks]
    assert [{name: row[name] for name in in_python[0]} for row in in_sql] == in_python
    done = CliRunner().invoke(main, ["watermarks", "--query", "same_watermarks", "--url", url, "--json"])
    assert done.exit_code == 0, done.output
    in_terminal = json.loads(done.stdout)["watermarks"]
    assert [
        {**{name: row.get(name) for name in in_python[0]}, "holds_back": row["holdsBack"]}
        for row in in_terminal
    ] == in_python
