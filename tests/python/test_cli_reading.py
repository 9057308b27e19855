"""What the commands that read a UI print."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from fabricated import (
    NEVER,
    NO_PROGRESS,
    TOOK_LONGEST,
    node,
    node_times,
    note,
    operators,
    query,
    stage,
    unknown,
)
from orders import ORDERS, sparklatency, statistics
from sparklatency.cli import main
from sparklatency.cli._options import print_json

if TYPE_CHECKING:
    from click.testing import Result

    from ui import UI

pytestmark = pytest.mark.one_line

GOLDEN = Path(__file__).parent / "golden"
NOT_APART = "– operator latency unknown: no batch tells it from the rest of its stage"  # noqa: RUF001


def shown(printed: Result) -> list[list[str]]:
    assert printed.exit_code == 0, printed.output
    return [line.split() for line in printed.stdout.splitlines()]


@pytest.mark.parametrize("charset", ["ascii", "iso-8859-1", "cp1252"])
def test_what_the_locale_has_no_character_for_is_a_question_mark(ui: UI, charset: str) -> None:
    ui.queries = [query("宽", unknown("sink"))]
    runner = CliRunner(charset=charset, env={"SPARKLATENCY_URL": ui.url})
    for command in ("top", "operators", "info", "path", "watermarks", "check"):
        printed = runner.invoke(main, [command])
        assert printed.exit_code == 0, printed.exception
        assert "?" in printed.stdout
    printed = runner.invoke(main, ["info", "--json"])
    assert json.loads(printed.stdout)["query"] == "宽"


def test_json_goes_to_what_has_no_charset_too() -> None:
    with redirect_stdout(io.StringIO()) as printed:
        print_json({"node": "naïve"})
    assert json.loads(printed.getvalue()) == {"node": "naïve"}


def test_operators_shows_own_time_share_and_percentiles(ui: UI) -> None:
    ui.queries = [ORDERS]
    _, headings, _, source, sink, step, work, path, *latencies = shown(sparklatency(ui, "operators"))
    assert headings == ["node", "records", "own", "share", "p50", "p90", "p95", "p99", "p99.9", "max"]
    assert source[:5] == ["source", "12,000", "1,017.3", "20", "%"]
    assert sink[:6] == ["sink", "12,000", "4,182.8", "80", "%", "612"]
    assert " ".join(step) == "Slowest step: sink, 4.2 s of 5.2 s (80 %)"
    assert " ".join(work) == f"Batch 1,233: {TOOK_LONGEST}"
    assert " ".join(path) == "Critical path: source → sink"
    assert [line for line in latencies if line][1:] == [
        ["node", "latency", "MA"],
        ["─" * 24],
        ["source", "0.0", "0.0"],
        ["sink", "1,029.0", "912.4"],
    ]


def test_operators_says_why_an_operator_latency_is_unknown(ui: UI) -> None:
    apart = {"latency": None, "latencyMA": None}
    told = operators(stage(node_times("sink")), steps=[])
    ui.queries = [query("orders", node("sink", operator=apart), operators=told)]
    *_, sink, legend = shown(sparklatency(ui, "operators"))
    assert sink == ["sink", "–", "–"]  # noqa: RUF001
    assert " ".join(legend) == NOT_APART
    ui.queries = [query("orders", node("sink", operator=apart))]
    assert NOT_APART not in sparklatency(ui, "operators").stdout


def test_operators_shows_what_a_batch_in_progress_did_so_far(ui: UI) -> None:
    now = operators(stage(node_times("source"), node_times("sink", latency=5_100.5)), batch=8, of="so-far")
    known = {"latency": 12.5, "latencyMA": 11.0}
    ui.queries = [query("orders", node("source"), node("sink", operator=known), operatorsSoFar=now)]
    *_, caption, headings, _, source, sink = shown(sparklatency(ui, "operators"))[:-1]
    assert " ".join(caption).endswith("and over the last ten, and in batch 8 so far")
    assert headings == ["node", "latency", "MA", "so", "far"]
    assert source == ["source", "–", "–", "0.0"]  # noqa: RUF001
    assert sink == ["sink", "12.5", "11.0", "5,100.5"]


def test_path_shows_a_batch_in_progress_beside_the_last(ui: UI) -> None:
    now = operators(
        stage(node_times("sink", latency=5_100.5)), batch=8, of="so-far", text="Batch 8 so far: so."
    )
    ui.queries = [query("orders", node("sink"), operatorsSoFar=now)]
    printed = sparklatency(ui, "path").stdout
    assert "orders · 1,234 batches · application latency 1,053.3 ms\nBatch 8 so far: so.\n" in printed
    assert "5,100.5" in printed
    ui.queries = [query("orders", node("sink"), operators=operators(), operatorsSoFar=now)]
    both = sparklatency(ui, "path").stdout
    assert both.count("orders · 1,234 batches · application latency 1,053.3 ms\nBatch ") == 2
    assert both.index("\nBatch 7: ") < both.index("\nBatch 8 so far: ")
    told = json.loads(sparklatency(ui, "path", "--json").stdout)
    assert (told["operators"]["batch"], told["operatorsSoFar"]["batch"]) == (7, 8)


def test_what_headline_and_note_say_is_said_once_and_by_path_too(ui: UI) -> None:
    said = "Batch 7 has run for 3 min, where one usually takes 2 s: Processing new data"
    headline = {**ORDERS["headline"], "code": "stalled", "text": said}
    ui.queries = [{**ORDERS, "headline": headline, "notes": [note("stalled", "wrong", said)]}]
    for command in ("top", "info", "operators", "path"):
        assert sparklatency(ui, command).stdout.count(said) == 1


def test_path_shows_a_window_where_no_batch_ends(ui: UI) -> None:
    words = "The last second: the operators before sink took longest: …"
    told = operators(stage(node_times("sink", ewt=None)), of="window", batch=42, text=words)
    ui.queries = [query("orders", node("sink"), operators=told)]
    assert f"· application latency 1,053.3 ms\n{words}\n" in sparklatency(ui, "path").stdout
    assert "in the last window of a second that tells it" in sparklatency(ui, "operators").stdout


def test_path_shows_the_steps_and_what_each_node_took(ui: UI) -> None:
    ui.queries = [ORDERS]
    printed = sparklatency(ui, "path")
    assert printed.exit_code == 0, printed.output
    text = "".join(f"{line.rstrip()}\n" for line in printed.stdout.splitlines())
    assert text == (GOLDEN / "path.txt").read_text(encoding="utf-8")


def test_path_of_a_batch_in_which_all_can_be_told_needs_no_legend(ui: UI) -> None:
    ui.queries = [query("orders", node("sink"), operators=operators(stage(node_times("sink")), steps=[]))]
    caption, work, _, nodes, headings, _, sink = shown(sparklatency(ui, "path"))
    assert " ".join(caption) == "orders · 1,234 batches · application latency 1,053.3 ms"
    assert " ".join(work) == f"Batch 7: {TOOK_LONGEST}"
    assert nodes[:5] == ["operator", "latency", "of", "the", "nodes,"]
    assert headings == ["node", "operator", "share", "without", "ewt", "partition", "executor"]
    assert sink == ["sink", "0.0", "0", "%", "1,053.3", "49.0", "0", "driver"]


def test_path_says_that_no_batch_tells_it(ui: UI) -> None:
    ui.queries = [query("orders", node("sink"))]
    assert sparklatency(ui, "path").stdout == (
        "orders · 1,234 batches\nNo batch with records has told which operators were at work.\n"
    )
    told = json.loads(sparklatency(ui, "path", "--json").stdout)
    assert told == {"query": "orders", "operators": None, "operatorsSoFar": None}


def test_the_sample_of_apex_is_shown_and_its_figures_are_numbers(ui: UI) -> None:
    """Apex B8: its ``get-app-info`` and ``list-operators`` have the figures as strings."""
    way = ["1", "2", "18", "22", "24", "23"]
    nodes = [
        node(name, operator={"latency": 9, "latencyMA": 233 if name == "7" else 10}) for name in [*way, "7"]
    ]
    text = "Batch 7: the operators before 22 took longest: 90 ms of 180 ms (50 %)."
    told = operators(stage(node_times("22")), latency=180, criticalPath=way, text=text)
    ui.queries = [query("orders", *nodes, operators=told, criticalPath=way)]
    info = sparklatency(ui, "info").stdout
    assert f"Critical path: {' → '.join(way)}" in info
    assert text in info
    assert "application latency 180.0 ms" in sparklatency(ui, "path").stdout
    assert ["7", "9.0", "233.0"] in shown(sparklatency(ui, "operators"))
    path = json.loads(sparklatency(ui, "path", "--json").stdout)["operators"]
    assert (path["latency"], path["criticalPath"]) == (180, way)
    assert json.loads(sparklatency(ui, "operators", "--json").stdout)[-1]["operator"] == {
        "latency": 9,
        "latencyMA": 233,
    }


def test_operators_shows_how_old_records_are_that_stateful_operators_take_in(ui: UI) -> None:
    intake = {"min": 3, "avg": 4.5, "max": 21_000}
    known = {"operator": {"latency": 0.0, "latencyMA": 0.0}}
    ui.queries = [query("orders", node("source", **known), node("sink", staleness=intake, **known))]
    *_, heading, headings, _, row = shown(sparklatency(ui, "operators"))
    assert " ".join(heading).startswith("staleness: age when a stateful operator took a record in")
    assert headings == ["node", "min", "avg", "max"]
    assert row == ["sink", "3", "4.5", "21,000"]
    ui.queries = [query("orders", node("sink", staleness=dict.fromkeys(intake)))]
    *_, row, legend = shown(sparklatency(ui, "operators"))
    assert row == ["sink", "–", "–", "–"]  # noqa: RUF001
    assert " ".join(legend).endswith("no record with a timestamp was taken in within the window")


def test_info_splits_the_latency_and_tells_of_the_last_batch(ui: UI) -> None:
    ui.queries = [ORDERS]
    rows = {row[0]: row[1:] for row in shown(sparklatency(ui, "info", "--query", "orders")) if row}
    assert rows["queuing"] == ["3", "1,017.3", "1,017", "1,017", "3,019"]
    assert rows["processing"] == ["4,182.8"] * 5
    assert rows["commit"] == ["–"] * 5  # noqa: RUF001
    assert " ".join(rows["Slowest"]) == "step: sink, 4.2 s of 5.2 s (80 %)"
    assert " ".join(rows["Batch"]) == f"1,233: {TOOK_LONGEST}"
    assert rows["Critical"] == ["path:", "source", "→", "sink"]
    assert rows["orders"][3:] == ["·", "latency", "in", "ms"]
    assert " ".join(rows["Last"]) == (
        "batch: 1233, 500 rows, committed 2023-11-14 22:13:25.000 UTC, ms: addBatch 4,000, walCommit 80"
    )


def test_info_says_of_each_dash_what_it_means(ui: UI) -> None:
    """Of records that are not the same only the means are compared."""
    means = statistics(4_182.75, **dict.fromkeys(("min", "p50", "p99", "max")), sameRecords=False)
    known = {"queuing": statistics(1_017.25), "processing": means, "total": statistics(5_300.0)}
    ui.queries = [{**ORDERS, "split": {**known, "commit": statistics(100.0, sameRecords=True)}}]
    rows = shown(sparklatency(ui, "info"))
    assert ["processing", "–", "4,182.8", "–", "–", "–"] in rows  # noqa: RUF001
    legends = [" ".join(row) for row in rows if row[:1] == ["–"]]  # noqa: RUF001
    assert legends == ["– not compared: more or fewer records came out than went in"]  # noqa: RUF001
    ui.queries = [{**ORDERS, "split": {**known, "commit": None}}]
    legends = [" ".join(row) for row in shown(sparklatency(ui, "info")) if row[:1] == ["–"]]  # noqa: RUF001
    assert legends == [
        "– unknown: nothing that was measured tells it",  # noqa: RUF001
        "– not compared: more or fewer records came out than went in",  # noqa: RUF001
    ]


@pytest.mark.parametrize(
    ("of_sink", "legends"),
    [
        ({"own": 4.5, "share": 0.5}, []),
        (
            {"own": None, "share": None},
            ["– no own time: the node before has no age, or one by another timestamp"],  # noqa: RUF001
        ),
        (
            {"own": 4.5, "share": None},
            ["– no share: there is no age at the end to be a part of"],  # noqa: RUF001
        ),
        (
            {"own": None, "share": None, **NEVER},
            ["– unknown: no record to tell by"],  # noqa: RUF001
        ),
    ],
)
def test_operators_says_of_each_dash_what_it_means(
    ui: UI, of_sink: dict[str, Any], legends: list[str]
) -> None:
    ui.queries = [query("orders", node("source", own=1.0, share=0.5), node("sink", **of_sink))]
    rows = shown(sparklatency(ui, "operators"))
    assert [" ".join(row) for row in rows if row[:1] == ["–"]] == legends  # noqa: RUF001


def test_what_there_is_none_of_is_said_in_words(ui: UI) -> None:
    ui.queries = [query("orders", node("source"))]
    printed = sparklatency(ui, "info").stdout
    assert "Critical path: none is known\nLast batch: none is known\n" in printed


def test_what_was_known_last_is_shown_in_silence(ui: UI) -> None:
    last = unknown("source", own=1_017.25, share=1.0, operator={"latency": 0.0, "latencyMA": 0.0})
    ui.queries = [query("orders", last, silent=True)]
    for command, figure in (("top", "1,017.3"), ("operators", "3,023")):
        printed = sparklatency(ui, command).stdout
        assert "orders · 1,234 batches · latency in ms of each node's last batch, records since" in printed
        assert figure in printed.split()
        assert "unknown" not in printed


BEHIND = "At the last commit the watermark was 2 s behind the clock."


def test_watermarks_shows_who_holds_back_and_what_came_too_late(ui: UI) -> None:
    ui.queries = [{**ORDERS, "watermarkText": BEHIND}]
    rows = shown(sparklatency(ui, "watermarks"))
    assert rows[3] == [
        "kafka[orders]",
        "ts",
        "event-time",
        "holds",
        "back",
        "1,000",
        "2023-11-14",
        "22:13:23.000",
        "2,000",
    ]
    assert rows[4] == ["kafka[idle]", "ts", "system-time", "500", "–", "–"]  # noqa: RUF001
    moment = "at the last commit, 2023-11-14 22:13:25.000 UTC"
    assert " ".join(rows[0]) == f"orders · 1,234 batches · in ms, {moment}"
    assert " ".join(rows[5]) == BEHIND
    assert " ".join(rows[6]) == "– the source had no watermark yet"  # noqa: RUF001
    assert " ".join(rows[8]) == "dropped late since the start · by how much, in ms over the window"
    assert rows[-1] == ["sink", "event-time", "7", "21,000", "21,000", "21,000"]
    ui.queries = [{**ORDERS, "lastBatch": {**ORDERS["lastBatch"], "watermarks": [], "watermarkLag": None}}]
    without = sparklatency(ui, "watermarks").stdout
    assert "The query has no watermark." in without
    assert "behind" not in without


DROPPED = (
    "Operators of the query have dropped 1,200 rows as late. Automatic stateful nodes, …, tell at which."
)


@pytest.mark.parametrize(
    ("rows", "told"),
    [(None, ""), (0, "Rows dropped late since the start: 0."), (1200, DROPPED)],
)
def test_watermarks_says_what_spark_counts_where_no_node_does(ui: UI, rows: int | None, told: str) -> None:
    notes = [note("rows-dropped-late", "info", DROPPED)] if rows else []
    counted = {**NO_PROGRESS, "droppedLate": rows}
    ui.queries = [query("orders", node("totals"), progress=counted, notes=notes)]
    *_, last = " ".join(sparklatency(ui, "watermarks").stdout.split()).partition("no watermark.")
    assert last.strip() == told


def test_watermarks_says_since_when_a_source_is_idle(ui: UI) -> None:
    batch = ORDERS["lastBatch"]
    idle = {**batch["watermarks"][0], "idleSince": 1_700_000_001_000, "holdsBack": False}
    ui.queries = [{**ORDERS, "lastBatch": {**batch, "watermarks": [idle]}}]
    row = shown(sparklatency(ui, "watermarks"))[3]
    assert " ".join(row[2:7]) == "event-time, idle since 2023-11-14 22:13:21.000"


def test_watermarks_says_why_it_is_unknown_how_late_records_were(ui: UI) -> None:
    before = dict.fromkeys(("min", "avg", "p50", "p90", "p95", "p99", "max"))
    ui.queries = [query("orders", unknown("sink", lateness={"records": 7, **before}))]
    *_, row, legend = shown(sparklatency(ui, "watermarks"))
    assert row == ["sink", "event-time", "7", "–", "–", "–"]  # noqa: RUF001
    assert " ".join(legend) == "– unknown: no dropped record had a usable timestamp within the window"  # noqa: RUF001


@pytest.mark.parametrize(
    ("command", "path", "value"),
    [
        ("top", ("queries", 0, "query"), "orders"),
        ("operators", (1, "own"), 4_182.75),
        ("operators", (1, "operator", "latencyMA"), 912.4),
        ("path", ("operators", "batch"), 1_233),
        ("path", ("operators", "stages", 0, "nodes", 3, "ewt"), 1_052.5),
        ("info", ("split", "queuing", "max"), 3_019.0),
        ("watermarks", ("watermarks", 0, "holdsBack"), True),
        ("watermarks", ("late", 0, "records"), 7),
        ("watermarks", ("late", 0, "kind"), "event-time"),
    ],
)
def test_json_has_the_names_of_rest(ui: UI, command: str, path: tuple[Any, ...], value: Any) -> None:
    ui.queries = [ORDERS]
    found = json.loads(sparklatency(ui, command, "--json").stdout)
    for key in path:
        found = found[key]
    assert found == value
