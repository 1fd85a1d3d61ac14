"""Linear-chain conditional random fields (CRF)."""

import math

from paddle_layers.define import Example, Input, Output, Param, Temp, each, gradient, helper, infer, layer, onnx
from paddle_layers.layers.checks import check_labels

from .loss_helpers import excess


@layer(
    "crf",
    elsewhere={"Paddle": "crf"},
    terms=(
        "linear-chain conditional random field",
        "CRF",
        "sequence labeling",
    ),
    since=1,
)
class Crf:
    """Negative log-likelihood of a label sequence under a linear-chain conditional random field (CRF).

    A labeling `l` of the steps `1..n` has the score
    `start[l_1] + end[l_n] + sum over t of x[t, l_t] + sum over t > 1 of step[l_(t-1), l_t]`; then
    `cost = log(sum over all labelings of exp(score)) - score(label)`, times `weight` if present (Lafferty et al.,
    "Conditional random fields", 2001). `transitions` has Paddle's layout: row 0 is `start`, row 1 is `end`, row `2 + i`
    has the transition scores from class `i`; minus infinity forbids a transition. An empty sequence has loss 0. In
    nested sequences a chain is a sub-sequence; Paddle rejects these. Paddle's `coeff` scales the gradient but not the
    loss: `loss_weight` scales both.
    """

    x = Input("T:S C", "score (logit) per class and time step", seq=(1, 2))
    label = Input("T:S", "target class per step", kinds=("INT",), seq=(1, 2))
    weight = Input("S", "sample weight of each sequence", optional=True, seq=(0, 1))
    transitions = Param("R C", "start, end and transition scores", init="zero")
    cost = Output("S", "per-sequence loss", loss=True)
    top = Temp("T:S", "maximum score of the step")
    best = Temp("T:S C", "Viterbi score of the best prefix that ends with this class, up to a constant per step")
    path = Temp("T:S", "class of the step in the best labeling", kind="INT")
    into = Temp("C R", "transposed transitions: those into a class are contiguous")
    alpha = Temp("T:S C", "forward variable: log-sum-exp of the prefixes that end with this class, including this step")
    beta = Temp(
        "T:S C", "backward variable: log-sum-exp of the suffixes that start with this class, including this step"
    )
    total = Temp("T:S", "log-sum-exp of all paths")
    nll = Temp("T:S", "contribution of the step to the negative log-likelihood")
    derivative = Temp("T:S", "gradient of the loss of the step's sequence")
    examples = (
        Example(x="sequence of 3", label="sequence of ids<3"),
        Example(x="sequence of 4", label="sequence of ids<2", weight="scalar"),
        Example(x="nested sequence of 2", label="nested sequence of ids<2", weight="sequence of scalar"),
    )


@infer(Crf)
def crf_sizes(label, C):
    check_labels(label, C)
    return {"R": C + 2}


# Every score is relative to the best labelling's. The log-sums are then small, however large the scores and however
# long the sequence, and float32 keeps their digits. Neither a fixed class nor the labels can be the reference: where
# their scores are very small or minus infinity (forbidden transitions), the differences to them lose all digits.


@each(Crf.into)
def crf_into(c, r, transitions):
    # Transposed once, since exponentials of a column are not vectorized: `alpha` of 20 tags takes 2.4 instead of 5.2 ms
    # on one core of an AMD EPYC with AVX-512.
    return transitions[r, c]


@each(Crf.alpha, scan="forward")
def crf_alpha(t, c, before, x, path, alpha, into, C):
    own = x[t, c] - x[t, path[t]]
    if before < 0:
        return own + (into[c, 0] - into[path[t], 0])
    origin = path[before]
    step = into[path[t], 2 + origin]
    peak = max(step_score(alpha[before, i], alpha[before, origin], into[c, 2 + i], step) for i in range(C))
    # The largest term adds exactly 1; `log1p` of the others keeps the digits of a small sum.
    others = 0.0
    ties = -1.0
    for i in range(C):
        score = step_score(alpha[before, i], alpha[before, origin], into[c, 2 + i], step)
        ties += 1.0 if score == peak else 0.0
        others += 0.0 if score == peak else math.exp(score - peak)
    return own + peak + math.log1p(others + ties)


@helper
def step_score(beginning, best_beginning, transition, best_transition):
    """Score of a beginning with its next transition, relative to those of the best labelling."""
    # Pairs are subtracted first: both differences are small, the sums of both scores need not be.
    return (beginning - best_beginning) + (transition - best_transition)


