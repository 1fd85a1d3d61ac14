"""Ratios that metrics report."""

import math


def ratio(part: float, whole: float) -> float:
    """Share of the whole; of nothing there is no share (NaN)."""
    return part / whole if whole else math.nan


def f_measures(correct: float, found: float, wanted: float) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean F1."""
    return ratio(correct, found), ratio(correct, wanted), ratio(2 * correct, found + wanted)
