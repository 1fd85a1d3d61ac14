"""Recurrent state across batches: data layers that carry a value from the previous batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..diagnostics.report import Report
from ..diagnostics.suggestions import nearest
from .nodes import Node

DATA = "data"


def carried_values(nodes: Iterable[Node]) -> dict[str, str]:
    """The value of the previous batch that each data layer with `carry` receives, by name of the data layer."""
    data = (node for node in nodes if node.definition.name == DATA)
    return {node.output_names[0]: node.attributes["carry"] for node in data if node.attributes["carry"] is not None}


def check_carried(nodes: Sequence[Node], report: Report) -> None:
    """Check that carried values exist and have the type of the data layer."""
    carried = carried_values(nodes)
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
