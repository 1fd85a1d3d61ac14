"""The layers of the library that have no function below `@onnx`, each with the reason."""

from __future__ import annotations

COST = "costs are what a network is trained by, and no part of what it gives"
STATISTIC = "statistics judge a network over many batches, and are no part of what it gives"

WITHOUT_FORM: dict[str, str] = {
    **dict.fromkeys(
        (
            *("contrastive_loss", "crf", "cross_entropy", "ctc", "hinge_loss", "huber_classification"),
            *("huber_regression", "infogain_loss", "lambda_cost", "multi_binary_label_cross_entropy", "rank_cost"),
            *("sigmoid_cross_entropy", "smooth_l1", "soft_binary_cross_entropy", "soft_cross_entropy"),
            *("softlabel_softmax_cost", "softmax_with_loss", "square_error", "sum_cost"),
        ),
        COST,
    ),
    **dict.fromkeys(
        (
            *("accuracy", "auc", "chunk", "classification_error", "column_sum", "confusion_matrix"),
            *("ctc_edit_distance", "pnpair", "precision_recall", "rank_auc", "regression_error", "row_sum"),
            "seq_classification_error",
        ),
        STATISTIC,
    ),
    "seq_slice": "how many sub-sequences it makes depends on the numbers of its inputs",
    "sub_nested_seq": "which sub-sequences there are depends on the numbers of its inputs",
}

BY_THE_EXPORT = {"memory": "a state of its group's `Scan`", "recurrent_group": "`Scan`"}
"""Layers that are the framework's work, and what becomes of them."""
