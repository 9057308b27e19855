"""The batches of a query, as values, as a data frame and drawn."""

from __future__ import annotations

import copy
import pickle
import sys
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.dates import date2num
from pyspark.sql import functions as F  # noqa: N812

from fabricated import figures, node, query
from sparklatency import SparkLatencyError, latency, with_e2e_latency
from sparklatency.extras.plots import bands
from sparklatency.values.history import History
from sparklatency.values.nodes import Nodes
from support import NOW, aged, eventually

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sparklatency.view import Latency

pytestmark = pytest.mark.one_line

mpl.use("agg")

UTC_NOW = datetime.fromtimestamp(NOW / 1000, UTC)


@pytest.fixture
def orders(spark: SparkSession, clock: Any, tmp_path: Path, running: None) -> Latency:  # noqa: ARG001
    """A query of two batches: records 100 and 300 ms old, and a second later of 500."""
    folder = str(tmp_path / "in")
    aged(spark, 100, 300).coalesce(1).write.parquet(folder)
    events = spark.readStream.schema("ts TIMESTAMP").parquet(folder).withWatermark("ts", "1 second")
    source = with_e2e_latency(events, "source")
    late = source.select("ts", F.lit(1))
    query = with_e2e_latency(late, "sink").writeStream.queryName(tmp_path.name).format("noop").start()
    query.processAllAvailable()
    eventually(lambda: with_batches(query, 1))  # a batch is committed when its event is read, by this clock
    clock.advance(1000)
    aged(spark, -500).coalesce(1).write.mode("append").parquet(folder)
    query.processAllAvailable()
    return eventually(lambda: with_batches(query, 2))


def with_batches(query: StreamingQuery, number: int) -> Latency | None:
    found = latency(query)
    return found if found.queries and len(full(found)) == number else None


def full(figures: Latency) -> list[Any]:
    """The batches with records: Spark adds one without, to move the watermark."""
    return [batch for batch in figures.history() if batch.input_rows]


def test_copies_of_figures_have_the_history_and_pickled_ones_say_why_not(orders: Latency) -> None:
    assert full(copy.deepcopy(orders)) == full(orders)
    assert asdict(orders)["queries"][0]["query"] == orders.query.query
    elsewhere = pickle.loads(pickle.dumps(orders))  # noqa: S301  our own
    assert elsewhere == orders
    with pytest.raises(SparkLatencyError, match=r"were pickled, and lost their session\. Read them anew\."):
        elsewhere.history()
    history = orders.history()
    assert pickle.loads(pickle.dumps(history)) == history  # noqa: S301  our own


def test_a_query_tells_its_slowest_step_and_its_way(orders: Latency) -> None:
    [query] = orders.queries
    assert (query.slowest_step, query.critical_path) == ("source", ("source", "sink"))
    assert orders.critical_path == query.critical_path
    source, sink = query.nodes
    assert (source.own, source.share, source.commit) == (300.0, 1.0, None)
    assert (sink.own, sink.share) == (0.0, 0.0)
    assert sink.commit is not None
    assert (sink.commit.min, sink.commit.avg, sink.commit.max) == (100, 300.0, 500)


def test_the_latency_of_a_query_is_split_in_three(orders: Latency) -> None:
    split = orders.queries[0].split
    assert split.queuing is not None
    assert (split.queuing.min, split.queuing.avg, split.queuing.max) == (500, 500.0, 500)  # of the last batch
    assert split.processing is not None
    assert (split.processing.same_records, split.processing.avg) == (True, 0.0)
    assert split.commit is not None
    assert (split.commit.min, split.commit.max) == (0.0, 0.0)
    assert split.total == split.queuing


def test_each_batch_has_its_own_figures_and_times_in_utc(orders: Latency) -> None:
    first, second = full(orders)
    assert (first.batch, first.input_rows, first.nodes["sink"].max) == (0, 2, 300)
    assert (second.nodes["sink"].records, second.nodes["sink"].max) == (1, 500)
    assert (first.start.tzinfo, first.committed) == (UTC, UTC_NOW)
    assert (second.committed - first.committed).total_seconds() == 1
    assert second.watermark is not None
    assert (UTC_NOW - second.watermark).total_seconds() == 1.1
    [column] = second.watermarks
    assert (column.column, column.delay, column.holds_back) == ("ts", 1000, True)
    assert second.durations["addBatch"] >= 0
    assert orders.queries[0].last_batch == orders.history()[-1]


