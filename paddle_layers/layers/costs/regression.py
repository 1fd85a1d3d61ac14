"""Costs of the distance to wanted rows and distributions, and the cost that is computed elsewhere."""

import math

from paddle_layers.define import Example, Float, Input, Output, each, gradient, helper, layer


@layer(
    "square_error",
    elsewhere={
        "Paddle": "square_error",
        "Caffe": "EuclideanLoss",
        "Mocha": "SquareLossLayer",
        "KUnet": "QuadLoss",
        "Keras": "MeanSquaredError, mse",
        "PyTorch": "MSELoss",
    },
    since=1,
)
class SquareError:
    """Squared distance of every row from its target, times `coeff`.

    `cost = coeff * sum over c of (x - target) ** 2`, times `weight` where the row has one. Paddle has no factor, as
    with `coeff` 1; Caffe, Mocha and KUnet have one half: `coeff: 0.5`. Paddle's own `coeff` scales the gradient and
    not the cost. The target gets its gradient too, as in Caffe and Mocha.
    """

    x = Input("N C...", "rows", seq=(0, 1, 2))
    target = Input("N C...", "wanted rows", seq=(0, 1, 2))
    weight = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    cost = Output("N", "cost of every row", loss=True)
    coeff = Float("factor of the squared distance", default=1.0)
    examples = (
        Example(x="4", target="4"),
        Example(x="2x3x2", target="2x3x2", weight="scalar", coeff=0.5),
        Example(x="sequence of scalar", target="sequence of scalar"),
    )


@each(SquareError.cost)
def square_error_cost(n, x, target, weight, C, coeff):
    total = 0.0
    for c in range(C):
        total += (x[n, c] - target[n, c]) * (x[n, c] - target[n, c])
    return coeff * total if weight is None else coeff * total * weight[n]


@gradient(SquareError.x)
def square_error_dx(n, c, dcost, x, target, weight, coeff):
    derivative = 2.0 * coeff * dcost[n] * (x[n, c] - target[n, c])
    return derivative if weight is None else derivative * weight[n]


@gradient(SquareError.target)
def square_error_dtarget(n, c, dcost, x, target, weight, coeff):
    derivative = 2.0 * coeff * dcost[n] * (target[n, c] - x[n, c])
    return derivative if weight is None else derivative * weight[n]


@helper
def huber(error, delta):
    """Half the square up to `delta`; from there on the tangent."""
    size = abs(error)
    return 0.5 * error * error if size <= delta else delta * (size - 0.5 * delta)


@helper
def huber_derivative(error, delta):
    """The error, but no further from zero than `delta`."""
    return max(-delta, min(delta, error))


@layer("huber_regression", elsewhere={"Paddle": "huber_regression", "Keras": "Huber", "PyTorch": "HuberLoss"}, since=1)
class HuberRegression:
    """Half the squared error, which grows like the error itself from `delta` on: outliers pull no harder than that.

    `cost = sum over c of (0.5 * e ** 2 if |e| <= delta else delta * (|e| - delta / 2))` for `e = x - target` (Huber,
    "Robust estimation of a location parameter", 1964), times `weight` where the row has one. Paddle's `coeff` scales
    the gradient and not the cost: `loss_weight` scales both.
    """

    x = Input("N C...", "rows", seq=(0, 1, 2))
    target = Input("N C...", "wanted rows", seq=(0, 1, 2))
    weight = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    cost = Output("N", "cost of every row", loss=True)
    delta = Float("error from which on the cost grows evenly", default=1.0, above=0)
    examples = (
        Example(x="4", target="4"),
        Example(x="2x3x2", target="2x3x2", weight="scalar", delta=0.5),
        Example(x="sequence of scalar", target="sequence of scalar"),
    )


@each(HuberRegression.cost)
def huber_regression_cost(n, x, target, weight, C, delta):
    cost = 0.0
    for c in range(C):
        cost += huber(x[n, c] - target[n, c], delta)
    return cost if weight is None else cost * weight[n]


@gradient(HuberRegression.x)
def huber_regression_dx(n, c, dcost, x, target, weight, delta):
    derivative = dcost[n] * huber_derivative(x[n, c] - target[n, c], delta)
    return derivative if weight is None else derivative * weight[n]


@gradient(HuberRegression.target)
def huber_regression_dtarget(n, c, dcost, x, target, weight, delta):
    derivative = dcost[n] * huber_derivative(target[n, c] - x[n, c], delta)
    return derivative if weight is None else derivative * weight[n]


