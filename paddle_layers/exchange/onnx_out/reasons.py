"""Reasons for built-in layers without an `@onnx` function."""

from __future__ import annotations

COST = "costs are what a network is trained by, and no part of what it gives"
STATISTIC = "statistics judge a network over many batches, and are no part of what it gives"

WITHOUT_FORM: dict[str, str] = {
    **dict.fromkeys(
        (
            *("beam_expansion", "contrastive_loss", "crf", "cross_entropy", "ctc", "gaussian_kl", "hinge_loss"),
            *("huber_classification",),
            *("hsigmoid", "huber_regression", "infogain_loss", "lambda_cost", "multi_binary_label_cross_entropy"),
            *("multibox_loss", "nce", "perceptron_loss", "rank_cost", "sampled_softmax", "wasserstein_loss"),
            *("sigmoid_cross_entropy", "smooth_l1", "soft_binary_cross_entropy", "soft_cross_entropy"),
            *("softlabel_softmax_cost", "softmax_with_loss", "square_error", "sum_cost"),
        ),
        COST,
    ),
    **dict.fromkeys(
        (
            *("accuracy", "auc", "binary_accuracy", "chunk", "classification_error", "column_sum", "confusion_matrix"),
            *("ctc_edit_distance", "detection_map", "mean_iou", "pnpair", "precision_recall", "rank_auc"),
            *("regression_error", "row_sum", "seq_classification_error"),
        ),
        STATISTIC,
    ),
    "attention_step": "it is a position of `multi_head_attention`, which is exported; what is kept is the caller's",
    "detection_output": "the best boxes of all classes of an image are no sequence in what `NonMaxSuppression` gives",
    "mdlstmemory": "ONNX has no recurrence over two axes",
    "random_normal": "its numbers follow from seed and step, which engines do not have",
    "selected_scores": "its weights have a row for each class, and which ones are read follows from what is fed",
    "sampling_id": "what is drawn depends on the seed and the step, and another engine would draw other ids",
    "seq_slice": "how many sub-sequences it makes depends on the numbers of its inputs",
    "sub_nested_seq": "which sub-sequences there are depends on the numbers of its inputs",
}

BY_THE_EXPORT = {"memory": "a state of its group's `Scan`", "recurrent_group": "`Scan`"}
"""Layers that are the framework's work, and what becomes of them."""
