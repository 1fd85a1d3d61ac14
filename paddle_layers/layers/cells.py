"""One step of a recurrent layer, for use inside groups: the state of the step before is an input."""

from paddle_layers.define import Bool, Example, Input, Output, Param, Temp, each, gradient, infer, layer, require

from .helpers import squash, squash_slope
from .recurrences import check_gates, reset_after_switch, squash_choice

LEVELS = (0, 1, 2)


def check_units(units: int, columns: int, gates: int) -> None:
    """Refuse sums that are not those of the units of the step before."""
    require(
        check_gates(columns, gates) == units,
        "previous",
        f"there are {units} units in `previous`, but {columns} columns of sums, {gates} for each unit",
    )


@layer("lstm_step", elsewhere={"Paddle": "lstm_step", "Caffe": "LSTMUnit"}, since=1)
class LstmStep:
    """One step of long short-term memory: `lstmemory` without its sequence.

    A row of `x` holds four sums for each unit, side by side: candidate, input gate, forget gate, output gate; what the
    output of the step before adds to them is in them already. With `s = x + bias`, peepholes `p`, `c' = previous`:

    `a = act(s_a)`, `i = gate_act(s_i + p_i * c')`, `f = gate_act(s_f + p_f * c')`, `state = a * i + c' * f`,
    `o = gate_act(s_o + p_o * state)`, `y = o * state_act(state)`

    `bias` is that of `lstmemory`: the biases of the sums, then the peepholes; Paddle's has the peepholes alone, and the
    state is fetched from it by a layer get_output. Caffe has no peepholes, the gates in another order, and forgets
    where an input says so.
    """

    x = Input("N D", "four sums per unit", seq=LEVELS, kinks=(0.0,))
    previous = Input("N K", "state of the step before", seq=LEVELS, kinks=(0.0,))
    bias = Param("B", "added to the sums; then the peepholes", init="zero")
    y = Output("N K", "output of the units")
    state = Output("N K", "what the units remember")
    act = squash_choice("function of the candidate", "tanh", "active_type")
    gate_act = squash_choice("function of the gates", "sigmoid", "active_gate_type")
    state_act = squash_choice("function of the state on its way out", "tanh", "active_state_type")
    peepholes = Bool("gates see the state of their unit", default=True)
    candidate = Temp("N K", "new content")
    enter = Temp("N K", "input gate")
    keep = Temp("N K", "forget gate")
    leave = Temp("N K", "output gate")
    state_slope = Temp("N K", "gradient of the state")
    candidate_slope = Temp("N K", "gradient of the candidate's sum")
    enter_slope = Temp("N K", "gradient of the input gate's sum")
    keep_slope = Temp("N K", "gradient of the forget gate's sum")
    leave_slope = Temp("N K", "gradient of the output gate's sum")
    examples = (
        Example(x="12", previous="3"),
        Example(x="8", previous="2", peepholes=False),
        Example(x="sequence of 4", previous="sequence of 1", act="relu", gate_act="linear", state_act="sigmoid"),
    )


@infer(LstmStep)
def lstm_step_sizes(D, K, peepholes):
    check_units(K, D, 4)
    return {"B": (7 if peepholes else 4) * K}


