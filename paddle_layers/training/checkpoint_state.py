"""Validation of `state.json` in checkpoints: types and ranges, checked before use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

COUNTS = ("step", "epoch", "batch", "loss_count")
NUMBERS = ("loss_sum", "seconds")
NEEDED = (*COUNTS, *NUMBERS)
MOST, LARGEST = 2**53, 1e300
"""Bounds of counts and of numbers; a count below the first is exact in every program that reads JSON."""


def is_count(value: Any) -> bool:
    """Whether a JSON value is a nonnegative integer in the supported range."""
    # Not `isinstance`: JSON's `true` would be the integer 1.
    return type(value) is int and 0 <= value < MOST


def is_number(value: Any) -> bool:
    """Whether a value of a JSON file is a finite number."""
    return type(value) in (int, float) and -LARGEST <= value <= LARGEST


def fault(facts: Mapping[str, Any], *, batches: int) -> str:
    """The error in the state of a training with this many batches per epoch; empty if it is valid."""
    for name in COUNTS:
        if not is_count(facts[name]):
            return f"`{name}` is {_shown(facts[name])}, expected an integer >= 0"
    for name in NUMBERS:
        if not is_number(facts[name]):
            return f"`{name}` is {_shown(facts[name])}, expected a number"
    if facts["batch"] >= batches:
        return f"`batch` is {facts['batch']}, but an epoch has {batches} batches"
    costs = facts.get("cost_sums", {})
    if not isinstance(costs, dict) or not all(map(is_number, costs.values())):
        return f"`cost_sums` is {_shown(costs)}, expected an object of numbers"
    if not is_count(facts.get("skipped", 0)):
        return f"`skipped` is {_shown(facts['skipped'])}, expected an integer >= 0"
    trained = facts.get("trained", [])
    if not isinstance(trained, list) or not all(isinstance(name, str) for name in trained):
        return f"`trained` is {_shown(trained)}, expected a list of names"
    if not isinstance(facts.get("callbacks", {}), dict):
        return f"`callbacks` is {_shown(facts['callbacks'])}, expected an object"
    return ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
