"""GRU cell: a single step, for use inside recurrent groups."""

from paddle_layers.define import Example, Input, Output, Param, Temp, each, gradient, infer, layer, onnx

from .gates import (
    LEVELS,
    activate,
    activation_choice,
    activation_derivative,
    check_units,
    onnx_activate,
    reset_after_switch,
)


@layer(
    "gru_step", elsewhere={"Paddle": "gru_step", "Keras": "GRUCell", "PyTorch": "GRUCell"}, terms=("GRU cell",), since=1
)
class GruStep:
    """GRU cell: one step of `grumemory`.

    Each row of `x` has three gate pre-activations per unit, concatenated: update gate, reset gate, candidate. With
    `s = x + bias`, `h = previous` and the recurrent weights of the three, concatenated:

    `u = gate_act(s_u + h @ W_u)`, `r = gate_act(s_r + h @ W_r)`, `c = act(s_c + (r * h) @ W_c)`,
    `y = (1 - u) * h + u * c`

    With `reset_after` it is `c = act(s_c + r * (h @ W_c + b))`, where `b` is the fourth part of `bias`, as in cuDNN and
    PyTorch, which exchange `u` and `1 - u`. Paddle is the same without it.
    """

    x = Input("N D", "three gate pre-activations per unit", seq=LEVELS, kinks=(0.0,))
    previous = Input("N K", "previous hidden state", seq=LEVELS, kinks=(0.0,))
    weight = Param("K D", "recurrent weights")
    bias = Param("B", "biases of the gates; with `reset_after`, also the recurrent bias of the candidate", init="zero")
    y = Output("N K", "hidden states")
    act = activation_choice("activation of the candidate", "tanh", "active_type")
    gate_act = activation_choice("activation of the gates", "sigmoid", "active_gate_type")
    reset_after = reset_after_switch()
    update = Temp("N K", "update gate")
    reset = Temp("N K", "reset gate")
    recalled = Temp(
        "N K", "previous hidden state after the reset gate, or, with `reset_after`, after the recurrent weights"
    )
    candidate = Temp("N K", "candidate cell content after its activation")
    update_delta = Temp("N K", "gradient of the update gate's pre-activation")
    reset_delta = Temp("N K", "gradient of the reset gate's pre-activation")
    candidate_delta = Temp("N K", "gradient of the candidate's pre-activation")
    recalled_delta = Temp("N K", "gradient of the recalled state")
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
        activate(u, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"),
        activate(r, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"),
    )


@each(GruStep.recalled)
def gru_step_recalled(n, k, previous, weight, bias, reset, reset_after, K):
    # Reset before the product: the candidate below reads the reset states of all units.
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
    c = activate(total, act == "tanh", act == "sigmoid", act == "relu")
    return (1.0 - update[n, k]) * previous[n, k] + update[n, k] * c, c


@each(GruStep.update_delta, GruStep.candidate_delta)
def gru_step_deltas(n, k, dy, previous, update, candidate, act, gate_act):
    u, c = update[n, k], candidate[n, k]
    return (
        dy[n, k]
        * (c - previous[n, k])
        * activation_derivative(u, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"),
        dy[n, k] * u * activation_derivative(c, act == "tanh", act == "sigmoid", act == "relu"),
    )


@each(GruStep.recalled_delta, GruStep.reset_delta)
def gru_step_reset_delta(n, k, candidate_delta, previous, reset, recalled, weight, reset_after, gate_act, K):
    # From the output of the gate: its pre-activation is not kept.
    derivative = activation_derivative(reset[n, k], gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
    if reset_after:
        return candidate_delta[n, k] * reset[n, k], candidate_delta[n, k] * recalled[n, k] * derivative
    total = sum(candidate_delta[n, j] * weight[k, 2 * K + j] for j in range(K))
    return total, total * previous[n, k] * derivative


@gradient(GruStep.x)
def gru_step_dx(n, d, update_delta, reset_delta, candidate_delta, K):
    k = d % K
    if d < K:
        return update_delta[n, k]
    return reset_delta[n, k] if d < 2 * K else candidate_delta[n, k]


@gradient(GruStep.previous)
def gru_step_dprevious(n, k, dy, update, reset, update_delta, reset_delta, recalled_delta, weight, reset_after, K):
    total = dy[n, k] * (1.0 - update[n, k])
    if not reset_after:
        total += recalled_delta[n, k] * reset[n, k]
    for j in range(K):
        total += update_delta[n, j] * weight[k, j] + reset_delta[n, j] * weight[k, K + j]
        if reset_after:
            total += recalled_delta[n, j] * weight[k, 2 * K + j]
    return total


@gradient(GruStep.weight)
def gru_step_dweight(
    k, d, previous, recalled, update_delta, reset_delta, recalled_delta, candidate_delta, reset_after, K, N
):  # fmt: skip
    j = d % K
    total = 0.0
    for n in range(N):
        if d < 2 * K:
            total += previous[n, k] * (update_delta[n, j] if d < K else reset_delta[n, j])
        elif reset_after:
            total += previous[n, k] * recalled_delta[n, j]
        else:
            total += recalled[n, k] * candidate_delta[n, j]
    return total


@gradient(GruStep.bias)
def gru_step_dbias(b, update_delta, reset_delta, recalled_delta, candidate_delta, K, N):
    k = b % K
    total = 0.0
    for n in range(N):
        if b < 2 * K:
            total += update_delta[n, k] if b < K else reset_delta[n, k]
        else:
            total += candidate_delta[n, k] if b < 3 * K else recalled_delta[n, k]
    return total


@onnx(GruStep)
def gru_step_onnx(graph, x, previous, weight, bias, K, act, gate_act, reset_after):
    maps = weight.array
    sums = graph.Split(graph.Add(x, bias.array[: 3 * K]), [K] * 3, axis=1, outputs=3)
    update, reset = (
        onnx_activate(
            graph, graph.Add(sums[gate], graph.MatMul(previous, maps[:, K * gate : K * (gate + 1)])), gate_act
        )
        for gate in (0, 1)
    )
    if reset_after:
        recalled = graph.Mul(reset, graph.Add(graph.MatMul(previous, maps[:, 2 * K :]), bias.array[3 * K :]))
    else:
        recalled = graph.MatMul(graph.Mul(reset, previous), maps[:, 2 * K :])
    candidate = onnx_activate(graph, graph.Add(sums[2], recalled), act)
    return graph.Add(graph.Mul(graph.Sub(1.0, update), previous), graph.Mul(update, candidate))
