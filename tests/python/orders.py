"""A query that the commands are asked about, as REST would have it, and the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from click.testing import CliRunner, Result

from fabricated import NO_SPLIT, TOOK_LONGEST, node, node_times, operators, query, slowest, stage
from sparklatency.cli import main

if TYPE_CHECKING:
    from ui import UI


def sparklatency(ui: UI, *arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="sparklatency", env={"SPARKLATENCY_URL": ui.url})


def statistics(value: float, **changed: Any) -> dict[str, Any]:
    return {**dict.fromkeys(("min", "avg", "p50", "p99", "max"), value), **changed}


def watermark(source: str, **known: Any) -> dict[str, Any]:
    return {"source": source, "column": "ts", **known}


WORK = operators(
    stage(
        node_times("source", partition=3, executor="1"),
        node_times("checked", latency=None, share=None, ewt=1_000.5),
        node_times("audit", latency=3.5, share=None, ewt=1_050.0),
        node_times("sink", latency=1_029.0, share=0.977, without=24.25, ewt=1_052.5),
    ),
    batch=1_233,
    text=f"Batch 1,233: {TOOK_LONGEST}",
)
LATE = {"records": 7, "min": 3.0, "avg": 4.5, **dict.fromkeys(("p50", "p90", "p95", "p99", "max"), 21_000.0)}
COMMIT = dict.fromkeys(("min", "avg", "p50", "p90", "p95", "p99", "p999", "max"), 5_300.0)
BATCH = {
    "batch": 1_233,
    "start": 1_700_000_000_000,
    "committed": 1_700_000_005_000,
    "inputRows": 500,
    "droppedLate": 7,
    "tasksFailed": 0,
    "watermark": 1_700_000_003_000,
    "watermarkLag": 2_000,
    "watermarks": [
        {
            "source": "kafka[orders]",
            "column": "ts",
            "delay": 1_000,
            "holdsBack": True,
            "kind": "event-time",
            "watermark": 1_700_000_003_000,
            "lag": 2_000,
            "idleSince": None,
        },
        {
            "source": "kafka[idle]",
            "column": "ts",
            "delay": 500,
            "holdsBack": False,
            "kind": "system-time",
            "watermark": None,
            "lag": None,
            "idleSince": None,
        },
    ],
    "durations": {"addBatch": 4_000, "getBatch": 0, "walCommit": 80},
    "slowestStep": None,
    "criticalPath": [],
    "split": NO_SPLIT,
    "operators": None,
    "nodes": [],
}
ORDERS = query(
    "orders",
    node("source", own=1_017.25, share=0.1956, operator={"latency": 0.0, "latencyMA": 0.0}),
    node(
        "sink",
        upstream=["source"],
        avg=5_200.0,
        own=4_182.75,
        share=0.8044,
        operator={"latency": 1_029.0, "latencyMA": 912.4},
        commit=COMMIT,
        lateness=LATE,
    ),
    run="c2c67bdc-89ef-4e9c-a968-4a7a75875766",
    slowestStep="sink",
    criticalPath=["source", "sink"],
    headline=slowest("sink", 4_182.75, 5_200.0, "Slowest step: sink, 4.2 s of 5.2 s (80 %)"),
    split={
        "queuing": statistics(1_017.25, min=3.0, max=3_019.0),
        "processing": statistics(4_182.75, sameRecords=True),
        "commit": None,
        "total": statistics(5_300.0),
    },
    operators=WORK,
    lastBatch=BATCH,
)
