"""DataFrames as data sets: with the settings of a source `csv`, or by the names of the data layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from paddle_layers.define import Type

from .dataset import Dataset
from .formats.arrow_tables import ArrowTable
from .formats.table_cells import TableCells
from .formats.table_columns import table_dataset
from .formats.table_settings import LayerSettings, RequestedFields
from .problems import DataError


class TableSource(Protocol):
    """The source `csv`, whose settings apply to a table in memory as well."""

    missing: tuple[str, ...]

    def check(self, origin: str) -> None:
        """Raises `DataError` for settings that contradict each other."""

    def dataset_of(self, table: TableCells, request: RequestedFields) -> Dataset:
        """The fields of a table."""


def frame_dataset(
    data: Any, origin: str, source: TableSource | None, fields: Mapping[str, Type | None], request: RequestedFields
) -> Dataset:
    """The requested fields of a DataFrame.

    Args:
        data: The table; see `is_data_frame`.
        origin: Its name in messages.
        source: Settings of the columns. None: each column with the name of a field is this field, and all other columns
            are the field `features` if there is no column of this name.
        fields: Types of the fields that the network reads, in any phase; None for those that only a split reads.
        request: The fields that are read.

    Returns:
        The data set, with columns of words and of missing values that are not encoded yet.

    Raises:
        DataError: It is not a table, or a column does not have the values that it should.
    """
    table = ArrowTable(data, origin, source.missing if source is not None else ())
    if source is not None:
        source.check(origin)
        dataset = source.dataset_of(table, request)
    else:
        dataset = _by_layers(table, fields, request)
    dataset.strict_names = True
    return dataset


def _by_layers(table: ArrowTable, fields: Mapping[str, Type | None], request: RequestedFields) -> Dataset:
    named = {name: table.index(name) for name in fields if name in table.names}
    takes_rest = "features" in fields and "features" not in named
    for name in fields:
        if name in request and name not in named and not (takes_rest and name == "features"):
            raise DataError(
                f"{table.origin} has no column `{name}`; rename a column, or write "
                f'feed {{ input: "{name}" field: "COLUMN" }} in the training file; the columns are '
                f"{', '.join(table.names[:8])}{', ...' if len(table.names) > 8 else ''}"
            )
    lists = {name: at for name, at in named.items() if table.is_lists(at)}
    roles: dict[str, list[str]] = {"ids": [], "text": [], "columns": [], "label": []}
    for name, column in named.items():
        if name not in lists:
            roles[_role(table, name, column, fields[name])].append(name)
    settings = LayerSettings(
        label="".join(roles["label"]),
        columns=tuple(roles["columns"]),
        ids=tuple(roles["ids"]),
        text=tuple(roles["text"]),
        takes_rest=takes_rest,
    )
    sequences = {name: table.lists(at) for name, at in lists.items() if name in request}
    return table_dataset(table.without(lists), settings, request, {}, sequences)


def _role(table: ArrowTable, name: str, column: int, wanted: Type | None) -> str:
    """The setting for a column: only strings for layers of ids are words, and text where these are sequences."""
    if wanted is None:
        return "ids"
    if wanted.kind == "INT" and table.is_words(column):
        return "text" if wanted.level else "ids"
    return "label" if wanted.kind == "INT" and name == "label" else "columns"
