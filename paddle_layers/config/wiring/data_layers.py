"""Values of data layers that other layers determine: recurrent state across batches, and ignored labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..diagnostics.report import DiagnosticReport
from ..diagnostics.suggestions import nearest
from .nodes import Node, NodesByType

DATA = "data"


def carried_values(nodes: Iterable[Node]) -> dict[str, str]:
    """The value of the previous batch that each data layer with `carry` receives, by name of the data layer."""
    data = (node for node in nodes if node.definition.name == DATA)
    return {node.output_names[0]: node.attributes["carry"] for node in data if node.attributes["carry"] is not None}


def check_carried(nodes: Sequence[Node], by_type: NodesByType, report: DiagnosticReport) -> None:
    """Check that carried values exist and have the type of the data layer."""
    carried = carried_values(node for definition, same in by_type.items() if definition.name == DATA for node in same)
    if not carried:
        return
    types = {name: type_ for node in nodes for name, type_ in zip(node.output_names, node.output_types, strict=True)}
    producers = {name: node for node in nodes for name in node.output_names}
    for name, value in carried.items():
        node, found = producers[name], types.get(value)
        if found is None:
            near = nearest(value, types)
            help_ = f"did you mean `{near}`?" if near else "it must be the output of a layer, such as a `seq_last`"
            report.add("E221", f"data layer `{name}` carries the unknown output `{value}`", *node.span, help=help_)
        elif found != types[name]:
            note = report.note(
                f"`{value}` is produced here by `{producers[value].definition.name}`", producers[value].span[0]
            )
            help_ = "both must have the same type"
            if found.level:
                help_ = "`carry` needs one row per sample, such as the output of a `seq_last`"
            message = f"`{name}` is {types[name]}, but the carried value `{value}` is {found}"
            report.add("E221", message, *node.span, help=help_, notes=(note,))


# ---- ignored labels


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
    """Ignored labels by value name."""
    by_value: dict[str, list[LabelReader]] = {}
    for reader in readers:
        for name in reader.inputs:
            by_value.setdefault(name, []).append(reader)
    return {name: _common(found) for name, found in by_value.items()}


def _common(readers: list[LabelReader]) -> IgnoredLabels:
    own = [reader.attributes.get("ignore_label") for reader in readers]
    labels = {int(label) for label in own if label is not None}
    # A label may be left out of the data check only if no reader would use it as an index.
    refusing = {
        label: next(reader for reader, ignored in zip(readers, own, strict=True) if ignored != label)
        for label in labels
        if any(ignored != label for ignored in own)
    }
    return IgnoredLabels(frozenset(labels - refusing.keys()), refusing)
