"""Reasons for built-in layers without an `@onnx` function."""

from __future__ import annotations

COST = "loss layers are only used in training"
STATISTIC = "metrics are accumulated over many batches and are not part of inference"

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
    "attention_step": "it is a single step of `multi_head_attention`, which can be exported instead",
    "detection_output": "`NonMaxSuppression` does not return the detections of an image as a sequence",
    "mdlstmemory": "ONNX has no multi-dimensional LSTM",
    "random_normal": "its values depend on the seed and the step",
    "selected_scores": "the number of its scores and the weight rows it reads depend on the values of `selected`",
    "sampling_id": "the sampled ids depend on the seed and the step",
    "seq_slice": "the number of sub-sequences depends on the values of its inputs",
    "sub_nested_seq": "the selected sub-sequences depend on the values of its inputs",
}

BY_THE_EXPORT = {"memory": "a state of its group's `Scan`", "recurrent_group": "`Scan`"}
"""Layers that the export handles itself, and their ONNX equivalents."""
