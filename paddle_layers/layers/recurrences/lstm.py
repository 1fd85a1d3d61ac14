"""LSTM over sequences; the input projection is a separate layer."""

import numpy as np

from paddle_layers.define import (
    Bool,
    Example,
    Input,
    Output,
    Param,
    Temp,
    each,
    gradient,
    infer,
    layer,
    onnx,
    with_names,
)

from .gates import (
    activate,
    activation_choice,
    activation_derivative,
    check_gates,
    check_initial,
    onnx_functions,
    onnx_recurrence,
    reverse_switch,
)
from .lstm_cell import lstm_step_dx
from .simple_rnn import recurrent_past


@layer(
    "lstmemory",
    elsewhere={"Paddle": "lstmemory", "Caffe": "LSTM", "ONNX": "LSTM"},
    terms=("long short-term memory", "LSTM recurrence"),
    since=1,
)
class Lstmemory:
    """Long short-term memory (LSTM) recurrence over pre-computed gate inputs, with peephole connections.

    For the `LSTM` layer of Keras and PyTorch, which includes the input projection, see `simple_lstm`.

    Each step of `x` has four gate pre-activations per unit, concatenated: candidate, input gate, forget gate, output
    gate (Hochreiter and Schmidhuber 1997; peepholes: Gers, Schraudolph and Schmidhuber 2002). With
    `s = x[t] + y[t-1] @ weight + bias` in the same order and the peephole weights `p`:

    `a = act(s_a)`, `i = gate_act(s_i + p_i * c[t-1])`, `f = gate_act(s_f + p_f * c[t-1])`, `c[t] = a * i + c[t-1] * f`,
    `o = gate_act(s_o + p_o * c[t])`, `y[t] = o * state_act(c[t])`

    in each sequence, or in the innermost sequences of nested ones; the initial hidden and cell states are `initial` and
    `initial_state`, or zero; with `return_state` the final cell state is a second output. Add an `fc` with four times
    the units before the layer as the input projection. `bias` has the biases of the gates and then the peephole weights
    of the three gates, as in Paddle, whose configs without helpers default to sigmoid for `state_act`. Caffe, ONNX and
    others include the input projection, order the gates differently, and have no peepholes (Caffe) or optional ones.
    """

    x = Input("T:S D", "four gate pre-activations per unit", seq=(1, 2), kinks=(0.0,))
    initial = Input("S K", "initial hidden state, one per sequence", seq=(0, 1), optional=True)
    initial_state = Input("S K", "initial cell state, one per sequence", seq=(0, 1), optional=True)
    weight = Param("K D", "recurrent weights")
    bias = Param("B", "biases of the gates, then peephole weights", init="zero")
    y = Output("T:S K", "hidden states")
    last_state = Output("S K", "final cell state of each sequence, with `return_state`", when="return_state")
    act = activation_choice("activation of the candidate", "tanh", "active_type")
    gate_act = activation_choice("activation of the gates", "sigmoid", "active_gate_type")
    state_act = activation_choice("activation of the cell state in the output", "tanh", "active_state_type")
    peepholes = Bool("peephole connections from the cell state to the gates", default=True)
    reverse = reverse_switch()
    return_state = Bool("return the final cell states as a second output", default=False)
    state = Temp("T:S K", "cell state")
    candidate = Temp("T:S K", "candidate cell content after its activation")
    input_gate = Temp("T:S K", "activation of the input gate")
    forget_gate = Temp("T:S K", "activation of the forget gate")
    output_gate = Temp("T:S K", "activation of the output gate")
    state_delta = Temp("T:S K", "gradient of the cell state")
    candidate_delta = Temp("T:S K", "gradient of the candidate's pre-activation")
    input_delta = Temp("T:S K", "gradient of the input gate's pre-activation")
    forget_delta = Temp("T:S K", "gradient of the forget gate's pre-activation")
    output_delta = Temp("T:S K", "gradient of the output gate's pre-activation")
    past = Temp("T:S K", "previous hidden state")
    examples = (
        Example(x="sequence of 12"),
        Example(x="nested sequence of 8", reverse=True, peepholes=False),
        Example(x="sequence of 4", act="relu", gate_act="linear", state_act="sigmoid"),
        Example(x="sequence of 8", initial="2", initial_state="2"),
        Example(x="nested sequence of 8", initial="sequence of 2", reverse=True, return_state=True),
    )