@layer("smooth_l1", elsewhere={"Paddle": "smooth_l1", "PyTorch": "SmoothL1Loss"}, since=1)
class SmoothL1:
    """Absolute error, with a parabola in place of its kink.

    `cost = sum over c of (e ** 2 / (2 * beta) if |e| <= beta else |e| - beta / 2)` for `e = x - target` (Girshick,
    "Fast R-CNN", 2015), times `weight` where the row has one; that is `huber_regression` divided by `beta`. Paddle has
    `beta` 1. Its `coeff` scales the gradient and not the cost: `loss_weight` scales both.
    """

    x = Input("N C...", "rows", seq=(0, 1, 2))
    target = Input("N C...", "wanted rows", seq=(0, 1, 2))
    weight = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    cost = Output("N", "cost of every row", loss=True)
    beta = Float("error up to which the cost is a parabola", default=1.0, above=0)
    examples = (
        Example(x="4", target="4"),
        Example(x="2x3x2", target="2x3x2", weight="scalar", beta=0.25),
        Example(x="sequence of scalar", target="sequence of scalar"),
    )


@each(SmoothL1.cost)
def smooth_l1_cost(n, x, target, weight, C, beta):
    cost = 0.0
    for c in range(C):
        cost += huber(x[n, c] - target[n, c], beta) / beta
    return cost if weight is None else cost * weight[n]


@gradient(SmoothL1.x)
def smooth_l1_dx(n, c, dcost, x, target, weight, beta):
    derivative = dcost[n] * huber_derivative(x[n, c] - target[n, c], beta) / beta
    return derivative if weight is None else derivative * weight[n]


@gradient(SmoothL1.target)
def smooth_l1_dtarget(n, c, dcost, x, target, weight, beta):
    derivative = dcost[n] * huber_derivative(target[n, c] - x[n, c], beta) / beta
    return derivative if weight is None else derivative * weight[n]


@layer("sum_cost", elsewhere={"Paddle": "sum_cost"}, since=1)
class SumCost:
    """The sum of every row as its cost: whatever a network computes becomes what it is trained by."""

    x = Input("N C...", "terms of the cost", seq=(0, 1, 2))
    cost = Output("N", "cost of every row", loss=True)
    examples = (
        Example(x="4"),
        Example(x="2x1x3"),
        Example(x="sequence of scalar"),
    )


@each(SumCost.cost)
def sum_cost_cost(n, x, C):
    cost = 0.0
    for c in range(C):
        cost += x[n, c]
    return cost


@gradient(SumCost.x)
def sum_cost_dx(n, c, dcost):
    return dcost[n]


@layer("gaussian_kl", elsewhere={"Mocha": "GaussianKLLossLayer"}, since=1)
class GaussianKl:
    """Kullback-Leibler divergence from the standard normal distribution to others, given by means and deviations.

    `cost = sum over c of (mu ** 2 + sigma ** 2 - 1) / 2 - log(sigma)`: what a code costs that tells the numbers of each
    row beside one that knows nothing, in nats. It is 0 where every mean is 0 and every deviation 1, and a part of the
    loss of a variational autoencoder (Kingma and Welling, "Auto-encoding variational Bayes", 2014). Deviations have to
    be above 0, as `exponential` makes them. Mocha's manual has the other sign; its layer computes this.
    """

    mu = Input("N C...", "means", seq=(0, 1, 2))
    sigma = Input("N C...", "deviations", seq=(0, 1, 2), within=(0.0, 4.0))
    cost = Output("N", "divergence of every row", loss=True)
    examples = (
        Example(mu="4", sigma="4"),
        Example(mu="2x1x3", sigma="2x1x3"),
        Example(mu="sequence of scalar", sigma="sequence of scalar"),
    )


@each(GaussianKl.cost)
def gaussian_kl_cost(n, mu, sigma, C):
    cost = 0.0
    for c in range(C):
        # (sigma + 1) * (sigma - 1) keeps the digits of deviations near 1.
        cost += 0.5 * (mu[n, c] * mu[n, c] + (sigma[n, c] + 1.0) * (sigma[n, c] - 1.0)) - math.log(sigma[n, c])
    return cost


@gradient(GaussianKl.mu)
def gaussian_kl_dmu(n, c, dcost, mu):
    return dcost[n] * mu[n, c]


@gradient(GaussianKl.sigma)
def gaussian_kl_dsigma(n, c, dcost, sigma):
    return dcost[n] * (sigma[n, c] - 1.0 / sigma[n, c])
