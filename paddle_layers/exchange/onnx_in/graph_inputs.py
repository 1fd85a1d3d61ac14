"""Graph inputs as data layers: batch axis, and time axis of sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from paddle_layers.define.fields.types import Type

from .layers import ImportedLayer, LayerOutput, NotSupported
from .model import GraphInput, ImportFailure, Model, shown
from .reading import KINDS
from .sizes import BATCH, Extent, SymbolicSize
from .symbolic_values import (
    Atom,
    Axis,
    BoxImageIndices,
    Layout,
    SequenceLengths,
    SymbolicValue,
    View,
    atoms_of,
    axis_for,
)

READINGS = ("rows", "sequences", "together", "time-major", "tokens")
"""Candidate interpretations of axes that a model leaves open: floats `[N, ...]`, `[N, T, ...]`, `[T, N, ...]`.

Sequences of several inputs that have the same lengths are interpreted together. At last, ids `[N, T]` and floats
`[N, T, ...]` of a fixed length are values of each sample like all others.
"""

LENGTHS = ".lengths"
CHANNELS_LAST = [0, 3, 1, 2]
WHOLE = ("int64", "int32", "bool")
BOXES = ("RoiAlign", "MaxRoiPool")
"""Operators whose second input has the boxes of all images, concatenated."""
BOXES_STEPS = SymbolicSize.named("T of boxes")
"""The number of boxes of an image."""


EXAMPLES = {2: 128, 4: 224}
"""Sizes in advice, by the number of axes: tokens and images."""


def fix_sizes(model: Model, shapes: Mapping[str, Sequence[int]]) -> list[str]:
    """Give axes of dynamic size in the inputs of a model the sizes of `shapes`, which are without the batch axis.

    Axes of one name have one size in all inputs.

    Returns:
        A note for each input that is changed.

    Raises:
        ImportFailure: There is no such input, or the sizes differ from those in the model.
    """
    declared = {entry.name: entry.axes for entry in model.inputs}
    problems, named = [], dict[str, int]()
    for name, sizes in shapes.items():
        option = f"`--shape {shown(name)}={'x'.join(map(str, sizes))}`"
        axes = (declared.get(name) or (None,) * (len(sizes) + 1))[1:]
        pairs = zip(axes, sizes, strict=False)
        fits = [named.setdefault(axis, size) == size if isinstance(axis, str) else axis in (None, size)
                for axis, size in pairs]  # fmt: skip
        if name not in declared:
            problems.append(f"{option}: the inputs of the model are {', '.join(map(shown, declared))}")
        elif len(axes) != len(sizes) or not all(fits):
            problems.append(f"{option} does not fit {_joined([named.get(str(one), one) for one in axes])} in the model")
    if problems:
        raise ImportFailure(*problems)
    notes = []
    for place, entry in enumerate(model.inputs):
        first, *others = entry.axes or (None,)
        fixed = shapes.get(entry.name, [named.get(str(one), one) for one in others])
        if list(fixed) != others:
            notes.append(f"input {shown(entry.name)}: {_joined(fixed)} by --shape, {_joined(others)} in the model")
            model.inputs[place] = GraphInput(entry.name, entry.kind, (first, *fixed))
    return notes


def fix_values(model: Model, constants: Mapping[str, float]) -> list[str]:
    """Replace scalar inputs of a model by constants.

    Returns:
        A note for each input.

    Raises:
        ImportFailure: There is no such input, or it does not have this value.
    """
    declared = {entry.name: entry for entry in model.inputs}
    problems = []
    for name, number in constants.items():
        entry, option = declared.get(name), f"`--constant {shown(name)}={number}`"
        if entry is None:
            problems.append(f"{option}: the inputs of the model are {', '.join(map(shown, declared))}")
            continue
        scalar = entry.kind in KINDS.values() and all(size == 1 for size in entry.axes or ())
        with np.errstate(invalid="ignore"):
            kind = "float32" if entry.kind == "bfloat16" else entry.kind
            array = np.full([1] * len(entry.axes or ()), number).astype(kind) if scalar else None
        if array is None or (array.dtype.kind != "f" and array.reshape(-1)[0] != number):
            problems.append(f"{option} does not fit the input, {entry.kind} of shape {list(entry.axes or ())}")
            continue
        model.fixed[name] = array
        model.inputs.remove(entry)
    if problems:
        raise ImportFailure(*problems)
    return [f"input {shown(name)}: {number} by --constant" for name, number in constants.items()]


def _joined(axes: Sequence[int | str | None]) -> str:
    return " x ".join(shown(str(size or "?")) for size in axes) or "an undeclared shape"


def _remedy(entry: GraphInput) -> str:
    """The option that gives an input sizes."""
    sizes = entry.axes[1:] if entry.axes else (3, None, None)
    missing = EXAMPLES.get(len(sizes) + 1, 16)
    example = "x".join(str(size if isinstance(size, int) else missing) for size in sizes)
    return f"for example with `--shape {shown(entry.name)}={example}`"


@dataclass
class GraphInputs:
    """Data layers, and the axes that they share."""

    model: Model
    reading: str
    values: dict[str, SymbolicValue] = field(default_factory=dict)
    layers: dict[str, ImportedLayer] = field(default_factory=dict)
    steps: dict[Extent, Atom] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    batch: Atom | None = None

    @property
    def says_axes(self) -> bool:
        """Whether the model says what its axes mean: this library's export gives the lengths of sequences."""
        return self.model.producer.startswith("paddle-layers")

    def read(self) -> GraphInputs:
        """All inputs; what cannot be read is `refused`."""
        names = {entry.name for entry in self.model.inputs}
        axes = [entry.axes for entry in self.model.inputs if entry.axes]
        if any(one[place] == 1 for one in axes if (place := self._batch_place(one))):
            self.batch = Atom(1, "N")  # whatever other inputs say
        # Boxes last: they belong to the batch axis that an image input defines.
        for entry in sorted(self.model.inputs, key=lambda entry: self._place_among_boxes(entry.name) is not None):
            base = entry.name.removesuffix(LENGTHS)
            try:
                if base != entry.name and base in names:
                    self.values[entry.name] = SequenceLengths(((self._batch(entry.axes[0] if entry.axes else None),),))
                else:
                    self._entry(entry, sequence=entry.name + LENGTHS in names)
            except NotSupported as reason:
                self.refused.append(f"input {shown(entry.name)}: {reason}")
        return self

    def _entry(self, entry: GraphInput, *, sequence: bool) -> None:
        if entry.axes is None:
            raise NotSupported(f"the model does not declare its shape; {_remedy(entry)}")
        if not entry.axes:
            raise NotSupported(f"a scalar, without a batch axis; give it a value, such as `--constant {entry.name}=1`")
        if f"{entry.name}.sub_lengths" in {one.name for one in self.model.inputs}:
            raise NotSupported("nested sequences are not supported")
        place = self._place_among_boxes(entry.name)
        if place is not None:
            self._boxes(entry, place)
        elif self._are_tokens(entry, entry.axes, sequence=sequence):
            self._tokens(entry, entry.axes)
        elif entry.kind in ("int64", "int32") or self._read_as_ids(entry.name):
            self._ids(entry, entry.axes)
        elif entry.kind in KINDS.values() and entry.kind not in WHOLE:
            self._numbers(entry, entry.axes, sequence=sequence)
        else:
            raise NotSupported(f"data type {entry.kind} is not supported")

    def _place_among_boxes(self, name: str) -> int | None:
        """1 for the concatenated boxes of all images, 2 for their image indices; None for another input."""
        readers = [node for node in self.model.nodes if name in node.inputs]
        places = {node.inputs.index(name) for node in readers if node.operator in BOXES and not node.domain}
        only = len(places) == 1 and all(node.operator in BOXES for node in readers)
        return places.pop() if only and places <= {1, 2} else None

    def _boxes(self, entry: GraphInput, place: int) -> None:
        """Boxes become sequences, one for each image, and the numbers of the images go."""
        if self.batch is None:
            raise NotSupported("boxes without an image input are not supported")
        layout: Layout = ((self.batch, self.steps.setdefault(BOXES_STEPS, Atom(BOXES_STEPS, "T"))),)
        if place == 2:
            self.values[entry.name] = BoxImageIndices(layout)
            self.notes.append(f"input {shown(entry.name)}: left out, the boxes of an image are a sequence")
            return
        layer = self._data(entry, Type.dense(4, level=1), {"shape": [4]}, level=1)
        inside = axis_for(4)
        self.values[entry.name] = View((*layout, inside), value=layer.outputs[0], order=(*layout[0], *inside))
        self.notes.append(f"input {shown(entry.name)}: feed one sequence of boxes (4 coordinates each) per image")

    def _ids(self, entry: GraphInput, axes: tuple[int | str | None, ...]) -> None:
        if len(axes) > 2:
            raise NotSupported(f"ids with {len(axes)} axes are not supported, expected [N] or [N, T]")
        single = len(axes) == 2 and axes[1] == 1 and self.reading == "rows"
        layout, rows = self._rows(axes, sequence=len(axes) == 2 and not single)
        layer = self._data(entry, Type("INT", (), 1, len(rows) - 1), {"data_type": "INT"}, level=len(rows) - 1)
        inside: Layout = ((),) if single else ()
        self.values[entry.name] = View((*layout, *inside), value=layer.outputs[0], order=rows)

    def _are_tokens(self, entry: GraphInput, axes: tuple[int | str | None, ...], *, sequence: bool) -> bool:
        """Whether integers are values of each sample, of a fixed number."""
        if self.says_axes:
            return not sequence and len(axes) > 1 and entry.kind in WHOLE
        return self.reading == "tokens" and (entry.kind in WHOLE or self._read_as_ids(entry.name))

    def _tokens(self, entry: GraphInput, axes: tuple[int | str | None, ...]) -> None:
        """A fixed number of integers of each sample: ids, or numbers such as a mask."""
        if not _looked_up(self.model, entry.name):
            self._numbers(entry, axes, sequence=False)
            return
        layout, rows = self._rows(axes, sequence=False)
        dims = self._sizes(entry, axes[1:])
        inside: tuple[Axis, ...] = tuple(axis_for(size) for size in dims)
        settings = {"data_type": "INT", **({"shape": dims} if dims else {})}
        layer = self._data(entry, Type("INT", tuple(dims), 1, 0), settings, level=0)
        view = View((*layout, *inside), value=layer.outputs[0], order=(*rows, *atoms_of(inside)))
        self.values[entry.name] = view

    def _sizes(self, entry: GraphInput, dims: Sequence[int | str | None]) -> list[int]:
        """The sizes of axes that have to be fixed."""
        if not all(isinstance(size, int) for size in dims):
            raise NotSupported(f"axes of dynamic size: {_joined(dims)}; give them a size, {_remedy(entry)}")
        return [int(size) for size in dims if isinstance(size, int)]

    def _batch_place(self, axes: tuple[int | str | None, ...]) -> int:
        """The place of the batch axis: the first one, except in states such as `[layers, N, units]`."""
        shapes = [entry.axes for entry in self.model.inputs if entry.axes]
        firsts = [size if isinstance(size, int) else None for size, *_ in shapes]
        if len(set(firsts)) == 1:
            return 0
        common = [size for size in firsts if size in (None, 1) and all(_places(one, size) for one in shapes)]
        # A state of a batch of 1, where other inputs leave it open, is of no other batch.
        places = _places(axes, common[0]) if common else _places(axes, 1) if isinstance(axes[0], int) else [0]
        return places[0] if len(places) == 1 else 0

    def _state(self, entry: GraphInput, axes: tuple[int | str | None, ...], place: int) -> None:
        """Numbers with other axes before that of the batch, which comes first in feeds."""
        batch = self._batch(axes[place])
        sizes = self._sizes(entry, [*axes[:place], *axes[place + 1 :]])
        inside = [axis_for(size) for size in sizes]
        layer = self._data(entry, Type.dense(*sizes), {"shape": sizes}, level=0)
        layout = (*inside[:place], (batch,), *inside[place:])
        self.values[entry.name] = View(layout, value=layer.outputs[0], order=(batch, *atoms_of(tuple(inside))))
        self.notes.append(f"input {shown(entry.name)}: feed the batch first; it is axis {place} in the model")

    def _numbers(self, entry: GraphInput, axes: tuple[int | str | None, ...], *, sequence: bool) -> None:
        if place := self._batch_place(axes):
            self._state(entry, axes, place)
            return
        fixed = self.reading == "rows" or (self.reading == "tokens" and all(isinstance(size, int) for size in axes[1:]))
        steps = sequence or (len(axes) == 3 and not fixed and not self.says_axes)
        first = self.reading == "time-major"
        if steps and first:
            self.notes.append(
                f"input {shown(entry.name)}: interpreted as time-major [T, N, ...]; feed one sequence per sample"
            )
        if steps and not sequence and isinstance(size := axes[0 if first else 1], int):
            self.notes.append(f"input {shown(entry.name)}: interpreted as sequences, of {size} steps each in the model")
        layout, rows = self._rows(axes, sequence=steps)
        sizes = self._sizes(entry, axes[len(layout) :])
        inside: tuple[Axis, ...] = tuple(axis_for(size) for size in sizes)
        order, shape = inside, tuple(sizes)
        if len(sizes) == 3 and not self.says_axes and self._channels_last(entry.name):
            # The layout is changed at the input, once: otherwise a permutation would precede every layer with channels.
            order, shape = (inside[2], *inside[:2]), (sizes[2], *sizes[:2])
            wanted = "x".join(map(str, shape))
            self.notes.append(f"input {shown(entry.name)}: feed channels first ({wanted}), not channels last")
        settings = {"shape": list(shape)} if shape else {}
        layer = self._data(entry, Type.dense(*shape, level=len(rows) - 1), settings, level=len(rows) - 1)
        view = View((*layout, *inside), value=layer.outputs[0], order=(*rows, *atoms_of(order)))
        self.values[entry.name] = view

    def _read_as_ids(self, name: str) -> bool:
        """Whether floats are cast to integers at once: Keras' inputs are float32 by default."""
        readers = [node for node in self.model.nodes if name in node.inputs]
        return bool(readers) and all(
            node.operator == "Cast" and node.attributes.get("to") in (6, 7) for node in readers
        )

    def _channels_last(self, name: str) -> bool:
        """Whether every reader brings the channels forward, as models from TensorFlow do."""
        readers = [node for node in self.model.nodes if name in node.inputs]
        turned = [node.operator == "Transpose" and node.attributes.get("perm") == CHANNELS_LAST for node in readers]
        return bool(readers) and all(turned)

    def _rows(self, axes: tuple[int | str | None, ...], *, sequence: bool) -> tuple[Layout, tuple[Atom, ...]]:
        if not sequence:
            batch = self._batch(axes[0])
            return ((batch,),), (batch,)
        places = (1, 0) if self.reading == "time-major" else (0, 1)
        batch, steps = self._batch(axes[places[0]]), self._steps(axes[places[1]])
        pair: Layout = ((batch,), (steps,))
        return pair if places == (0, 1) else pair[::-1], (batch, steps)

    def _batch(self, size: int | str | None) -> Atom:
        known: Extent = size if isinstance(size, int) else BATCH
        if known == BATCH and self.batch and self.batch.size == 1:
            known = 1
        if self.batch is None:
            self.batch = Atom(known, "N")
        elif self.batch.size != known:
            raise NotSupported(f"batch size is {size}, but {self.batch.size} in another input")
        return self.batch

    def _steps(self, size: int | str | None) -> Atom:
        known: Extent = size if isinstance(size, int) else SymbolicSize.named(f"T {size or len(self.steps)}")
        if self.reading == "together" and self.steps:
            other = next(iter(self.steps))
            fixed = 1 in (known, other) or (isinstance(known, int) and isinstance(other, int))
            if fixed and known != other:  # a single step is broadcast in the model, never the steps of a sequence here
                raise NotSupported(f"sequences have {known} steps, but {other} in another input")
            known = other
        return self.steps.setdefault(known, Atom(known, "T"))

    def _data(self, entry: GraphInput, type_: Type, settings: Mapping[str, object], *, level: int) -> ImportedLayer:
        levels = {"seq_nested_level": level} if level else {}
        layer = ImportedLayer("data", (), {**settings, **levels}, {}, (), name=entry.name)
        layer.outputs = (LayerOutput(layer, 0, type_),)
        self.layers[entry.name] = layer
        return layer


def _places(axes: tuple[int | str | None, ...], size: int | None) -> list[int]:
    """The places of axes of a size, None for dynamic ones."""
    return [place for place, one in enumerate(axes) if (one if isinstance(one, int) else None) == size]


_SAME_IDS = frozenset({"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
"""Operators that keep ids as they are."""


def _looked_up(model: Model, name: str) -> bool:
    """Whether an input chooses rows of a table."""
    names = {name}
    for node in model.nodes:
        if node.operator == "Gather" and len(node.inputs) > 1 and node.inputs[1] in names:
            return True
        if node.operator in _SAME_IDS and node.inputs and node.inputs[0] in names:
            names.update(node.outputs)
    return False