def test_the_newest_batches_are_read_first_and_given_last(orders: Latency) -> None:
    everything = orders.history()
    assert orders.history(limit=1).batches == everything[-1:]
    for one in (np.int64(1), True):
        assert orders.history(limit=one).batches == everything[-1:]  # type: ignore[arg-type]
    assert orders.history(limit=10**12).batches == everything.batches
    with pytest.raises(ValueError, match="limit is 0"):
        orders.history(limit=0)
    for no_number, given in (("ten", r"'ten' \(str\)"), (1.0, r"1\.0 \(float\)")):
        with pytest.raises(TypeError, match=f"limit takes int, not {given}"):
            orders.history(limit=no_number)  # type: ignore[arg-type]


def test_a_frame_has_a_row_for_each_query_and_node(orders: Latency) -> None:
    frame = orders.to_pandas()
    assert frame["node"].to_list() == ["source", "sink"]
    assert frame["max"].to_list() == [500, 500]
    assert frame["commit_max"].isna().to_list() == [True, False]
    assert frame["silent"].to_list() == [False, False]
    assert {str(frame[name].dtype) for name in ("max", "commit_p99", "lateness_records")} == {"Int64"}


def test_a_frame_of_batches_has_times_in_utc(orders: Latency) -> None:
    frame = orders.history().to_pandas()
    assert len(frame) == 2 * len(orders.history())
    assert str(frame["committed"].dtype) == "datetime64[us, UTC]"
    assert frame.query("input_rows > 0 and node == 'sink'")["max"].to_list() == [300, 500]


def test_a_frame_of_nothing_has_the_columns_of_any_other(orders: Latency) -> None:
    nothing = type(orders)(())
    assert nothing.to_pandas().dtypes.equals(orders.to_pandas().dtypes)
    assert len(nothing.history()) == 0
    assert nothing.critical_path == ()


def test_a_plot_has_a_line_and_a_band_for_each_node(orders: Latency) -> None:
    axes = orders.plot()
    assert axes.get_xlabel() == "results committed at [UTC]"
    assert axes.get_ylabel() == "record e2e latency [ms]"
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        "source: p50, band to p99",
        "sink: p50, band to p99",
    ]
    medians: list[Any] = [line.get_ydata() for line in axes.get_lines()]
    assert [list(values) for values in medians] == [[100, 500], [100, 500]]
    assert orders.history().plot(axes) is axes


def test_a_plot_has_a_line_for_each_of_two_long_ids_that_differ_in_the_middle(orders: Latency) -> None:
    ids = [f"payments/europe/fraud-check/model-{model}/after-the-scoring-step" for model in "ab"]
    [batch] = full(orders)[-1:]
    nodes = Nodes(replace(batch.nodes["sink"], node=id_) for id_ in ids)
    axes = History("orders", (replace(batch, nodes=nodes),)).plot()
    assert len(axes.lines) == len(ids)
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [f"{id_}: p50, band to p99" for id_ in ids]


def test_a_plot_of_a_query_says_which_and_one_of_none_does_not() -> None:
    assert History("orders", ()).plot().get_title() == "orders: record latency by batch"
    assert figures().plot().get_title() == "record latency by batch"


def test_a_plot_shows_odd_names_as_they_are_and_times_in_utc() -> None:
    points = [(datetime(2023, 1, 1, 12, minute, tzinfo=UTC), 1.0, 2.0) for minute in (0, 1)]
    with mpl.rc_context({"timezone": "Asia/Tokyo"}):
        axes = bands("cost_$_a_$", ("time [UTC]", "ms"), [("__other__", points), ("$_$: p50", points)], None)
        axes.figure.canvas.draw()  # of a formula that is none it fails
        at = axes.xaxis.get_major_formatter().format_data_short(date2num(points[0][0]))
        assert at == "2023-01-01 12:00:00"
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [" __other__", r"\$_\$: p50"]


@pytest.mark.parametrize(
    ("missing", "call", "extra"),
    [("pandas", "to_pandas", "pip install 'pandas>=2.2'"), ("matplotlib", "plot", "pip install matplotlib")],
)
def test_an_extra_that_is_missing_is_named(
    orders: Latency, monkeypatch: pytest.MonkeyPatch, missing: str, call: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SparkLatencyError, match=missing) as failed:
        getattr(orders, call)()
    assert extra in str(failed.value)


def test_a_frame_says_which_pandas_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pandas.__version__", "1.5.3")
    with pytest.raises(SparkLatencyError, match=r"needs pandas 2 or newer, not 1\.5\.3"):
        figures(query("orders", node("sink"))).to_pandas()


def test_figures_of_several_queries_have_no_one_history(orders: Latency) -> None:
    both = type(orders)(orders.queries * 2)
    with pytest.raises(ValueError, match=r"each query has its own history\(\)"):
        both.history()
    with pytest.raises(ValueError, match="each query has its own critical_path"):
        both.critical_path  # noqa: B018
