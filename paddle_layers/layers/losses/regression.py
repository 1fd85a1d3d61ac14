"""Regression losses, KL divergence, and the loss that is computed by the network."""

import math

from paddle_layers.define import Example, Float, Input, Output, each, helper, layer


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
    terms=("squared error", "mean squared error", "MSE", "L2 loss", "mse_loss"),
    since=1,
)
class SquareError:
    """Squared error loss (MSE): the squared Euclidean distance between prediction and target, times `coeff`.

    `cost = coeff * sum over c of (x - target) ** 2`, times `weight` if present. Paddle has no factor, as with `coeff`
    1; Caffe, Mocha and KUnet have one half: `coeff: 0.5`; PyTorch and Keras also divide by the number of columns.
    Paddle's own `coeff` scales the gradient but not the loss. The target has a gradient too, as in Caffe and Mocha.
    """

    x = Input("N C...", "feature vectors", seq=(0, 1, 2))
    target = Input("N C...", "targets", seq=(0, 1, 2))
    weight = Input("N", "sample weight", optional=True, seq=(0, 1, 2), derivative=False)
    cost = Output("N", "per-sample loss", loss=True)
    coeff = Float("factor of the squared error", default=1.0)
    examples = (
        Example(x="4", target="4"),
        Example(x="2x3x2", target="2x3x2", weight="scalar", coeff=0.5),
        Example(x="sequence of scalar", target="sequence of scalar"),
    )


@each(SquareError.cost)
def square_error_cost(n, x, target, weight, C, coeff):
    total = sum((x[n, c] - target[n, c]) * (x[n, c] - target[n, c]) for c in range(C))
    return coeff * total if weight is None else coeff * total * weight[n]


@helper
def huber(error, delta):
    """Half the square up to `delta`; from there on the tangent."""
    size = abs(error)
    return 0.5 * error * error if size <= delta else delta * (size - 0.5 * delta)


@helper
def huber_derivative(error, delta):
    """The error, but no further from zero than `delta`."""
    return max(-delta, min(delta, error))


@layer(
    "huber_regression",
    elsewhere={"Paddle": "huber_regression", "Keras": "Huber", "PyTorch": "HuberLoss"},
    terms=("Huber loss", "robust regression"),
    since=1,
)
class HuberRegression:
    """Huber loss: quadratic for small errors, linear for errors above `delta`, robust against outliers.

    `cost = sum over c of (0.5 * e ** 2 if |e| <= delta else delta * (|e| - delta / 2))` for `e = x - target` (Huber,
    "Robust estimation of a location parameter", 1964), times `weight` if present. Paddle's `coeff` scales the gradient
    but not the loss: `loss_weight` scales both.
    """

    x = Input("N C...", "feature vectors", seq=(0, 1, 2))
    target = Input("N C...", "targets", seq=(0, 1, 2))
    weight = Input("N", "sample weight", optional=True, seq=(0, 1, 2), derivative=False)
    cost = Output("N", "per-sample loss", loss=True)
    delta = Float("error at which the loss becomes linear", default=1.0, above=0)
    examples = (
        Example(x="4", target="4"),
        Example(x="2x3x2", target="2x3x2", weight="scalar", delta=0.5),
        Example(x="sequence of scalar", target="sequence of scalar"),
    )


@each(HuberRegression.cost)
def huber_regression_cost(n, x, target, weight, C, delta):
    cost = sum(huber(x[n, c] - target[n, c], delta) for c in range(C))
    return cost if weight is None else cost * weight[n]


@layer("smooth_l1", elsewhere={"Paddle": "smooth_l1", "PyTorch": "SmoothL1Loss"}, terms=("smooth L1 loss",), since=1)
class SmoothL1:
    """Smooth L1 loss: absolute error that is quadratic near zero.

    `cost = sum over c of (e ** 2 / (2 * beta) if |e| <= beta else |e| - beta / 2)` for `e = x - target` (Girshick,
    "Fast R-CNN", 2015), times `weight` if present; this is `huber_regression` divided by `beta`. Paddle has `beta` 1.
    Its `coeff` scales the gradient but not the loss: `loss_weight` scales both.
    """

    x = Input("N C...", "feature vectors", seq=(0, 1, 2))
    target = Input("N C...", "targets", seq=(0, 1, 2))
    weight = Input("N", "sample weight", optional=True, seq=(0, 1, 2), derivative=False)
    cost = Output("N", "per-sample loss", loss=True)
    beta = Float("error up to which the loss is quadratic", default=1.0, above=0)
    examples = (
        Example(x="4", target="4"),
        Example(x="2x3x2", target="2x3x2", weight="scalar", beta=0.25),
        Example(x="sequence of scalar", target="sequence of scalar"),
    )


@each(SmoothL1.cost)
def smooth_l1_cost(n, x, target, weight, C, beta):
    cost = sum(huber(x[n, c] - target[n, c], beta) / beta for c in range(C))
    return cost if weight is None else cost * weight[n]


@layer(
    "sum_cost",
    elsewhere={"Paddle": "sum_cost"},
    terms=("custom loss", "loss computed by the network"),
    since=1,
)
class SumCost:
    """Custom loss: the sum of each row is its loss, so that any value a network computes can be minimized."""

    x = Input("N C...", "terms of the loss", seq=(0, 1, 2))
    cost = Output("N", "per-sample loss", loss=True)
    examples = (
        Example(x="4"),
        Example(x="2x1x3"),
        Example(x="sequence of scalar"),
    )


@each(SumCost.cost)
def sum_cost_cost(n, x, C):
    return sum(x[n, c] for c in range(C))


@layer(
    "gaussian_kl",
    elsewhere={"Mocha": "GaussianKLLossLayer"},
    terms=("Kullback-Leibler divergence", "KL divergence", "variational autoencoder", "VAE loss"),
    since=1,
)
class GaussianKl:
    """Kullback-Leibler divergence of diagonal Gaussians from the standard normal distribution (VAE loss).

    `cost = sum over c of (mu ** 2 + sigma ** 2 - 1) / 2 - log(sigma)`, in nats. It is 0 if every mean is 0 and every
    standard deviation 1, and is one term of the loss of a variational autoencoder (Kingma and Welling, "Auto-encoding
    variational Bayes", 2014). Standard deviations must be positive, as computed by `exp`. Mocha's manual has the
    opposite sign; its layer computes this.
    """

    mu = Input("N C...", "means", seq=(0, 1, 2))
    sigma = Input("N C...", "standard deviations", seq=(0, 1, 2), within=(0.0, 4.0))
    cost = Output("N", "per-sample divergence", loss=True)
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
