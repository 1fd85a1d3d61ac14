"""Losses over large vocabularies with negative sampling: NCE, sampled softmax."""

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

from .loss_helpers import logistic_cost, logistic_cost_derivative

NOISE = {
    "UNIFORM": "uniform distribution",
    "LOG_UNIFORM": "log-uniform (Zipfian), proportional to log((c + 2) / (c + 1)): for ids by decreasing frequency",
}
SMALLEST = 1e-100
"""Lower limit of a noise probability, so that its logarithm is finite."""
NOISE_DOC = "noise distribution, if there is no `neg_distribution`"
WEIGHTS_DOC = "noise distribution: one weight per class in the order of the ids, such as counts; normalized"
SHARED_DOC = "share the negative samples among all samples of a batch: fewer rows of `weight` are used"


def draw(seed, count, V, noise, shares):
    """`count` samples of the noise distribution, the same for the same seed on every machine."""
    # The upper 53 bits are all that a float64 in [0, 1) holds.
    share = (np.random.Philox(key=seed).random_raw(count) >> np.uint64(11)) * 2.0**-53
    if shares is not None:
        found = np.searchsorted(shares[1], share, side="right")
    elif noise == "LOG_UNIFORM":
        # Inverse of the cumulative distribution, log(c + 2) / log(V + 1).
        found = np.exp(share * math.log(V + 1.0)).astype(np.int64) - 1
    else:
        found = (share * V).astype(np.int64)
    # Rounding may give V, one past the last class.
    return np.minimum(found, V - 1)


def frequency(classes, V, noise, shares):
    """Probabilities of classes under the noise distribution."""
    if shares is not None:
        return shares[0][classes]
    if noise == "LOG_UNIFORM":
        return np.log1p(1.0 / (classes + 1.0)) / math.log(V + 1.0)
    return np.full(len(classes), 1.0 / V)


@helper
def log_sigmoid(v):
    """Logarithm of the logistic function, without overflow."""
    # log(sigmoid(v)) would take the logarithm of a rounded 0 for very negative values.
    return min(v, 0.0) - math.log1p(math.exp(-abs(v)))


@layer(
    "nce",
    elsewhere={"Paddle": "nce"},
    terms=("noise-contrastive estimation", "NCE", "negative sampling", "word2vec"),
    since=1,
)
class NoiseContrastiveEstimation:
    """Noise-contrastive estimation (NCE) and negative sampling: a loss for classification with very many classes.

    Each class has a score, `s[k] = x @ weight[k] + bias[k]`, which is computed only for the label and `num_neg_samples`
    classes sampled from a noise distribution:
    `cost = log(1 + 1 / odds[label]) + sum over the sampled k of log(1 + odds[k])`, times `importance` if present.
    `odds[k]` are the odds that class k is the label and not noise: its probability under the model, divided by
    `num_neg_samples` times its probability under the noise distribution. Time and memory of a step do not depend on the
    number of classes, which is that of the label: the gradients of `weight` and `bias` have only the rows in use.

    Gutmann and Hyvärinen (2010), Mnih and Teh (2012): with `odds: EXP` the scores approximate log-probabilities, and an
    `fc` with the same weights, transposed, before a `softmax` computes the probabilities. Paddle has `SIGMOID`, ten
    negative samples per sample, and accepts several inputs: add a `concat`. word2vec's negative sampling (Mikolov et
    al. 2013) is `NEGATIVE_SAMPLING`. A sampled class may be the label. A sample with several labels, as sparse ids, has
    one term for each. Labels come from a data layer.
    """

    x = Input("N C...", "feature vectors", seq=(0, 1, 2))
    label = Input("N L...", "target classes", kinds=("INT", "SPARSE_INT"), seq=(0, 1, 2))
    importance = Input("N", "sample weight", optional=True, seq=(0, 1, 2))
    weight = Param("V C", "one row per class", init="xavier")
    bias = Param("V", "bias per class", init="zero")
    cost = Output("N", "per-sample loss", loss=True)
    num_neg_samples = Int("number of negative samples per sample", default=10, min=1)
    noise = Choice(NOISE_DOC, options=NOISE, default="UNIFORM")
    neg_distribution = Floats(WEIGHTS_DOC, default=(), above=0)
    shared = Bool(SHARED_DOC, default=False)
    odds = Choice(
        "interpretation of the score s of a class",
        options={
            "EXP": "the probability is exp(s)",
            "SIGMOID": "the probability is 1 / (1 + exp(-s))",
            "NEGATIVE_SAMPLING": "the odds are exp(s), independent of the noise distribution",
        },
        default="EXP",
    )
    chosen = Entries("E:N V", "labels and negative samples")
    score = Temp("E", "score of a class")
    delta = Temp("E", "gradient of the score")
    examples = (
        Example(x="4", label="ids<30"),
        Example(x="2x1x1", label="ids<5", importance="scalar", num_neg_samples=3, odds="SIGMOID", shared=True),
        Example(x="sequence of 3", label="sequence of ids<7", noise="LOG_UNIFORM", odds="NEGATIVE_SAMPLING"),
        Example(x="3", label="sparse ids 4", num_neg_samples=2, neg_distribution=[4.0, 2.0, 1.0, 1.0]),
    )


