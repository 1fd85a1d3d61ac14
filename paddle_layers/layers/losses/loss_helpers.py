"""Helpers of the losses: normalization, ignored labels, label smoothing, binary cross-entropy from scores."""

import math

from paddle_layers.define import Choice, Float, Int, helper, real
from paddle_layers.layers.helpers import sigmoid


def normalization_choice(default: str, terms: str = "labels") -> Choice:
    """Divisor of the sum of a loss."""
    return Choice(
        f"divisor of the sum of the loss over the {terms}",
        options={
            "VALID": f"number of {terms} that are not ignored, at least 1",
            "FULL": f"number of all {terms}",
            "BATCH_SIZE": "number of samples",
            "NONE": "1: the loss is the sum",
        },
        default=default,
    )


def ignored_label() -> Int:
    """The label that is ignored."""
    return Int("samples or pixels with this label are ignored", optional=True)


def smoothing() -> Float:
    """Label smoothing."""
    return Float(
        "label smoothing: fraction of the target probability that is distributed over all classes",
        default=0.0,
        min=0,
        max=1,
    )


@helper
def counted_label(i, ignored, valid, full, batch_size):
    """Contribution of label `i` of a sample to the divisor of the loss, by the `normalization` that is true."""
    if valid:
        return 0.0 if ignored else 1.0
    if full:
        return 1.0
    return 1.0 if batch_size and i == 0 else 0.0


@helper
def smoothed(right, classes, smoothing):
    """Target probability of a class after label smoothing."""
    share = smoothing / real(classes)
    return share + (1.0 - smoothing) if right else share


@helper
def excess(log_probability, mass, share):
    """`mass * probability - share` without cancellation if the probability is near 1 and `share` near `mass`."""
    # Near 1 the difference `mass * probability - share` would cancel; expm1 has the digits of `probability - 1`.
    if log_probability > -0.5:
        return mass * math.expm1(log_probability) + (mass - share)
    return mass * math.exp(log_probability) - share


@helper
def logistic_cost(score, target):
    """Binary cross-entropy: `log(1 + exp(score)) - score * target`, without overflow."""
    # `log(1 + exp(score))` is `max(score, 0) + log1p(exp(-abs(score)))`. A target that agrees with the sign cancels the
    # first term exactly, which leaves the small cost of a confident prediction with all of its digits.
    side = (1.0 if score > 0.0 else 0.0) - target
    return (score * side if side != 0.0 else 0.0) + math.log1p(math.exp(-abs(score)))


@helper
def logistic_cost_derivative(score, target):
    """Derivative of `logistic_cost` by the score, `sigmoid(score) - target`.

    There is no cancellation for confident predictions.
    """
    return (1.0 - target) - sigmoid(-score) if score > 0.0 else sigmoid(score) - target
