"""Terms that several costs are made of."""

import math

from paddle_layers.define import Choice, Float, Int, helper, real
from paddle_layers.layers.helpers import sigmoid


def normalization_choice(default: str, terms: str = "labels") -> Choice:
    """What the loss of the network divides the sum of a cost by."""
    return Choice(
        f"what the loss of the network divides the sum over the {terms} by",
        options={
            "VALID": f"the {terms} that are not ignored, at least 1",
            "FULL": f"all {terms}",
            "BATCH_SIZE": "all rows",
            "NONE": "nothing: the loss is the sum",
        },
        default=default,
    )


def ignored_label() -> Int:
    """The label that costs nothing."""
    return Int("rows or places of this class cost nothing", optional=True)


def smoothing() -> Float:
    """How much of a label all classes share."""
    return Float("share of the right class that is given to all classes, to each the same", default=0.0, min=0, max=1)


@helper
def counted_label(i, ignored, valid, full, batch_size):
    """What label `i` of a row adds to the divisor of the loss, by the `normalization` that is true."""
    if valid:
        return 0.0 if ignored else 1.0
    if full:
        return 1.0
    return 1.0 if batch_size and i == 0 else 0.0


@helper
def smoothed(right, classes, smoothing):
    """Wanted probability of a class, which is the right one or another: the right one's is shared out in part."""
    share = smoothing / real(classes)
    return share + (1.0 - smoothing) if right else share


@helper
def excess(log_probability, mass, share):
    """`mass * probability - share`, which keeps its digits where the probability is near 1 and `share` near `mass`."""
    if log_probability > -0.5:
        return mass * math.expm1(log_probability) + (mass - share)
    return mass * math.exp(log_probability) - share


@helper
def logistic_cost(score, target):
    """Cross entropy of a yes-or-no answer: `log(1 + exp(score)) - score * target`, without overflow."""
    side = (1.0 if score > 0.0 else 0.0) - target
    return (score * side if side != 0.0 else 0.0) + math.log1p(math.exp(-abs(score)))


@helper
def logistic_derivative(score, target):
    """Derivative of `logistic_cost` by the score: `sigmoid(score) - target`, with the digits of a sure answer."""
    return (1.0 - target) - sigmoid(-score) if score > 0.0 else sigmoid(score) - target
