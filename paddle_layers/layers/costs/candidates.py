"""Costs over large vocabularies that look at few classes: the right one, and some drawn at random."""

import math

import numpy as np

from paddle_layers.define import (
    Bool,
    Choice,
    Entries,
    Example,
    Floats,
    Input,
    Int,
    Output,
    Param,
    Temp,
    double,
    each,
    entries,
    gradient,
    helper,
    infer,
    layer,
    prepare,
    real,
    require,
)
from paddle_layers.layers.helpers import sigmoid

from .terms import logistic_cost, logistic_derivative

NOISE = {
    "UNIFORM": "every class as often",
    "LOG_UNIFORM": "class c in proportion to log((c + 2) / (c + 1)): for ids that begin with the most frequent word",
}
SMALLEST = 1e-100
"""Share in the noise whose logarithm is a number."""
NOISE_DOC = "which classes are drawn how often, where no `neg_distribution` says it"
WEIGHTS_DOC = "how often each class is drawn, in the order of the ids, such as counts; divided by their sum"
SHARED_DOC = "whether the classes are drawn once for all rows of a batch: fewer rows of `weight` are read and learn"


def draw(seed, count, V, noise, shares):
    """So many classes, the same for the same seed on every machine."""
    share = (np.random.Philox(key=seed).random_raw(count) >> np.uint64(11)) * 2.0**-53
    if shares is not None:
        found = np.searchsorted(shares[1], share, side="right")
    elif noise == "LOG_UNIFORM":
        found = np.exp(share * math.log(V + 1.0)).astype(np.int64) - 1
    else:
        found = (share * V).astype(np.int64)
    return np.minimum(found, V - 1)


def frequency(classes, V, noise, shares):
    """How often classes are drawn."""
    if shares is not None:
        return shares[0][classes]
    if noise == "LOG_UNIFORM":
        return np.log1p(1.0 / (classes + 1.0)) / math.log(V + 1.0)
    return np.full(len(classes), 1.0 / V)


@helper
def log_sigmoid(v):
    """Logarithm of the logistic function, without overflow."""
    return min(v, 0.0) - math.log1p(math.exp(-abs(v)))


@layer("nce", elsewhere={"Paddle": "nce"}, since=1)
class NoiseContrastiveEstimation:
    """Cost of a class among very many, by telling it from classes that are drawn as noise.

    Each class has a score, `s[k] = x @ weight[k] + bias[k]`, of which only those of the row's label and of
    `num_neg_samples` drawn classes are computed: `cost = log(1 + 1 / odds[label]) + sum over the drawn k of
    log(1 + odds[k])`, times `importance` where the row has one. `odds[k]` are those that a class k is the label and no
    noise: the probability that the model gives it, over `num_neg_samples` times the share of k in the noise. Time and
    memory of a step do not depend on the number of classes, which is that of the label: the gradients of `weight` and
    `bias` have only the rows in use.

    Gutmann and Hyvärinen (2010), Mnih and Teh (2012): with `odds: EXP` the scores learn to be logarithms of
    probabilities, and an `fc` with the same numbers, transposed, before a `softmax` gives these. Paddle has `SIGMOID`,
    ten drawn classes for every row, and takes several inputs: put a `concat` before. word2vec's negative sampling
    (Mikolov et al. 2013) is `NEGATIVE_SAMPLING`. A drawn class may be the label. A row with several labels, as
    sparse ids, has a term for each. Labels come from a data layer.
    """

    x = Input("N C...", "rows of features", seq=(0, 1, 2))
    label = Input("N L...", "right classes of every row", kinds=("INT", "SPARSE_INT"), seq=(0, 1, 2))
    importance = Input("N", "importance of every row", optional=True, seq=(0, 1, 2))
    weight = Param("V C", "one row per class", init="xavier")
    bias = Param("V", "added to the scores", init="zero")
    cost = Output("N", "cost of every row", loss=True)
    num_neg_samples = Int("classes that are drawn for a row", default=10, min=1)
    noise = Choice(NOISE_DOC, options=NOISE, default="UNIFORM")
    neg_distribution = Floats(WEIGHTS_DOC, default=(), above=0)
    shared = Bool(SHARED_DOC, default=False)
    odds = Choice(
        "what the score s of a class says",
        options={
            "EXP": "the probability is exp(s)",
            "SIGMOID": "the probability is 1 / (1 + exp(-s))",
            "NEGATIVE_SAMPLING": "the odds are exp(s), whatever the noise",
        },
        default="EXP",
    )
    chosen = Entries("E:N V", "labels and drawn classes")
    score = Temp("E", "score of a class")
    delta = Temp("E", "derivative of the cost by the score")
    examples = (
        Example(x="4", label="ids<30"),
        Example(x="2x1x1", label="ids<5", importance="scalar", num_neg_samples=3, odds="SIGMOID", shared=True),
        Example(x="sequence of 3", label="sequence of ids<7", noise="LOG_UNIFORM", odds="NEGATIVE_SAMPLING"),
        Example(x="3", label="sparse ids 4", num_neg_samples=2, neg_distribution=[4.0, 2.0, 1.0, 1.0]),
    )


