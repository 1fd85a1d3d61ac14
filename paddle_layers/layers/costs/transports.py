"""Costs of distributions whose classes lie nearer to each other or farther apart."""

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


@layer("wasserstein_loss", elsewhere={"Mocha": "WassersteinLossLayer"}, since=1)
class WassersteinLoss:
    """What it costs to carry one distribution over the classes to another, each share as far as its way is.

    `cost = sum over c, d of p[c, d] * distances[c, d]` for the plan p that has `x` and `target` as its sums, costs
    least, and is spread a little: `p[c, d] = exp(f[c] + g[d] - sharpness * distances[c, d])`, with f and g from as many
    `iterations` of Sinkhorn's (Cuturi 2013). `x` are probabilities, as `softmax` gives, and add up to one as `target`
    does.

    The gradient by `x` is `f / sharpness` less its mean over the classes, that of the distance with the spread taken
    into account (Frogner et al. 2015); a `softmax` before does not notice what is added to all of it, and Mocha, whose
    `lambda` is `sharpness`, does not take the mean off.
    """

    x = Input("N C", "share of every class", seq=(0, 1, 2), within=(0.0, 1.0), derivative=False)
    target = Input("N C", "wanted share of every class", seq=(0, 1, 2), within=(0.0, 1.0))
    cost = Output("N", "cost of every row", loss=True)
    distances = Floats("how far it is from class to class: a row of numbers for each class, one after the other", min=0)
    sharpness = Float("the larger, the less the plan is spread, and the more iterations it takes", above=0)
    iterations = Int("how often each of the sums is met", default=50, min=1, aliases=("sinkhorn_iter",))
    rise = Temp("N C", "f: logarithm of what the plan has for a class of `x`")
    fall = Temp("N C", "g: logarithm of what the plan has for a class of `target`")
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
    """Logarithms, so that nothing vanishes of classes that lie far apart; `target` is met once more at the end."""
    for c in range(C):
        rise[n, c] = 0.0
    for iteration in range(iterations + 1):
        for d in range(C):
            peak = -math.inf
            for c in range(C):
                peak = max(peak, rise[n, c] - sharpness * distances[c * C + d])
            total = double(0.0)
            for c in range(C):
                total += math.exp(double(rise[n, c] - sharpness * distances[c * C + d] - peak))
            fall[n, d] = math.log(max(target[n, d], LEAST)) - peak - real(math.log(total))
        for c in range(C if iteration < iterations else 0):
            peak = -math.inf
            for d in range(C):
                peak = max(peak, fall[n, d] - sharpness * distances[c * C + d])
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
    mean = 0.0
    for k in range(C):
        mean += rise[n, k] / real(C)
    return dcost[n] * (rise[n, c] - mean) / sharpness
