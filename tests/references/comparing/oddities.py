"""Odd values: what stands at the edge of a case distinction is drawn on purpose, and often twice.

Which numbers these are follows from the fields and the attributes: 0, 1/2, 1 and -1, the ends of `within`, `kinks`,
every number that an attribute has, with both signs, and numbers below and above it.
"""

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Input, Type
from paddle_layers.runtime import Csr
from paddle_layers.testing.cases import Case

ODD = 0.75
"""Share of the numbers that are odd; the others are ordinary ones."""
FEW = 3
"""Numbers of a kind in a draw: so few are often equal, in a row, in a sequence and across inputs."""
EVERYWHERE = (0.0, 1.0, 0.5, -1.0)
IGNORED = "ignore_label"


def odd_arrays(case: Case, number: int) -> list[Any]:
    """Rows for every position, as `Case.arrays`, with the same few odd numbers in all inputs."""
    rng = np.random.default_rng([number, zlib.crc32(f"{case.example!r}{case.batch}".encode())])
    edges = _some(rng, _edges(case), FEW)
    return [
        _odd_rows(rng, rows, type_, field, edges, case)
        for rows, (_, type_, field) in zip(case.arrays(stream=number + 1), case.fed, strict=True)
    ]


def _odd_rows(rng: np.random.Generator, rows: Any, type_: Type, field: Input, edges: list[float], case: Case) -> Any:
    if field.places is not None:
        return rows
    if isinstance(rows, Csr):
        value = None if rows.value is None else _mixed(rng, rows.value, [*edges, *EVERYWHERE])
        return Csr(rows.start, rows.id, value)
    if type_.kind == "INT":
        whole = [v for v in (0, type_.size - 1, *_whole_numbers(case)) if 0 <= v < type_.size]
        return _mixed(rng, rows, whole)
    low, high = field.within or (-np.inf, np.inf)
    everywhere = _some(rng, [*EVERYWHERE, *(field.within or ())], FEW)
    numbers = [v for v in (*edges, *everywhere) if low <= v <= high]
    ignored = case.attributes.get(IGNORED)
    if ignored is not None:
        numbers.append(float(ignored))
    return _mixed(rng, rows, numbers)


def _edges(case: Case) -> list[float]:
    """Numbers of attributes and kinks, with both signs, and numbers around them."""
    given = [v for value in case.attributes.values() for v in (value if isinstance(value, tuple) else (value,))]
    numbers = [float(v) for v in given if isinstance(v, (int, float)) and not isinstance(v, bool)]
    numbers += [kink for field in case.inputs for kink in field.kinks if not isinstance(kink, str)]
    around = [v * factor for v in numbers for factor in (1.0, 0.5, 1.5)]
    return sorted({sign * v for v in around for sign in (1.0, -1.0) if abs(v) < 1e3})


def _whole_numbers(case: Case) -> list[int]:
    return [v for v in case.attributes.values() if isinstance(v, int) and not isinstance(v, bool)]


def _some(rng: np.random.Generator, numbers: list[float], most: int) -> list[float]:
    return rng.choice(numbers, min(most, len(numbers)), replace=False).tolist() if numbers else []


def _mixed(rng: np.random.Generator, values: NDArray[Any], numbers: list[Any]) -> NDArray[Any]:
    if not numbers:
        return values
    odd = rng.choice(np.array(numbers, values.dtype), values.shape)
    return np.where(rng.random(values.shape) < ODD, odd, values)
