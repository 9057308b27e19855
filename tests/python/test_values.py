"""Figures as values: what they hold, how they are found, compared and copied."""

from __future__ import annotations

import copy
import pickle
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from fabricated import (
    BATCH,
    UNKNOWN,
    earlier,
    figures,
    node,
    note,
    operators,
    part,
    progress,
    query,
    slowest,
    stage,
    unknown,
)
from orders import ORDERS
from sparklatency.errors import NoFiguresError, SparkLatencyError
from sparklatency.values.answer import Headline, Note, Part, Parts
from sparklatency.values.frozen import FrozenMapping
from sparklatency.values.markers import MarkerLatency, MarkerStatistics

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparklatency.view import Latency

pytestmark = pytest.mark.one_line


def test_one_query_is_had_without_counting() -> None:
    orders, clicks = query("orders", node("source")), query("clicks", node("source"))
    assert figures(orders).query.query == "orders"
    with pytest.raises(NoFiguresError, match="No figures yet"):
        _ = figures().query
    with pytest.raises(ValueError, match=r"choose one of queries\[…\] \(orders, clicks\)"):
        _ = figures(orders, clicks).query


def with_mappings() -> Latency:
    """Figures that have all the mappings there are: of notes, of batches and of nodes."""
    window = {"sameRecords": True, **dict.fromkeys(("min", "avg", "p50", "p99", "max"), 1.5)}
    delays = {"source": {"window": window, "batch": window}}
    said = note("ahead-of-clock", "warn", "sink: 3 records …", node="sink", records=3)
    source, sink = ORDERS["nodes"]
    return figures({**ORDERS, "nodes": [source, {**sink, "delays": delays}], "notes": [said]})


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda of: pickle.loads(pickle.dumps(of))],  # noqa: S301  our own
    ids=["copy", "deepcopy", "pickle"],
)
def test_figures_can_be_copied_and_copies_are_equal(copied: Callable[[Latency], Latency]) -> None:
    shown = with_mappings()
    other = copied(shown)
    assert other == shown
    assert hash(other) == hash(shown)
    assert str(other) == str(shown)
    assert other.nodes["sink"].delays["source"].window.avg == 1.5


def test_figures_can_be_members_of_a_set_and_dicts() -> None:
    assert len({with_mappings(), with_mappings(), figures(ORDERS)}) == 2
    [of] = asdict(with_mappings())["queries"]
    assert of["notes"][0]["numbers"] == {"records": 3}
    assert of["last_batch"]["durations"] == ORDERS["lastBatch"]["durations"]


def test_a_mapping_of_figures_is_as_a_dict_that_does_not_change() -> None:
    given = {"addBatch": 4_000, "walCommit": 80}
    durations = FrozenMapping(given)
    assert durations == given == durations
    assert (repr(durations), list(durations.items())) == (repr(given), list(given.items()))
    given["addBatch"] = 0
    assert durations["addBatch"] == 4_000
    assert hash(durations) == hash(FrozenMapping({"walCommit": 80, "addBatch": 4_000}))
    assert durations != FrozenMapping(given)
    with pytest.raises(TypeError, match="does not support item assignment"):
        durations["addBatch"] = 0  # type: ignore[index]


def test_latencies_are_whole_milliseconds_but_for_the_mean() -> None:
    source = figures(query("orders", node("source"))).nodes[0]
    assert (source.min, source.avg, source.p999, source.max) == (3, 1017.25, 3023, 3019)
    assert isinstance(source.p50, int)


def test_a_mean_is_one_however_a_proxy_has_written_it() -> None:
    whole = {"whole": 5_000, "text": "…: 5 s", "of": [part(["commit"], 5, 1, "commit 5 s")]}
    known = node("sink", avg=5, own=5, operator={"latency": 9, "latencyMA": 10})
    shown = figures(query("orders", known, parts=whole, operators=operators(stage(), latency=180, bound=0)))
    [sink], work = shown.nodes, shown.operators
    assert work is not None
    means = [sink.avg, sink.own, sink.operator.latency, sink.operator.latency_ma, shown.parts.whole]
    means += [shown.parts.of[0].ms, work.latency, work.bound]
    assert means == [5, 5, 9, 10, 5_000, 5, 180, 0]
    assert [type(one) for one in means] == [float] * len(means)
    assert "5.0" in str(shown)


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