@each(NoiseContrastiveEstimation.score)
def chosen_score(e, n, x, weight, bias, chosen_id, C):
    total = double(bias[chosen_id[e]])  # a small cost has as many digits as the score behind the point
    for c in range(C):
        total += double(x[n, c]) * double(weight[chosen_id[e], c])
    return real(total)


@each(NoiseContrastiveEstimation.cost)
def nce_cost(n, score, importance, chosen_value, E_start, odds):
    cost = 0.0
    for e in range(E_start[n], E_start[n + 1]):
        logit = score[e]
        if odds == "SIGMOID":
            logit = log_sigmoid(score[e])
        if odds != "NEGATIVE_SAMPLING":
            logit -= math.log(abs(chosen_value[e]))
        cost += logistic_cost(logit, 1.0 if chosen_value[e] > 0.0 else 0.0)
    return cost if importance is None else cost * importance[n]


@each(NoiseContrastiveEstimation.delta)
def nce_delta(e, n, dcost, score, importance, chosen_value, odds):
    logit = score[e]
    factor = dcost[n]
    if odds == "SIGMOID":
        logit = log_sigmoid(score[e])
        factor *= sigmoid(-score[e])
    if odds != "NEGATIVE_SAMPLING":
        logit -= math.log(abs(chosen_value[e]))
    derivative = factor * logistic_derivative(logit, 1.0 if chosen_value[e] > 0.0 else 0.0)
    return derivative if importance is None else derivative * importance[n]


@layer("sampled_softmax", since=1)
class SampledSoftmax:
    """Cost of a class among very many: that of `softmax_with_loss` over the label and classes that are drawn.

    `cost = log(sum over the chosen k of exp(s[k])) - s[label]` with `s[k] = x @ weight[k] + bias[k] -
    log(num_neg_samples * share of k in the noise)`, which makes up for classes that are drawn more often (Jean et al.
    2015); drawn classes that are the label are left out. TensorFlow has it as `sampled_softmax_loss`. Time and
    memory of a step do not depend on the number of classes, which is that of the label: the gradients of `weight` and
    `bias` have only the rows in use. The more classes are drawn, the nearer the scores come to those of a `softmax`; in
    a test, `fc` and `softmax_with_loss` with the same numbers give the whole cost.
    """

    x = Input("N C...", "rows of features", seq=(0, 1, 2))
    label = Input("N", "right class of every row", kinds=("INT",), seq=(0, 1, 2))
    weight = Param("V C", "one row per class", init="xavier")
    bias = Param("V", "added to the scores", init="zero")
    cost = Output("N", "cost of every row", loss=True)
    num_neg_samples = Int("classes that are drawn", default=10, min=1)
    noise = Choice(NOISE_DOC, options=NOISE, default="UNIFORM")
    neg_distribution = Floats(WEIGHTS_DOC, default=(), above=0)
    shared = Bool(SHARED_DOC, default=True)
    chosen = Entries("E:N V", "label and drawn classes")
    score = Temp("E", "score of a class, less the logarithm of how often it is drawn")
    norm = Temp("N", "logarithm of the sum of the scores' exponentials")
    delta = Temp("E", "derivative of the cost by the score")
    examples = (
        Example(x="4", label="ids<30"),
        Example(x="2x1x1", label="ids<5", num_neg_samples=3, shared=False),
        Example(x="sequence of 3", label="sequence of ids<7", noise="LOG_UNIFORM"),
        Example(x="3", label="ids<3", neg_distribution=[3.0, 2.0, 1.0]),
    )


