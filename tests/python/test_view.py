"""How figures look, in text and in HTML."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from sparklatency import _parse, render
from sparklatency.errors import NoFiguresError
from sparklatency.view import Latency

GOLDEN = Path(__file__).parent / "golden"


def node(name: str, **changed: Any) -> dict[str, Any]:
    known = {
        "min": 3.0,
        "avg": 1017.25,
        "p50": 612.0,
        "p90": 2007.0,
        "p95": 2079.0,
        "p99": 3007.0,
        "p999": 3023.0,
    }
    counts = {"records": 12_000, "withoutTimestamp": 0, "aheadOfClock": 0, "maxLead": None}
    batch = {"batch": {**known, "max": 3019.0, "records": 500}}
    measures = dict.fromkeys(("own", "share", "commit", "staleness", "lateness"))
    others: dict[str, Any] = {"upstream": [], "delays": {}, **measures}
    return {"node": name, **known, "max": 3019.0, **counts, **batch, **others, **changed}


NEVER = dict.fromkeys(("min", "avg", "p50", "p90", "p95", "p99", "p999", "max"))


def unknown(name: str, **changed: Any) -> dict[str, Any]:
    return node(name, **NEVER, **changed)


NO_SPLIT = dict.fromkeys(("queuing", "processing", "commit", "total"))


def query(name: str, *nodes: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {
        "query": name,
        "id": "4ad9f4b1-27b8-4e3c-9b0a-b9ea2bb4a0e2",
        "run": None,
        "status": "RUNNING",
        "batches": 1_234,
        "nodes": list(nodes),
        "folded": 0,
        "slowestStep": None,
        "criticalPath": [],
        "split": NO_SPLIT,
        "lastBatch": None,
        "oldestUncommitted": None,
        "silent": False,
        **changed,
    }


def figures(*queries: dict[str, Any]) -> Latency:
    return Latency(_parse.queries({"queries": queries}))


@pytest.mark.parametrize(
    ("golden", "shown"),
    [
        ("one_query", figures(query("orders", node("source"), node("sink", max=1_234_567.0)))),
        (
            "two_queries",
            figures(query("orders", node("source")), query("clicks", node("a much longer id"), batches=1)),
        ),
        ("unknown", figures(query("orders", node("source"), unknown("sink", records=0)))),
        (
            "remarks",
            figures(
                query(
                    "orders",
                    node("source", withoutTimestamp=1_500, aheadOfClock=3, maxLead=2_500.0, min=-2_500.0),
                    unknown("sink", withoutTimestamp=1, aheadOfClock=1),
                )
            ),
        ),
        (
            "slowest_step",
            figures(
                query(
                    "orders",
                    node("source", own=1017.25, share=0.178),
                    node("enrich", avg=5248.25, upstream=["source"], own=4231.0, share=0.742),
                    node("sink", avg=5702.25, upstream=["enrich"], own=454.0, share=0.08),
                    unknown("audit", records=0, upstream=["source"]),
                    slowestStep="enrich",
                    criticalPath=["source", "enrich", "sink"],
                )
            ),
        ),
        (
            "shrinking",
            figures(
                query(
                    "orders",
                    node("source", own=1017.25, share=0.4),
                    node("enrich", avg=2543.25, upstream=["source"], own=1526.0, share=0.6),
                    node("windows", upstream=["enrich"], own=-1526.0, share=0.0),
                    node("sink", upstream=["windows"], own=-0.25, share=0.0),
                    slowestStep="enrich",
                    criticalPath=["source", "enrich", "windows", "sink"],
                )
            ),
        ),
        (
            "silent",
            figures(
                query(
                    "orders",
                    unknown("source", own=1017.25, share=1.0),
                    unknown("sink", upstream=["source"], batch={**node("sink")["batch"], **NEVER}),
                    silent=True,
                )
            ),
        ),
        ("nothing", figures()),
        ("markup", figures(query("[red]q[/red]", node("[bold]<b>&[/bold]")))),
        (
            "long_names",
            figures(
                query(
                    "orders of the year by customer, region and <product>",
                    node("joined with the customers of the region, enriched"),
                    unknown('joined with the customers of the region, "deduplicated"', withoutTimestamp=1),
                )
            ),
        ),
        (
            "control_characters",
            figures(query("two\nlines", node("tab\there", aheadOfClock=1), node("\x1b[31mred\u2028\ud800"))),
        ),
    ],
)
@pytest.mark.parametrize("form", ["txt", "html"])
def test_golden(golden: str, shown: Latency, form: str) -> None:
    text = str(shown) if form == "txt" else shown._repr_html_()
    assert f"{text}\n" == (GOLDEN / f"{golden}.{form}").read_text(encoding="utf-8")


def test_a_notebook_or_prompt_shows_what_print_shows() -> None:
    shown = figures(query("orders", node("source")))
    assert repr(shown) == str(shown)


def test_a_query_that_no_record_has_reached_is_not_said_to_lack_timestamps() -> None:
    assert "no record has come yet" in str(figures(query("orders", unknown("source", records=0))))


def test_one_query_is_had_without_counting() -> None:
    orders, clicks = query("orders", node("source")), query("clicks", node("source"))
    assert figures(orders).query.query == "orders"
    with pytest.raises(NoFiguresError, match="No figures yet"):
        _ = figures().query
    with pytest.raises(ValueError, match=r"choose one of queries\[…\] \(orders, clicks\)"):
        _ = figures(orders, clicks).query


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
    assert render.name(id_) == shown


def test_a_plain_line_stays_one_line() -> None:
    broken, silent = figures(query("q", node("a\nb", max=7.0), unknown(f"c\n{'d' * 99}"))).nodes
    assert render.line(broken).startswith(r"a\nb: records 12,000  min 3  ")
    assert render.line(silent) == rf"c\n{'d' * 21}…{'d' * 23}: records 12,000  latency unknown"


def test_in_a_narrow_terminal_ids_give_way_to_figures() -> None:
    ids = ["joined with the customers, first", "joined with the customers, second"]
    shown = figures(query("q", *(node(id_) for id_ in ids)))
    terminal = Console(file=io.StringIO(), width=80, force_terminal=False, force_jupyter=False)
    with terminal.capture() as captured:
        terminal.print(render.tables(shown.queries))
    _, headings, _, first, second = captured.get().splitlines()
    assert headings.split() == ["node", "records", "min", "avg", "p50", "p90", "p99", "max"]
    assert first == "joined with …mers, first    12,000     3   1,017.2   612   2,007   3,007   3,019"
    assert second == "joined with …ers, second    12,000     3   1,017.2   612   2,007   3,007   3,019"


def test_latencies_are_whole_milliseconds_but_for_the_mean() -> None:
    source = figures(query("orders", node("source"))).nodes[0]
    assert (source.min, source.avg, source.p999, source.max) == (3, 1017.25, 3023, 3019)
    assert isinstance(source.p50, int)


def test_nodes_are_found_by_place_and_by_id() -> None:
    nodes = figures(query("orders", node("source"), unknown("sink"))).nodes
    assert nodes[1] is nodes["sink"]
    assert nodes["sink"].max is None
    assert [n.node for n in nodes] == ["source", "sink"]
    assert [n.node for n in nodes[1:]] == ["sink"]


def test_a_node_that_is_not_there_is_named_with_those_that_are() -> None:
    nodes = figures(query("orders", node("source"), node("sink"))).nodes
    with pytest.raises(KeyError, match="there is no node 'snik'; nodes: source, sink"):
        nodes["snik"]


def test_a_node_can_be_asked_for_before_it_is_there() -> None:
    source, sink = nodes = figures(query("orders", node("source"), node("sink"))).nodes
    assert "sink" in nodes
    assert sink in nodes
    assert "snik" not in nodes
    assert 0 not in nodes
    assert nodes.get("sink") is nodes.get(1) is nodes.get(-1, source) is sink
    assert nodes.get("snik") is nodes.get(2) is nodes.get(-3) is None
    assert nodes.get("snik", source) is nodes.get(2, source) is source
    assert figures().nodes.get("sink", "none yet") == "none yet"


def test_an_id_that_two_queries_have_is_not_guessed() -> None:
    both = figures(query("orders", node("source")), query("clicks", node("source")))
    with pytest.raises(KeyError, match="2 queries have a node 'source'"):
        both.nodes["source"]
    with pytest.raises(KeyError, match="2 queries have a node 'source'"):
        both.nodes.get("source", None)
    assert "source" in both.nodes
    assert both.queries[1].nodes["source"].records == 12_000


def test_what_was_dropped_late_and_what_was_folded_is_said_below_the_table() -> None:
    late = {
        "records": 7,
        "min": 3.0,
        "avg": 4.5,
        **dict.fromkeys(("p50", "p90", "p95", "p99", "max"), 21_000.0),
    }
    shown = str(figures(query("orders", node("aggregate-1", lateness=late), folded=1_200)))
    assert "aggregate-1: 7 dropped late, up to 21,000 ms behind the watermark" in shown
    assert "nodes and tasks folded into __other__: 1,200" in shown
    assert "dropped" not in str(
        figures(query("orders", node("aggregate-1", lateness={**late, "records": 0})))
    )


def test_an_absurd_event_time_is_shown_as_the_last_there_is() -> None:
    in_seconds_what_was_milliseconds = 1_700_000_000_000_000
    batch: dict[str, Any] = {
        **dict.fromkeys(("batch", "start", "committed", "inputRows", "droppedLate"), 0),
        "watermark": in_seconds_what_was_milliseconds,
        "watermarkLag": -in_seconds_what_was_milliseconds,
        "watermarks": [],
        "durations": {},
        "slowestStep": None,
        "criticalPath": [],
        "split": NO_SPLIT,
        "nodes": [],
    }
    last = figures(query("orders", node("sink"), lastBatch=batch)).queries[0].last_batch
    assert last is not None
    assert last.watermark is not None
    assert (last.watermark.year, last.watermark_lag) == (9999, -in_seconds_what_was_milliseconds)


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


def test_the_oldest_record_that_waits_for_its_commit_is_told_while_there_is_one() -> None:
    waiting = figures(query("orders", node("sink"), oldestUncommitted=60_300))
    assert waiting.queries[0].oldest_uncommitted == 60_300
    assert "oldest record that waits for its commit: 60,300 ms" in str(waiting)
    assert "waits" not in str(figures(query("orders", node("sink"))))


def test_a_node_tells_its_way_and_what_it_took() -> None:
    window = {"sameRecords": False, "min": 1.0, "avg": 2.5, "p50": 2.0, "p99": None, "max": -3.0}
    delays = {"source": {"window": window, "batch": {**window, "sameRecords": True}}}
    sink = figures(
        query("orders", node("source"), node("sink", upstream=["source"], delays=delays, staleness=None))
    ).nodes["sink"]
    assert sink.upstream == ("source",)
    assert (sink.delays["source"].window.avg, sink.delays["source"].window.p99) == (2.5, None)
    assert not sink.delays["source"].window.same_records
    assert sink.delays["source"].batch.same_records
    assert (sink.batch.records, sink.batch.max) == (500, 3019)
    assert (sink.staleness, sink.lateness) == (None, None)
