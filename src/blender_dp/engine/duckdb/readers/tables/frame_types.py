"""Types of the columns of tables: which can be read as texts, and why others cannot."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

_WITHOUT_TEXT = ("pandas.period", "pandas.interval")
"""Arrow extensions whose stored value is not the text that people read."""


def type_names(known: Any) -> Sequence[object]:  # noqa: ANN401 - any frame of narwhals
    """Return the type of each column of a frame, as its own library names it."""
    native = known.to_native()
    if isinstance(native, pa.Table):
        return list(native.schema.types)
    if not known.implementation.is_pandas_like():
        return list(known.collect_schema().dtypes())
    return [
        f"category of {kind.categories.dtype}" if hasattr(kind, "categories") else kind
        for kind in native.dtypes
    ]


def is_readable(kind: pa.DataType) -> bool:
    """Tell whether DuckDB reads values of an Arrow type, as the texts that people know."""
    if pa.types.is_dictionary(kind):
        return is_readable(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return kind.extension_name not in _WITHOUT_TEXT
    return not (pa.types.is_float16(kind) or pa.types.is_decimal256(kind))


def type_rule(table: Any, place: int, kind: str) -> str:  # noqa: ANN401 - any table
    """Return what is wrong with a column that cannot be read, without any of its values."""
    if kind != "object":
        return f"has the type {kind}, which cannot be read"
    types = {type(value) for value in table.iloc[:, place].dropna()}
    if types == {int}:
        return "has integers beyond 64 bits"
    if len(types) == 1:
        return f"has values of the type {types.pop().__name__}, which cannot be read"
    return "has values of several types"
