"""Labels outside of the classes: legal if every layer that reads them ignores them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class LabelReader(NamedTuple):
    """A layer with the names of its inputs that may hold labels."""

    name: str
    type: str
    attributes: Mapping[str, Any]
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IgnoredLabels:
    """The labels of one value that all its readers ignore, and those that only some of them do."""

    legal: frozenset[int] = frozenset()
    refusing: Mapping[int, LabelReader] = field(default_factory=dict)
    """By label, the first layer that does not ignore it."""

    def remedy(self, label: int) -> str:
        """The fix for a rejected label that another layer ignores; else empty."""
        if label not in self.refusing:
            return ""
        name, type_, *_ = self.refusing[label]
        return f"another layer ignores it, but `{name}` ({type_}) does not: set `ignore_label: {label}` there, too"


NONE_IGNORED = IgnoredLabels()


def common_labels(readers: Iterable[LabelReader]) -> dict[str, IgnoredLabels]:
    """By the name of the value."""
    by_value: dict[str, list[LabelReader]] = {}
    for reader in readers:
        for name in reader.inputs:
            by_value.setdefault(name, []).append(reader)
    return {name: _common(found) for name, found in by_value.items()}


def _common(readers: list[LabelReader]) -> IgnoredLabels:
    own = [reader.attributes.get("ignore_label") for reader in readers]
    labels = {int(label) for label in own if label is not None}
    refusing = {
        label: next(reader for reader, ignored in zip(readers, own, strict=True) if ignored != label)
        for label in labels
        if any(ignored != label for ignored in own)
    }
    return IgnoredLabels(frozenset(labels - refusing.keys()), refusing)
