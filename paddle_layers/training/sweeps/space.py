"""Search space of a sweep: fields as `--set` names them, each with a range or with choices.

optimizer.learning_rate=1e-4..1e-1:log      numbers of a range, sampled log-uniformly
net.layer[hidden].fc.size=8..64             integers, since both ends are
optimizer.type=sgd,adam                     choices
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from paddle_layers.define.decimals import MANTISSA

from ..problems import TrainingError

_NUMBER = MANTISSA + r"(?:[eE][-+]?[0-9]{1,3})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(:log)?")
_WHOLE = re.compile(r"[-+]?[0-9]{1,15}")
HOW = "write FIELD=LOW..HIGH, FIELD=LOW..HIGH:log, or FIELD=A,B,C"


@dataclass(frozen=True)
class Varied:
    """A field with the ends of its range, or with its choices."""

    field: str
    low: float = 0.0
    high: float = 0.0
    logarithmic: bool = False
    whole: bool = False
    choices: tuple[str, ...] = ()

    def setting(self, value: float | str) -> str:
        """The field with a value in the syntax of `--set`: a sampled number has four digits."""
        return f"{self.field}={f'{value:.4g}' if isinstance(value, float) else value}"

    @property
    def samples(self) -> tuple[str, ...]:
        """Settings that show whether all of it can be set: the choices, or the ends."""
        values = self.choices or ((int(self.low), int(self.high)) if self.whole else (self.low, self.high))
        return tuple(map(self.setting, values))


def parse_varied(texts: Sequence[str]) -> list[Varied]:
    """Parse the fields to vary. Raises `TrainingError`."""
    found = [_parsed(text) for text in texts]
    fields = [one.field for one in found]
    for field in fields:
        if fields.count(field) > 1:
            raise TrainingError(f"duplicate --vary for `{field}`")
    if not found:
        raise TrainingError(f"missing --vary: {HOW}")
    return found


def _parsed(text: str) -> Varied:
    field, sign, value = text.partition("=")
    if not (field.strip() and sign and value.strip()):
        raise TrainingError(f"invalid --vary {text!r}: {HOW}")
    match = _RANGE.fullmatch(value)
    if match is None:
        choices = tuple(one.strip() for one in value.split(","))
        if len(choices) < 2 or "" in choices or len({*choices}) < len(choices):
            raise TrainingError(f"invalid --vary {text!r}, neither a range nor distinct choices: {HOW}")
        return Varied(field, choices=choices)
    low, high, logarithmic = float(match[1]), float(match[2]), match[3] is not None
    if not low < high < float("inf"):
        raise TrainingError(f"invalid --vary {text!r}: the lower bound must be less than the upper bound")
    if logarithmic and low <= 0:
        raise TrainingError(f"invalid --vary {text!r}: the lower bound of a log range must be above 0")
    whole = all(_WHOLE.fullmatch(match[end]) for end in (1, 2))
    return Varied(field, low, high, logarithmic, whole)