@each(Crf.nll)
def crf_nll(t, s, x, label, path, alpha, transitions, before_of, C, S_start):
    before, end, label_end = before_of[t], path[t], label[t]
    gap = x[t, end] - x[t, label_end]  # exactly 0 where the labels are the best labelling
    if before < 0:
        gap += transitions[0, end] - transitions[0, label_end]
    else:
        gap += transitions[2 + path[before], end] - transitions[2 + label[before], label_end]
    if t + 1 < S_start[s + 1]:
        return gap + alpha[t, end]
    gap += transitions[1, end] - transitions[1, label_end]
    peak = max(alpha[t, c] + (transitions[1, c] - transitions[1, end]) for c in range(C))
    others = 0.0
    ties = -1.0
    for c in range(C):
        score = alpha[t, c] + (transitions[1, c] - transitions[1, end])
        if score == peak:
            ties += 1.0
        else:
            others += math.exp(score - peak)
    return gap + (peak + math.log1p(others + ties))


@each(Crf.cost)
def crf_cost(s, nll, weight, S_start):
    cost = sum(nll[t] for t in range(S_start[s], S_start[s + 1]))
    return cost if weight is None else cost * weight[s]


@each(Crf.beta, scan="back")
def crf_beta(t, c, after, x, path, beta, transitions, C):
    own = x[t, c] - x[t, path[t]]
    if after < 0:
        return own + (transitions[1, c] - transitions[1, path[t]])
    following = path[after]
    step = transitions[2 + path[t], following]
    peak = max(step_score(beta[after, i], beta[after, following], transitions[2 + c, i], step) for i in range(C))
    others = 0.0
    ties = -1.0
    for i in range(C):
        score = step_score(beta[after, i], beta[after, following], transitions[2 + c, i], step)
        ties += 1.0 if score == peak else 0.0
        others += 0.0 if score == peak else math.exp(score - peak)
    return own + peak + math.log1p(others + ties)


@each(Crf.total)
def crf_total(t, x, path, alpha, beta, C):
    # The same in every step but for rounding errors; one per step, so that the marginals of a step sum to one.
    peak = max(path_score(alpha[t, c], beta[t, c], x[t, c] - x[t, path[t]]) for c in range(C))
    total = sum(math.exp(path_score(alpha[t, c], beta[t, c], x[t, c] - x[t, path[t]]) - peak) for c in range(C))
    return peak + math.log(total)


@helper
def path_score(beginning, ending, own):
    """Log-sum of the paths through a class in a row; both parts include the row, whose score may be minus infinity."""
    return own if own == -math.inf else (beginning - own) + ending


@each(Crf.derivative)
def crf_derivative(t, s, dcost, weight):
    return dcost[s] if weight is None else dcost[s] * weight[s]


@gradient(Crf.x)
def crf_dx(t, c, x, label, path, alpha, beta, total, derivative):
    score = path_score(alpha[t, c], beta[t, c], x[t, c] - x[t, path[t]])
    # Marginal probability minus target, without cancellation where the label is almost certain.
    return derivative[t] * excess(score - total[t], 1.0, 1.0 if c == label[t] else 0.0)


@gradient(Crf.transitions)
def crf_dtransitions(
    r, c, dx, label, path, transitions, alpha, beta, total, derivative, before_of, S_start, S, T
):  # fmt: skip
    change = 0.0
    if r < 2:  # the start is a choice of the first row, the end one of the last
        for s in range(S):
            if S_start[s] < S_start[s + 1]:
                change += dx[S_start[s] if r == 0 else S_start[s + 1] - 1, c]
        return change
    i = r - 2
    for t in range(T):
        before = before_of[t]
        if before >= 0:
            origin = path[before]
            best_transition = transitions[2 + origin, path[t]]
            score = step_score(alpha[before, i], alpha[before, origin], transitions[r, c], best_transition)
            is_label = label[before] == i and label[t] == c
            change += derivative[t] * excess(score + beta[t, c] - total[t], 1.0, 1.0 if is_label else 0.0)
    return change


