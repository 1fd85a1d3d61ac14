"""Odd values: what stands at the edge of a case distinction is drawn on purpose, and often twice.

Which numbers these are follows from the fields and the attributes: 0, 1/2, 1 and -1, the ends of `within`, `kinks`,
every number that an attribute has, with both signs, and numbers below and above it.
"""

import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Input, Type
from paddle_layers.runtime import Csr, Net
from paddle_layers.testing.cases.case import Case

SHARES = (1.0, 0.75)
"""Share of the numbers that are odd in each draw; the others are ordinary ones."""
FEW = 3
"""Numbers of a kind in a draw: so few are often equal, in a row, in a sequence and across inputs."""
EVERYWHERE = (0.0, 1.0, 0.5, -1.0)
IGNORED = "ignore_label"


def odd_arrays(case: Case, number: int) -> list[Any]:
    """Rows for every position, as `Case.arrays`, with the same few odd numbers in all inputs."""
    rng = np.random.default_rng([number, zlib.crc32(f"{case.example!r}{case.batch}".encode())])
    draw = _Draw(rng, SHARES[number % len(SHARES)], _some(rng, _edges(case), FEW), case)
    return [
        draw.rows(rows, type_, field)
        for rows, (_, type_, field) in zip(case.arrays(stream=number + 1), case.fed, strict=True)
    ]


def odd_parameters(net: Net) -> None:
    """Parameters of few numbers, whose sums are exact: equal scores are equal to the last bit."""
    rng = np.random.default_rng(19)
    for parameter in net.parameters.values():
        parameter.value = rng.choice([0.0, 0.5, -0.5, 1.0], parameter.shape)


class _Draw(NamedTuple):
    rng: np.random.Generator
    share: float
    edges: list[float]
    case: Case

    def rows(self, rows: Any, type_: Type, field: Input) -> Any:
        """The rows with odd numbers among them."""
        if field.places is not None:
            return rows
        if isinstance(rows, Csr):
            value = None if rows.value is None else self.mixed(rows.value, [*self.edges, *EVERYWHERE])
            return Csr(rows.start, rows.id, value)
        if type_.kind == "INT":
            whole = [v for v in self.case.attributes.values() if isinstance(v, int) and not isinstance(v, bool)]
            return self.mixed(rows, [v for v in (0, type_.size - 1, *whole) if 0 <= v < type_.size])
        low, high = field.within or (-np.inf, np.inf)
        everywhere = _some(self.rng, [*EVERYWHERE, *(field.within or ())], FEW)
        ignored = self.case.attributes.get(IGNORED)
        numbers = [v for v in (*self.edges, *everywhere) if low <= v <= high]
        return self.mixed(rows, numbers + ([] if ignored is None else [float(ignored)]))

    def mixed(self, values: NDArray[Any], numbers: list[Any]) -> NDArray[Any]:
        """Values of which a share is drawn from these numbers."""
        if not numbers:
            return values
        odd = self.rng.choice(np.array(numbers, values.dtype), values.shape)
        return np.where(self.rng.random(values.shape) < self.share, odd, values)


def _edges(case: Case) -> list[float]:
    """Numbers of attributes and kinks, with both signs, and numbers around them."""
    given = [v for value in case.attributes.values() for v in (value if isinstance(value, tuple) else (value,))]
    numbers = [float(v) for v in given if isinstance(v, (int, float)) and not isinstance(v, bool)]
    numbers += [kink for field in case.inputs for kink in field.kinks if not isinstance(kink, str)]
    around = [v * factor for v in numbers for factor in (1.0, 0.5, 1.5)]
    return sorted({sign * v for v in around for sign in (1.0, -1.0) if abs(v) < 1e3})


def _some(rng: np.random.Generator, numbers: list[float], most: int) -> list[float]:
    return rng.choice(numbers, min(most, len(numbers)), replace=False).tolist() if numbers else []
