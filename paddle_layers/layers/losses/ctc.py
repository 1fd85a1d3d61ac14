"""Connectionist temporal classification (CTC)."""

import math

from paddle_layers.define import (
    Bool,
    Example,
    Input,
    Int,
    Output,
    Temp,
    each,
    gradient,
    helper,
    infer,
    layer,
    real,
    require,
)
from paddle_layers.layers.checks import check_labels


@helper
def log_sum(a, b, c):
    """log(exp(a) + exp(b) + exp(c)) without overflow; each may be minus infinity."""
    high = max(a, b)
    peak = max(high, c)
    if peak == -math.inf:
        return peak
    # The largest exponential is exactly 1, which `log1p` adds.
    return peak + math.log1p(math.exp(min(a, b) - peak) + math.exp(min(high, c) - peak))


@layer(
    "ctc",
    elsewhere={"Paddle": "warp_ctc", "Keras": "CTC", "PyTorch": "CTCLoss"},
    terms=(
        "connectionist temporal classification",
        "CTC loss",
        "speech recognition loss",
    ),
    since=1,
)
class Ctc:
    """Connectionist temporal classification (CTC) loss: negative log-likelihood of labels without known alignment.

    Every time step of `x` predicts a class with the probability `softmax(x)`. A path becomes labels by collapsing
    repeated classes and removing blanks;
    `cost = -log(sum over all paths that become the labels of the product of their probabilities)` (Graves et al.,
    "Connectionist temporal classification", 2006). Labels that need more steps than there are have loss 0 and no
    gradient, as in Paddle; PyTorch returns infinity unless `zero_infinity` is set. Blanks among the labels are removed,
    so labels may be padded with them.

    This is Paddle's `warp_ctc`. Its `ctc` has the blank as the last class and takes probabilities: use the scores
    before the softmax and set `blank` to the last class. Paddle's `norm_by_times` divides the gradient but not the
    loss. Scores may be minus infinity (probability 0): labels with enough steps but no possible path have an infinite
    loss.
    """

    x = Input("T:S C", "score (logit) per class and time step", seq=(1,))
    label = Input("L:M", "label sequence", kinds=("INT",), seq=(1,))
    cost = Output("S", "per-sequence loss", loss=True, nan="with more labels than `max_labels`")
    max_labels = Int("maximum number of labels per sequence, for which memory is reserved; more labels give NaN", min=1)
    blank = Int("blank class", default=0, min=0)
    norm_by_times = Bool("divide the loss by the number of time steps", default=False)
    count = Temp("S", "number of labels without blanks", kind="INT")
    needed = Temp("S", "length of the shortest path: one step per label, one between equal neighbors", kind="INT")
    state = Temp("S U", "extended labels: with a blank before, between and after the labels", kind="INT")
    peak = Temp("T:S", "maximum score of the step")
    norm = Temp("T:S", "log-sum-exp relative to the maximum")
    alpha = Temp("T:S U", "forward variable: log-probability of the prefixes in this state, including this step")
    beta = Temp("T:S U", "backward variable: log-probability of the suffixes from this state, including this step")
    total = Temp("S", "log-probability of the labels")
    first = Temp("S C", "first state with this class, or -1", kind="INT")
    following = Temp("S U", "next state with the same class, or -1", kind="INT")
    examples = (
        Example(x="sequence of 3", label="sequence of ids<3", max_labels=4),
        Example(x="sequence of 4", label="sequence of ids<3", max_labels=5, blank=3, norm_by_times=True),
        Example(x="sequence of 2", label="sequence of ids<2", max_labels=4, blank=1),
    )


@infer(Ctc)
def ctc_sizes(label, C, blank, max_labels):
    check_labels(label, C)
    require(blank < C, "blank", f"the blank is class {blank}, but {C} classes have a score, from 0 on")
    return {"U": 2 * max_labels + 1}


@each(Ctc.count)
def ctc_count(s, label, blank, M_start):
    count = 0
    for row in range(M_start[s], M_start[s + 1]):
        if label[row] != blank:
            count += 1
    return count


@each(Ctc.needed)
def ctc_needed(s, label, blank, M_start):
    needed = 0
    last = blank
    for row in range(M_start[s], M_start[s + 1]):
        # A path needs a blank between two equal labels, since repeated classes collapse.
        if label[row] != blank:
            needed += 2 if label[row] == last else 1
            last = label[row]
    return needed