@each(LstmStep.y, LstmStep.state, LstmStep.candidate, LstmStep.enter, LstmStep.keep, LstmStep.leave)
def lstm_step_y(n, k, x, previous, bias, act, gate_act, state_act, peepholes, K):
    a = x[n, k] + bias[k]
    i = x[n, K + k] + bias[K + k]
    f = x[n, 2 * K + k] + bias[2 * K + k]
    o = x[n, 3 * K + k] + bias[3 * K + k]
    if peepholes:
        i += bias[4 * K + k] * previous[n, k]
        f += bias[5 * K + k] * previous[n, k]
    a = squash(a, act == "tanh", act == "sigmoid", act == "relu")
    i = squash(i, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    f = squash(f, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    c = a * i + previous[n, k] * f
    if peepholes:
        o += bias[6 * K + k] * c
    o = squash(o, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    return o * squash(c, state_act == "tanh", state_act == "sigmoid", state_act == "relu"), c, a, i, f, o


@each(
    LstmStep.state_slope,
    LstmStep.candidate_slope,
    LstmStep.enter_slope,
    LstmStep.keep_slope,
    LstmStep.leave_slope,
)
def lstm_step_slopes(
    n, k, dy, dstate, previous, state, candidate, enter, keep, leave, bias, act, gate_act, state_act, peepholes, K
):  # fmt: skip
    a, i, f, o = candidate[n, k], enter[n, k], keep[n, k], leave[n, k]
    shown = squash(state[n, k], state_act == "tanh", state_act == "sigmoid", state_act == "relu")
    do = dy[n, k] * shown * squash_slope(o, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    dc = dstate[n, k]
    dc += dy[n, k] * o * squash_slope(shown, state_act == "tanh", state_act == "sigmoid", state_act == "relu")
    if peepholes:
        dc += do * bias[6 * K + k]
    return (
        dc,
        dc * i * squash_slope(a, act == "tanh", act == "sigmoid", act == "relu"),
        dc * a * squash_slope(i, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"),
        dc * previous[n, k] * squash_slope(f, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"),
        do,
    )


@gradient(LstmStep.x)
def lstm_step_dx(n, d, candidate_slope, enter_slope, keep_slope, leave_slope, K):
    k = d % K
    if d < 2 * K:
        return candidate_slope[n, k] if d < K else enter_slope[n, k]
    return keep_slope[n, k] if d < 3 * K else leave_slope[n, k]


@gradient(LstmStep.previous)
def lstm_step_dprevious(n, k, state_slope, enter_slope, keep_slope, keep, bias, peepholes, K):
    slope = state_slope[n, k] * keep[n, k]
    if peepholes:
        slope += enter_slope[n, k] * bias[4 * K + k] + keep_slope[n, k] * bias[5 * K + k]
    return slope


@gradient(LstmStep.bias)
def lstm_step_dbias(b, candidate_slope, enter_slope, keep_slope, leave_slope, previous, state, K, N):
    k = b % K
    gate = b // K
    total = 0.0
    for n in range(N):
        if gate == 0:
            total += candidate_slope[n, k]
        elif gate == 1:
            total += enter_slope[n, k]
        elif gate == 2:
            total += keep_slope[n, k]
        elif gate == 3:
            total += leave_slope[n, k]
        elif gate == 6:
            total += leave_slope[n, k] * state[n, k]
        else:
            total += (enter_slope[n, k] if gate == 4 else keep_slope[n, k]) * previous[n, k]
    return total


@layer("gru_step", elsewhere={"Paddle": "gru_step"}, since=1)
class GruStep:
    """One step of gated recurrent units: `grumemory` without its sequence.

    A row of `x` holds three sums for each unit, side by side: update gate, reset gate, candidate. With
    `s = x + bias`, `h = previous` and the weights of the three side by side:

    `u = gate_act(s_u + h @ W_u)`, `r = gate_act(s_r + h @ W_r)`, `c = act(s_c + (r * h) @ W_c)`,
    `y = (1 - u) * h + u * c`

    With `reset_after` it is `c = act(s_c + r * (h @ W_c + b))`, where `b` is the fourth part of `bias`, as in cuDNN and
    PyTorch, which exchange `u` and `1 - u`. Paddle is the same without it.
    """

    x = Input("N D", "three sums per unit", seq=LEVELS, kinks=(0.0,))
    previous = Input("N K", "output of the step before", seq=LEVELS, kinks=(0.0,))
    weight = Param("K D", "from the output of the step before")
    bias = Param("B", "added to the sums; with `reset_after`, then to what the candidate recalls", init="zero")
    y = Output("N K", "output of the units")
    act = squash_choice("function of the candidate", "tanh", "active_type")
    gate_act = squash_choice("function of the gates", "sigmoid", "active_gate_type")
    reset_after = reset_after_switch()
    update = Temp("N K", "update gate")
    reset = Temp("N K", "reset gate")
    recalled = Temp("N K", "the previous output, reset or, with `reset_after`, mapped: the other is to come")
    candidate = Temp("N K", "new content")
    update_slope = Temp("N K", "gradient of the update gate's sum")
    reset_slope = Temp("N K", "gradient of the reset gate's sum")
    candidate_slope = Temp("N K", "gradient of the candidate's sum")
    recalled_slope = Temp("N K", "gradient of the recalled output")
    examples = (
        Example(x="9", previous="3"),
        Example(x="sequence of 6", previous="sequence of 2", act="relu", gate_act="tanh"),
        Example(x="3", previous="1", act="linear"),
        Example(x="6", previous="2", reset_after=True),
    )


@infer(GruStep)
def gru_step_sizes(D, K, reset_after):
    check_units(K, D, 3)
    return {"B": D + K if reset_after else D}


@each(GruStep.update, GruStep.reset)
def gru_step_gates(n, k, x, previous, weight, bias, gate_act, K):
    u = x[n, k] + bias[k]
    r = x[n, K + k] + bias[K + k]
    for j in range(K):
        u += previous[n, j] * weight[j, k]
        r += previous[n, j] * weight[j, K + k]
    return (
        squash(u, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"),
        squash(r, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"),
    )


@each(GruStep.recalled)
def gru_step_recalled(n, k, previous, weight, bias, reset, reset_after, K):
    if not reset_after:
        return reset[n, k] * previous[n, k]
    total = bias[3 * K + k]
    for j in range(K):
        total += previous[n, j] * weight[j, 2 * K + k]
    return total


@each(GruStep.y, GruStep.candidate)
def gru_step_y(n, k, x, previous, weight, bias, update, reset, recalled, reset_after, act, K):
    total = x[n, 2 * K + k] + bias[2 * K + k]
    if reset_after:
        total += reset[n, k] * recalled[n, k]
    else:
        for j in range(K):
            total += recalled[n, j] * weight[j, 2 * K + k]
    c = squash(total, act == "tanh", act == "sigmoid", act == "relu")
    return (1.0 - update[n, k]) * previous[n, k] + update[n, k] * c, c


@each(GruStep.update_slope, GruStep.candidate_slope)
def gru_step_slopes(n, k, dy, previous, update, candidate, act, gate_act):
    u, c = update[n, k], candidate[n, k]
    return (
        dy[n, k]
        * (c - previous[n, k])
        * squash_slope(u, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"),
        dy[n, k] * u * squash_slope(c, act == "tanh", act == "sigmoid", act == "relu"),
    )


@each(GruStep.recalled_slope, GruStep.reset_slope)
def gru_step_reset_slope(n, k, candidate_slope, previous, reset, recalled, weight, reset_after, gate_act, K):
    slope = squash_slope(reset[n, k], gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    if reset_after:
        return candidate_slope[n, k] * reset[n, k], candidate_slope[n, k] * recalled[n, k] * slope
    total = 0.0
    for j in range(K):
        total += candidate_slope[n, j] * weight[k, 2 * K + j]
    return total, total * previous[n, k] * slope


@gradient(GruStep.x)
def gru_step_dx(n, d, update_slope, reset_slope, candidate_slope, K):
    k = d % K
    if d < K:
        return update_slope[n, k]
    return reset_slope[n, k] if d < 2 * K else candidate_slope[n, k]


@gradient(GruStep.previous)
def gru_step_dprevious(n, k, dy, update, reset, update_slope, reset_slope, recalled_slope, weight, reset_after, K):
    total = dy[n, k] * (1.0 - update[n, k])
    if not reset_after:
        total += recalled_slope[n, k] * reset[n, k]
    for j in range(K):
        total += update_slope[n, j] * weight[k, j] + reset_slope[n, j] * weight[k, K + j]
        if reset_after:
            total += recalled_slope[n, j] * weight[k, 2 * K + j]
    return total


@gradient(GruStep.weight)
def gru_step_dweight(
    k, d, previous, recalled, update_slope, reset_slope, recalled_slope, candidate_slope, reset_after, K, N
):  # fmt: skip
    j = d % K
    total = 0.0
    for n in range(N):
        if d < 2 * K:
            total += previous[n, k] * (update_slope[n, j] if d < K else reset_slope[n, j])
        elif reset_after:
            total += previous[n, k] * recalled_slope[n, j]
        else:
            total += recalled[n, k] * candidate_slope[n, j]
    return total


@gradient(GruStep.bias)
def gru_step_dbias(b, update_slope, reset_slope, recalled_slope, candidate_slope, K, N):
    k = b % K
    total = 0.0
    for n in range(N):
        if b < 2 * K:
            total += update_slope[n, k] if b < K else reset_slope[n, k]
        else:
            total += candidate_slope[n, k] if b < 3 * K else recalled_slope[n, k]
    return total
