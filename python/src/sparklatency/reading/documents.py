"""From the JSON of the façade and of REST, which is the same, to values. Nothing is computed here."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from sparklatency._version import __version__
from sparklatency.errors import SparkLatencyError
from sparklatency.values.answer import Activity, Headline, Note, Part, Parts, Progress
from sparklatency.values.batches import Batch, SourceWatermark
from sparklatency.values.frozen import FrozenMapping
from sparklatency.values.markers import (
    BatchMarkerLatency,
    BatchMarkers,
    MarkerLatency,
    Markers,
    MarkerStatistics,
)
from sparklatency.values.nodes import NodeLatencies, Nodes, NodeSnapshot
from sparklatency.values.operators import (
    NodeTimes,
    OperatorLatency,
    Operators,
    Partitions,
    PartitionTimes,
    Stage,
    Step,
)
from sparklatency.values.queries import EarlierRun, QueryLatency
from sparklatency.values.statistics import (
    BatchLatency,
    CommitLatency,
    Delays,
    LatencySplit,
    Lateness,
    ProcessingDelay,
    Staleness,
    Statistics,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sparklatency.values.queries import BatchReader

    Json = Mapping[str, Any]

T = TypeVar("T")


def queries(document: Json, reader: BatchReader | None = None) -> tuple[QueryLatency, ...]:
    """Makes values of the figures of queries; their history comes from the reader.

    Raises:
        SparkLatencyError: another version of sparklatency wrote the document, with other fields or values.
    """
    with of_this_version():
        return tuple(
            _value(
                QueryLatency,
                query,
                headline=_value(Headline, query["headline"]),
                parts=_parts(query["parts"]),
                progress=_value(
                    Progress, query["progress"], activity=_known(Activity, query["progress"]["activity"])
                ),
                notes=tuple(
                    _value(Note, note, numbers=FrozenMapping(note["numbers"])) for note in query["notes"]
                ),
                critical_path=tuple(query["criticalPath"]),
                split=_split(query["split"]),
                operators=_operators(query["operators"]),
                operators_so_far=_operators(query["operatorsSoFar"]),
                markers=_markers(query["markers"]),
                nodes=Nodes(map(_node, query["nodes"])),
                last_batch=None if query["lastBatch"] is None else _batch(query["lastBatch"]),
                reader=reader,
            )
            for query in document["queries"]
        )


def earlier_runs(document: Json) -> tuple[EarlierRun, ...]:
    """Makes values of the runs that newer ones have followed; raises the same."""
    with of_this_version():
        return tuple(_value(EarlierRun, run) for run in document["earlierRuns"])


def batches(document: Json) -> tuple[Batch, ...]:
    """Makes values of the batches of a query; raises the same."""
    with of_this_version():
        return tuple(_batch(batch) for batch in document["batches"])


@contextmanager
def of_this_version() -> Iterator[None]:
    """Tells within it that a document that is read is not as this version writes it; raises the same."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as unread:
        is_missing = isinstance(unread, KeyError)
        what = f"have no field {unread}" if is_missing else "hold what is never in them"
        raise SparkLatencyError(
            f"The figures {what}. Another version of sparklatency wrote them. This is {__version__}."
        ) from unread


def _parts(parts: Json) -> Parts:
    of = tuple(
        _value(Part, part, names=tuple(part["names"]), nodes=tuple(part["nodes"])) for part in parts["of"]
    )
    return _value(Parts, parts, of=of)


def _batch(batch: Json) -> Batch:
    return _value(
        Batch,
        batch,
        watermarks=tuple(_value(SourceWatermark, one) for one in batch["watermarks"]),
        durations=FrozenMapping(batch["durations"]),
        critical_path=tuple(batch["criticalPath"]),
        split=_split(batch["split"]),
        operators=_operators(batch["operators"]),
        markers=_batch_markers(batch.get("markers")),  # an older driver does not tell
        nodes=Nodes(_value(NodeLatencies, node, **_measures(node)) for node in batch["nodes"]),
    )


