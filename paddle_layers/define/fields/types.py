"""Types of the values between layers, and examples of layers: types of inputs with settings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from paddle_layers.schema.layer_def_pb2 import LayerOutputDef


KINDS = ("DENSE", "SPARSE_INT", "SPARSE", "INT")
"""Data types in the order of their numbers in `layer_def.proto`."""

_LEVELS = ("", "sequence of ", "nested sequence of ")
_TEXT = re.compile(
    r"(?P<level>nested sequence of |sequence of )?"
    r"(?:(?P<scalar>scalar)|(?:(?P<shape>\d+(?:x\d+)*) )?ids<(?P<ids>\d+)|(?P<dims>\d+(?:x\d+)*)"
    r"|sparse ids (?P<sparse_ids>\d+)|sparse (?P<sparse>\d+))"
)


ENOUGH = 2**200
"""A product that is larger is not computed any further: nothing is so large."""


def shape_text(shape: Iterable[int]) -> str:
    """A shape as types are written: `3x8x8`, or `scalar`."""
    return "x".join(map(str, shape)) or "scalar"


def product(sizes: Iterable[int]) -> int:
    """The product of sizes from 1 on, or some number beyond `ENOUGH`: that of a million factors takes seconds."""
    size = 1
    for factor in sizes:
        size *= factor
        # Sizes come from files: big integers grow without limit, and each factor makes the next multiplication slower.
        if size > ENOUGH:
            break
    return size


class Type(NamedTuple):
    """The type of an input before any data exist, without the number of rows.

    Args:
        kind: `"DENSE"`, `"INT"`, `"SPARSE"` or `"SPARSE_INT"`.
        dims: Axes without the row axis; empty for one number or id per row.
        size: Product of `dims`; for ids, the number of ids.
        level: Sequence level of the rows: 0 for samples, 1 for sequences, 2 for nested sequences.

    Example::

        Type.dense(3, 8, 8)  # an image of 3 channels, 8 x 8 pixels per sample
        Type.ids(5000, level=1)  # sequences of word ids below 5000
    """

    kind: str
    dims: tuple[int, ...] = ()
    size: int = 1
    level: int = 0

    @classmethod
    def dense(cls, *dims: int, level: int = 0) -> Type:
        """A dense floating-point type.

        Args:
            dims: Shape of a row.
            level: Sequence level.

        Returns:
            The type.
        """
        return cls("DENSE", dims, product(dims), level)

    @classmethod
    def ids(cls, size: int, level: int = 0, dims: tuple[int, ...] = ()) -> Type:
        """A type of ids.

        Args:
            size: Number of ids, which are from 0 to `size - 1`.
            level: Sequence level.
            dims: Shape of a row; empty for one id per row.

        Returns:
            The type.
        """
        return cls("INT", dims, size, level)

    @classmethod
    def sparse(cls, width: int, level: int = 0, *, values: bool = False) -> Type:
        """A type of sparse rows, of which few columns are set.

        Args:
            width: Number of columns.
            level: Sequence level.
            values: Whether entries have values; otherwise they are ones.

        Returns:
            The type.
        """
        return cls("SPARSE" if values else "SPARSE_INT", (width,), width, level)

    @classmethod
    def parse(cls, text: str) -> Type:
        """Parse the result of `str()`, such as ``20x24x24``, ``sequence of ids<10`` or ``28x28 ids<21``.

        Args:
            text: The type in this form.

        Returns:
            The type.

        Raises:
            ValueError: The text is not a type.
        """
        match = _TEXT.fullmatch(text.strip())
        if match is None:
            raise ValueError(
                f"invalid type {text!r}; examples: `7`, `3x8x8`, `scalar`, `ids<10`, `8x8 ids<10`, `sparse 100`, "
                "`sparse ids 100`, with `sequence of ` or `nested sequence of ` before it"
            )
        level = _LEVELS.index(match["level"] or "")
        if match["ids"]:
            return cls.ids(int(match["ids"]), level, _dims(match["shape"]))
        if match["sparse_ids"] or match["sparse"]:
            return cls.sparse(int(match["sparse_ids"] or match["sparse"]), level, values=bool(match["sparse"]))
        return cls.dense(*_dims(match["dims"]), level=level)

    def __str__(self) -> str:
        if self.kind == "INT":
            text = " ".join([*([shape_text(self.dims)] if self.dims else []), f"ids<{self.size}"])
        elif self.kind == "DENSE":
            text = shape_text(self.dims)
        else:
            text = f"sparse {'ids ' if self.kind == 'SPARSE_INT' else ''}{self.size}"
        return _LEVELS[self.level] + text

    @property
    def columns(self) -> int:
        """Numbers, or ids, in a row that is not sparse."""
        return product(self.dims)

    def to_message(self, name: str = "") -> LayerOutputDef:
        """Convert to a protobuf message.

        Args:
            name: Name of the output in the message.

        Returns:
            The message.
        """
        from paddle_layers.schema import layer_def_pb2

        message = layer_def_pb2.LayerOutputDef(size=self.size, seq_nested_level=self.level, dims=self.dims)
        message.type = getattr(layer_def_pb2, self.kind)
        if name:
            message.name = name
        return message

    @classmethod
    def from_message(cls, message: LayerOutputDef) -> Type:
        """Convert from a protobuf message; without `dims`, a dense value has one axis of its size.

        Args:
            message: The message.

        Returns:
            The type.
        """
        kind = KINDS[message.type]
        dims = tuple(message.dims)
        if not dims and kind != "INT" and message.size != 1:
            dims = (message.size,)
        return cls(kind, dims, message.size if kind == "INT" else product(dims), message.seq_nested_level)


def _dims(text: str | None) -> tuple[int, ...]:
    return tuple(map(int, text.split("x"))) if text else ()


def channels_last(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a shape is height, width, channels where channels, height, width are wanted."""
    return len(wanted) == 3 and shape == (*wanted[1:], wanted[0]) and shape[0] != wanted[0]


class Example:
    """An example of a layer, shown on its page and run by the tests.

    Args:
        **settings: Types of the inputs by name (`"3x8x8"`, `"ids<10"`; a list for a repeatable input), and attributes
            by name.

    Example::

        examples = (Example(x="3x8x8", num_filters=4), Example(x="1x5x5", num_filters=2, padding=1))
    """

    def __init__(self, /, **settings: Any) -> None:
        self.settings = settings

    def __repr__(self) -> str:
        return f"Example({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"
