"""GRU over sequences; the input projection is a separate layer."""

import numpy as np

from paddle_layers.define import (
    Example,
    Input,
    Output,
    Param,
    Temp,
    each,
    fill,
    gradient,
    infer,
    layer,
    onnx,
    require,
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
    reset_after_switch,
    reverse_switch,
)
from .gru_cell import gru_step_dbias, gru_step_dweight, gru_step_dx
from .simple_rnn import recurrent_past


@layer(
    "grumemory",
    elsewhere={"Paddle": "gated_recurrent", "ONNX": "GRU"},
    terms=("gated recurrent unit", "GRU recurrence"),
    since=1,
)
class Grumemory:
    """Gated recurrent unit (GRU) recurrence over pre-computed gate inputs (Cho et al. 2014).

    For the `GRU` layer of Keras and PyTorch, which includes the input projection, see `simple_gru`.

    Each step of `x` has three gate pre-activations per unit, concatenated: update gate, reset gate, candidate. With
    `s = x[t] + bias`, `h = y[t-1]` and the recurrent weights of the three, concatenated:

    `u = gate_act(s_u + h @ W_u)`, `r = gate_act(s_r + h @ W_r)`, `c = act(s_c + (r * h) @ W_c)`,
    `y[t] = (1 - u) * h + u * c`

    in each sequence, or in the innermost sequences of nested ones; the initial hidden state is `initial`, or zero. With
    `reset_after` it is `c = act(s_c + r * (h @ W_c + b))`, where `b` is the fourth part of `bias`. Add an `fc` with
    three times the units before the layer as the input projection. Paddle is the same without `reset_after`; cuDNN and
    PyTorch are the same with it, Keras and ONNX support both. All but Paddle exchange `u` and `1 - u`.
    """

    x = Input("T:S D", "three gate pre-activations per unit", seq=(1, 2), kinks=(0.0,))
    initial = Input("S K", "initial hidden state, one per sequence", seq=(0, 1), optional=True)
    weight = Param("K D", "recurrent weights")
    bias = Param("B", "biases of the gates; with `reset_after`, also the recurrent bias of the candidate", init="zero")
    y = Output("T:S K", "hidden states")
    act = activation_choice("activation of the candidate", "tanh", "active_type")
    gate_act = activation_choice("activation of the gates", "sigmoid", "active_gate_type")
    reset_after = reset_after_switch()
    reverse = reverse_switch()
    update = Temp("T:S K", "update gate")
    reset = Temp("T:S K", "reset gate")
    recalled = Temp(
        "T:S K", "previous hidden state after the reset gate, or, with `reset_after`, after the recurrent weights"
    )
    candidate = Temp("T:S K", "candidate cell content after its activation")
    output_delta = Temp("T:S K", "gradient of the hidden state, including that of the next step")
    recalled_delta = Temp("T:S K", "gradient of the recalled state")
    update_delta = Temp("T:S K", "gradient of the update gate's pre-activation")
    reset_delta = Temp("T:S K", "gradient of the reset gate's pre-activation")
    candidate_delta = Temp("T:S K", "gradient of the candidate's pre-activation")
    past = Temp("T:S K", "previous hidden state")
    examples = (
        Example(x="sequence of 9"),
        Example(x="nested sequence of 6", reverse=True, gate_act="tanh"),
        Example(x="sequence of 3", act="linear"),
        Example(x="sequence of 6", reset_after=True),
        Example(x="sequence of 6", initial="2"),
        Example(x="nested sequence of 6", initial="sequence of 2", reset_after=True, reverse=True),
    )


@infer(Grumemory)
def grumemory_sizes(D, initial, reset_after):
    units = check_gates(D, 3, "simple_gru")
    check_initial(units, initial, "initial")
    return {"K": units, "B": D + units if reset_after else D}