@infer(Lstmemory)
def lstmemory_sizes(D, initial, initial_state, peepholes):
    K = check_gates(D, 4, "simple_lstm")
    check_initial(K, initial, "initial")
    check_initial(K, initial_state, "initial_state")
    return {"K": K, "B": (7 if peepholes else 4) * K}


@each(
    Lstmemory.y,
    Lstmemory.state,
    Lstmemory.candidate,
    Lstmemory.input_gate,
    Lstmemory.forget_gate,
    Lstmemory.output_gate,
    scan="forward",
)
def lstmemory_y(
    t, k, s, before, x, initial, initial_state, y, state, weight, bias, act, gate_act, state_act, peepholes, K
):  # fmt: skip
    a = x[t, k] + bias[k]
    i = x[t, K + k] + bias[K + k]
    f = x[t, 2 * K + k] + bias[2 * K + k]
    o = x[t, 3 * K + k] + bias[3 * K + k]
    past = 0.0
    if before >= 0:
        past = state[before, k]
    elif initial_state is not None:
        past = initial_state[s, k]
    if before >= 0 or initial is not None:
        for j in range(K):
            # As in `grumemory`: the first test is decided when the kernel is compiled.
            h = y[before, j] if initial is None or before >= 0 else initial[s, j]
            a += h * weight[j, k]
            i += h * weight[j, K + k]
            f += h * weight[j, 2 * K + k]
            o += h * weight[j, 3 * K + k]
    # Input and forget gate see the previous cell state, the output gate the new one, hence after it.
    if peepholes:
        i += bias[4 * K + k] * past
        f += bias[5 * K + k] * past
    a = activate(a, act == "tanh", act == "sigmoid", act == "relu")
    i = activate(i, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    f = activate(f, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    c = a * i + past * f
    if peepholes:
        o += bias[6 * K + k] * c
    o = activate(o, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    return o * activate(c, state_act == "tanh", state_act == "sigmoid", state_act == "relu"), c, a, i, f, o


@each(Lstmemory.last_state)
def lstmemory_last_state(s, k, state, initial_state, S_start, reverse):
    # The final state of an empty sequence is its initial one.
    if S_start[s] == S_start[s + 1]:
        return 0.0 if initial_state is None else initial_state[s, k]
    return state[S_start[s] if reverse else S_start[s + 1] - 1, k]


@each(
    Lstmemory.state_delta,
    Lstmemory.candidate_delta,
    Lstmemory.input_delta,
    Lstmemory.forget_delta,
    Lstmemory.output_delta,
    scan="back",
)
def lstmemory_deltas(
    t, k, s, before, after, dy, dlast_state, initial_state, state, candidate, input_gate, forget_gate, output_gate,
    state_delta, candidate_delta, input_delta, forget_delta, output_delta, weight, bias, act, gate_act, state_act,
    peepholes, K,
):  # fmt: skip
    dh = dy[t, k]
    dc = 0.0
    if after >= 0:
        # The cell state reaches the next step through its forget gate and through the peepholes.
        dc = state_delta[after, k] * forget_gate[after, k]
        if peepholes:
            dc += input_delta[after, k] * bias[4 * K + k] + forget_delta[after, k] * bias[5 * K + k]
        for j in range(K):
            dh += candidate_delta[after, j] * weight[k, j]
            dh += input_delta[after, j] * weight[k, K + j]
            dh += forget_delta[after, j] * weight[k, 2 * K + j]
            dh += output_delta[after, j] * weight[k, 3 * K + j]
    elif dlast_state is not None:
        dc = dlast_state[s, k]
    past = 0.0
    if before >= 0:
        past = state[before, k]
    elif initial_state is not None:
        past = initial_state[s, k]
    a, i, f, o = candidate[t, k], input_gate[t, k], forget_gate[t, k], output_gate[t, k]
    # Computed again instead of being kept for all steps.
    shown = activate(state[t, k], state_act == "tanh", state_act == "sigmoid", state_act == "relu")
    do = dh * shown * activation_derivative(o, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    dc += dh * o * activation_derivative(shown, state_act == "tanh", state_act == "sigmoid", state_act == "relu")
    if peepholes:
        dc += do * bias[6 * K + k]
    return (
        dc,
        dc * i * activation_derivative(a, act == "tanh", act == "sigmoid", act == "relu"),
        dc * a * activation_derivative(i, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"),
        dc * past * activation_derivative(f, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"),
        do,
    )


each(Lstmemory.past)(with_names(recurrent_past, "lstmemory_past", {}))


gradient(Lstmemory.x)(with_names(lstm_step_dx, "lstmemory_dx", {"n": "t"}))


@gradient(Lstmemory.initial)
def lstmemory_dinitial(
    s, k, candidate_delta, input_delta, forget_delta, output_delta, weight, S_start, reverse, K
):  # fmt: skip
    total = 0.0
    # An empty sequence does not read its initial state.
    if S_start[s] < S_start[s + 1]:
        t = S_start[s + 1] - 1 if reverse else S_start[s]
        for j in range(K):
            total += candidate_delta[t, j] * weight[k, j] + input_delta[t, j] * weight[k, K + j]
            total += forget_delta[t, j] * weight[k, 2 * K + j] + output_delta[t, j] * weight[k, 3 * K + j]
    return total


@gradient(Lstmemory.initial_state)
def lstmemory_dinitial_state(
    s, k, dlast_state, state_delta, input_delta, forget_delta, forget_gate, bias, peepholes, S_start, reverse, K
):  # fmt: skip
    if S_start[s] == S_start[s + 1]:
        return 0.0 if dlast_state is None else dlast_state[s, k]
    t = S_start[s + 1] - 1 if reverse else S_start[s]
    # As in the recursion: through the forget gate and the peepholes of the first step.
    total = state_delta[t, k] * forget_gate[t, k]
    if peepholes:
        total += input_delta[t, k] * bias[4 * K + k] + forget_delta[t, k] * bias[5 * K + k]
    return total


@gradient(Lstmemory.weight)
def lstmemory_dweight(k, d, past, candidate_delta, input_delta, forget_delta, output_delta, K, T):
    j = d % K
    total = 0.0
    for t in range(T):
        if d < 2 * K:
            total += past[t, k] * (candidate_delta[t, j] if d < K else input_delta[t, j])
        else:
            total += past[t, k] * (forget_delta[t, j] if d < 3 * K else output_delta[t, j])
    return total


@gradient(Lstmemory.bias)
def lstmemory_dbias(
    b, candidate_delta, input_delta, forget_delta, output_delta, initial_state, state, before_of, S_start, reverse,
    K, T, S
):  # fmt: skip
    k = b % K
    gate = b // K
    total = 0.0
    for t in range(T):
        if gate == 0:
            total += candidate_delta[t, k]
        elif gate == 1:
            total += input_delta[t, k]
        elif gate == 2:
            total += forget_delta[t, k]
        elif gate == 3:
            total += output_delta[t, k]
        elif gate == 6:
            total += output_delta[t, k] * state[t, k]
        elif before_of[t] >= 0:
            total += (input_delta[t, k] if gate == 4 else forget_delta[t, k]) * state[before_of[t], k]
    # The peepholes of the first step see the initial cell state.
    if initial_state is not None and 4 <= gate <= 5:
        for s in range(S):
            if S_start[s] < S_start[s + 1]:
                t = S_start[s + 1] - 1 if reverse else S_start[s]
                total += (input_delta[t, k] if gate == 4 else forget_delta[t, k]) * initial_state[s, k]
    return total


@onnx(Lstmemory)
def lstmemory_onnx(
    graph, x, initial, initial_state, weight, bias, T_lengths, K, act, gate_act, state_act, peepholes, reverse,
    return_state,
):  # fmt: skip
    """The input is mapped already: ONNX's map of it brings the gates into its order, input, output, forget, cell."""
    order = np.concatenate([np.arange(K) + K * gate for gate in (1, 3, 2, 0)])
    # ONNX has a second bias for the recurrent product.
    sums = np.concatenate([bias.array[order], np.zeros(4 * K)])
    # ONNX orders the peepholes input, output, forget.
    looks = np.concatenate([bias.array[K * part : K * (part + 1)] for part in (4, 6, 5)])[None] if peepholes else None
    weights = (np.eye(4 * K)[order], weight.array.T[order], sums)
    functions = onnx_functions(gate_act, act, state_act)
    before = (initial, initial_state)
    y, *last = onnx_recurrence(graph, "LSTM", x, T_lengths, weights, reverse, before, looks, **functions)
    return (y, last[1]) if return_state else y