def _node(node: Json) -> NodeSnapshot:
    delays = {
        upstream: Delays(_value(ProcessingDelay, delay["window"]), _value(ProcessingDelay, delay["batch"]))
        for upstream, delay in node["delays"].items()
    }
    return _value(
        NodeSnapshot,
        node,
        **_measures(node),
        batch=_value(BatchLatency, node["batch"]),
        operator=_value(OperatorLatency, node["operator"]),
        delays=FrozenMapping(delays),
    )


def _measures(node: Json) -> dict[str, Any]:
    return {
        "upstream": tuple(node["upstream"]),
        "timestamp": node.get("timestamp"),  # an older driver does not tell
        "commit": _known(CommitLatency, node["commit"]),
        "staleness": _known(Staleness, node["staleness"]),
        "lateness": _known(Lateness, node["lateness"]),
        "system_time_lateness": _known(Lateness, node["systemTimeLateness"]),
    }


def _split(split: Json) -> LatencySplit:
    return LatencySplit(
        queuing=_known(Statistics, split["queuing"]),
        processing=_known(ProcessingDelay, split["processing"]),
        commit=_known(ProcessingDelay, split["commit"]),
        total=_known(Statistics, split["total"]),
    )


def _operators(operators: Json | None) -> Operators | None:
    if operators is None:
        return None
    return _value(
        Operators,
        operators,
        critical_path=tuple(operators["criticalPath"]),
        steps=tuple(_value(Step, step, nodes=tuple(step["nodes"])) for step in operators["steps"]),
        stages=tuple(_stage(stage) for stage in operators["stages"]),
    )


def _stage(stage: Json) -> Stage:
    nodes = tuple(
        _value(NodeTimes, node, partitions=_partitions(node["partitions"])) for node in stage["nodes"]
    )
    return _value(Stage, stage, upstream=tuple(stage["upstream"]), nodes=nodes)


def _partitions(partitions: Json) -> Partitions:
    return _value(Partitions, partitions, of=tuple(_value(PartitionTimes, one) for one in partitions["of"]))


def _markers(markers: Json | None) -> Markers | None:
    if markers is None:
        return None
    return _value(Markers, markers, of=tuple(_marker(one) for one in markers["of"]))


def _batch_markers(markers: Json | None) -> BatchMarkers | None:
    if markers is None:
        return None
    of = tuple(
        BatchMarkerLatency(one["source_id"], one["operator_id"], _value(MarkerStatistics, one["latency"]))
        for one in markers["of"]
    )
    return _value(BatchMarkers, markers, of=of)


def _marker(one: Json) -> MarkerLatency:
    return MarkerLatency(
        one["source_id"],
        one["source_subtask_index"],
        one["operator_id"],
        one["operator_subtask_index"],
        latency=_value(MarkerStatistics, one["latency"]),
        quiet=one["quiet"],
        last=_value(MarkerStatistics, one["last"]),
        last_committed=_time(one["lastCommitted"]),
    )


def _known(values: type[T], of: Json | None) -> T | None:
    return None if of is None else _value(values, of)


def _value(values: type[T], of: Json, /, **made: Any) -> T:
    """Makes one dataclass: its fields are those of the same name in JSON, but for those made already."""
    names = {one.name: one.type for one in fields(values) if one.name not in made}  # type: ignore[arg-type]
    return values(**{name: _typed(str(type_), of[_camel(name)]) for name, type_ in names.items()}, **made)


def _typed(annotation: str, value: Any) -> Any:
    """Returns what JSON's one kind of number stands for, however it is written: a count, a mean or a time."""
    if value is None:
        return None
    match annotation.removesuffix(" | None"):
        case "int":
            return int(value)
        case "float":
            return float(value)
        case "datetime":
            return _time(value)
        case _:
            return value


def _time(millis: float) -> datetime:
    """Returns the time, or the last that Python knows: event times may be absurd, and are shown for it."""
    try:
        return datetime.fromtimestamp(millis / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.max.replace(tzinfo=UTC) if millis > 0 else datetime.min.replace(tzinfo=UTC)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join("MA" if word == "ma" else word.capitalize() for word in rest)
