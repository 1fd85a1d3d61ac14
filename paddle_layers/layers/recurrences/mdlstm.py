"""Multi-dimensional LSTM over images."""

from paddle_layers.define import Bool, Example, Input, Output, Param, Temp, each, fill, gradient, infer, layer

from .gates import activate, activation_choice, activation_derivative, check_gates


@layer(
    "mdlstmemory",
    elsewhere={"Paddle": "mdlstmemory"},
    terms=("multi-dimensional LSTM", "MDLSTM"),
    since=1,
)
class Mdlstmemory:
    """Multi-dimensional LSTM (MDLSTM) over both axes of images (Graves, Fernandez and Schmidhuber 2007).

    The channels of `x` are five gate pre-activations per unit, concatenated: candidate, input gate, forget gate of the
    pixel above, forget gate of the pixel on the left, output gate. With `u` for the pixel above and `l` for the pixel
    on the left, `s = x[h, w] + (y[u] + y[l]) @ weight + bias` in the same order, and the peepholes `p`:

    `a = act(s_a)`, `i = gate_act(s_i + p_i * (c[u] + c[l]))`, `f = gate_act(s_f + p_f * c[u])`,
    `g = gate_act(s_g + p_g * c[l])`, `c[h, w] = a * i + c[u] * f + c[l] * g`, `o = gate_act(s_o + p_o * c[h, w])`,
    `y[h, w] = o * state_act(c[h, w])`

    where hidden and cell state outside of the image are zero. `bias` has the biases of the gates and then the peephole
    weights of the four gates. Add a 1x1 `conv` before the layer as the input projection, and combine four layers with
    all pairs of `reverse` and `reverse_y` so that every pixel depends on the whole image. Paddle's layer reads the
    patches of `block_expand`, with any number of axes; its configs default to sigmoid for `state_act`.
    """

    x = Input("N D H W", "five gate pre-activations per unit, as channels", kinks=(0.0,))
    weight = Param("K D", "recurrent weights, for the hidden states above and on the left")
    bias = Param("B", "biases of the gates, then peephole weights", init="zero")
    y = Output("N K H W", "hidden states, as channels")
    act = activation_choice("activation of the candidate", "tanh", "active_type")
    gate_act = activation_choice("activation of the gates", "sigmoid", "active_gate_type")
    state_act = activation_choice("activation of the cell state in the output", "tanh", "active_state_type")
    reverse = Bool("process columns from right to left", default=False)
    reverse_y = Bool("process rows from bottom to top", default=False)
    state = Temp("N K H W", "cell state")
    candidate = Temp("N K H W", "candidate cell content after its activation")
    input_gate = Temp("N K H W", "activation of the input gate")
    upper_gate = Temp("N K H W", "forget gate of the pixel above")
    left_gate = Temp("N K H W", "forget gate of the pixel on the left")
    output_gate = Temp("N K H W", "activation of the output gate")
    state_delta = Temp("N K H W", "gradient of the cell state")
    candidate_delta = Temp("N K H W", "gradient of the candidate's pre-activation")
    input_delta = Temp("N K H W", "gradient of the input gate's pre-activation")
    upper_delta = Temp("N K H W", "gradient of the upper forget gate's pre-activation")
    left_delta = Temp("N K H W", "gradient of the left forget gate's pre-activation")
    output_delta = Temp("N K H W", "gradient of the output gate's pre-activation")
    past = Temp("N K H W", "sum of the hidden states above and on the left")
    examples = (
        Example(x="10x3x2"),
        Example(x="5x2x3", reverse=True, gate_act="tanh"),
        Example(x="5x3x3", reverse_y=True, act="sigmoid", state_act="linear"),
    )


@infer(Mdlstmemory)
def mdlstmemory_sizes(D):
    K = check_gates(D, 5)
    return {"K": K, "B": 9 * K}


