"""Block definitions of a network file: reusable subnetworks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from paddle_layers.define.derived import DerivedLayer
from paddle_layers.define.fields.attributes import Attribute, Bool, Float, Int, String
from paddle_layers.define.fields.tensors import Input, Output
from paddle_layers.define.fields.types import KINDS
from paddle_layers.define.functions.point_functions import Facts

from ..diagnostics.report import DiagnosticReport
from ..reading.fields import BLOCK, FLOAT, INT, KNOWN, STRING, WORD, Field, Fields, items
from .expressions import ExpressionError, Value, assignment, pieces
from .headers import spec

_ATTRIBUTES: dict[type, type[Attribute[Any]]] = {bool: Bool, int: Int, float: Float, str: String}


class BlockDefinition(DerivedLayer):
    """A block declaration as the definition of a layer: settings are its attributes."""

    def __init__(self, name: str, fields: Fields, start: int) -> None:
        # A class like that of a layer: binding, messages, editor and documentation then need no second case for blocks.
        owner: Any = type("Block", (), {"__doc__": _description(fields), **_attributes(fields)})
        super().__init__(name, owner, place=("", 0), family="blocks")
        self.kind, self.fields_in_file, self.start = "block", fields, start
        # Kinds, axes and sequence levels are unconstrained here: every use infers the layers of the block for its own
        # types.
        self.inputs = {text: _named(Input("N ...", "an input", kinds=KINDS, seq=(0, 1, 2)), text)
                       for text in dict.fromkeys(_texts(fields, "input"))}  # fmt: skip
        self.outputs = {text: _named(Output("N ...", "an output"), text)
                        for text in dict.fromkeys(_texts(fields, "output"))}  # fmt: skip
        # A misspelled field `settings` declares nothing, so without this every use of a setting would be a
        # consequential error.
        misspelt = any(
            spec("Block").nearest(field[0]) == "settings" for field in fields if field[0] not in spec("Block").fields
        )
        self.unread = misspelt or any(not _readable(text) for text in settings_in(fields))
        """Whether a declaration of a setting is malformed, so that any name may be a setting."""
        self.bound: Any = None
        """The fields of the file, with positions."""
        self.drafts: tuple[Any, ...] = ()
        """Its layers before wiring; those that depend on settings have no setup."""
        self.used: tuple[BlockDefinition, ...] = ()
        """The blocks that its layers use."""
        self.broken = False
        """Whether an error in it was reported, so that its uses are not checked."""
        self.layer_count = self.depth = 0
        """The number of layers that a use adds, and the nesting depth."""
        self.outside: frozenset[str] = frozenset()
        """Names in the network around it, for hints."""

    def _check(self) -> None:
        """Its errors are reported for the file, with their positions."""

    _check_fields = _check

    @property
    def is_composite(self) -> bool:
        """Its parameters are those of its layers."""
        return True

    @cached_property
    def facts(self) -> Facts:
        """A fact of one of its layers holds for the block; rows are independent if they are so in all layers."""
        used = [draft.definition.facts for draft in self.drafts if draft.definition is not None]

        def some(fact: str) -> bool:
            return any(getattr(facts, fact) for facts in used)

        return Facts(
            # A block is replaced by its layers before it runs, so what concerns kernels is that of the layers.
            forward=(), backward=(), back_reads=(), differentiable=(), overwrites=False, is_source=False,
            is_sink=self.is_sink, has_param=some("has_param"), has_neuron=False, can_do_bp=some("can_do_bp"),
            is_inplace=False, has_loss=some("has_loss"), has_stats=some("has_stats"), has_phase=some("has_phase"),
            is_random=some("is_random"), has_state=some("has_state"), is_composite=True,
            rows_independent=all(facts.rows_independent for facts in used),
        )  # fmt: skip


def declared(fields: Fields) -> tuple[BlockDefinition, ...]:
    """The blocks among the fields of a network; their errors are reported when they are bound."""
    found = []
    for field in fields:
        for item in items(field) if field[0] == "block" else ():
            if item[1] == BLOCK:
                name = next(iter(_texts(item[2], "name")), "")  # a missing name is reported when it is bound
                found.append(BlockDefinition(name, item[2], item[3]))
    return tuple(found)


def data_sizes(fields: Fields) -> dict[str, int | None]:
    """The sizes of the data layers of ids and sparse vectors among the fields of a network, by name; None if absent."""
    found: dict[str, int | None] = {}
    for field in fields:
        for item in items(field) if field[0] == "layer" else ():
            if item[1] == KNOWN:
                data = (draft for draft in item[2] if draft.definition.name == "data" and draft.setup is not None)
                own = {draft.name: draft.setup.attributes for draft in data}
                found |= {name: values["size"] for name, values in own.items() if values["data_type"] != "DENSE"}
            elif item[1] == BLOCK:
                found |= _data_size(item[2])
    return found


def _data_size(layer: Fields) -> dict[str, int | None]:
    """As `data_sizes`, of one layer."""
    values = {name: value for name, _, value, *_ in layer}
    own = {name: value for name, _, value, *_ in values.get("data") or ()} if values.get("type") == "data" else {}
    if own.get("data_type", "DENSE") == "DENSE" or "set" in values:
        return {}
    size = own.get("size")
    return {str(values.get("name")): size if isinstance(size, int) else None}


def blocks_of(definitions: Iterable[Any]) -> list[BlockDefinition]:
    """The blocks among some definitions and all blocks that they use, in the order of the file."""
    waiting = [one for one in definitions if isinstance(one, BlockDefinition)]
    found: dict[BlockDefinition, None] = {}
    while waiting:
        block = waiting.pop()
        if block not in found:
            found[block] = None
            waiting += block.used
    # The order of the file, which does not depend on the order of uses, so that canonical text is stable.
    return sorted(found, key=lambda block: block.start)


def field_of(name: str, value: Value, start: int) -> Field:
    """A value as a field at a position."""
    if isinstance(value, bool):
        return (name, WORD, "true" if value else "false", start, start)
    kinds: Mapping[type, int] = {int: INT, float: FLOAT, str: STRING}
    return (name, kinds[type(value)], value, start, start)


def piece_place(report: DiagnosticReport, item: Field, offset: int) -> int:
    """Position in the file where a substring begins; the string itself if escapes shift the offsets."""
    inside = item[4] + 1
    # One test instead of a table of escapes: strings of settings rarely contain any.
    plain = report.source.text.startswith(item[2], inside)
    return inside + offset if plain else item[4]


def settings_in(fields: Fields) -> Iterator[str]:
    """The comma-separated items of a block's `settings`."""
    return (piece for whole in _texts(fields, "settings") for piece, _ in pieces(whole))