@each(Ctc.state)
def ctc_state(s, u, label, blank, M_start):
    state, place = blank, 0
    for row in range(M_start[s], M_start[s + 1]):
        if label[row] != blank:
            if 2 * place + 1 == u:
                state = label[row]
            place += 1
    return state


@each(Ctc.peak, Ctc.norm)
def ctc_moments(t, x, C):
    peak = x[t, 0]
    for c in range(1, C):
        peak = max(peak, x[t, c])
    # As in `softmax_with_loss`: the maximum adds exactly 1, and `log1p` keeps the digits of the others.
    others = 0.0
    ties = -1.0
    for c in range(C):
        if x[t, c] == peak:
            ties += 1.0
        else:
            others += math.exp(x[t, c] - peak)
    return peak, math.log1p(others + ties)


@each(Ctc.alpha, scan="forward")
def ctc_alpha(t, u, s, before, x, count, state, peak, norm, alpha, blank):
    if u > 2 * count[s]:
        return -math.inf
    # The maximum is subtracted first: `peak + norm` would round off a norm that is small relative to large scores.
    own = x[t, state[s, u]] - peak[t] - norm[t]
    if before < 0:
        return own if u < 2 else -math.inf
    stays = alpha[before, u]
    moves = alpha[before, u - 1] if u > 0 else -math.inf
    # A path may skip the blank between two different labels; between equal ones it must not.
    leaps = u > 1 and state[s, u] != blank and state[s, u] != state[s, u - 2]
    return own + log_sum(stays, moves, alpha[before, u - 2] if leaps else -math.inf)


@each(Ctc.total)
def ctc_total(s, count, alpha, max_labels, S_start):
    if count[s] > max_labels:
        return math.nan
    # The last row in a loop, since an empty sequence has none: its total stays minus infinity.
    total, last = -math.inf, 2 * count[s]
    for t in range(S_start[s], S_start[s + 1]):
        if t + 1 == S_start[s + 1]:
            total = log_sum(alpha[t, last], alpha[t, last - 1] if last > 0 else -math.inf, -math.inf)
    return total


@each(Ctc.cost)
def ctc_cost(s, total, needed, norm_by_times, S_start):
    rows = S_start[s + 1] - S_start[s]
    if rows == 0 or (total[s] == -math.inf and needed[s] > rows):
        return 0.0
    return -total[s] / real(rows) if norm_by_times else -total[s]


@each(Ctc.beta, scan="back")
def ctc_beta(t, u, s, after, x, count, state, peak, norm, beta, blank, U):
    # With more labels than `max_labels`, whose loss is NaN, states end where their memory ends.
    last = min(2 * count[s], U - 1)
    if u > last:
        return -math.inf
    own = x[t, state[s, u]] - peak[t] - norm[t]
    if after < 0:
        return own if u > last - 2 else -math.inf
    stays = beta[after, u]
    moves = beta[after, u + 1] if u < last else -math.inf
    leaps = u < last - 1 and state[s, u] != blank and state[s, u] != state[s, u + 2]
    return own + log_sum(stays, moves, beta[after, u + 2] if leaps else -math.inf)


@each(Ctc.first)
def ctc_first(s, c, count, state, U):
    # The states of a class form a linked list, so that the gradient of a class visits these states only.
    first = -1
    for u in range(min(2 * count[s] + 1, U)):
        if first < 0 and state[s, u] == c:
            first = u
    return first


@each(Ctc.following)
def ctc_following(s, u, count, state, U):
    following = -1
    for v in range(u + 1, min(2 * count[s] + 1, U)):
        if following < 0 and state[s, v] == state[s, u]:
            following = v
    return following


@gradient(Ctc.x)
def ctc_dx(t, c, s, dcost, x, peak, norm, alpha, beta, total, first, following, norm_by_times, S_start):
    if total[s] == -math.inf:
        return 0.0
    own = x[t, c] - peak[t] - norm[t]
    marginal = 0.0
    # Alpha and beta both include the score of the step, which the marginal probability of a state contains once.
    u = first[s, c] if own > -math.inf else -1  # alpha, beta and own are minus infinity there: no path
    while u >= 0:
        marginal += math.exp(alpha[t, u] + beta[t, u] - own - total[s])
        u = following[s, u]
    derivative = dcost[s] / real(S_start[s + 1] - S_start[s]) if norm_by_times else dcost[s]
    return derivative * (math.exp(own) - marginal)
