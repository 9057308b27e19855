"""Values as data frames of pandas, which is an extra."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from sparklatency.errors import SparkLatencyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pandas import DataFrame

_DTYPES = {
    "bool": "boolean",
    "int": "Int64",
    "float": "Float64",
    "str": "string",
    "datetime": "datetime64[us, UTC]",
}


def frame(types: Sequence[type], within: Mapping[str, type], rows: Iterable[Sequence[object]]) -> DataFrame:
    """Returns a row for each tuple of dataclasses, with a column for each of their plain fields.

    Args:
        types: of the values of a row. They, not the rows, make the columns: a frame of nothing has them too.
        within: fields of the last one that hold a dataclass or None, and its type. Their columns begin with
            the field's name.
        rows: values of those types.

    Raises:
        SparkLatencyError: pandas is not installed, or is older than 2.
    """
    try:
        import pandas as pd
    except ImportError as missing:
        raise SparkLatencyError("to_pandas needs pandas: pip install 'pandas>=2.2'") from missing
    if int(pd.__version__.partition(".")[0]) < 2:
        raise SparkLatencyError(
            f"to_pandas needs pandas 2 or newer, not {pd.__version__}: pip install 'pandas>=2.2'"
        )
    plain = [_columns(one) for one in types]
    inner = {name: _columns(one) for name, one in within.items()}
    dtypes = {column: dtype for columns in plain for column, dtype in columns.items()}
    for name, columns in inner.items():
        dtypes |= {f"{name}_{column}": dtype for column, dtype in columns.items()}
    values = [
        [getattr(one, column) for one, columns in zip(row, plain, strict=True) for column in columns]
        + [getattr(getattr(row[-1], name), column, None) for name in inner for column in inner[name]]
        for row in rows
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
