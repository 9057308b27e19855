"""Figures as data frames of pandas, which is an extra."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sparklatency.errors import SparkLatencyError
from sparklatency.figures import CommitLatency, Lateness, NodeFigures, Staleness
from sparklatency.queries import Batch, QueryLatency

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pandas import DataFrame

_DTYPES = {
    "bool": "boolean",
    "int": "Int64",
    "float": "Float64",
    "str": "string",
    "datetime": "datetime64[us, UTC]",
}
_MEASURES = {"commit": CommitLatency, "staleness": Staleness, "lateness": Lateness}


def of_queries(queries: Sequence[QueryLatency]) -> DataFrame:
    """Returns a row for each query and node."""
    return _frame(QueryLatency, ((query, node) for query in queries for node in query.nodes))


def of_batches(batches: Sequence[Batch]) -> DataFrame:
    """Returns a row for each batch and node."""
    return _frame(Batch, ((batch, node) for batch in batches for node in batch.nodes))


def _frame(owner: type, rows: Iterable[tuple[object, NodeFigures]]) -> DataFrame:
    try:
        import pandas as pd
    except ImportError as missing:
        raise SparkLatencyError("to_pandas takes pandas: pip install pandas") from missing
    of_owner, of_node = _columns(owner), _columns(NodeFigures)
    of_measures = {name: _columns(measure) for name, measure in _MEASURES.items()}
    dtypes = {**of_owner, **of_node}
    for name, columns in of_measures.items():
        dtypes |= {f"{name}_{column}": dtype for column, dtype in columns.items()}
    values = [
        [getattr(one, column) for column in of_owner]
        + [getattr(node, column) for column in of_node]
        + [getattr(getattr(node, name), column, None) for name in of_measures for column in of_measures[name]]
        for one, node in rows
    ]
    table: dict[str, Any] = {
        name: pd.Series([row[place] for row in values], dtype=dtype)
        for place, (name, dtype) in enumerate(dtypes.items())
    }
    return pd.DataFrame(table)


def _columns(of: Any) -> dict[str, str]:
    """Returns the plain fields of a dataclass, with their types in pandas."""
    types = {one.name: str(one.type).removesuffix(" | None") for one in fields(of)}
    return {name: _DTYPES[type_] for name, type_ in types.items() if type_ in _DTYPES}
