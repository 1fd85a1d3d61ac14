"""Findings of the conformance kit, and descriptions of the differences between results."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Finding:
    """A violated property, with the smallest case that shows it.

    Args:
        layer: Layer type.
        property: Name of the property.
        case: Config and inputs of the case, as text.
        message: Expected and actual result.
        file: Plugin file that must be loaded to repeat it.
    """

    layer: str
    property: str
    case: str
    message: str
    file: str = ""

    def __str__(self) -> str:
        name = f'"{self.property}"' if " " in self.property else self.property
        plugin = f" --plugins {self.file}" if self.file else ""
        return (
            f"{self.layer}: {self.property}: {self.message}\n  case: {_indented(self.case)}\n"
            f"  reproduce: paddle-layers check {self.layer} --property {name}{plugin}"
        )


@dataclass
class Report:
    """Result of checking a layer.

    Args:
        layer: Layer type.
        checked: Number of checked cases per property.
        findings: Violated properties.
        seconds: Duration.
        ran: False for a layer that is only declared.
    """

    layer: str
    checked: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0
    ran: bool = True

    @property
    def checks(self) -> int:
        """Total number of checks, the sum over the properties of the cases on which they were checked."""
        return sum(self.checked.values())

    def count(self, property_: str) -> None:
        """Count a check of a property.

        Args:
            property_: Name of the property.
        """
        self.checked[property_] = self.checked.get(property_, 0) + 1

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {name}" for name, number in self.checked.items())
        return f"{counts}; {self.seconds:.1f} s{'' if self.ran else '; not run: it has no functions'}"

    def raise_findings(self) -> None:
        """Raise an error if there are findings.

        Raises:
            AssertionError: All findings.
        """
        if self.findings:
            raise AssertionError("\n".join(map(str, self.findings)))


def _indented(text: str) -> str:
    first, *rest = text.splitlines() or [""]
    return "\n".join([first, *(textwrap.indent(line, "    ") for line in rest)])


Array = NDArray[Any]
Verdicts = Iterator[tuple[str, str | None]]
"""Places that were checked, each with what is wrong there or None."""

# Kernels may add up in another order, so the tolerance is that of sums, not of single operations.
TOLERANCE = {"float64": 1e-12, "float32": 2e-5}
"""Relative tolerance of two computations of the same result, by precision; relative to the largest value."""

ROUNDING = {dtype: float(np.finfo(dtype).eps) for dtype in TOLERANCE}
"""Absolute tolerance: terms that nearly cancel leave rounding errors that depend on the order."""


def same_bits(expected: Mapping[str, Array], found: Mapping[str, Array], why: str) -> Verdicts:
    """Every result with the first element that is not the same; NaN equals NaN."""
    for name, values in expected.items():
        yield name, different_bits(values, found[name], why)


def different_bits(expected: Array, found: Array, why: str) -> str | None:
    """The first element that is not the same, or None."""
    if expected.shape != found.shape:
        return f"has shape {found.shape} {why}, expected {expected.shape}"
    if np.array_equal(expected, found, equal_nan=expected.dtype.kind == "f"):
        return None
    # NaN differs from itself, so equal NaNs are removed again.
    differs = expected != found
    if expected.dtype.kind == "f":
        differs &= ~(np.isnan(expected) & np.isnan(found))
    place = tuple(int(i) for i in np.argwhere(differs)[0])
    return f"{at(place)}expected {expected[place]:.10g}, got {found[place]:.10g} {why}"


def all_close(expected: Mapping[str, Array], found: Mapping[str, Array], dtype: str, why: str) -> Verdicts:
    """Compare all results by name."""
    largest = max((values.size for values in expected.values()), default=0)
    for name, values in expected.items():
        # A gradient of one parameter is a sum over a whole tensor. Rounding errors of n terms that cancel add up to
        # about the square root of n times that of one.
        terms = max(largest / max(values.size, 1), 1.0) if name.startswith("gradient of ") else 1.0
        yield name, close(values, found[name], dtype, why, ROUNDING[dtype] * math.sqrt(terms))


def close(expected: Array, found: Array, dtype: str, why: str, rounding: float | None = None) -> str | None:
    """The element that differs most, if by more than the relative tolerance and the rounding errors; or None."""
    if expected.shape != found.shape:
        return f"has shape {found.shape} {why}, expected {expected.shape}"
    finite = np.abs(expected[np.isfinite(expected)])
    tolerance = TOLERANCE[dtype]
    # Relative to the largest element of the tensor: an element that is small because terms cancel has the rounding
    # error of its terms.
    absolute = ROUNDING[dtype] if rounding is None else rounding
    scale = max(float(finite.max(initial=0.0)), absolute / tolerance)
    error = np.where((expected == found) | (np.isnan(expected) & np.isnan(found)), 0.0, np.abs(expected - found))
    error = np.where(np.isnan(error), np.inf, error)
    if float(error.max(initial=0.0)) <= tolerance * scale:
        return None
    place = tuple(int(i) for i in np.unravel_index(int(error.argmax()), error.shape))
    return (
        f"differs by {error[place]:.1e} {why}, tolerance {tolerance * scale:.1e}: "
        f"{at(place)}expected {expected[place]:.10g}, got {found[place]:.10g}"
    )


def at(place: tuple[int, ...]) -> str:
    """The position, for an array of several elements."""
    return f"at {list(place)} " if place else ""
