"""LSTM cell: a single step, for use inside recurrent groups."""

from paddle_layers.define import Bool, Example, Input, Output, Param, Temp, each, gradient, infer, layer, onnx

from .gates import LEVELS, activate, activation_choice, activation_derivative, check_units, onnx_activate


@layer(
    "lstm_step",
    elsewhere={"Paddle": "lstm_step", "Caffe": "LSTMUnit", "Keras": "LSTMCell", "PyTorch": "LSTMCell"},
    terms=("LSTM cell",),
    since=1,
)
class LstmStep:
    """LSTM cell: one step of `lstmemory`.

    Each row of `x` has four gate pre-activations per unit, concatenated: candidate, input gate, forget gate, output
    gate, including the contribution of the previous hidden state. With `s = x + bias`, peephole weights `p`,
    `h = previous`:

    `a = act(s_a)`, `i = gate_act(s_i + p_i * h)`, `f = gate_act(s_f + p_f * h)`, `state = a * i + h * f`,
    `o = gate_act(s_o + p_o * state)`, `y = o * state_act(state)`

    `bias` is that of `lstmemory`: the biases of the gates, then the peephole weights; Paddle's has only the peephole
    weights, and its state is read by a layer get_output. Caffe has no peepholes, another order of the gates, and an
    input that resets the state: add a `scaling` by it before `previous`.
    """

    x = Input("N D", "four gate pre-activations per unit", seq=LEVELS, kinks=(0.0,))
    previous = Input("N K", "previous cell state", seq=LEVELS, kinks=(0.0,))
    bias = Param("B", "biases of the gates, then peephole weights", init="zero")
    y = Output("N K", "hidden states")
    state = Output("N K", "cell state")
    act = activation_choice("activation of the candidate", "tanh", "active_type")
    gate_act = activation_choice("activation of the gates", "sigmoid", "active_gate_type")
    state_act = activation_choice("activation of the cell state in the output", "tanh", "active_state_type")
    peepholes = Bool("peephole connections from the cell state to the gates", default=True)
    candidate = Temp("N K", "candidate cell content after its activation")
    input_gate = Temp("N K", "activation of the input gate")
    forget_gate = Temp("N K", "activation of the forget gate")
    output_gate = Temp("N K", "activation of the output gate")
    state_delta = Temp("N K", "gradient of the cell state")
    candidate_delta = Temp("N K", "gradient of the candidate's pre-activation")
    input_delta = Temp("N K", "gradient of the input gate's pre-activation")
    forget_delta = Temp("N K", "gradient of the forget gate's pre-activation")
    output_delta = Temp("N K", "gradient of the output gate's pre-activation")
    examples = (
        Example(x="12", previous="3"),
        Example(x="8", previous="2", peepholes=False),
        Example(x="sequence of 4", previous="sequence of 1", act="relu", gate_act="linear", state_act="sigmoid"),
    )


@infer(LstmStep)
def lstm_step_sizes(D, K, peepholes):
    check_units(K, D, 4)
    return {"B": (7 if peepholes else 4) * K}


@each(LstmStep.y, LstmStep.state, LstmStep.candidate, LstmStep.input_gate, LstmStep.forget_gate, LstmStep.output_gate)
def lstm_step_y(n, k, x, previous, bias, act, gate_act, state_act, peepholes, K):
    a = x[n, k] + bias[k]
    i = x[n, K + k] + bias[K + k]
    f = x[n, 2 * K + k] + bias[2 * K + k]
    o = x[n, 3 * K + k] + bias[3 * K + k]
    if peepholes:
        i += bias[4 * K + k] * previous[n, k]
        f += bias[5 * K + k] * previous[n, k]
    a = activate(a, act == "tanh", act == "sigmoid", act == "relu")
    i = activate(i, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    f = activate(f, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    c = a * i + previous[n, k] * f
    # The output gate sees the new cell state, the other gates the previous one.
    if peepholes:
        o += bias[6 * K + k] * c
    o = activate(o, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    return o * activate(c, state_act == "tanh", state_act == "sigmoid", state_act == "relu"), c, a, i, f, o


@each(
    LstmStep.state_delta,
    LstmStep.candidate_delta,
    LstmStep.input_delta,
    LstmStep.forget_delta,
    LstmStep.output_delta,
)
def lstm_step_deltas(
    n, k, dy, dstate, previous, state, candidate, input_gate, forget_gate, output_gate, bias, act, gate_act,
    state_act, peepholes, K
):  # fmt: skip
    a, i, f, o = candidate[n, k], input_gate[n, k], forget_gate[n, k], output_gate[n, k]
    # Computed again instead of being kept.
    shown = activate(state[n, k], state_act == "tanh", state_act == "sigmoid", state_act == "relu")
    do = dy[n, k] * shown * activation_derivative(o, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    # The cell state is an output too, and has a gradient from its other readers.
    dc = dstate[n, k]
    dc += dy[n, k] * o * activation_derivative(shown, state_act == "tanh", state_act == "sigmoid", state_act == "relu")
    if peepholes:
        dc += do * bias[6 * K + k]
    return (
        dc,
        dc * i * activation_derivative(a, act == "tanh", act == "sigmoid", act == "relu"),
        dc * a * activation_derivative(i, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"),
        dc * previous[n, k] * activation_derivative(f, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"),
        do,
    )


@gradient(LstmStep.x)
def lstm_step_dx(n, d, candidate_delta, input_delta, forget_delta, output_delta, K):
    k = d % K
    if d < 2 * K:
        return candidate_delta[n, k] if d < K else input_delta[n, k]
    return forget_delta[n, k] if d < 3 * K else output_delta[n, k]


@gradient(LstmStep.previous)
def lstm_step_dprevious(n, k, state_delta, input_delta, forget_delta, forget_gate, bias, peepholes, K):
    total = state_delta[n, k] * forget_gate[n, k]
    if peepholes:
        total += input_delta[n, k] * bias[4 * K + k] + forget_delta[n, k] * bias[5 * K + k]
    return total


@gradient(LstmStep.bias)
def lstm_step_dbias(b, candidate_delta, input_delta, forget_delta, output_delta, previous, state, K, N):
    k = b % K
    gate = b // K
    total = 0.0
    for n in range(N):
        if gate == 0:
            total += candidate_delta[n, k]
        elif gate == 1:
            total += input_delta[n, k]
        elif gate == 2:
            total += forget_delta[n, k]
        elif gate == 3:
            total += output_delta[n, k]
        elif gate == 6:
            total += output_delta[n, k] * state[n, k]
        else:
            total += (input_delta[n, k] if gate == 4 else forget_delta[n, k]) * previous[n, k]
    return total


@onnx(LstmStep)
def lstm_step_onnx(graph, x, previous, bias, K, act, gate_act, state_act, peepholes):
    def look(total, part, state):
        return graph.Add(total, graph.Mul(state, bias.array[K * part : K * (part + 1)])) if peepholes else total

    a, i, f, o = graph.Split(graph.Add(x, bias.array[: 4 * K]), [K] * 4, axis=1, outputs=4)
    a = onnx_activate(graph, a, act)
    i = onnx_activate(graph, look(i, 4, previous), gate_act)
    f = onnx_activate(graph, look(f, 5, previous), gate_act)
    state = graph.Add(graph.Mul(a, i), graph.Mul(previous, f))
    o = onnx_activate(graph, look(o, 6, state), gate_act)
    return graph.Mul(o, onnx_activate(graph, state, state_act)), state
