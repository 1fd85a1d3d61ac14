"""Binder: attribute blocks to the attributes of a definition, headers to the schema."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from paddle_layers.define import Attributes, Definition, registries
from paddle_layers.define.fields.attributes import Attribute

from ..diagnostics.diagnostic import Fix
from ..diagnostics.report import DiagnosticReport
from ..reading.fields import BLOCK, BROKEN, FLOAT, INT, KNOWN, LIST, STRING, WORD, Field, Fields, items, shown
from .assignments import Pending, assignments
from .blocks import BlockDefinition, data_sizes, declared
from .expressions import NAME
from .headers import HeaderField, MessageSpec, spec
from .unknown import attribute_hint, replacement_of, report_unknown_type
from .values import MISSING, bind_value, bind_values


class Bound:
    """A bound message: its header values by name, its fields for later messages, and the definition of its `type`.

    `definition` has the value None if the type is unknown, `attributes` has the value None if its block has errors:
    dependent checks are then skipped.
    """

    __slots__ = (
        "_listed", "attributes", "block", "broken", "definition", "meant", "pending", "places", "start", "values",
    )  # fmt: skip

    def __init__(self, start: int) -> None:
        self.start = start
        self.values: dict[str, Any] = {}
        self.places: dict[str, list[Field]] = {}
        self.definition: Definition | None = None
        self.attributes: Attributes | None = None
        self.block: Fields = []
        self.broken = False
        self.pending: tuple[Pending, ...] = ()
        """Attributes that depend on the settings of the enclosing block."""
        self.meant: set[str] = set()
        """Fields with misspelled names: they are not reported as missing."""
        self._listed: dict[str, Fields] = {}

    def place(self, name: str, item: int = 0) -> int:
        """Offset of a header field's value, or of the message when it is absent."""
        found = self._listed.get(name, [])
        if not found:  # cached, because a layer may have 100,000 inputs, each of them invalid
            found = self._listed[name] = [value for field in self.places.get(name, ()) for value in items(field)]
        return found[min(item, len(found) - 1)][4] if found else self.start

    def item_place(self, name: str, item: int) -> int:
        """Offset of one value of a repeated attribute."""
        known = self.definition.attribute_by_name if self.definition else {}
        given = [field for field in self.block if field[0] in known and known[field[0]].name == name]
        return [value for field in given for value in items(field)][item][4]

    def attribute_place(self, name: str) -> int:
        """Offset of an attribute's value, or of the one it defaults to; else of the attribute block or the message."""
        known = self.definition.attribute_by_name if self.definition else {}
        wanted: str | None = name
        while wanted is not None and wanted in known:
            for field in self.block:
                if field[0] in known and known[field[0]].name == wanted:
                    return field[4]
            wanted = known[wanted].default_from
        if self.definition and self.definition.name in self.places:
            return self.places[self.definition.name][0][3]
        return self.place("type")


