"""Wasserstein loss."""

import math

from paddle_layers.define import (
    Example,
    Float,
    Floats,
    Input,
    Int,
    Output,
    Temp,
    double,
    each,
    fill,
    gradient,
    infer,
    layer,
    real,
    require,
)

LEAST = 1e-30
"""Smallest share whose logarithm is taken."""


@layer(
    "wasserstein_loss",
    elsewhere={"Mocha": "WassersteinLossLayer"},
    terms=("Wasserstein", "optimal transport", "Sinkhorn", "earth mover's distance"),
    since=1,
)
class WassersteinLoss:
    """Wasserstein (optimal transport) loss between two distributions over classes, with entropic regularization.

    `cost = sum over c, d of p[c, d] * distances[c, d]` for the transport plan p with the marginals `x` and `target` and
    minimum regularized cost: `p[c, d] = exp(f[c] + g[d] - sharpness * distances[c, d])`, with f and g from `iterations`
    of Sinkhorn's algorithm (Cuturi 2013). `x` are probabilities, as from `softmax`, and sum to one, as `target` does.

    The gradient with respect to `x` is `f / sharpness` minus its mean over the classes, that of the regularized
    distance (Frogner et al. 2015); a preceding `softmax` is invariant to the mean, which Mocha, whose `lambda` is
    `sharpness`, does not subtract.
    """

    x = Input("N C", "probability per class", seq=(0, 1, 2), within=(0.0, 1.0), derivative=False)
    target = Input("N C", "target probability per class", seq=(0, 1, 2), within=(0.0, 1.0))
    cost = Output("N", "per-sample loss", loss=True)
    distances = Floats("distance matrix of the classes in row-major order", min=0)
    sharpness = Float("inverse of the entropic regularization; larger values need more iterations", above=0)
    iterations = Int("number of Sinkhorn iterations", default=50, min=1, aliases=("sinkhorn_iter",))
    rise = Temp("N C", "dual potential f of `x`")
    fall = Temp("N C", "dual potential g of `target`")
    examples = (
        Example(x="2", target="2", distances=[0.0, 1.0, 1.0, 0.0], sharpness=2.0),
        Example(
            x="sequence of 3",
            target="sequence of 3",
            distances=[0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 0.0],
            sharpness=1.5,
            iterations=3,
        ),
    )


@infer(WassersteinLoss)
def wasserstein_loss_sizes(C, distances):
    count = len(distances)
    require(count == C * C, "distances", f"there are {count} distances, but {C} times {C} from class to class")
    return {}


@fill(WassersteinLoss.rise, WassersteinLoss.fall, per="N")
def wasserstein_loss_factors(n, rise, fall, x, target, distances, sharpness, iterations, C):
    """Sinkhorn iterations in the log domain, against underflow for distant classes; the last one fits `target`."""
    for c in range(C):
        rise[n, c] = 0.0
    for iteration in range(iterations + 1):
        for d in range(C):
            peak = max(rise[n, c] - sharpness * distances[c * C + d] for c in range(C))
            # In float64 also for float32 tensors: rounding errors of the potentials add up over the iterations.
            total = double(0.0)
            for c in range(C):
                # Relative to the maximum: potentials of distant classes differ by more than the range of `exp`.
                total += math.exp(double(rise[n, c] - sharpness * distances[c * C + d] - peak))
            # A class of probability 0 has the smallest potential that is still finite.
            fall[n, d] = math.log(max(target[n, d], LEAST)) - peak - real(math.log(total))
        for c in range(C if iteration < iterations else 0):
            peak = max(fall[n, d] - sharpness * distances[c * C + d] for d in range(C))
            total = double(0.0)
            for d in range(C):
                total += math.exp(double(fall[n, d] - sharpness * distances[c * C + d] - peak))
            rise[n, c] = math.log(max(x[n, c], LEAST)) - peak - real(math.log(total))


@each(WassersteinLoss.cost)
def wasserstein_loss_cost(n, rise, fall, distances, sharpness, C):
    cost = 0.0
    for c in range(C):
        for d in range(C):
            distance = distances[c * C + d]
            cost += distance * math.exp(rise[n, c] + fall[n, d] - sharpness * distance)
    return cost


@gradient(WassersteinLoss.x)
def wasserstein_loss_dx(n, c, dcost, rise, sharpness, C):
    mean = sum(rise[n, k] / real(C) for k in range(C))
    return dcost[n] * (rise[n, c] - mean) / sharpness
