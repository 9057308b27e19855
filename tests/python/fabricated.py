"""Documents as the JVM writes them, with figures that a test has made up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparklatency.reading import documents
from sparklatency.view import Latency

if TYPE_CHECKING:
    from pathlib import Path

NEVER = dict.fromkeys(("min", "avg", "p50", "p90", "p95", "p99", "p999", "max"))
NO_SPLIT = dict.fromkeys(("queuing", "processing", "commit", "total"))
NO_PROGRESS: dict[str, Any] = {
    **dict.fromkeys(
        (
            "sinceCommit",
            "running",
            "sinceProgress",
            "oldestUncommitted",
            "recordsLag",
            "droppedLate",
            "tasksFailed",
            "watermarkLag",
            "usually",
            "batchDuration",
            "error",
            "text",
            "activity",
        )
    ),
    "stalled": False,
}
BATCH: dict[str, Any] = {
    **dict.fromkeys(("batch", "start", "committed", "inputRows", "droppedLate", "tasksFailed"), 0),
    **dict.fromkeys(("watermark", "watermarkLag", "slowestStep")),
    "watermarks": [],
    "durations": {},
    "criticalPath": [],
    "split": NO_SPLIT,
    "operators": None,
    "nodes": [],
}
"""A batch of which nothing is known."""
NO_PARTS: dict[str, Any] = {"whole": None, "text": None, "of": []}
TOOK_LONGEST = (
    "the operators before sink took longest: 1 s of 1.1 s (98 %) from the first read to the last write."
)
UNKNOWN: dict[str, Any] = {
    **dict.fromkeys(("node", "own", "whole", "share")),
    "code": "unknown",
    "text": "No record with a timestamp has been measured yet.",
}


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
    measures = dict.fromkeys(("own", "share", "commit", "staleness", "lateness", "systemTimeLateness"))
    operator = {"operator": {"latency": None, "latencyMA": None}}
    others: dict[str, Any] = {"upstream": [], "delays": {}, **operator, **measures}
    return {"node": name, **known, "max": 3019.0, **counts, **batch, **others, **changed}


def unknown(name: str, **changed: Any) -> dict[str, Any]:
    return node(name, **NEVER, **changed)


def one_node(name: str) -> dict[str, Any]:
    """The headline of a query with one node."""
    text = f"Records are 1.0 s old at {name} on average. Mark another node to see which step takes the time."
    return {**UNKNOWN, "code": "one-node", "node": name, "own": 1017.25, "text": text}


def slowest(name: str, own: float, whole: float, text: str) -> dict[str, Any]:
    """The headline of any other query."""
    figures = {"own": own, "whole": whole, "share": own / whole}
    return {"code": "slowest-step", "node": name, **figures, "text": text}


def part(names: list[str], ms: float, share: float, text: str) -> dict[str, Any]:
    code = "+".join(name.replace(" ", "-") for name in names)
    return {"names": names, "code": code, "nodes": [], "ms": ms, "share": share, "text": text}


def progress(text: str, **changed: Any) -> dict[str, Any]:
    return {**NO_PROGRESS, "text": text, **changed}


def note(code: str, level: str, text: str, node: str | None = None, **numbers: float) -> dict[str, Any]:
    return {"code": code, "level": level, "node": node, "numbers": numbers, "text": text}


def query(name: str, *nodes: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {
        "query": name,
        "id": "4ad9f4b1-27b8-4e3c-9b0a-b9ea2bb4a0e2",
        "run": None,
        "status": "RUNNING",
        "batches": 1_234,
        "nodes": [{"quiet": changed.get("silent", False), "batchCommitted": None, **one} for one in nodes],
        "folded": 0,
        "headline": one_node(nodes[0]["node"]) if len(nodes) == 1 else UNKNOWN,
        "parts": NO_PARTS,
        "progress": NO_PROGRESS,
        "notes": [],
        "watermarkText": "The query has no watermark.",
        "slowestStep": None,
        "criticalPath": [],
        "split": NO_SPLIT,
        "operators": None,
        "operatorsSoFar": None,
        "markers": None,
        "lastBatch": None,
        "oldestUncommitted": None,
        "silent": False,
        **changed,
    }


UNKNOWN_PARTITIONS: dict[str, Any] = {"count": 0, "median": None, "slowest": None, "skew": None, "of": []}


def operators(*stages: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """Who was at work for a batch."""
    return {
        "of": "batch",
        "batch": 7,
        "firstRead": 1_700_000_000_000.261,
        "latency": 1_053.25,
        "bound": 0.0,
        "text": f"Batch 7: {TOOK_LONGEST}",
        "criticalPath": ["source", "sink"],
        "steps": [
            step("node", ["sink"], 1_029.0, 0.977, "the operators before sink"),
            step("stage", ["source", "sink"], 23.25, 0.0221, "the rest of the stage of source and sink"),
            step("waiting", [], 1.0, 0.0009, "the start of tasks and stages without a node"),
        ],
        "stages": list(stages),
        **changed,
    }


def step(kind: str, nodes: list[str], ms: float, share: float, text: str) -> dict[str, Any]:
    return {"kind": kind, "nodes": nodes, "ms": ms, "share": share, "text": text}


def stage(*nodes: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {
        "upstream": [],
        "start": 1.0,
        "end": 1_053.25,
        "tasks": 2,
        "rest": 23.25,
        "nodes": list(nodes),
        **changed,
    }


def node_times(name: str, **changed: Any) -> dict[str, Any]:
    known = {"latency": 0.0, "share": 0.0, "without": 1_053.25, "ewt": 49.0}
    where = {"partition": 0, "executor": "driver", "partitions": UNKNOWN_PARTITIONS}
    return {"node": name, **known, **where, **changed}


def earlier(name: str, run: str, **changed: Any) -> dict[str, Any]:
    id_ = "4ad9f4b1-27b8-4e3c-9b0a-b9ea2bb4a0e2"
    ended = {"status": "FINISHED", "batches": 3, "committed": 1_700_000_000_000}
    return {"query": name, "id": id_, "run": run, **ended, **changed}


def figures(*queries: dict[str, Any], earlier: tuple[dict[str, Any], ...] = ()) -> Latency:
    document = {"queries": queries, "earlierRuns": earlier}
    return Latency(documents.queries(document), documents.earlier_runs(document))


def report(file: Path, *tests: str) -> None:
    """Writes what a test runner reports of such tests."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"<testsuites><testsuite>{''.join(tests)}</testsuite></testsuites>")
