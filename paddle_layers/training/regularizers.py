"""Regularizers: what is added to the gradient of a weight, times the parameter's `decay_mult`."""

from __future__ import annotations

from paddle_layers.define import Float, linear_penalty, penalty, regularizer


@regularizer("l2", elsewhere={"Caffe": "L2", "Mocha": "L2Regu", "Paddle": "L2Regularization", "KUnet": "l2reg"})
class L2:
    """Pulls every weight towards zero in proportion to it: rate * w, the derivative of rate / 2 * w².

    As in Caffe and KUnet; Mocha's coefficient is half of this one. Paddle divides the weight by 1 + learning rate *
    rate behind the step, which is nearly the same.
    """

    rate = Float("strength", min=0)


@penalty(L2)
def l2_penalty(i, value, rate):
    return rate * value[i]


@linear_penalty(L2)
def l2_factor(rate):
    return rate


@regularizer("l1", elsewhere={"Caffe": "L1", "Mocha": "L1Regu", "KUnet": "l1reg"})
class L1:
    """Pulls every weight towards zero by the same amount: rate * sign(w), the derivative of rate * |w|.

    Paddle's L1 stops at zero, which no weight crosses: that is another rule (soft thresholding).
    """

    rate = Float("strength", min=0)


@penalty(L1)
def l1_penalty(i, value, rate):
    if value[i] > 0:
        return rate
    return -rate if value[i] < 0 else 0.0
