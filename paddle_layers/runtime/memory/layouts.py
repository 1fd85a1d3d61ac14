"""PyTorch's names and layouts of parameters, where they differ from ours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LAYOUTS = ("paddle_layers", "torch")
COUNTER = ".num_batches_tracked"
"""`num_batches_tracked` of PyTorch's batch norm; nothing here depends on it."""


@dataclass(frozen=True)
class Gates:
    """Order of the gate columns of a recurrent unit, in runs of one unit count each.

    Our run i is PyTorch's run `order[i]`, with the sign `signs[i]`. `recall`: our bias has a fourth run, for the
    recurrent part of the candidate, where PyTorch's has it instead of the candidate.
    """

    order: tuple[int, ...]
    signs: tuple[int, ...]
    recall: bool = False


@dataclass(frozen=True)
class Form:
    """PyTorch's form of a parameter: its name and array layout."""

    name: str
    transposed: bool = False
    gates: Gates | None = None
    missing: str = ""
    """Why it has no form there; empty if it has one."""
    padding: int | None = None
    """The row of a table that is 0 for its layer, whatever the table contains: `padding_idx` returns it unchanged."""
    padding_is_read: bool = False
    """Whether another layer reads that row as well."""

    def joined(self, other: Form) -> Form:
        """The form of a parameter that two layers share."""
        if self == other:
            return self
        plain = [replace(one, padding=None, padding_is_read=False) for one in (self, other)]
        if plain[0] != plain[1]:
            return replace(self, missing="it is shared by layers that store it in different layouts")
        padding = other.padding if self.padding is None else self.padding
        return replace(self, padding=padding, padding_is_read=True)

    def shape(self, ours: tuple[int, ...]) -> tuple[int, ...]:
        """The shape in PyTorch of a parameter with the shape `ours` here."""
        if self.gates is not None and self.gates.recall:
            return (ours[0] // 4 * 3,)
        return ours[::-1] if self.transposed else ours

    def read(self, theirs: Array) -> Array:
        """Our array from PyTorch's layout."""
        array = theirs.T if self.transposed else theirs
        if self.gates is None:
            return array
        runs = np.split(array, len(self.gates.order), axis=-1)
        # A negative sign: our update gate is one minus that of PyTorch, and the sigmoid of the negated pre-activation
        # is one minus the sigmoid.
        ours = [sign * runs[place] for place, sign in zip(self.gates.order, self.gates.signs, strict=True)]
        # PyTorch's GRU applies the reset gate to the recurrent part including its bias, so the candidate has two biases
        # there that cannot be merged; the input bias alone is what we have.
        if self.gates.recall:
            ours = [*ours[:2], np.zeros_like(ours[2]), ours[2]]
        return np.concatenate(ours, axis=-1)

    def written(self, ours: Array) -> Array:
        """PyTorch's layout of our array. Raises `ValueError` for values that it cannot represent."""
        array = self._without_padding(ours)
        if self.gates is not None:
            runs = np.split(array, len(self.gates.order) + self.gates.recall, axis=-1)
            if self.gates.recall:
                if runs.pop(2).any():
                    raise ValueError(
                        "the candidate's recurrent bias is not zero; PyTorch has this bias in `bias_ih` only"
                    )
            theirs = {
                place: sign * run for place, sign, run in zip(self.gates.order, self.gates.signs, runs, strict=True)
            }
            array = np.concatenate([theirs[place] for place in sorted(theirs)], axis=-1)
        return np.ascontiguousarray(array.T if self.transposed else array)

    def _without_padding(self, ours: Array) -> Array:
        if self.padding is None or not ours[self.padding].any():
            return ours
        if self.padding_is_read:
            raise ValueError(
                f"row {self.padding} is the padding of one layer, but is used by another layer that shares the table"
            )
        array = ours.copy()
        array[self.padding] = 0
        return array


FORMS = {
    ("fc", "weight"): Form("weight", transposed=True),
    ("batch_norm", "gain"): Form("weight"),
    ("layer_norm", "gain"): Form("weight"),
    ("rms_norm", "gain"): Form("weight"),
    ("group_norm", "gain"): Form("weight"),
    ("prelu", "slope"): Form("weight"),
    ("embedding", "table"): Form("weight"),
    ("position_embedding", "table"): Form("weight"),
    ("recurrent", "weight"): Form("weight", transposed=True),
}
"""By layer and parameter; all others have the same names and shapes, including layers that PyTorch lacks."""
GATES = {
    "recurrent": Gates((0,), (1,)),
    "lstmemory": Gates((2, 0, 1, 3), (1, 1, 1, 1)),
    "grumemory": Gates((1, 0, 2), (-1, 1, 1)),
}
"""Of recurrent layers: candidate, input, forget, output of PyTorch's i f g o; update, reset, candidate of r z n."""
