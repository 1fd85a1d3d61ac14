"""Settings of table columns: those of the source `csv`, and those derived from the data layers of a network."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..columns import Vocabulary


class TableSettings(Protocol):
    """Column settings of the source `csv`."""

    label: str
    classes: tuple[str, ...]
    columns: tuple[str, ...]
    ids: tuple[str, ...]
    text: tuple[str, ...]
    leave_out: str
    empty: str
    impute: tuple[str, ...]
    dates: tuple[str, ...]
    date_format: str
    series: str
    time: str
    header: str

    @property
    def vocabulary(self) -> Vocabulary:
        """The settings of text columns."""

    @property
    def takes_rest(self) -> bool:
        """Whether all columns without another role are the field `features`."""

    @property
    def place(self) -> str:
        """Where the settings can be written, at the start of a remedy; empty for the source of the data."""


@dataclass(frozen=True)
class RequestedFields:
    """Fields that are read of a table, and what is known of them.

    Args:
        names: Names of the fields; None for all.
        targets: Fields that are targets, labels or weights of losses and metrics: their cells may never be empty,
            whatever `empty` is set to.
        skip: Whether an unusable row is noted in `bad` of the table; otherwise it is an error.
        columns: Names of the columns of fields in the training data.
        sequences: Fields whose samples are sequences; None for all.
    """

    names: Container[str] | None = None
    targets: Container[str] = ()
    skip: bool = False
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sequences: Container[str] | None = None

    def __contains__(self, name: str) -> bool:
        return self.names is None or name in self.names


@dataclass
class LayerSettings:
    """Settings of columns that are named like the fields of data layers; all other columns are `features`."""

    label: str = ""
    classes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    leave_out: str = ""
    empty: str = "refuse"
    impute: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    date_format: str = ""
    series: str = ""
    time: str = ""
    header: str = "yes"
    takes_rest: bool = False
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    place: str = "change the column, or describe it in a source `csv` of the training file: "
