"""The text and the HTML of figures, as files that stand beside the tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fabricated import (
    NEVER,
    figures,
    node,
    note,
    one_node,
    operators,
    part,
    progress,
    query,
    slowest,
    unknown,
)

if TYPE_CHECKING:
    from sparklatency.view import Latency

pytestmark = pytest.mark.one_line

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(
    ("golden", "shown"),
    [
        (
            "one_query",
            figures(
                query(
                    "orders",
                    node("source", own=1017.25),
                    node("sink", avg=1051.25, max=1_234_567.0, own=34.0),
                    headline=slowest(
                        "source", 1017.25, 1051.25, "Slowest step: before source, 1.0 s of 1.1 s (97 %)"
                    ),
                    progress=progress("Waiting for data to arrive. The last commit was 212 ms ago."),
                    parts={
                        "whole": 1051.25,
                        "text": "source queuing 1.0 s, processing 34 ms: 1.1 s on average in the last batch",
                        "of": [
                            part(["source queuing"], 1017.25, 0.97, "source queuing 1.0 s"),
                            part(["processing"], 34.0, 0.03, "processing 34 ms"),
                        ],
                    },
                )
            ),
        ),
        (
            "two_queries",
            figures(query("orders", node("source")), query("clicks", node("a much longer id"), batches=1)),
        ),
        (
            "unknown",
            figures(
                query(
                    "orders",
                    unknown("source", records=0, batch={**NEVER, "records": 0}),
                    unknown("sink", records=0, batch={**NEVER, "records": 0}),
                    silent=True,
                    notes=[note("no-record", "info", "No record has come yet.")],
                )
            ),
        ),
        (
            "remarks",
            figures(
                query(
                    "orders",
                    node("source", withoutTimestamp=1_500, aheadOfClock=3, maxLead=2_500.0, min=-2_500.0),
                    unknown("sink", withoutTimestamp=1, aheadOfClock=1),
                    status="FAILED",
                    progress=progress("Failed: <no> rights. 1,234 batches were committed."),
                    notes=[
                        note("failed", "wrong", "An error ended this run."),
                        note(
                            "without-timestamp",
                            "warn",
                            "source: 1,500 of 12,000 records have no timestamp and are not measured.",
                            node="source",
                            records=12_000,
                            withoutTimestamp=1_500,
                        ),
                        note(
                            "ahead-of-clock",
                            "warn",
                            "source: 3 records are ahead of the clock, by up to 2.5 s.",
                            node="source",
                            records=3,
                            maxLeadMs=2_500,
                        ),
                    ],
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
                    headline=slowest(
                        "enrich", 4231.0, 5702.25, "Slowest step: enrich, 4.2 s of 5.7 s (74 %)"
                    ),
                )
            ),
        ),
        (
            "operators",
            figures(
                query(
                    "orders",
                    node("source"),
                    node("<sink>", upstream=["source"]),
                    parts={"whole": 1051.25, "text": "processing 1.1 s", "of": []},
                    operators=operators(
                        text="Batch 7: the operators before <sink> took longest: 1 s of 1.1 s (98 %) from "
                        "the first read to the last write."
                    ),
                    notes=[note("operator-clocks", "info", "Executors' clocks are not compared.")],
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
                    headline=slowest(
                        "enrich", 1526.0, 2543.25, "Slowest step: enrich, 1.5 s of 2.5 s (60 %)"
                    ),
                    notes=[
                        note(
                            "younger-downstream",
                            "info",
                            "The nodes' own times add up to 2.5 s, and records are 1.0 s "
                            "old at the end: those that leave windows are younger on average than those "
                            "that come to it.",
                        )
                    ],
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
                    headline=one_node("source"),
                    notes=[
                        note(
                            "silent",
                            "info",
                            "No record with a timestamp came within the last 60 s: each node shows its last "
                            "batch.",
                            windowMs=60_000,
                        )
                    ],
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
                    headline=one_node("joined with the customer…of the region, enriched"),
                    notes=[
                        note(
                            "without-timestamp",
                            "warn",
                            'joined with the customer… region, "deduplicated": 1 of 12,000 records has no '
                            "timestamp and is not measured.",
                        )
                    ],
                )
            ),
        ),
        (
            "control_characters",
            figures(
                query(
                    "two\nlines",
                    node("tab\there", aheadOfClock=1),
                    node("\x1b[31mred\u2028\ud800"),
                    headline=one_node(r"tab\there"),
                    notes=[
                        note(
                            "ahead-of-clock",
                            "warn",
                            r"tab\there: 1 record is ahead of the clock.",
                            "tab\there",
                        )
                    ],
                )
            ),
        ),
    ],
)
@pytest.mark.parametrize("form", ["txt", "html"])
def test_golden(golden: str, shown: Latency, form: str) -> None:
    text = str(shown) if form == "txt" else shown._repr_html_()
    assert f"{text}\n" == (GOLDEN / f"{golden}.{form}").read_text(encoding="utf-8")