def test_an_absurd_event_time_is_shown_as_the_last_there_is() -> None:
    in_seconds_what_was_milliseconds = 1_700_000_000_000_000
    batch = {
        **BATCH,
        "watermark": in_seconds_what_was_milliseconds,
        "watermarkLag": -in_seconds_what_was_milliseconds,
    }
    last = figures(query("orders", node("sink"), lastBatch=batch)).queries[0].last_batch
    assert last is not None
    assert last.watermark is not None
    assert (last.watermark.year, last.watermark_lag) == (9999, -in_seconds_what_was_milliseconds)


def test_the_oldest_record_that_waits_for_its_commit_is_a_figure_of_the_query() -> None:
    assert figures(query("orders", node("sink"), oldestUncommitted=60_300)).query.oldest_uncommitted == 60_300
    assert figures(query("orders", node("sink"))).query.oldest_uncommitted is None


def test_what_is_said_of_a_query_comes_with_its_numbers() -> None:
    text = "Slowest step: sink, 2.6 s of 4.2 s (62 %)"
    commit = part(["processing", "commit"], 3_000.0, 0.75, "processing and commit 3.0 s")
    ahead = note("ahead-of-clock", "warn", "src: 12 records …", node="src", records=12, maxLeadMs=3)
    shown = figures(
        query(
            "orders",
            node("src"),
            node("sink"),
            headline={**slowest("sink", 2_600.0, 4_200.0, text), "share": 0.62},
            parts={"whole": 4_000.0, "text": "…: 4.0 s", "of": [commit]},
            notes=[ahead],
        )
    )
    assert shown.headline == Headline("slowest-step", "sink", 2_600.0, 4_200.0, 0.62, text)
    processing = Part(
        ("processing", "commit"), "processing+commit", (), 3_000.0, 0.75, "processing and commit 3.0 s"
    )
    assert shown.parts == Parts(4_000.0, "…: 4.0 s", (processing,))
    assert shown.notes == (
        Note("ahead-of-clock", "warn", "src", {"records": 12, "maxLeadMs": 3}, "src: 12 records …"),
    )
    assert shown.cause == shown.query.cause == "slowest-step"
    assert (shown.query.headline, shown.query.parts, shown.query.notes) == (
        shown.headline,
        shown.parts,
        shown.notes,
    )


def test_the_cause_is_the_word_of_the_headline_and_progress_and_status_say_how_the_run_goes() -> None:
    said = progress("The last commit was 212 ms ago.", sinceCommit=212, running=7)
    stalled = {**UNKNOWN, "code": "stalled", "text": "Batch 7 has run for 1 min"}
    shown = figures(query("orders", node("sink"), headline=stalled, progress=said))
    assert (shown.cause, shown.status) == ("stalled", "RUNNING")
    assert shown.progress.text == "The last commit was 212 ms ago."
    assert (shown.progress.since_commit, shown.progress.running, shown.progress.usually) == (212, 7, None)
    of_batches = figures(query("__batch__", node("sink"), status=None))
    assert (of_batches.cause, of_batches.status, of_batches.progress.text) == ("one-node", None, None)


@pytest.mark.parametrize(
    "what",
    [
        "headline",
        "cause",
        "status",
        "progress",
        "parts",
        "operators",
        "operators_so_far",
        "markers",
        "notes",
    ],
)
def test_what_is_said_is_said_of_one_query(what: str) -> None:
    with pytest.raises(NoFiguresError, match="No figures yet"):
        getattr(figures(), what)
    both = figures(query("orders", node("source")), query("clicks", node("source")))
    with pytest.raises(ValueError, match=r"choose one of queries\[…\] \(orders, clicks\)"):
        getattr(both, what)