def _description(fields: Fields) -> str:
    """One-line description of inputs, outputs and settings."""
    inputs, outputs = (", ".join(f"`{name}`" for name in _texts(fields, field)) for field in ("input", "output"))
    settings = ", ".join(settings_in(fields))
    return f"Block of this file with input {inputs} and output {outputs}" + (
        f"; settings: `{settings}`." if settings else "."
    )


def _readable(text: str) -> bool:
    try:
        _, expression, _ = assignment(text)
        return expression is None or expression.value({}) is not None
    except (ExpressionError, KeyError):
        return False


def _attributes(fields: Fields) -> dict[str, Attribute[Any]]:
    found: dict[str, Attribute[Any]] = {}
    for name, expression, _ in map(assignment, filter(_readable, settings_in(fields))):
        default = expression.value({}) if expression is not None else None
        if default is None:
            # Its type is unknown before a use; sizes are what is usually left open.
            found.setdefault(name, Int("a setting without a default"))
        else:
            found.setdefault(name, _ATTRIBUTES[type(default)]("a setting", default=default))
    return found


def _texts(fields: Fields, name: str) -> list[str]:
    return [item[2] for field in fields if field[0] == name for item in items(field) if item[1] == STRING]


def _named(field: Any, name: str) -> Any:
    field.name = name
    return field
