"""Tensors of a layer: inputs, outputs, parameters, states, temporaries, statistics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from .axes import Axis, has_fixed_rank, parse_axes
from .types import KINDS

Init = str | tuple[str, dict[str, Any]]
"""An initializer: its name, or its name and attributes."""


class Field:
    """A tensor with named axes. The first axis of inputs and outputs counts rows."""

    def __init__(self, axes: str, doc: str, kind: str = "DENSE") -> None:
        self.text, self.doc, self.kind = axes, doc, kind
        self.axes: tuple[Axis, ...] = parse_axes(axes)
        self.has_fixed_rank = has_fixed_rank(self.axes)
        self.axis_names = tuple(axis.name for axis in self.axes)
        # Most tensors: every axis has a separate size. What follows from it is used for every layer of a network.
        self.is_plain = not any(axis.rest or axis.per_item or axis.name == "1" for axis in self.axes)
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
    """An input tensor of a layer.

    Args:
        axes: Names of its axes, rows first, such as `"N C H W"`, or `"T:S C"` for sequences.
        doc: Description, for the reference and for messages.
        kinds: Accepted data types: `"DENSE"`, `"INT"` (ids), `"SPARSE"`.
        seq: Accepted sequence levels: 0 for samples, 1 for sequences, 2 for nested sequences.
        repeatable: Whether a layer takes several of them.
        minimum: Minimum number of items of a repeatable input.
        optional: Whether the input may be absent.
        kinks: Values at which the layer is not differentiable in this input; `"ties"` for equal values.
        derivative: False if the gradient is intentionally not the derivative, as with gradient clipping, or if the
            input intentionally has none: no gradient is derived.
        within: Domain of the values, such as (0, 1) for probabilities; not checked at runtime.
        places: Axis of rows, such as `"T"`, that the values index: the values of row s are indices of rows T within the
            sequence s, from 0, and -1 ends the list; ids index the rows of the batch. A `@starts` function that reads
            them gets checked indices.

    Raises:
        ValueError: An unknown data type or sequence level, or malformed axes.

    Example::

        x = Input("N C H W", "images")
        label = Input("N", "class of each image", kinds=("INT",))
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
            raise ValueError(f"unknown data type {sorted(unknown)[0]!r}; available: {', '.join(KINDS)}")
        if not set(seq) <= {0, 1, 2}:
            raise ValueError(f"invalid sequence levels {seq}; must be 0, 1 or 2")
        self.kinds, self.seq, self.repeatable = kinds, seq, repeatable
        self.minimum, self.optional, self.kinks = (0 if optional else minimum), optional, kinks
        self.derivative, self.within, self.places = derivative, within, places