@fill(Grumemory.y, Grumemory.update, Grumemory.reset, Grumemory.recalled, Grumemory.candidate, per="S")
def grumemory_y(
    s, y, update, reset, recalled, candidate,
    x, initial, weight, bias, act, gate_act, reset_after, reverse, S_start, before_of, K,
):  # fmt: skip
    """The candidate of a unit reads the reset gates of all units in its row: two rounds for each row."""
    for q in range(S_start[s + 1] - S_start[s]):
        t = S_start[s + 1] - 1 - q if reverse else S_start[s] + q
        p = before_of[t]
        for k in range(K):
            u = x[t, k] + bias[k]
            r = x[t, K + k] + bias[K + k]
            if p >= 0 or initial is not None:
                for j in range(K):
                    # `initial is None` is decided when the kernel is compiled, which then does not access `initial` at
                    # all.
                    h = y[p, j] if initial is None or p >= 0 else initial[s, j]
                    u += h * weight[j, k]
                    r += h * weight[j, K + k]
            update[t, k] = activate(u, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
            reset[t, k] = activate(r, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
            # Reset after the product: the recurrent part of the candidate does not depend on the reset gates of other
            # units.
            if reset_after:
                recalled[t, k] = bias[3 * K + k]
                if p >= 0 or initial is not None:
                    for j in range(K):
                        h = y[p, j] if initial is None or p >= 0 else initial[s, j]
                        recalled[t, k] += h * weight[j, 2 * K + k]
            elif p >= 0:
                # Reset before the product: the candidate needs the reset gates of all units, so that it is computed in
                # a second loop.
                recalled[t, k] = reset[t, k] * y[p, k]
            else:
                recalled[t, k] = 0.0 if initial is None else reset[t, k] * initial[s, k]
        for k in range(K):
            c = x[t, 2 * K + k] + bias[2 * K + k]
            if reset_after:
                c += reset[t, k] * recalled[t, k]
            else:
                for j in range(K):
                    c += recalled[t, j] * weight[j, 2 * K + k]
            candidate[t, k] = activate(c, act == "tanh", act == "sigmoid", act == "relu")
            y[t, k] = update[t, k] * candidate[t, k]
            if p >= 0 or initial is not None:
                y[t, k] += (1.0 - update[t, k]) * (y[p, k] if initial is None or p >= 0 else initial[s, k])


@fill(
    Grumemory.output_delta,
    Grumemory.recalled_delta,
    Grumemory.update_delta,
    Grumemory.reset_delta,
    Grumemory.candidate_delta,
    per="S",
)
def grumemory_deltas(
    s, output_delta, recalled_delta, update_delta, reset_delta, candidate_delta,
    y, dy, initial, update, reset, recalled, candidate, weight, act, gate_act, reset_after, reverse, S_start, before_of,
    K,
):  # fmt: skip
    next_ = -1
    for q in range(S_start[s + 1] - S_start[s]):
        t = S_start[s] + q if reverse else S_start[s + 1] - 1 - q
        p = before_of[t]
        for k in range(K):
            dh = dy[t, k]
            # The next step reads this state in four ways: as itself, and through its gates and its candidate.
            if next_ >= 0:
                dh += output_delta[next_, k] * (1.0 - update[next_, k])
                if not reset_after:
                    dh += recalled_delta[next_, k] * reset[next_, k]
                for j in range(K):
                    dh += update_delta[next_, j] * weight[k, j] + reset_delta[next_, j] * weight[k, K + j]
                    if reset_after:
                        dh += recalled_delta[next_, j] * weight[k, 2 * K + j]
            output_delta[t, k] = dh
            u = update[t, k]
            fresh = candidate[t, k]
            if p >= 0 or initial is not None:
                # dy/du is the candidate minus the previous state.
                fresh -= y[p, k] if initial is None or p >= 0 else initial[s, k]
            update_delta[t, k] = (
                dh * fresh * activation_derivative(u, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
            )
            candidate_delta[t, k] = (
                dh * u * activation_derivative(candidate[t, k], act == "tanh", act == "sigmoid", act == "relu")
            )
        for k in range(K):
            derivative = activation_derivative(
                reset[t, k], gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu"
            )
            if reset_after:
                recalled_delta[t, k] = candidate_delta[t, k] * reset[t, k]
                reset_delta[t, k] = candidate_delta[t, k] * recalled[t, k] * derivative
            else:
                total = sum(candidate_delta[t, j] * weight[k, 2 * K + j] for j in range(K))
                recalled_delta[t, k] = total
                h = 0.0
                if p >= 0 or initial is not None:
                    h = y[p, k] if initial is None or p >= 0 else initial[s, k]
                reset_delta[t, k] = total * h * derivative
        next_ = t


each(Grumemory.past)(with_names(recurrent_past, "grumemory_past", {}))


# The gradients of the step over all rows.
ROWS = {"n": "t", "N": "T", "previous": "past"}
gradient(Grumemory.x)(with_names(gru_step_dx, "grumemory_dx", ROWS))


@gradient(Grumemory.initial)
def grumemory_dinitial(
    s, k, output_delta, recalled_delta, update_delta, reset_delta, update, reset, weight, reset_after, S_start,
    reverse, K,
):  # fmt: skip
    # An empty sequence does not read its initial state.
    if S_start[s] == S_start[s + 1]:
        return 0.0
    t = S_start[s + 1] - 1 if reverse else S_start[s]
    total = output_delta[t, k] * (1.0 - update[t, k])
    if not reset_after:
        total += recalled_delta[t, k] * reset[t, k]
    for j in range(K):
        total += update_delta[t, j] * weight[k, j] + reset_delta[t, j] * weight[k, K + j]
        if reset_after:
            total += recalled_delta[t, j] * weight[k, 2 * K + j]
    return total


gradient(Grumemory.weight)(with_names(gru_step_dweight, "grumemory_dweight", ROWS))
gradient(Grumemory.bias)(with_names(gru_step_dbias, "grumemory_dbias", ROWS))


@onnx(Grumemory)
def grumemory_onnx(graph, x, initial, weight, bias, T_lengths, K, act, gate_act, reset_after, reverse):
    """ONNX's update gate is 1 minus that of here: of a sigmoid by the sums with the other sign."""
    lost = f"ONNX keeps what the update gate lets go: there is no such gate for `{gate_act}`"
    require(gate_act in ("sigmoid", "linear"), "gate_act", lost)
    # 1 - sigmoid(v) is sigmoid(-v): the sign of the update gate's pre-activation is reversed. For a linear gate, 1 is
    # added.
    sign = np.repeat([-1.0, 1.0, 1.0], K)
    added = bias.array[: 3 * K] * sign + np.repeat([float(gate_act == "linear"), 0.0, 0.0], K)
    recalled = np.zeros(3 * K)
    if reset_after:
        recalled[2 * K :] = bias.array[3 * K :]
    weights = (np.diag(sign), weight.array.T * sign[:, None], np.concatenate([added, recalled]))
    return onnx_recurrence(
        graph, "GRU", x, T_lengths, weights, reverse, (initial,),
        linear_before_reset=int(reset_after), **onnx_functions(gate_act, act),
    )[0]  # fmt: skip