def test_earlier_runs_are_listed_beside_the_queries() -> None:
    shown = figures(query("orders", node("sink")), earlier=(earlier("orders", "c2c67bdc", batches=7),))
    [run] = shown.earlier_runs
    assert (run.query, run.run, run.status, run.batches) == ("orders", "c2c67bdc", "FINISHED", 7)
    assert run.committed == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    [without] = figures(earlier=(earlier("orders", "c2c67bdc", committed=None),)).earlier_runs
    assert without.committed is None


def test_a_watermark_has_its_lag_from_the_jvm() -> None:
    mark = {
        "source": "rate",
        "column": "ts",
        "delay": 1_000,
        "holdsBack": True,
        "watermark": 5,
        "lag": 7,
        "kind": "event-time",
        "idleSince": None,
    }
    batch = {**BATCH, "watermarks": [mark, {**mark, "watermark": None, "lag": None, "idleSince": 1_000}]}
    last = figures(query("orders", node("sink"), lastBatch=batch)).query.last_batch
    assert last is not None
    assert [one.lag for one in last.watermarks] == [7, None]
    assert [one.idle_since for one in last.watermarks] == [None, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)]


def test_figures_of_another_version_are_told_from_broken_ones() -> None:
    old = query("orders", node("sink"))
    del old["headline"]
    with pytest.raises(
        SparkLatencyError, match=r"no field 'headline'\. Another version of sparklatency wrote"
    ):
        figures(old)


@pytest.mark.parametrize(
    "changed",
    [
        {"headline": None},
        {"notes": [note("ahead-of-clock", "warn", "sink: 3 …") | {"numbers": None}]},
        {"notes": 7},
        {"nodes": ["sink"]},
        {"batches": float("nan")},
        {"batches": float("inf")},
        {"batches": "many"},
    ],
)
def test_figures_that_are_not_of_this_version_are_said_to_be_of_another(changed: dict[str, Any]) -> None:
    with pytest.raises(
        SparkLatencyError,
        match=r"^The figures hold what is never in them\. Another version of sparklatency wrote them\. ",
    ):
        figures({**query("orders", node("sink")), **changed})


def test_a_node_tells_its_way_and_what_it_took() -> None:
    window = {"sameRecords": False, "min": 1.0, "avg": 2.5, "p50": 2.0, "p99": None, "max": -3.0}
    delays = {"source": {"window": window, "batch": {**window, "sameRecords": True}}}
    sink = figures(
        query("orders", node("source"), node("sink", upstream=["source"], delays=delays, staleness=None))
    ).nodes["sink"]
    assert sink.upstream == ("source",)
    assert sink.timestamp is None
    assert (sink.delays["source"].window.avg, sink.delays["source"].window.p99) == (2.5, None)
    assert not sink.delays["source"].window.same_records
    assert sink.delays["source"].batch.same_records
    assert (sink.batch.records, sink.batch.max) == (500, 3019)
    assert (sink.staleness, sink.lateness) == (None, None)


def test_a_query_has_markers_by_the_names_of_flink() -> None:
    known = {"count": 3, "min": 20.0, "avg": 20.5, **dict.fromkeys(("p50", "p90", "p95", "p99", "p999"), 21)}
    latency = {**known, "max": 21}
    unknown = {**dict.fromkeys(latency), "count": 3}
    one = {
        "source_id": "read",
        "source_subtask_index": None,
        "operator_id": "sink",
        "operator_subtask_index": 64,
        "latency": unknown,
        "quiet": True,
        "last": latency,
        "lastCommitted": 1_700_000_000_000,
    }
    told = {
        "interval": 1_000,
        "granularity": "operator",
        "count": 3,
        "marked": 1_700_000_000_000,
        "folded": 0,
        "text": "Latency markers take …",
        "of": [one],
    }
    shown = figures(query("orders", node("sink"), markers=told))
    assert shown.markers is shown.query.markers
    assert shown.markers is not None
    at = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    last = MarkerStatistics(3, 20, 20.5, 21, 21, 21, 21, 21, 21)
    never = MarkerStatistics(3, None, None, None, None, None, None, None, None)
    assert shown.markers.of == (MarkerLatency("read", None, "sink", 64, never, True, last, at),)
    assert (shown.markers.interval, shown.markers.count, shown.markers.marked) == (1_000, 3, at)
    assert figures(query("orders", node("sink"))).markers is None