@fill(
    Mdlstmemory.y,
    Mdlstmemory.state,
    Mdlstmemory.candidate,
    Mdlstmemory.input_gate,
    Mdlstmemory.upper_gate,
    Mdlstmemory.left_gate,
    Mdlstmemory.output_gate,
    per="N",
)
def mdlstmemory_y(
    n, y, state, candidate, input_gate, upper_gate, left_gate, output_gate,
    x, weight, bias, act, gate_act, state_act, reverse, reverse_y, K, H, W,
):  # fmt: skip
    # Row by row: both predecessors of a pixel, above and on the left, are complete.
    for row in range(H):
        h = H - 1 - row if reverse_y else row
        u = h + 1 if reverse_y else h - 1
        for column in range(W):
            w = W - 1 - column if reverse else column
            v = w + 1 if reverse else w - 1
            for k in range(K):
                a = x[n, k, h, w] + bias[k]
                i = x[n, K + k, h, w] + bias[K + k]
                f = x[n, 2 * K + k, h, w] + bias[2 * K + k]
                g = x[n, 3 * K + k, h, w] + bias[3 * K + k]
                o = x[n, 4 * K + k, h, w] + bias[4 * K + k]
                for j in range(K):
                    # States outside of the image are zero.
                    seen = 0.0
                    if row > 0:
                        seen += y[n, j, u, w]
                    if column > 0:
                        seen += y[n, j, h, v]
                    a += seen * weight[j, k]
                    i += seen * weight[j, K + k]
                    f += seen * weight[j, 2 * K + k]
                    g += seen * weight[j, 3 * K + k]
                    o += seen * weight[j, 4 * K + k]
                above = 0.0
                if row > 0:
                    above = state[n, k, u, w]
                left = 0.0
                if column > 0:
                    left = state[n, k, h, v]
                i += bias[5 * K + k] * (above + left)
                f += bias[6 * K + k] * above
                g += bias[7 * K + k] * left
                a = activate(a, act == "tanh", act == "sigmoid", act == "relu")
                i = activate(i, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
                f = activate(f, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
                g = activate(g, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
                c = a * i + above * f + left * g
                # The output gate's peephole sees the new cell state.
                o = activate(o + bias[8 * K + k] * c, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
                state[n, k, h, w] = c
                candidate[n, k, h, w] = a
                input_gate[n, k, h, w] = i
                upper_gate[n, k, h, w] = f
                left_gate[n, k, h, w] = g
                output_gate[n, k, h, w] = o
                y[n, k, h, w] = o * activate(c, state_act == "tanh", state_act == "sigmoid", state_act == "relu")


@fill(
    Mdlstmemory.state_delta,
    Mdlstmemory.candidate_delta,
    Mdlstmemory.input_delta,
    Mdlstmemory.upper_delta,
    Mdlstmemory.left_delta,
    Mdlstmemory.output_delta,
    per="N",
)
def mdlstmemory_deltas(
    n, state_delta, candidate_delta, input_delta, upper_delta, left_delta, output_delta,
    dy, state, candidate, input_gate, upper_gate, left_gate, output_gate, weight, bias,
    act, gate_act, state_act, reverse, reverse_y, K, H, W,
):  # fmt: skip
    """From the last pixel to the first: `d` is the row after a pixel, `r` the column."""
    # In reverse order: the pixels that read this one come first.
    for row in range(H - 1, -1, -1):
        h = H - 1 - row if reverse_y else row
        u = h + 1 if reverse_y else h - 1
        d = h - 1 if reverse_y else h + 1
        for column in range(W - 1, -1, -1):
            w = W - 1 - column if reverse else column
            v = w + 1 if reverse else w - 1
            r = w - 1 if reverse else w + 1
            for k in range(K):
                dh = dy[n, k, h, w]
                dc = 0.0
                if row < H - 1:
                    dc += state_delta[n, k, d, w] * upper_gate[n, k, d, w]
                    dc += input_delta[n, k, d, w] * bias[5 * K + k] + upper_delta[n, k, d, w] * bias[6 * K + k]
                    for j in range(K):
                        dh += candidate_delta[n, j, d, w] * weight[k, j] + input_delta[n, j, d, w] * weight[k, K + j]
                        dh += upper_delta[n, j, d, w] * weight[k, 2 * K + j]
                        dh += left_delta[n, j, d, w] * weight[k, 3 * K + j]
                        dh += output_delta[n, j, d, w] * weight[k, 4 * K + j]
                if column < W - 1:
                    dc += state_delta[n, k, h, r] * left_gate[n, k, h, r]
                    dc += input_delta[n, k, h, r] * bias[5 * K + k] + left_delta[n, k, h, r] * bias[7 * K + k]
                    for j in range(K):
                        dh += candidate_delta[n, j, h, r] * weight[k, j] + input_delta[n, j, h, r] * weight[k, K + j]
                        dh += upper_delta[n, j, h, r] * weight[k, 2 * K + j]
                        dh += left_delta[n, j, h, r] * weight[k, 3 * K + j]
                        dh += output_delta[n, j, h, r] * weight[k, 4 * K + j]
                above = 0.0
                if row > 0:
                    above = state[n, k, u, w]
                left = 0.0
                if column > 0:
                    left = state[n, k, h, v]
                a, i, o = candidate[n, k, h, w], input_gate[n, k, h, w], output_gate[n, k, h, w]
                f, g = upper_gate[n, k, h, w], left_gate[n, k, h, w]
                shown = activate(state[n, k, h, w], state_act == "tanh", state_act == "sigmoid", state_act == "relu")
                do = (
                    dh * shown * activation_derivative(o, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
                )
                dc += (
                    dh
                    * o
                    * activation_derivative(shown, state_act == "tanh", state_act == "sigmoid", state_act == "relu")
                )
                dc += do * bias[8 * K + k]
                state_delta[n, k, h, w] = dc
                output_delta[n, k, h, w] = do
                candidate_delta[n, k, h, w] = (
                    dc * i * activation_derivative(a, act == "tanh", act == "sigmoid", act == "relu")
                )
                input_delta[n, k, h, w] = (
                    dc * a * activation_derivative(i, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
                )
                upper_delta[n, k, h, w] = (
                    dc * above * activation_derivative(f, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
                )
                left_delta[n, k, h, w] = (
                    dc * left * activation_derivative(g, gate_act == "tanh", gate_act == "sigmoid", gate_act == "relu")
                )


@each(Mdlstmemory.past)
def mdlstmemory_past(n, k, h, w, y, reverse, reverse_y, H, W):
    # The sum of both predecessors, so that the gradient of the shared weight is a plain product over all pixels.
    total = 0.0
    if reverse_y and h + 1 < H:
        total += y[n, k, h + 1, w]
    if not reverse_y and h > 0:
        total += y[n, k, h - 1, w]
    if reverse and w + 1 < W:
        total += y[n, k, h, w + 1]
    if not reverse and w > 0:
        total += y[n, k, h, w - 1]
    return total


@gradient(Mdlstmemory.x)
def mdlstmemory_dx(n, d, h, w, candidate_delta, input_delta, upper_delta, left_delta, output_delta, K):
    k = d % K
    if d < 2 * K:
        return candidate_delta[n, k, h, w] if d < K else input_delta[n, k, h, w]
    if d < 4 * K:
        return upper_delta[n, k, h, w] if d < 3 * K else left_delta[n, k, h, w]
    return output_delta[n, k, h, w]


@gradient(Mdlstmemory.weight)
def mdlstmemory_dweight(
    k, d, past, candidate_delta, input_delta, upper_delta, left_delta, output_delta, K, N, H, W
):  # fmt: skip
    j = d % K
    total = 0.0
    for n in range(N):
        for h in range(H):
            for w in range(W):
                delta = output_delta[n, j, h, w]
                if d < 2 * K:
                    delta = candidate_delta[n, j, h, w] if d < K else input_delta[n, j, h, w]
                elif d < 4 * K:
                    delta = upper_delta[n, j, h, w] if d < 3 * K else left_delta[n, j, h, w]
                total += past[n, k, h, w] * delta
    return total


@gradient(Mdlstmemory.bias)
def mdlstmemory_dbias(
    b, candidate_delta, input_delta, upper_delta, left_delta, output_delta, state, reverse, reverse_y, K, N, H, W
):  # fmt: skip
    k = b % K
    part = b // K
    total = 0.0
    for n in range(N):
        for h in range(H):
            u = h + 1 if reverse_y else h - 1
            for w in range(W):
                v = w + 1 if reverse else w - 1
                # Peephole weights multiply the states that their gates see; outside of the image these are zero.
                above = state[n, k, u, w] if u >= 0 and u < H else 0.0
                left = state[n, k, h, v] if v >= 0 and v < W else 0.0
                if part == 0:
                    total += candidate_delta[n, k, h, w]
                elif part == 1:
                    total += input_delta[n, k, h, w]
                elif part == 2:
                    total += upper_delta[n, k, h, w]
                elif part == 3:
                    total += left_delta[n, k, h, w]
                elif part == 4:
                    total += output_delta[n, k, h, w]
                elif part == 5:
                    total += input_delta[n, k, h, w] * (above + left)
                elif part == 6:
                    total += upper_delta[n, k, h, w] * above
                elif part == 7:
                    total += left_delta[n, k, h, w] * left
                else:
                    total += output_delta[n, k, h, w] * state[n, k, h, w]
    return total