@each(NoiseContrastiveEstimation.score)
def chosen_score(e, n, x, weight, bias, chosen_id, C):
    total = double(
        bias[chosen_id[e]]
    )  # float64: a small loss is as accurate as the score's digits after the decimal point
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
            # The magnitude is the expected count, the sign distinguishes labels from negative samples.
            logit -= math.log(abs(chosen_value[e]))
        cost += logistic_cost(logit, 1.0 if chosen_value[e] > 0.0 else 0.0)
    return cost if importance is None else cost * importance[n]


@each(NoiseContrastiveEstimation.delta)
def nce_delta(e, n, dcost, score, importance, chosen_value, odds):
    logit = score[e]
    factor = dcost[n]
    if odds == "SIGMOID":
        logit = log_sigmoid(score[e])
        # Derivative of the logarithm of the sigmoid.
        factor *= sigmoid(-score[e])
    if odds != "NEGATIVE_SAMPLING":
        logit -= math.log(abs(chosen_value[e]))
    derivative = factor * logistic_cost_derivative(logit, 1.0 if chosen_value[e] > 0.0 else 0.0)
    return derivative if importance is None else derivative * importance[n]


@layer(
    "sampled_softmax",
    terms=("sampled softmax", "negative sampling", "sampled_softmax_loss"),
    since=1,
)
class SampledSoftmax:
    """Sampled softmax loss for very many classes: cross-entropy over the label and sampled classes.

    `cost = log(sum over the chosen k of exp(s[k])) - s[label]` with
    `s[k] = x @ weight[k] + bias[k] - log(num_neg_samples * noise probability of k)`, which corrects for the sampling
    (Jean et al. 2015); samples that equal the label are removed. This is TensorFlow's `sampled_softmax_loss`. Time and
    memory of a step do not depend on the number of classes, which is that of the label: the gradients of `weight` and
    `bias` have only the rows in use. More samples approximate the full softmax better; for testing, `fc` and
    `softmax_with_loss` with the same weights compute the exact loss.
    """

    x = Input("N C...", "feature vectors", seq=(0, 1, 2))
    label = Input("N", "target class", kinds=("INT",), seq=(0, 1, 2))
    weight = Param("V C", "one row per class", init="xavier")
    bias = Param("V", "bias per class", init="zero")
    cost = Output("N", "per-sample loss", loss=True)
    num_neg_samples = Int("number of negative samples", default=10, min=1)
    noise = Choice(NOISE_DOC, options=NOISE, default="UNIFORM")
    neg_distribution = Floats(WEIGHTS_DOC, default=(), above=0)
    shared = Bool(SHARED_DOC, default=True)
    chosen = Entries("E:N V", "label and negative samples")
    score = Temp("E", "score of a class minus the logarithm of its expected count")
    norm = Temp("N", "log-sum-exp of the scores")
    delta = Temp("E", "gradient of the score")
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
        f"`noise` is {noise}, but `neg_distribution` defines another noise distribution; remove one of them",
    )
    return {"V": label.size}


@prepare(SampledSoftmax)
@prepare(NoiseContrastiveEstimation)
def shares_of_noise(neg_distribution):
    """Noise probabilities of the classes and their cumulative sums; None if a formula defines them."""
    if not neg_distribution:
        return None
    # Relative to the largest weight: counts of any size neither overflow nor vanish in the sum.
    shares = np.maximum(np.array(neg_distribution) / max(neg_distribution), SMALLEST)
    shares /= shares.sum()
    return shares, np.cumsum(shares)


@entries(SampledSoftmax)
@entries(NoiseContrastiveEstimation)
def candidates(label, key, V, num_neg_samples, shared, noise, prepared):
    """The labels of each sample, then the negative samples, with their expected counts, negated for the latter."""
    if hasattr(label, "start"):
        start, right = label.start, label.id
    else:
        start, right = np.arange(len(label) + 1) * math.prod(label.shape[1:]), np.ravel(label)
    rows, k = len(start) - 1, num_neg_samples
    # Shared samples exist once and are repeated for every sample of the batch.
    drawn = draw(key, k if shared else rows * k, V, noise, prepared).reshape(-1, k)
    starts = start + k * np.arange(rows + 1)
    ids, sign = np.empty(starts[-1], np.int64), np.ones(starts[-1])
    places = starts[1:, None] - k + np.arange(k)
    ids[places], sign[places] = drawn, -1.0
    ids[sign > 0] = right
    return starts, ids, sign * k * frequency(ids, V, noise, prepared)


@each(SampledSoftmax.score)
def sampled_softmax_score(e, n, x, label, weight, bias, chosen_id, chosen_value, C):
    # A negative sample that equals the label would count it twice.
    if chosen_value[e] < 0.0 and chosen_id[e] == label[n]:
        return -math.inf
    total = double(bias[chosen_id[e]]) - double(math.log(abs(chosen_value[e])))
    for c in range(C):
        total += double(x[n, c]) * double(weight[chosen_id[e], c])
    return real(total)


@each(SampledSoftmax.norm)
def sampled_softmax_norm(n, score, E_start):
    # The first entry is the label, so that there always is one.
    peak = score[E_start[n]]
    for e in range(E_start[n], E_start[n + 1]):
        peak = max(peak, score[e])
    total = sum(math.exp(score[e] - peak) for e in range(E_start[n], E_start[n + 1]))
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
    return sum(delta[e] * weight[chosen_id[e], c] for e in range(E_start[n], E_start[n + 1]))


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
    return sum(delta[chosen_used_entry[p]] for p in range(chosen_used_start[u], chosen_used_start[u + 1]))
