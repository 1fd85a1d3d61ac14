"""Arguments of launches: memory, sizes, scalars, random keys."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from paddle_layers.runtime.generate.drivers import Array, Spec
from paddle_layers.runtime.graph.domains import Domain, Extent
from paddle_layers.runtime.graph.rows import Rows
from paddle_layers.runtime.memory.blocks import Flat
from paddle_layers.runtime.memory.parameters import Parameter

from .buffers import Buffer


class Held(NamedTuple):
    """The value or the gradient of a parameter, which outlives the plan."""

    parameter: Parameter
    part: str

    @property
    def address(self) -> int:
        """Its address on the device."""
        return self.parameter.address(self.part)


class Lagged(NamedTuple):
    """Rows of another step of a recurrent group: of the previous step, in the first step `boot`; or of the next."""

    buffer: Buffer
    boot: Buffer | None = None
    """None: the rows of the next step."""


class Ref(NamedTuple):
    """An array argument: its memory, and its shape."""

    owner: Owner
    shape: tuple[Extent, ...]
    dtype: str = "real"


class ExternalMemory(NamedTuple):
    """Memory owned by others."""

    address: int


def flat_ref(flat: Flat, *shape: Extent, offset: int = 0) -> Ref:
    """A flat array as an argument, from `offset` bytes on; all of it without a shape."""
    dtype = "real" if flat.dtype == "float32" else flat.dtype
    return Ref(ExternalMemory(flat.block.address + offset), shape or (Extent(flat.size),), dtype)


def external_address(ref: Ref) -> int:
    """The address of an argument in external memory."""
    assert isinstance(ref.owner, ExternalMemory)
    return ref.owner.address


Owner = Buffer | Held | ExternalMemory | Lagged
"""Owner of an array's memory."""


class Key(NamedTuple):
    """An integer that changes in every step: the random key of an operation."""

    op: str


class Rate(NamedTuple):
    """A floating-point value `weight / rows`."""

    weight: float
    domain: Domain | None

    def share(self, rows: Rows) -> float:
        """The value for the rows of a batch, which may have none."""
        return self.weight / max(rows.whole.get(self.domain, rows.of(self.domain)), 1) if self.domain else self.weight


class Setting(NamedTuple):
    """A floating-point value that changes in every step: the named setting times a factor."""

    name: str
    factor: float = 1.0


Constant = bool | str | None
"""A constant folded into the source of a driver: choices, and absent arguments."""

Argument = Ref | tuple[Ref, ...] | Extent | tuple[Extent | float, ...] | float | Key | Rate | Setting | Constant
"""All kinds of arguments of a launch."""


def plain_argument(value: Any) -> Argument:
    """An attribute as an argument: constants stay, integers become sizes."""
    if value is None or isinstance(value, (bool, str, float)):
        return value
    if isinstance(value, tuple):
        return tuple(v if isinstance(v, float) else Extent(v) for v in value)
    return Extent(value)


def split_constants(values: Mapping[str, Argument]) -> tuple[dict[str, Constant], dict[str, Argument]]:
    """The constants folded into a driver's source, and the remaining arguments."""
    constants = {name: value for name, value in values.items() if value is None or isinstance(value, (bool, str))}
    return constants, {name: value for name, value in values.items() if name not in constants}


def last_ones(ref: Ref) -> int:
    """Number of trailing axes with one element each; the first axis never counts."""
    wide = [at for at, size in enumerate(ref.shape) if at == 0 or size != Extent(1)]
    return len(ref.shape) - 1 - wide[-1] if wide else 0


def spec_of(value: Argument, *, sizes: bool = False) -> Spec:
    """Argument description for the code generator; `sizes`: including axes with one element."""
    if isinstance(value, Ref):
        return Array(len(value.shape), value.dtype, last_ones(value) if sizes else 0)
    if isinstance(value, tuple) and value and isinstance(value[0], Ref):
        return tuple(Array(len(ref.shape), ref.dtype, last_ones(ref) if sizes else 0) for ref in value)
    if isinstance(value, (float, Rate, Setting)):
        return "real"
    if isinstance(value, tuple) and not isinstance(value, Key):
        return f"{'reals' if value and isinstance(value[0], float) else 'ints'} {len(value)}"
    return "int"


def refs_of(value: Argument) -> list[Ref]:
    """The arrays of an argument."""
    if isinstance(value, Ref):
        return [value]
    return [part for part in value if isinstance(part, Ref)] if isinstance(value, tuple) else []


def with_owners(value: Argument, change: Callable[[Owner], Owner]) -> Argument:
    """An argument with its arrays in other memory."""
    if isinstance(value, Ref):
        return value._replace(owner=change(value.owner))
    return tuple(ref._replace(owner=change(ref.owner)) for ref in refs_of(value)) or value


def uses(value: Argument) -> list[Buffer]:
    """The buffers of an argument."""
    owners: list[Any] = []
    for ref in refs_of(value):
        owners += ref.owner if isinstance(ref.owner, Lagged) else (ref.owner,)
    return [owner for owner in owners if isinstance(owner, Buffer)]


def operation_key(seed: int, step: int, op: str) -> int:
    """The random key of an operation in a step, the same on every device and after a resume."""
    # Not `hash`, which differs from process to process. Step and operation go to separate halves, so that the operation
    # part stays below 2^31 and the key is positive as an int64.
    low = zlib.crc32(f"{seed}/{step}".encode())
    return (zlib.crc32(op.encode()) & 0x7FFFFFFF) << 32 | low
