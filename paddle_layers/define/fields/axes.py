"""Parser of axis strings, which name a tensor's axes.

Examples are ``"N C H W"``, ``"T:S C"``, ``"T:S:N C"``, ``"N C_i..."`` and ``"..."``.

In ``"N... C@axis ..."`` the attribute `axis` selects the axis C: 1 is the first one after the rows, -1 the last one.
``N...`` are the rows and the axes before C, ``C...@axis`` all axes from there on, and ``C...@axis:end_axis`` those up
to another one.

In ``"N C... ..."`` C is the axes before those of another input ``"N ..."``: the classes, with one score at each
position.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

REST = "..."
_TOKEN = re.compile(
    r"(?P<name>[A-Z]\w*?(?:_i)?)(?P<rest>\.\.\.)?(?:@(?P<first>[a-z]\w*)(?::(?P<last>[a-z]\w*))?)?"
    r"(?::(?P<group>[A-Z])(?::(?P<outer>[A-Z]))?)?|(?P<dots>\.\.\.)|(?P<one>1)",
    re.ASCII,  # axes become names in generated functions
)


class Axis(NamedTuple):
    """One axis: its name, whether it matches all remaining axes, and its sequence grouping."""

    name: str
    rest: bool = False
    group: str | None = None
    outer: str | None = None
    """The samples, where the sequences themselves are of interest: they are grouped in these."""
    per_item: bool = False
    """Whether the size differs between the items of a repeatable input."""
    first: str | None = None
    """The attribute that selects the axis, or the first of the matched axes."""
    last: str | None = None
    """The attribute that says which is the last of those."""

    @property
    def index_name(self) -> str | None:
        """Name of the index argument: `c` for C and C_i, `i` for ``...``, none for an axis of width 1."""
        if self.name == "1":
            return None
        return "i" if self.name == REST else self.name.lower().removesuffix("_i")


# There are few different strings, but every field of every layer has one.
@cache
def parse_axes(text: str) -> tuple[Axis, ...]:
    """Parse an axis string. Raises `ValueError` with the wrong token."""
    axes = []
    for token in text.split():
        match = _TOKEN.fullmatch(token)
        if match is None:
            raise ValueError(
                f"invalid axis {token!r} in {text!r}; write a capital letter, `C_i`, `C...`, `C@axis`, `T:S`, `T:S:N`, "
                "`...` or `1`"
            )
        name = match["name"] or match["dots"] or match["one"]
        rest = bool(match["rest"] or match["dots"])
        per_item = name.endswith("_i")
        axes.append(Axis(name, rest, match["group"], match["outer"], per_item, match["first"], match["last"]))
    names = [axis.name for axis in axes if axis.name != "1"]
    if len(set(names)) < len(names):
        raise ValueError(f"{text!r} names an axis twice")
    rests = [axis for axis in axes[1:] if axis.rest and axis.last is None]
    if len(rests) + (text.split()[:1] == [REST]) > 1 and not takes_what_is_left(axes):
        raise ValueError(f"{text!r} has more than one axis with `...`")
    _check_placed(text, axes)
    return tuple(axes)


def has_fixed_rank(axes: Sequence[Axis]) -> bool:
    """Whether each axis after the rows is one axis of the tensor."""
    return not any(axis.rest for axis in axes[1:]) and not (axes and axes[0].name == REST)


def takes_what_is_left(axes: Sequence[Axis]) -> bool:
    """Whether it is ``N C... ...``: what another input does not have is C."""
    return len(axes) == 3 and axes[1].rest and axes[1].name != REST and axes[1].first is None and axes[2].name == REST


def split_dims(axes: Sequence[Axis], dims: tuple[int, ...], tail: int) -> list[tuple[Axis, Any]]:
    """The sizes of each axis after the rows: several for an axis that matches all remaining ones.

    `tail` is the number of axes of ``...`` where another one takes the remaining axes.
    """
    rest = next((i for i, axis in enumerate(axes) if axis.rest), None)
    if rest is None:
        return list(zip(axes, dims, strict=True))
    if axes[-1].rest and rest < len(axes) - 1:
        cut = len(dims) - tail
        return [(axes[rest], dims[:cut]), (axes[-1], dims[cut:])]
    behind = len(axes) - rest - 1
    middle = dims[rest : len(dims) - behind]
    after = zip(axes[rest + 1 :], dims[len(dims) - behind :], strict=True) if behind else ()
    return [*zip(axes[:rest], dims[:rest], strict=True), (axes[rest], middle), *after]


def _check_placed(text: str, axes: list[Axis]) -> None:
    """With an axis whose position an attribute selects, one axis must match all axes before it and one all after it."""
    placed = [at for at, axis in enumerate(axes) if axis.first is not None]
    if not placed:
        return
    before, behind = axes[0], [axis for axis in axes[2:] if axis.rest]
    if placed != [1] or not before.rest or before.name == REST or len(behind) != len(axes) - 2:
        raise ValueError(f"invalid use of `@` in {text!r}; write `N... C@axis ...` or `N... C...@axis`")