@layer(
    "crf_decoding",
    elsewhere={"Paddle": "crf_decoding"},
    terms=(
        "Viterbi decoding",
        "CRF decoding",
    ),
    since=1,
)
class CrfDecoding:
    """Viterbi decoding: the most probable label sequence under a linear-chain conditional random field (CRF).

    Scores are those of `crf`; share its `transitions`. Of equal transitions the one from the smaller class is selected.
    With labels, `error` marks the steps at which the path differs from them; without, it is NaN. Paddle has one output:
    the path without labels, the errors with them.
    """

    x = Input("T:S C", "score (logit) per class and time step", seq=(1, 2), kinks=("ties",))
    label = Input("T:S", "target class per step", kinds=("INT",), seq=(1, 2), optional=True)
    transitions = Param("R C", "start, end and transition scores", init="zero")
    path = Output("T:S", "most probable class per step", kind="INT", size="C")
    error = Output("T:S", "1 where the path differs from the label, else 0", nan="without labels")
    top = Temp("T:S", "maximum score of the step")
    best = Temp("T:S C", "Viterbi score of the best prefix that ends with this class, up to a constant per step")
    examples = (
        Example(x="sequence of 3"),
        Example(x="sequence of 4", label="sequence of ids<3"),
        Example(x="nested sequence of 2", label="nested sequence of ids<2"),
    )


@infer(CrfDecoding)
def crf_decoding_sizes(label, C):
    if label is not None:
        check_labels(label, C)
    return {"R": C + 2}


@each(Crf.top)
@each(CrfDecoding.top)
def crf_top(t, x, C):
    top = x[t, 0]
    for c in range(1, C):
        top = max(top, x[t, c])
    return top


@each(Crf.best, scan="forward")
@each(CrfDecoding.best, scan="forward")
def crf_best(t, c, before, x, top, best, transitions, C):
    own = x[t, c] - top[t]
    if before < 0:
        return transitions[0, c] + own
    # Only differences between classes matter: relative to the largest, long sequences lose no digits.
    peak = -math.inf
    score = -math.inf
    for i in range(C):
        peak = max(peak, best[before, i])
        score = max(score, best[before, i] + transitions[2 + i, c])
    return own + (score - peak)


@each(Crf.path, scan="back")
@each(CrfDecoding.path, scan="back")
def crf_path(t, after, best, path, transitions, C):
    choice = 0
    for c in range(1, C):
        if after < 0:
            # Strictly better: of equal paths the one through the smaller class is kept.
            is_better = best[t, c] + transitions[1, c] > best[t, choice] + transitions[1, choice]
        else:
            following = path[after]
            score = best[t, c] + transitions[2 + c, following]
            is_better = score > best[t, choice] + transitions[2 + choice, following]
        if is_better:
            choice = c
    return choice


@each(CrfDecoding.error)
def crf_decoding_error(t, label, path):
    if label is None:
        return math.nan
    return 0.0 if path[t] == label[t] else 1.0


@onnx(CrfDecoding)
def crf_decoding_onnx(graph, x, transitions, T_mask, C):
    """Viterbi scores forward, the path backward; after the end of a sequence the states are unchanged."""
    scores = transitions.array
    start, end, moves = scores[0], scores[1], scores[2:]

    def forward(graph, best, begun, row, is_real):
        # Scores relative to the best, as above, so that they do not grow with the length.
        steps = graph.Add(graph.Unsqueeze(graph.Sub(best, graph.ReduceMax(best, [1], keepdims=1)), [2]), moves)
        score = graph.Where(graph.Unsqueeze(begun, [1]), graph.ReduceMax(steps, [1], keepdims=0), start)
        new = graph.Where(graph.Unsqueeze(is_real, [1]), graph.Add(row, score), best)
        return new, graph.Or(begun, is_real), new, graph.ArgMax(steps, axis=1, keepdims=0)

    def back(graph, after, begun, best, origin, is_real):
        """`after` is the back pointer of the class of the next step in the path."""
        last = graph.ArgMax(graph.Add(best, end), axis=1, keepdims=0)
        path = graph.Where(begun, after, last)
        own = graph.Squeeze(graph.GatherElements(origin, graph.Unsqueeze(path, [1]), axis=1), [1])
        return graph.Where(is_real, own, after), graph.Or(begun, is_real), path

    rows = graph.Shape(x, start=0, end=1)
    nothing = graph.Expand(False, rows)
    empty = graph.Expand(0.0, graph.Concat(rows, [C], axis=0))
    _, _, best, origin = graph.scan(forward, [empty, nothing], [x, T_mask])
    _, _, path = graph.scan(back, [graph.Expand(0, rows), nothing], [best, origin, T_mask], reverse=True)
    return path, graph.Mul(graph.Cast(path, to=1), math.nan)  # a model that is used has no labels
