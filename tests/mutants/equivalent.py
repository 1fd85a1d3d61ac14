"""Mutants that mean the same as what they are made of, each with the reason; they are not counted.

The key is the function with its lines before and after the change. A change that does make a difference, and that no
check notices, does not belong here.
"""

from __future__ import annotations

ROTATED = "the sum goes over all rows, and row -1 is the last one"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "gru_step_dbias",
        "total += candidate_slope[n, k] if b < 3 * K else recalled_slope[n, k]",
        "total += candidate_slope[n - 1, k] if b < 3 * K else recalled_slope[n, k]",
    ): ROTATED,
    (
        "auc_outside",
        "return 1.0 if place[n] < 0 else 0.0",
        "return 1.0 if place[n - 1] < 0 else 0.0",
    ): ROTATED,
    (
        "auc_counts",
        "positive += share",
        "positive -= share",
    ): "the area is a ratio, in which the sign cancels",
    (
        "embedding_y",
        "if padding_id is not None and ids[n] == padding_id:",
        "if ids[n] == padding_id:",
    ): "no id equals None, and the comparison is folded",
    (
        "ctc_cost",
        "rows = real(max(S_start[s + 1] - S_start[s], 1))",
        "rows = real(S_start[s + 1] - S_start[s])",
    ): "a sequence without rows has returned before, or costs NaN",
    (
        "ctc_following",
        "for v in range(u + 1, min(2 * count[s] + 1, U)):",
        "for v in range(u + 1, min(2 * count[s] + 2, U)):",
    ): "alpha is -inf in the state behind the last one, which adds nothing",
    (
        "relu_y",
        "return x[i] if x[i] > 0.0 else times(negative_slope, x[i])",
        "return x[i] if x[i] >= 0.0 else times(negative_slope, x[i])",
    ): "both give 0 for 0",
}
