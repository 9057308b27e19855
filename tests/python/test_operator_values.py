"""Who was at work for a batch, as values and in frames."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from fabricated import BATCH, TOOK_LONGEST, figures, node, node_times, operators, query, stage
from sparklatency.reading import documents
from sparklatency.values.history import History
from sparklatency.values.operators import (
    NodeTimes,
    OperatorLatency,
    Operators,
    Partitions,
    PartitionTimes,
    Stage,
    Step,
)

pytestmark = pytest.mark.one_line


def test_a_query_tells_which_operators_were_at_work() -> None:
    sink = node_times("sink", latency=1_029.0, share=0.977, without=24.25, ewt=1_052.5, partition=3)
    told = operators(stage(node_times("source"), end=50.0, rest=50.0), stage(sink, upstream=[0], start=51.0))
    shown = figures(query("orders", node("source"), node("sink"), operators=told))
    unknown = Partitions(0, None, None, None, ())
    source = NodeTimes("source", 0.0, 0.0, 1_053.25, 49.0, 0, "driver", unknown)
    last = NodeTimes("sink", 1_029.0, 0.977, 24.25, 1_052.5, 3, "driver", unknown)
    assert shown.operators == Operators(
        of="batch",
        batch=7,
        first_read=datetime(2023, 11, 14, 22, 13, 20, 261, tzinfo=UTC),
        latency=1_053.25,
        bound=0.0,
        text=f"Batch 7: {TOOK_LONGEST}",
        critical_path=("source", "sink"),
        steps=(
            Step("node", ("sink",), 1_029.0, 0.977, "the operators before sink"),
            Step("stage", ("source", "sink"), 23.25, 0.0221, "the rest of the stage of source and sink"),
            Step("waiting", (), 1.0, 0.0009, "the start of tasks and stages without a node"),
        ),
        stages=(
            Stage((), 1.0, 50.0, 2, 50.0, (source,)),
            Stage((0,), 51.0, 1_053.25, 2, 23.25, (last,)),
        ),
    )
    assert shown.operators.nodes == (source, last)
    assert shown.query.operators is shown.operators


def test_what_cannot_be_told_of_operators_is_none() -> None:
    apart = node_times("sink", latency=None, share=None)
    shown = figures(query("orders", node("sink"), operators=operators(stage(apart), bound=None))).operators
    assert shown is not None
    assert shown.bound is None
    assert [(one.latency, one.share) for one in shown.nodes] == [(None, None)]
    assert figures(query("orders", node("sink"))).operators is None


def test_a_batch_tells_which_operators_were_at_work_for_it() -> None:
    told = operators(stage(node_times("sink")), batch=8)
    last = figures(
        query("orders", node("sink"), operators=told, lastBatch={**BATCH, "operators": told})
    ).query.last_batch
    assert last is not None
    assert last.operators is not None
    assert (last.operators.batch, last.operators.latency) == (8, 1_053.25)
    without = figures(query("orders", node("sink"), operators=told, lastBatch=BATCH)).query.last_batch
    assert without is not None
    assert without.operators is None


def test_what_operators_did_so_far_is_beside_the_last_batch() -> None:
    now = operators(stage(node_times("sink")), of="so-far", batch=8)
    shown = figures(query("orders", node("sink"), operators=operators(), operatorsSoFar=now)).query
    assert shown.operators is not None
    assert shown.operators_so_far is not None
    assert (shown.operators.of, shown.operators_so_far.of) == ("batch", "so-far")
    assert shown.operators_so_far.batch == 8
    assert figures(query("orders", node("sink"))).query.operators_so_far is None


def test_a_node_tells_how_evenly_its_work_was_spread() -> None:
    one = {"partition": 3, "executor": "2", "latency": 90.5, "took": 100.25, "ewt": 120, "records": 7}
    spread = {"count": 1_000, "median": 20.0, "slowest": 90.5, "skew": 4.525, "of": [one]}
    told = operators(stage(node_times("sink", partitions=spread)))
    shown = figures(query("orders", node("sink"), operators=told)).query.operators
    assert shown is not None
    slowest = PartitionTimes(3, "2", 90.5, 100.25, 120, 7)
    assert [one.partitions for one in shown.nodes] == [Partitions(1_000, 20.0, 90.5, 4.525, (slowest,))]


def test_a_window_has_no_end_of_a_node() -> None:
    told = operators(stage(node_times("sink", ewt=None)), of="window")
    shown = figures(query("orders", node("sink"), operators=told)).query.operators
    assert shown is not None
    assert [node.ewt for node in shown.nodes] == [None]


def test_a_node_tells_its_operator_latency() -> None:
    known = {"latency": 12.5, "latencyMA": 11.0}
    source, sink = figures(query("orders", node("source"), node("sink", operator=known))).nodes
    assert (source.operator, sink.operator) == (OperatorLatency(None, None), OperatorLatency(12.5, 11.0))


def test_a_frame_has_the_operator_latency_of_each_node() -> None:
    known = {"latency": 12.5, "latencyMA": 11.0}
    nodes = node("source"), node("sink", operator=known)
    frame = figures(query("orders", *nodes, operators=operators(stage(node_times("sink"))))).to_pandas()
    columns = [name for name in map(str, frame) if name.startswith("operator")]
    assert columns == ["operator_latency", "operator_latency_ma"]
    assert {str(frame[name].dtype) for name in columns} == {"Float64"}
    assert [frame[name].isna().to_list() for name in columns] == [[True, False], [True, False]]
    assert [frame[name][1] for name in columns] == [12.5, 11.0]
    assert "object" not in {str(dtype) for dtype in frame.dtypes}


def test_a_frame_of_batches_has_no_column_of_operators() -> None:
    sink = {**node("sink"), "batch": None, "delays": None}
    told = operators(stage(node_times("sink")))
    batches = documents.batches({"batches": [{**BATCH, "operators": told, "nodes": [sink]}]})
    assert batches[0].operators is not None
    frame = History("orders", batches).to_pandas()
    assert frame["node"].to_list() == ["sink"]
    assert [name for name in map(str, frame) if name.startswith("operator")] == []
    assert "object" not in {str(dtype) for dtype in frame.dtypes}
