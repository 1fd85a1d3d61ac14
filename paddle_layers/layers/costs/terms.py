"""Terms that several costs are made of."""

import math

from paddle_layers.define import helper
from paddle_layers.layers.helpers import sigmoid


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