class Binder:
    """Binds messages of one source."""

    def __init__(self, report: DiagnosticReport) -> None:
        self.report = report
        self.interned: dict[tuple[Any, ...], Attributes] = {}
        self.blocks: tuple[BlockDefinition, ...] = ()
        """Blocks of the current network."""
        self.within: BlockDefinition | None = None
        """The current block."""
        self.sizes: Callable[[], dict[str, int | None]] = dict
        """The sizes of the data layers of the current network, which `set` reads outside of blocks."""
        self.strayed: dict[str, set[str]] = {}
        """Fields that are misplaced beside their block: they are reported there, not as missing."""

    def message(self, fields: Fields, header: MessageSpec, start: int, registry: str = "") -> Bound:
        """Bind the fields of a block to a header; with a registry, to the definition that `type` names as well."""
        bound = Bound(start)
        rest: list[Field] = []
        if header.name == "Network":
            # Once for all layers: a network may use a block a thousand times.
            self.blocks, self.sizes = declared(fields), cache(lambda: data_sizes(fields))
        for field in fields:
            name = field[0]
            if name == BROKEN:
                bound.broken = True
            elif name in header.fields:
                bound.places.setdefault(name, []).append(field)
            else:
                rest.append(field)
                block, inner = header.home_of(name) if name not in header.names and not registry else ("", "")
                self.strayed.setdefault(block, set()).add(inner)
        for name, given in bound.places.items():
            self._header_field(bound, header.fields[name], given)
        if registry:
            self._typed(bound, header, registry, rest)
        else:
            for field in rest:
                self._unknown_header(bound, header, field)
        if registry or not rest or header.name == "Training":  # an unknown field may be the missing one
            self._missing(bound, header)
        return bound

    # ---- header fields

    def _header_field(self, bound: Bound, field: HeaderField, given: list[Field]) -> None:
        if not field.repeated and len(given) > 1:
            self.twice(given)
        if field.message:
            found = []
            for one in given:
                if one[1] == KNOWN:
                    found += one[2]
                elif one[1] == LIST and not field.repeated:
                    self.report.add("E102", f"`{field.name}` is a single block: remove the brackets", one[4])
                else:
                    messages = [self._nested(field, item) for item in items(one)]
                    found += [message for message in messages if message is not None]
            bound.values[field.name] = found if field.repeated else found[0] if found else None
            return
        attribute = field.attribute
        assert attribute is not None, "a field is a message or has an attribute"
        if not field.repeated:
            value = bind_value(attribute, given[0], self.report)
            bound.values[field.name] = field.default if value is MISSING else value
            return
        found = [bind_value(attribute, item, self.report) for one in given for item in items(one)]
        if MISSING in found:
            bound.broken = True
        bound.values[field.name] = tuple(value for value in found if value is not MISSING)

    def _nested(self, field: HeaderField, given: Field) -> Bound | None:
        if given[1] != BLOCK:
            if given[0] != BROKEN:
                inner = _written(spec(field.message), given)
                message = f"`{field.name}` is a block: write `{field.name} {{ {inner} }}`"
                act = field.name == "activation" and given[1] == STRING
                help_ = f'without attributes: `act: "{given[2]}"` in the attribute block of the layer' if act else ""
                self.report.add("E102", message, given[4], help=help_)
            return None
        if field.message != "Block":
            return self.message(given[2], spec(field.message), given[3], field.registry)
        block, before = next(block for block in self.blocks if block.start == given[3]), self.report.errors
        self.within = block
        bound = self.message(given[2], spec("Block"), given[3])
        bound.definition, self.within = block, None
        block.broken = self.report.errors > before
        return bound

    def _missing(self, bound: Bound, header: MessageSpec) -> None:
        kind = {"ParamSettings": "param", "Training": "training file"}.get(header.name, header.name.lower())
        if "type" not in header.required and header.name not in ("Block", "Training"):
            kind = f"`{kind}` block"
        given = {*bound.places, *bound.meant, *self.strayed.get(header.name.lower(), ())}
        missing = [name for name in header.required if name not in given and not bound.broken]
        for code, names in (("E110", ("name", "type")), ("E105", header.required)):
            absent = [name for name in missing if name in names and (code == "E110" or name not in ("name", "type"))]
            if absent:
                message = f"this {kind} has no " + " and no ".join(f"`{name}`" for name in absent)
                help_ = "add " + " and ".join(f"`{name}: ...`" for name in absent)
                self.report.add(code, message, bound.start, help=help_)

    def twice(self, given: list[Field]) -> None:
        """Report a field that may not be repeated."""
        for field in given[1:]:
            note = self.report.note("first set here", given[0][3])
            help_ = "combine them, separated by a comma" if field[0] in ("set", "settings") else ""
            self.report.add("E106", f"duplicate field `{field[0]}`", field[3], help=help_, notes=(note,))

    def _unknown_header(self, bound: Bound, header: MessageSpec, field: Field, hint: str = "") -> None:
        name = field[0]
        block, inner = ("", "") if name in header.names else header.home_of(name)
        other = replacement_of(header.name, name) if block in ("", "param") else ""
        block = "" if other else block  # it concerns the whole training, not single parameters
        near = "" if block or other else header.nearest(name)
        bound.meant.add(near or block)
        if near:
            hint = f"did you mean `{near}`?"
        elif block:
            hint = f"write `{block} {{ {inner}: ... }}`"
        else:
            hint = other or hint or f"available: {', '.join(header.fields)}"
        fix = Fix(field[3], field[3] + len(name), near) if near and not self._json else None
        what = {"Network": "a network file", "Training": "a training file", "ParamSettings": "`param`"}
        where = what.get(header.name, f"`{header.name.lower()}`")
        self.report.add("E101", f"{where} has no field `{name}`", field[3], help=hint, fix=fix)

    @property
    def _json(self) -> bool:
        return self.report.source.text.lstrip()[:1] == "{"

    # ---- typed blocks: { type: "x" x { ... } }

    def _typed(self, bound: Bound, header: MessageSpec, registry: str, rest: list[Field]) -> None:
        name = bound.values.get("type")
        if not isinstance(name, str):
            self._orphans(bound, header, registry, rest)
            return
        definition = self._definition(header, registry, name)
        if definition is None:
            self.unknown_type(registry, name, bound.place("type"))
            self._orphans(bound, header, registry, rest)
            return
        bound.definition = definition
        own: list[Field] = []
        for field in rest:
            if field[0] == name and field[1] == BLOCK and isinstance(definition, BlockDefinition):
                self._settings_in_braces(bound, definition, field)
            elif field[0] == name and field[1] == BLOCK:
                own.append(field)
            else:
                self._stray(bound, header, registry, definition, field)
        if len(own) > 1:
            self.twice(own)
        if own:
            bound.places[name] = own
            bound.block = own[0][2]
        self._set(bound, definition)
        bound.attributes = self.attributes(definition, bound.block, own[0][3] if own else bound.place("type"), bound)

    def _definition(self, header: MessageSpec, registry: str, name: str) -> Definition | None:
        """The registered definition of a name, or the block that a layer uses."""
        found: Definition | None = registries[registry].get(name)
        if found is None and header.name == "Layer":
            found = next((block for block in self.blocks if block.name == name and name), None)
        return found

    def _set(self, bound: Bound, definition: Definition) -> None:
        """Add the assignments of `set` to the attribute block."""
        if not (given := bound.places.get("set", [])):
            return
        sizes = self.sizes() if self.within is None else {}
        reads_size = given[0][1] == STRING and not sizes.keys().isdisjoint(NAME.findall(given[0][2]))
        if self.within is None and not isinstance(definition, BlockDefinition) and not reads_size:
            bound.broken = True
            if all(block.name != definition.name for block in self.blocks):  # else its name is reported
                what = "`set` is only allowed on a layer that uses a block or inside a block"
                help_ = f"`{definition.name}` is a layer type: write its attributes in `{definition.name} {{ ... }}`"
                help_ += f'; `set: "size = {min(sizes)}"` has the size of a data layer' if sizes else ""
                self.report.add("E121", what, given[0][3], help=help_)
            return
        fields, bound.pending, sound = assignments(given[:1], definition, self.within, sizes, self.report)
        bound.block = [*bound.block, *fields]
        bound.broken = bound.broken or not sound

    def _settings_in_braces(self, bound: Bound, definition: BlockDefinition, field: Field) -> None:
        texts = [f"{inner[0]} = {inner[2]}" for inner in field[2] if inner[1] in (INT, FLOAT, WORD)]
        help_ = f'write `set: "{", ".join(texts) or "..."}"`'
        message = f"settings of block `{definition.name}` must be written in `set`"
        self.report.add("E108", message, field[3], help=help_)
        bound.broken = True

    def _orphans(self, bound: Bound, header: MessageSpec, registry: str, rest: list[Field]) -> None:
        """Without a type, only names that no definition has are errors."""
        for field in rest:
            if field[1] not in (BLOCK, LIST) and field[0] not in registries[registry]:
                near = header.nearest(field[0])
                if near and near not in bound.places:
                    self._unknown_header(bound, header, field)
                    bound.places[near] = [field]

    def _stray(self, bound: Bound, header: MessageSpec, registry: str, definition: Definition, field: Field) -> None:
        name, start = field[0], field[3]
        if name in definition.attribute_by_name:
            value = shown(field) if field[1] in (INT, FLOAT, STRING, WORD) and len(str(field[2])) <= 40 else "..."
            help_ = f"write `{definition.name} {{ {name}: {value} }}`"
            if not self.report.source.name.startswith("<"):
                help_ += "; `paddle-layers fmt` moves it there"
            message = f"attribute `{name}` is outside of the block `{definition.name}`"
            self.report.add("E108", message, start, help=help_)
            bound.broken = True
        elif field[1] == BLOCK and (name in registries[registry] or not header.nearest(name)):
            own = definition.name
            note = (self.report.note(f"the type is `{own}`", bound.place("type")),)
            self.report.add(
                "E109",
                f"block `{name}` does not match the type `{own}`",
                start,
                help=f"write the attributes in `{own} {{ ... }}`, or change the type",
                notes=note,
            )
            bound.broken = True
        else:
            near = header.nearest(name)
            self._unknown_header(
                bound, header, field, f"attributes of `{definition.name}` belong in `{definition.name} {{ ... }}`"
            )
            bound.broken = bound.broken or near in ("input", "output")  # so that they are not reported as missing
            if near == "name" and near not in bound.places and field[1] == STRING:
                bound.places[near], bound.values[near] = [field], field[2]  # for the layers that read it

    def unknown_type(self, registry: str, name: str, start: int) -> None:
        """Report an unknown type, unless it may be the block without a name, which is reported separately."""
        blocks = self.blocks if registry == "layer" else ()
        if all(block.name for block in blocks):
            report_unknown_type(self.report, registry, name, start, [block.name for block in blocks])

    # ---- attribute blocks

    def attributes(self, definition: Definition, fields: Fields, start: int, bound: Bound) -> Attributes | None:
        """The attributes of a block, completed with defaults; None after a report."""
        known, given = definition.attribute_by_name, {}
        excused = {known[one.name].name for one in bound.pending}
        ok = not bound.broken and not bound.pending
        present = {field[0] for field in fields}
        groups: dict[str, list[Field]] = {}
        for field in fields:
            attribute = known.get(field[0])
            if attribute is not None:
                groups.setdefault(attribute.name, []).append(field)
            elif field[0] == BROKEN:
                bound.broken = True
                ok = False
            else:
                excused.add(self._unknown_attribute(definition, field, present))
                ok = False
        for name, same in groups.items():
            attribute = definition.attributes[name]
            if attribute.deprecated:
                self.report.add("W001", f"`{name}` is deprecated: {attribute.deprecated}", same[0][3])
            if attribute.repeated:
                value = bind_values(attribute, same, self.report)
            else:
                if len(same) > 1:
                    self.twice(same)
                    ok = False
                value = self._value(attribute, same[0])
            if value is MISSING:
                ok = False
            given[name] = value
        for attribute in definition.attributes.values():
            if attribute.required and attribute.name not in given:
                ok = False
                if attribute.name not in excused and not bound.broken:
                    self._required(definition, attribute, start)
        return self._intern(definition, given) if ok else None

    def _value(self, attribute: Attribute[Any], field: Field) -> Any:
        """The value of an attribute that is not repeated, or `MISSING` after a report."""
        if field[1] == WORD and self.within is not None and field[2] in self.within.attributes:
            if attribute.type != "CHOICE" or field[2] not in attribute.options:
                message = f"setting `{field[2]}` of the block can only be used in `set`"
                help_ = f'write `set: "{attribute.name} = {field[2]}"` in the layer instead'
                self.report.add("E102", message, field[4], help=help_)
                return MISSING
        return bind_value(attribute, field, self.report)

    def _required(self, definition: Definition, attribute: Any, start: int) -> None:
        limits = attribute.range_text() or ", ".join(attribute.options)
        if isinstance(definition, BlockDefinition):
            message = f"block `{definition.name}` requires the setting `{attribute.name}`"
            self.report.add("E105", message, start, help=f'add `set: "{attribute.name} = ..."`')
            return
        self.report.add(
            "E105",
            f"{definition.kind} `{definition.name}` requires `{attribute.name}`: {attribute.doc}",
            start,
            help=f"add `{definition.name} {{ {attribute.name}: ... }}`" + (f", {limits}" if limits else ""),
        )

    def _intern(self, definition: Definition, given: dict[str, Any]) -> Attributes:
        key = (definition, *given.items())
        found = self.interned.get(key)
        if found is None:
            found = self.interned[key] = definition.fill_defaults(given)
        return found

    def _unknown_attribute(self, definition: Definition, field: Field, present: set[str]) -> str:
        name, start = field[0], field[3]
        known = definition.attribute_by_name
        help_, near = attribute_hint(name, definition)
        end = start + len(name)
        fix = Fix(start, end, near) if near and near not in present and not self._json else None
        message = f"{definition.kind} `{definition.name}` has no attribute `{name}`"
        self.report.add("E101", message, start, start + len(name) + 2 * self._json, help=help_, fix=fix)
        return known[near].name if near else ""


def _written(header: MessageSpec, given: Field) -> str:
    """The fields of a block, the required ones or the first ones, with a placeholder for its type."""
    takes = "type" if "type" in header.required else "".join(header.required[:1])
    named = {takes: f'"{given[2]}"'} if given[1] == STRING else {}
    names = header.required or tuple(name for name, field in header.fields.items() if not field.message)[:2]
    return " ".join(f"{name}: {named.get(name, '...')}" for name in names) or "..."
