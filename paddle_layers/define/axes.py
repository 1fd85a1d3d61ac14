"""Axis strings: ``"N C H W"``, ``"T:S C"``, ``"T:S:N C"``, ``"N C_i..."``, ``"..."``. Each names a tensor's axes."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

REST = "..."
_TOKEN = re.compile(
    r"(?P<name>[A-Z]\w*?(?:_i)?)(?P<rest>\.\.\.)?(?::(?P<group>[A-Z])(?::(?P<outer>[A-Z]))?)?|(?P<dots>\.\.\.)|(?P<one>1)",
    re.ASCII,  # axes become names in generated functions
)


class Axis(NamedTuple):
    """One axis: its name, and whether it stands for all remaining axes or is grouped in sequences."""

    name: str
    rest: bool = False
    group: str | None = None
    outer: str | None = None
    """The samples, where the sequences themselves are of interest: they are grouped in these."""
    per_item: bool = False
    """Whether the size differs between the items of a repeatable input."""

    @property
    def index_name(self) -> str | None:
        """Name of the index argument: `c` for C and C_i, `i` for ``...``, none for an axis of width 1."""
        if self.name == "1":
            return None
        return "i" if self.name == REST else self.name.lower().removesuffix("_i")


@cache
def parse_axes(text: str) -> tuple[Axis, ...]:
    """Read an axis string. Raises `ValueError` with the token at fault."""
    axes = []
    for token in text.split():
        match = _TOKEN.fullmatch(token)
        if match is None:
            raise ValueError(
                f"{token!r} in {text!r} is no axis; write a capital letter, `C_i`, `C...`, `T:S`, `T:S:N`, `...` or `1`"
            )
        name = match["name"] or match["dots"] or match["one"]
        rest = bool(match["rest"] or match["dots"])
        axes.append(Axis(name, rest, match["group"], match["outer"], per_item=name.endswith("_i")))
    names = [axis.name for axis in axes if axis.name != "1"]
    if len(set(names)) < len(names):
        raise ValueError(f"{text!r} names an axis twice")
    if sum(axis.rest for axis in axes) > 1:
        raise ValueError(f"{text!r} has more than one axis that takes the remaining ones")
    return tuple(axes)
