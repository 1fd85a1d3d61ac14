"""Regularizers: penalties that are added to the gradient of a weight, times the parameter's `decay_mult`."""

from __future__ import annotations

from paddle_layers.define import Float, linear_penalty, penalty, regularizer


@regularizer(
    "l2",
    elsewhere={"Caffe": "L2", "Mocha": "L2Regu", "Paddle": "L2Regularization", "KUnet": "l2reg"},
    terms=("L2 regularization", "weight decay", "ridge"),
)
class L2:
    """L2 regularization (weight decay): rate * w is added to the gradient, the derivative of rate / 2 * w².

    As in Caffe and KUnet; Mocha's coefficient is half of this one. Paddle divides the weight by 1 + learning rate *
    rate after the step, which is nearly the same. For decoupled weight decay see the optimizer `adamw`.
    """

    rate = Float("regularization rate", min=0)


@penalty(L2)
def l2_penalty(i, value, rate):
    return rate * value[i]


@linear_penalty(L2)
def l2_factor(rate):
    return rate


@regularizer(
    "l1",
    elsewhere={"Caffe": "L1", "Mocha": "L1Regu", "KUnet": "l1reg"},
    terms=("L1 regularization", "lasso"),
)
class L1:
    """L1 regularization (lasso): rate * sign(w) is added to the gradient, the derivative of rate * |w|.

    Paddle's L1 stops at zero, which no weight crosses: that is another rule (soft thresholding).
    """

    rate = Float("regularization rate", min=0)


@penalty(L1)
def l1_penalty(i, value, rate):
    if value[i] > 0:
        return rate
    return -rate if value[i] < 0 else 0.0


@regularizer(
    "l1_l2",
    elsewhere={"Keras": "L1L2"},
    terms=("elastic net", "L1 and L2 regularization"),
)
class L1L2:
    """Elastic net: L1 and L2 regularization, l1 * sign(w) + l2 * w."""

    l1 = Float("L1 rate", default=0.0, min=0)
    l2 = Float("L2 rate", default=0.0, min=0)


@penalty(L1L2)
def l1_l2_penalty(i, value, l1, l2):
    if value[i] > 0:
        return l2 * value[i] + l1
    return l2 * value[i] - l1 if value[i] < 0 else 0.0
