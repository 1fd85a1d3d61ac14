"""Shape inference: named axes bind sizes, and the layer's `@infer` function computes the others."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .bodies import record
from .definitions.layers import Binding, LayerDefinition
from .errors import (
    CountError,
    DefinitionError,
    KindError,
    LevelError,
    RankError,
    ShapeError,
    _Requirement,
    brief,
    suggestion,
)
from .fields.attribute_values import Attributes
from .fields.axes import REST, Axis, split_dims, takes_what_is_left
from .fields.tensors import Field, Input, Output
from .fields.types import Type, product

LEVEL_WORDS = ("no sequence", "a sequence", "a nested sequence")


def bind_axes(layer: LayerDefinition, types: Sequence[Type], attributes: Mapping[str, Any]) -> Binding:
    """Bind the axes of `layer` to the sizes that `types` and `attributes` give. Raises `ShapeError`."""
    positions = _assign(layer, types)
    binder = _Binder(layer, types, attributes)
    for field in layer.binding_order:
        for place in positions[field.name]:
            binder.take(field, place)
    for row, group in layer.dynamic_rows.items():
        if group not in binder.levels:
            raise layer.error(f"the rows `{row}` of an output are grouped by `{group}`, which no input has")
        binder.levels[row] = binder.levels[group] + 1
    for row, group in layer.entry_rows.items():
        binder.levels[row] = binder.levels[group] + 1
    for axis, name in layer.axis_attributes:
        binder.sizes[axis] = attributes[name]
    given: dict[str, Any] = {}
    if layer.hooks:
        given = attributes.as_dict() if isinstance(attributes, Attributes) else dict(attributes)
        given |= binder.sizes
        for name, field in layer.inputs.items():
            items = [types[place] for place in positions[name]]
            given[name] = tuple(items) if field.repeatable else items[0] if items else None
    if "infer" in layer.hooks:
        binder.sizes |= given_sizes(layer, binder.sizes, _call(layer, "infer", given, positions))
    # A body infers the types of all parts, so its outputs are known without another inference.
    if "body" in layer.hooks:
        recorder = record(layer, types, positions)
        body = recorder.body(_call(layer, "body", given | recorder.arguments(attributes), positions))
        _check_outputs(layer, binder, body.output_types)
        return Binding(positions, binder.sizes, binder.levels, body.output_types, body, binder.merged)
    outputs: Sequence[Type]
    if "output_types" in layer.hooks:
        outputs = _given_types(layer, _call(layer, "output_types", given | binder.sizes, positions))
    else:
        binding = Binding(positions, binder.sizes, binder.levels, (), None, binder.merged)
        outputs = [
            _output_type(layer, binding, field, item)
            for field in layer.outputs.values()
            if field.when is None or attributes[field.when]
            for item in range(_item_count(layer, binding, field) if field.repeatable else 1)
        ]
    return Binding(positions, binder.sizes, binder.levels, tuple(outputs), None, binder.merged)


def _assign(layer: LayerDefinition, types: Sequence[Type]) -> dict[str, tuple[int, ...]]:
    """Assignment of positions to inputs: in order, the repeatable one takes the remaining ones."""
    if layer.fixed_positions is not None and len(types) == len(layer.fixed_positions):
        return layer.fixed_positions
    fields = list(layer.inputs.values())
    if not layer.arity.allows(len(types)):
        names = ", ".join(f"`{f.name}`" + (" (optional)" if f.optional else "") for f in fields)
        message = f"`{layer.name}` takes {layer.arity}{f' ({names})' if names else ''}, found {len(types)}"
        raise CountError(message, input=layer.arity.most if layer.arity.exceeded(len(types)) else None)
    spare = len(types) - sum(not field.optional and not field.repeatable for field in fields)
    places: dict[str, tuple[int, ...]] = {}
    at = 0
    for field in fields:
        if field.repeatable:
            count = spare
        else:
            count = 1 if not field.optional or spare > 0 else 0
            spare -= int(field.optional and count)
        places[field.name] = tuple(range(at, at + count))
        at += count
    return places


class _Binder:
    def __init__(self, layer: LayerDefinition, types: Sequence[Type], attributes: Mapping[str, Any]) -> None:
        self.layer, self.types, self.attributes = layer, types, attributes
        self.choice = _group_choice(layer, attributes)
        self.sizes: dict[str, Any] = {}
        self.merged: dict[str, tuple[int, ...]] = {}
        self.levels: dict[str, int] = {}
        self.bound_by: dict[str, str] = {}

    def take(self, field: Input, place: int) -> None:
        type_ = self.types[place]
        label = f"input `{field.name}`" + (f" #{place + 1}" if field.repeatable and place else "")
        if type_.kind not in field.kinds:
            raise KindError(
                f"{label} of `{self.layer.name}` is {_KIND_WORDS[type_.kind]} ({type_}); "
                f"it takes {' or '.join(_KIND_WORDS[kind] for kind in field.kinds)}",
                input=place,
                kinds=field.kinds,
            )
        if type_.level not in field.seq:
            raise LevelError(
                f"{label} of `{self.layer.name}` is {_level(type_.level)} ({type_}); "
                f"it takes {' or '.join(LEVEL_WORDS[level] for level in field.seq)}",
                input=place,
                levels=field.seq,
            )
        self._rows(field, type_, label, place)
        for axis, size in self.match(field, type_, label, place):
            self._bind(axis, size, label, place)

    def _rows(self, field: Input, type_: Type, label: str, place: int) -> None:
        row = field.axes[0]
        # The first input determines a level or size, later ones have to agree; messages name both.
        expected = self.levels.setdefault(row.name, type_.level)
        first = self.bound_by.setdefault("level " + row.name, label)
        if expected != type_.level:
            message = f"{label} is {_level(type_.level)}, but {first} is {_level(expected)}"
            raise LevelError(message, input=place, levels=[expected])
        if row.group:
            self._group(row.group, type_.level, label, place)
        if row.outer:
            self.levels.setdefault(row.outer, 0)
            self.bound_by.setdefault("level " + row.outer, f"the samples of {label}")

    def _group(self, group: str, level: int, label: str, place: int) -> None:
        if self.choice == "SUBSEQUENCE" and level < 2:
            raise LevelError(f"{label} is {_level(level)}; it has no sub-sequences", input=place, levels=[2])
        outer = 0 if self.choice == "SEQUENCE" else level - 1
        if self.levels.setdefault(group, outer) != outer:
            raise LevelError(
                f"the sequences of {label} are in {LEVEL_WORDS[outer]}, but {self.bound_by['level ' + group]} is in "
                f"{LEVEL_WORDS[self.levels[group]]}",
                input=place,
            )
        self.bound_by.setdefault("level " + group, label)

    def match(self, field: Field, type_: Type, label: str, place: int) -> Iterable[tuple[Axis, Any]]:
        """The size that a type gives each axis after the rows, several for one that merges them. Raises `RankError`."""
        axes, dims = field.axes[1:], type_.dims
        if field.has_fixed_rank:
            if len(dims) == len(axes):
                return zip(axes, dims, strict=True)
            if not dims and [axis.name for axis in axes] == ["1"]:
                return []
        elif field.axes[0].name == REST:
            return [(field.axes[0], dims)] if not axes else []
        elif axes[0].first is not None:
            return self._match_placed(field, dims, f"{label} of `{self.layer.name}` has shape {type_}", place)
        elif takes_what_is_left(field.axes):
            return self._match_left(field, dims, f"{label} of `{self.layer.name}` is {type_}", place)
        elif len(dims) >= len(axes) - 1:
            return split_dims(axes, dims, 0)
        least = "" if field.has_fixed_rank else "at least "
        names = [axis.name for axis in axes if not axis.rest]
        raise RankError(
            f"{label} of `{self.layer.name}` has shape {type_}, but `{field.text}` needs {least}{len(names)} "
            f"ax{'e' if len(names) != 1 else 'i'}s after the rows",
            input=place,
            axes=names,
        )

    def _match_left(self, field: Field, dims: tuple[int, ...], what: str, place: int) -> list[tuple[Axis, Any]]:
        """`N C... ...`: the last axes are those that another input has; the others are C."""
        tail, other = self.sizes.get(REST, ()), self.bound_by.get(REST, "another input")
        if tail and (len(dims) <= len(tail) or dims[len(dims) - len(tail) :] != tail):
            name = field.axes[1].name
            raise ShapeError(
                f"{what}, but {other} has axes {_show(tail)}: expected {name} before these axes", input=place
            )
        return split_dims(field.axes[1:], dims, len(tail))

    def _match_placed(self, field: Field, dims: tuple[int, ...], what: str, place: int) -> list[tuple[Axis, Any]]:
        """`N... C@axis ...`: the axes before the one whose position an attribute selects, that one, and the rest."""
        before, axis, *behind = field.axes
        if not dims and not axis.rest:
            message = f"{what}, but `{field.text}` needs at least 1 axis after the rows"
            raise RankError(message, input=place, axes=[axis.name])
        first = self._place(axis.first or "", dims, what)
        last = first if not axis.rest else len(dims)
        if axis.last is not None:
            last = self._place(axis.last, dims, what)
            if last < first:
                message = f"`{axis.last}` is {self.attributes[axis.last]}, an axis before `{axis.first}`"
                raise ShapeError(f"{what}: {message}", attribute=axis.last)
        own = dims[first - 1 : last] if axis.rest else dims[first - 1]
        return [(before, dims[: first - 1]), (axis, own), *((one, dims[last:]) for one in behind)]

    def _place(self, attribute: str, dims: tuple[int, ...], what: str) -> int:
        """The position of an axis, counted from 1 after the rows. Raises `ShapeError` if it does not exist."""
        place = int(self.attributes[attribute])
        count = max(len(dims), 1)  # one value per row: merging axes treat it as one column
        found = place + count + 1 if place < 0 else place
        if not 1 <= found <= count:
            message = "axis 0 is the batch axis" if place == 0 else f"the axes after the rows are 1 to {count}"
            message += ", or -1 for the last" if place else ""
            raise ShapeError(f"{what}, but `{attribute}` is {place}: {message}", attribute=attribute)
        return found

    def _bind(self, axis: Axis, size: Any, label: str, place: int) -> None:
        name = axis.name
        if name == "1":
            if size != 1:
                raise RankError(f"{label} has {size} columns, but takes 1", input=place)
            return
        if name in self.levels and name != REST:
            before = self.merged.setdefault(name, size)
            if before != size:
                first = self.bound_by[name]
                message = f"the leading axes of {label} are {_show(size)}, but {_show(before)} in {first}"
                raise ShapeError(message, input=place)
            self.bound_by.setdefault(name, label)
            return
        if axis.rest and name != REST:
            self.merged.setdefault(name, size)
            size = product(size)
        if axis.per_item:
            self.sizes.setdefault(name, []).append(size)
            return
        before = self.sizes.setdefault(name, size)
        if before != size:
            what = "the shape" if name == REST else f"axis {name}"
            raise ShapeError(
                f"{what} of {label} is {_show(size)}, but {_show(before)} in {self.bound_by[name]}", input=place
            )
        self.bound_by.setdefault(name, label)

    def agrees(self, axis: Axis, size: Any) -> bool:
        """Whether an axis has this size; one that nothing has bound takes it."""
        if axis.rest and axis.name != REST:
            if self.merged.setdefault(axis.name, size) != size and axis.name in self.levels:
                return False
            size = product(size)
        known_rows = axis.name != REST and axis.name in self.levels
        return known_rows or bool(self.sizes.setdefault(axis.name, size) == size)


_KIND_WORDS = {"DENSE": "dense", "INT": "ids", "SPARSE": "sparse with values", "SPARSE_INT": "sparse"}


def _level(level: int) -> str:
    """Sequence level in words, for messages."""
    return LEVEL_WORDS[level] if level else "not a sequence"


def _show(size: Any) -> str:
    return "x".join(map(str, size)) or "one value per row" if isinstance(size, tuple) else str(size)


def _call(layer: LayerDefinition, hook: str, given: Mapping[str, Any], positions: Mapping[str, tuple[int, ...]]) -> Any:
    call = layer.hooks[hook]
    names = layer.hook_names[hook]
    try:
        # Separate from the call, whose own `KeyError` is an error of the author and must not be reported as a missing
        # argument.
        values = [given[name] for name in names]
    except KeyError as missing:
        code = call.__code__
        message = f"{call.__name__}: unknown argument `{missing.args[0]}`{suggestion(missing.args[0], given)}"
        raise DefinitionError(message, code.co_filename, code.co_firstlineno) from None
    try:
        return call(*values)
    except _Requirement as refusal:
        if refusal.name in layer.attributes:
            raise ShapeError(refusal.message, attribute=refusal.name) from None
        place = positions.get(refusal.name, ())
        raise ShapeError(refusal.message, input=place[0] if place else None) from None


def _given_types(layer: LayerDefinition, types: Any) -> tuple[Type, ...]:
    """The result of an `@output_types` function, one type per output. Raises `DefinitionError`."""
    if not isinstance(types, (list, tuple)) or not all(isinstance(one, Type) for one in types):
        raise layer.error(f"@output_types must return a list of Type, not {types!r}")
    if len(types) != len(layer.outputs) and not any(field.repeatable for field in layer.outputs.values()):
        raise layer.error(f"@output_types returns {len(types)} types for {len(layer.outputs)} declared outputs")
    return tuple(types)


def _check_outputs(layer: LayerDefinition, binder: _Binder, types: tuple[Type, ...]) -> None:
    """Compare what a body gives with the outputs declared; axes that nothing has bound take their sizes from it."""
    if len(types) != len(layer.outputs):
        raise layer.error(f"its body returns {len(types)} outputs, but {len(layer.outputs)} are declared")
    for field, type_ in zip(layer.outputs.values(), types, strict=True):
        declared = f"`{field.name}` is declared as {field.kind} `{field.text}`"
        try:
            axes = binder.match(field, type_, "it", 0)
        except RankError:
            raise layer.error(f"{declared}, but its body returns {type_}") from None
        wrong = [
            f"axis {axis.name} is {_show(binder.sizes.get(axis.name, binder.merged.get(axis.name)))}"
            for axis, size in axes
            if axis.name != "1" and not binder.agrees(axis, size)
        ]
        level = binder.levels.setdefault(field.axes[0].name, type_.level)
        if wrong or level != type_.level or field.kind != type_.kind:
            what = f", where {wrong[0]}" if wrong else f", as {LEVEL_WORDS[level]}"
            raise layer.error(f"{declared}{what}, but its body returns {type_}")


def _item_count(layer: LayerDefinition, binding: Binding, field: Output) -> int:
    names = [axis.name for axis in field.axes if axis.per_item]
    if names and names[0] not in binding.sizes:
        raise layer.error(f"no input or attribute determines axis {names[0]} of `{field.name}`")
    return len(binding.sizes[names[0]]) if names else 1


def _output_type(layer: LayerDefinition, binding: Binding, field: Output, item: int) -> Type:
    level = binding.levels.get(field.axes[0].name, 0) if field.axes else 0
    try:
        if field.kind == "INT":
            return Type.ids(binding.sizes[field.size or ""], level, binding.dims(field, item))
        dims = binding.dims(field, item)
        return Type("DENSE", dims, product(dims), level)
    except KeyError as missing:
        raise layer.error(f"no input or attribute determines axis {missing.args[0]} of `{field.name}`") from None


def _group_choice(layer: LayerDefinition, attributes: Mapping[str, Any]) -> str | None:
    """The meaning of the sequence axis of a nested input: SEQUENCE, SUBSEQUENCE, or the innermost level (None)."""
    return None if layer.group_attribute is None else str(attributes[layer.group_attribute])


def given_sizes(layer: LayerDefinition, bound: Mapping[str, Any], found: Any) -> Mapping[str, Any]:
    """The sizes, if they are some. Raises `DefinitionError` at the function's line."""
    call = layer.hooks["infer"]

    def error(message: str) -> DefinitionError:
        code = call.__code__
        return DefinitionError(f"{call.__name__}: {message}", code.co_filename, code.co_firstlineno)

    if not isinstance(found, (dict, Mapping)):  # a dict is found without the registry of abstract classes
        free = sorted(layer.axis_names - bound.keys() - {*layer.groups, *layer.groups.values()})
        wanted = ", ".join(f'"{name}": ...' for name in free or ["K"])
        raise error(f"returns {brief(found)}; it must return a dict of sizes, {{{wanted}}}")
    known = layer.axis_names
    for name, size in found.items():
        if name not in known and name not in (known := _inferable_names(layer)):
            raise error(f"returns a size for the unknown axis `{name}`{suggestion(str(name), known)}")
        if type(size) is not int and not _is_size(size):
            raise error(f"returns {brief(size)} for axis {name}; sizes must be integers (use `//` instead of `/`)")
        if name in bound and bound[name] != size:
            raise error(f"returns {size} for axis {name}, which is already {bound[name]}")
    if layer.numbers and (missing := sorted(layer.numbers.keys() - found.keys())):
        raise error(f"returns no value for the Numbers `{missing[0]}`")
    return found


def _inferable_names(layer: LayerDefinition) -> set[str]:
    """All that `@infer` may give: axes, numbers, and the numbers of ids of the outputs."""
    return {*layer.axis_names, *layer.numbers, REST, *(one.size for one in layer.outputs.values() if one.size)}


def _is_size(size: Any) -> bool:
    if isinstance(size, (list, tuple)):
        return all(map(_is_size, size))
    try:
        # Accepts NumPy integers, rejects floats such as 3.0: `/` instead of `//` would give 3.5 for other sizes.
        operator.index(size)
    except TypeError:
        return False
    return True