class Output(Field):
    """An output tensor of a layer; `loss=True` makes it a per-sample loss.

    The loss of a network is the sum of all per-sample losses divided by the number of rows, or by the sum of `divisor`,
    at least 1.

    Args:
        axes: Names of its axes, rows first, such as `"N C H W"`.
        doc: Description, for the reference and for messages.
        kind: Data type: `"DENSE"`, `"INT"` (ids) or `"SPARSE"`.
        size: Axis whose size is the number of ids of an INT output.
        loss: Whether the output is a loss.
        divisor: Temporary with one value per element of the loss, whose sum divides it instead of the number of rows.
        repeatable: Whether there is one output per item of a repeatable input.
        nan: Condition under which values are NaN though all inputs are finite, such as "without labels"; it is added to
            the description.
        when: `Bool` attribute without which the output is absent; such outputs come last.

    Example::

        y = Output("N K", "weighted sums")
        loss = Output("N", "squared error", loss=True)
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
    """Sparse rows that a host function prepares for each batch, such as the classes that a sampled softmax evaluates.

    With the axes `"E:N V"`, the rows N have entries E, each with an id below V and a value; functions take the parts by
    name, as for a sparse input. A parameter with an axis V that only these entries index has a row-sparse gradient.

    Args:
        axes: `"E:N V"`: entries, rows, and the range of the ids.
        doc: Description, for the reference and for messages.

    Raises:
        ValueError: Other axes.

    Example::

        candidates = Entries("E:N V", "target and negative samples of each row")
    """

    def __init__(self, axes: str, doc: str) -> None:
        super().__init__(axes, doc, "SPARSE")
        if len(self.axes) != 2 or self.axes[0].group is None or self.axes[0].outer is not None:
            raise ValueError(f'the axes of Entries must be like "E:N V" (entries of rows N, ids below V), not {axes!r}')


class Param(Field):
    """A trained parameter (weight) of a layer.

    Args:
        axes: Names of its axes, such as `"K C"`.
        doc: Description, for the reference and for messages.
        init: Default initializer: its name, or its name and attributes.
        per: Repeatable input: one parameter for each of its items.
        optional: Whether the parameter may be absent.

    Example::

        weight = Param("K C", "weights")
    """

    def __init__(
        self, axes: str, doc: str, *, init: Init = "xavier", per: str | None = None, optional: bool = False
    ) -> None:
        super().__init__(axes, doc)
        self.init, self.per, self.optional = init, per, optional


class Bias(Param):
    """A bias that the framework adds to the first output along one axis, gradient included.

    Args:
        axes: Name of the axis, such as `"K"`.
        doc: Description, for the reference and for messages.
        init: Default initializer.

    Example::

        bias = Bias("K", "bias per output")
    """

    def __init__(self, axes: str, doc: str = "added to every row", *, init: Init = "zero") -> None:
        super().__init__(axes, doc, init=init)


class State(Field):
    """A state: values that are kept from step to step and saved, but not trained, such as running statistics.

    Args:
        axes: Names of its axes. For an optimizer, whose states have the shape of the weights, this is the description.
        doc: Description, for the reference.
        init: Initializer.

    Example::

        running_mean = State("C", "moving average of the mean", init="zero")
    """

    def __init__(self, axes: str, doc: str = "", *, init: Init = "zero") -> None:
        if not doc:  # an optimizer's state has the shape of the weights: only the text is given
            axes, doc = "...", axes
        super().__init__(axes, doc)
        self.init = init


class Temp(Field):
    """A temporary tensor, which one function computes and others read; internal to the layer.

    Args:
        axes: Names of its axes.
        doc: Description, for the reference.
        kind: Data type: `"DENSE"` or `"INT"`.

    Example::

        norm = Temp("N", "L2 norm of each row")
    """


class Numbers:
    """Integers that `@infer` computes from sizes and attributes, one or a list, which functions take by name.

    They are internal and not a tensor: strides, or sizes of axes whose order an attribute gives.

    Args:
        doc: Description, for the reference.

    Example::

        step = Numbers("stride along each axis")
    """

    def __init__(self, doc: str) -> None:
        self.doc = doc


class Stat(Field):
    """A statistic: values that are summed over rows and batches until they are reset.

    Args:
        axes: `"N"` for one number, summed over the rows; `"N B"` for one number per `B`; `"B"` without rows, for values
            of the whole batch.
        doc: Description, for the reference.
        kind: Data type: `"DENSE"` or `"INT"`.

    Example::

        hits = Stat("N", "number of correct samples")
    """


class Arity(NamedTuple):
    """The fewest inputs of a layer and the most; None: as many as one likes."""

    least: int
    most: int | None

    def allows(self, count: int) -> bool:
        """Whether a layer may have so many inputs."""
        return self.least <= count and not self.exceeded(count)

    def exceeded(self, count: int) -> bool:
        """Whether so many inputs are too many."""
        return self.most is not None and count > self.most

    def __str__(self) -> str:
        plural = "s" * (self.least != 1)
        if self.most is None:
            return f"at least {self.least} input{plural}"
        if self.least < self.most:
            return f"{self.least} to {self.most} inputs"
        return f"{self.least} input{plural}"


def arity_of(inputs: Iterable[Input]) -> Arity:
    """The arity of a layer with these inputs."""
    fields = list(inputs)
    least = sum(field.minimum if field.repeatable else not field.optional for field in fields)
    return Arity(least, None if any(field.repeatable for field in fields) else len(fields))
