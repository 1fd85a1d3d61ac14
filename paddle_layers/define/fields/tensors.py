"""Tensors of a layer: inputs, outputs, parameters, states, temporaries, statistics."""

from __future__ import annotations

from typing import Any

from .axes import Axis, parse_axes
from .types import KINDS

Init = str | tuple[str, dict[str, Any]]
"""An initializer: its name, or its name and attributes."""


class Field:
    """A tensor with named axes. The first axis of inputs and outputs counts rows."""

    def __init__(self, axes: str, doc: str, kind: str = "DENSE") -> None:
        self.text, self.doc, self.kind = axes, doc, kind
        self.axes: tuple[Axis, ...] = parse_axes(axes)
        self.name = ""
        self.owner: type = object

    repeatable = False
    optional = False
    per: str | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.name = owner, name

    @property
    def per_item(self) -> bool:
        """Whether there is one array for every item of a repeatable input."""
        return self.repeatable or self.per is not None

    @property
    def indices(self) -> tuple[str, ...]:
        """Names of the index arguments, in the order of the axes."""
        return tuple(axis.index_name for axis in self.axes if axis.index_name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.owner.__name__}.{self.name}: {self.text!r})"


class Input(Field):
    """An input: accepted data types, accepted sequence levels, how many.

    `kinks` lists the values where the layer has no derivative in this input; `"ties"` stands for equal values.
    `derivative=False` says that the gradient is not meant to be the derivative, as when gradients are clipped.
    `within=(0, 1)` says which values are meant, as for probabilities; they are not checked while a network runs.
    `places="T"` says that the values of row s are numbers of rows T in the sequence s, counted from 0, and that -1 ends
    the list; ids are numbers of rows of the batch. A function below `@starts` that reads them finds them checked.
    """

    def __init__(
        self,
        axes: str,
        doc: str,
        *,
        kinds: tuple[str, ...] = ("DENSE",),
        seq: tuple[int, ...] = (0,),
        repeatable: bool = False,
        minimum: int = 1,
        optional: bool = False,
        kinks: tuple[float | str, ...] = (),
        derivative: bool = True,
        within: tuple[float, float] | None = None,
        places: str | None = None,
    ) -> None:
        super().__init__(axes, doc, kinds[0])
        if unknown := set(kinds) - set(KINDS):
            raise ValueError(f"{sorted(unknown)[0]!r} is no data type; there are {', '.join(KINDS)}")
        if not set(seq) <= {0, 1, 2}:
            raise ValueError(f"sequence levels are {seq}; there are 0, 1 and 2")
        self.kinds, self.seq, self.repeatable = kinds, seq, repeatable
        self.minimum, self.optional, self.kinks = (0 if optional else minimum), optional, kinks
        self.derivative, self.within, self.places = derivative, within, places


class Output(Field):
    """An output. `size` names the axis that gives the number of ids of an INT output; `loss` makes it a cost.

    The network's loss is the sum of a cost over the rows, divided by their number, or by the sum of the `Temp` that
    `divisor` names, which has a number for every element of the cost; where that sum is below 1, by 1.
    `nan="without labels"` says when numbers are NaN though all inputs are finite; it is added to the description.
    `when` names a `Bool` attribute without which the output is not there; such outputs come last.
    """

    def __init__(
        self,
        axes: str,
        doc: str,
        *,
        kind: str = "DENSE",
        size: str | None = None,
        loss: bool = False,
        divisor: Temp | None = None,
        repeatable: bool = False,
        nan: str | None = None,
        when: str | None = None,
    ) -> None:
        super().__init__(axes, doc if nan is None else f"{doc}; NaN {nan}", kind)
        self.size, self.loss, self.divisor, self.repeatable, self.nan = size, loss, divisor, repeatable, nan
        self.when, self.optional = when, when is not None


class Entries(Field):
    """Sparse rows that a function on the host makes of what is fed, before each pass: classes to look at, say.

    `"E:N V"` are entries E of the rows N, each with an id below V and a value; functions ask for the parts by name, as
    for those of a sparse input. A parameter with an axis V that only these entries name has a gradient by rows.
    """

    def __init__(self, axes: str, doc: str) -> None:
        super().__init__(axes, doc, "SPARSE")
        if len(self.axes) != 2 or self.axes[0].group is None or self.axes[0].outer is not None:
            raise ValueError(f'entries have the axes "E:N V": entries of rows, and what their ids count; not {axes!r}')


class Param(Field):
    """A trained parameter; `per="x"` makes one for every item of the repeatable input `x`."""

    def __init__(
        self, axes: str, doc: str, *, init: Init = "xavier", per: str | None = None, optional: bool = False
    ) -> None:
        super().__init__(axes, doc)
        self.init, self.per, self.optional = init, per, optional


class Bias(Param):
    """A bias that the framework adds to the first output along one axis, gradient included."""

    def __init__(self, axes: str, doc: str = "added to every row", *, init: Init = "zero") -> None:
        super().__init__(axes, doc, init=init)


class State(Field):
    """Numbers that are kept from step to step and saved, but not trained."""

    def __init__(self, axes: str, doc: str = "", *, init: Init = "zero") -> None:
        if not doc:  # an optimizer's state has the shape of the weights: only the text is given
            axes, doc = "...", axes
        super().__init__(axes, doc)
        self.init = init


class Temp(Field):
    """A tensor that one function computes and others read; not seen from outside."""


class Numbers:
    """Whole numbers that `@infer` makes of sizes and attributes, one or a list, for functions to ask for by name.

    They are no tensor and not seen from outside: strides, sizes of axes whose order an attribute gives.
    """

    def __init__(self, doc: str) -> None:
        self.doc = doc


class Stat(Field):
    """Numbers that are added up over rows and batches until they are reset.

    `"N"` is one number, added up over the rows, `"N B"` one for each `B`; `"B"` has no rows: its numbers are those of
    the whole batch.
    """
