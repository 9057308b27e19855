"""Latency markers of a query over files, and what every surface says of them; the test sets the clock."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from sparklatency import latency, with_e2e_latency
from support import eventually, get

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

Place = tuple[str, str, int | None]
"""Source, operator, and the operator's partition."""
Row = tuple[Place, int, int, float, int]
"""A place, markers since the start, and of the window their least, mean and greatest time in milliseconds."""

FIRST, SECOND = 100, 300
"""How many milliseconds the sink of either batch takes. Each carries a marker."""
EXPECTED: set[Row] = {
    (("read", "read", 0), 2, 0, 0.0, 0),
    (("read", "kept", 0), 2, 0, 0.0, 0),
    (("read", "__commit__", None), 2, FIRST, (FIRST + SECOND) / 2, SECOND),
}
"""The clock moves after the rows were read, and before the batch is committed."""


@pytest.fixture
def query(spark: SparkSession, clock: Any, running: None, tmp_path: Path) -> Iterator[StreamingQuery]:  # noqa: ARG001
    """Has had two batches, each with a marker. The clock stands still, and so does the window."""
    spark.conf.set("spark.sparklatency.markers.interval", "1s")
    takes = iter((FIRST, SECOND))

    def write(rows: DataFrame, _: int) -> None:
        rows.collect()
        clock.advance(next(takes))

    incoming = tmp_path / "in"
    incoming.mkdir()
    lines = with_e2e_latency(spark.readStream.text(str(incoming)), "read")
    kept = with_e2e_latency(lines.filter("value <> ''"), "kept")
    query = kept.writeStream.queryName("marked").foreachBatch(write).start()
    for number in range(2):
        (incoming / f"{number}.txt").write_text("a line\n")
        query.processAllAvailable()
        eventually(partial(committed, query, number + 1))
        if number == 0:
            clock.advance(1000)
    yield query
    query.stop()
    spark.conf.unset("spark.sparklatency.markers.interval")


def committed(query: StreamingQuery, batches: int) -> bool | None:
    return len(latency(query).history().batches) == batches or None


def test_python_has_the_latency_markers_of_a_query(query: StreamingQuery) -> None:
    markers = latency(query).markers
    assert markers is not None
    assert (markers.interval, markers.granularity, markers.count, markers.folded) == (1000, "operator", 2, 0)
    assert markers.text == (
        "Latency markers take 200 ms from read to the commit, on average. "
        "At most one batch in 1 s carries them."
    )
    assert {
        (
            (one.source_id, one.operator_id, one.operator_subtask_index),
            one.latency.count,
            one.latency.min,
            one.latency.avg,
            one.latency.max,
        )
        for one in markers.of
    } == EXPECTED
    commit = markers.of[-1]
    assert (commit.operator_id, commit.last.count, commit.last.max, commit.quiet) == (
        "__commit__",
        1,
        SECOND,
        False,
    )


def test_each_batch_has_its_own_latency_markers(query: StreamingQuery) -> None:
    batches = [batch.markers for batch in latency(query).history().batches]
    told = [
        {(one.source_id, one.operator_id): (one.latency.count, one.latency.max) for one in markers.of}
        for markers in batches
        if markers is not None and markers.count == 1
    ]
    assert told == [
        {("read", "read"): (1, 0), ("read", "kept"): (1, 0), ("read", "__commit__"): (1, ms)}
        for ms in (FIRST, SECOND)
    ]


def test_rest_says_the_same_of_latency_markers_as_python(
    spark: SparkSession, query: StreamingQuery, url: str
) -> None:
    root = f"{url}/api/v1/applications/{spark.sparkContext.applicationId}/latency"
    [found] = json.loads(get(f"{root}/queries/{query.runId}"))["queries"]
    of_all = [one for one in json.loads(get(root))["queries"] if one["run"] == str(query.runId)]
    assert [one["markers"] for one in of_all] == [found["markers"]]
    markers = latency(query).markers
    assert markers is not None
    said = asdict(markers)
    times = ("marked", "lastCommitted")
    assert [without(one, *times) for one in found["markers"]["of"]] == [
        without(one, "last_committed") for one in said["of"]
    ]
    assert without(found["markers"], "of", *times) == without(said, "of", "marked")


def without(value: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: one for key, one in value.items() if key not in keys}


def test_prometheus_text_has_the_latency_markers_of_a_query(query: StreamingQuery, url: str) -> None:
    text = get(f"{url}/api/v1/latency/prometheus")

    def value(place: Place, figure: str) -> float | None:
        source, operator, subtask = place
        index = "" if subtask is None else f'operator_subtask_index="{subtask}",'
        labels = f'operator_id="{operator}",{index}query="{query.name}",source_id="{source}"'
        name = rf"^sparklatency_marker_latency_seconds_{figure}\{{[^}}]*{re.escape(labels)}\}} (\S+)$"
        found = re.search(name, text, re.MULTILINE)
        return float(found[1]) if found else None

    for place, count, _, mean, _ in EXPECTED:
        assert value(place, "count") == count
        assert value(place, "sum") == pytest.approx(mean * count / 1000)


def test_the_tab_has_the_latency_markers_of_a_query(query: StreamingQuery, url: str) -> None:
    page = get(f"{url}/latency/query/?id={query.runId}")
    assert "Latency markers take 200 ms from read to the commit, on average." in page
    [table] = re.findall(r'<table id="latency-markers".*?</table>', page, re.DOTALL)
    rows = ElementTree.fromstring(table.replace("&nbsp;", " ")).iter("tr")  # noqa: S314  our own page
    cells = [["".join(cell.itertext()).strip() for cell in row] for row in rows]
    columns, shown = cells[0], [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]
    assert columns[:4] == ["Source", "Source subtask", "Operator", "Operator subtask"]
    assert {row_of(row) for row in shown} == EXPECTED
    assert {row["Of"] for row in shown} == {"window"}


def row_of(cells: dict[str, str]) -> Row:
    subtask = int(cells["Operator subtask"]) if cells["Operator subtask"].isdecimal() else None
    place = (cells["Source"], cells["Operator"], subtask)
    return place, int(cells["Markers"]), int(cells["Min"]), float(cells["Mean"]), int(cells["Max"])


def test_after_a_window_of_silence_the_last_batch_is_shown_and_said_to_be_that(
    query: StreamingQuery, clock: Any, url: str
) -> None:
    clock.advance(60_000)
    markers = latency(query).markers
    assert markers is not None
    assert "on average in the last batch that carried them" in markers.text
    assert {(one.latency.count, one.latency.max, one.quiet) for one in markers.of} == {(2, None, True)}
    assert markers.of[-1].last.max == SECOND
    assert ">last batch<" in get(f"{url}/latency/query/?id={query.runId}")