@infer(SampledSoftmax)
@infer(NoiseContrastiveEstimation)
def vocabulary(label, noise, neg_distribution):
    require(
        not neg_distribution or len(neg_distribution) == label.size,
        "neg_distribution",
        f"there are {len(neg_distribution)} numbers, but {label.size} classes",
    )
    require(
        not neg_distribution or noise == "UNIFORM",
        "noise",
        f"`noise` is {noise}, but `neg_distribution` says how often classes are drawn; leave one of them out",
    )
    return {"V": label.size}


@prepare(SampledSoftmax)
@prepare(NoiseContrastiveEstimation)
def shares_of_noise(neg_distribution):
    """How often each class is drawn, and that of all up to each one; None where a formula says it."""
    if not neg_distribution:
        return None
    shares = np.maximum(np.array(neg_distribution) / max(neg_distribution), SMALLEST)
    shares /= shares.sum()
    return shares, np.cumsum(shares)


@entries(SampledSoftmax)
@entries(NoiseContrastiveEstimation)
def candidates(label, key, V, num_neg_samples, shared, noise, prepared):
    """The labels of every row, then the drawn classes: with the expected number of draws, negative for the drawn."""
    if hasattr(label, "start"):
        start, right = label.start, label.id
    else:
        start, right = np.arange(len(label) + 1) * math.prod(label.shape[1:]), np.ravel(label)
    rows, k = len(start) - 1, num_neg_samples
    drawn = draw(key, k if shared else rows * k, V, noise, prepared).reshape(-1, k)
    starts = start + k * np.arange(rows + 1)
    ids, sign = np.empty(starts[-1], np.int64), np.ones(starts[-1])
    places = starts[1:, None] - k + np.arange(k)
    ids[places], sign[places] = drawn, -1.0
    ids[sign > 0] = right
    return starts, ids, sign * k * frequency(ids, V, noise, prepared)


@each(SampledSoftmax.score)
def sampled_softmax_score(e, n, x, label, weight, bias, chosen_id, chosen_value, C):
    if chosen_value[e] < 0.0 and chosen_id[e] == label[n]:
        return -math.inf
    total = double(bias[chosen_id[e]]) - double(math.log(abs(chosen_value[e])))
    for c in range(C):
        total += double(x[n, c]) * double(weight[chosen_id[e], c])
    return real(total)


@each(SampledSoftmax.norm)
def sampled_softmax_norm(n, score, E_start):
    peak = score[E_start[n]]
    for e in range(E_start[n], E_start[n + 1]):
        peak = max(peak, score[e])
    total = 0.0
    for e in range(E_start[n], E_start[n + 1]):
        total += math.exp(score[e] - peak)
    return peak + math.log(total)


@each(SampledSoftmax.cost)
def sampled_softmax_cost(n, score, norm, E_start):
    return norm[n] - score[E_start[n]]


@each(SampledSoftmax.delta)
def sampled_softmax_delta(e, n, dcost, score, norm, E_start):
    return dcost[n] * (math.exp(score[e] - norm[n]) - (1.0 if e == E_start[n] else 0.0))


@gradient(SampledSoftmax.x)
@gradient(NoiseContrastiveEstimation.x)
def chosen_dx(n, c, delta, weight, chosen_id, E_start):
    total = 0.0
    for e in range(E_start[n], E_start[n + 1]):
        total += delta[e] * weight[chosen_id[e], c]
    return total


@gradient(SampledSoftmax.weight, used=SampledSoftmax.chosen)
@gradient(NoiseContrastiveEstimation.weight, used=NoiseContrastiveEstimation.chosen)
def chosen_dweight(u, c, delta, x, chosen_used_start, chosen_used_row, chosen_used_entry):
    total = 0.0
    for p in range(chosen_used_start[u], chosen_used_start[u + 1]):
        total += delta[chosen_used_entry[p]] * x[chosen_used_row[p], c]
    return total


@gradient(SampledSoftmax.bias, used=SampledSoftmax.chosen)
@gradient(NoiseContrastiveEstimation.bias, used=NoiseContrastiveEstimation.chosen)
def chosen_dbias(u, delta, chosen_used_start, chosen_used_entry):
    total = 0.0
    for p in range(chosen_used_start[u], chosen_used_start[u + 1]):
        total += delta[chosen_used_entry[p]]
    return total
