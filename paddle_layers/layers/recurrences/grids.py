"""Long short-term memory over images: every point sees the points before it in its row and in its column."""

from paddle_layers.define import Bool, Example, Input, Output, Param, Temp, each, fill, gradient, infer, layer

from .gates import activate, activation_choice, activation_derivative, check_gates


@layer("mdlstmemory", elsewhere={"Paddle": "mdlstmemory"}, since=1)
class Mdlstmemory:
    """Long short-term memory over the two axes of images (Graves, Fernandez and Schmidhuber 2007).

    The channels of `x` hold five sums for each unit, one behind the other: candidate, input gate, forget gate of the
    point above, forget gate of the point on the left, output gate. With `u` for the point above and `l` for that on the
    left, `s = x[h, w] + (y[u] + y[l]) @ weight + bias` in the same order, and the peepholes `p`:

    `a = act(s_a)`, `i = gate_act(s_i + p_i * (c[u] + c[l]))`, `f = gate_act(s_f + p_f * c[u])`,
    `g = gate_act(s_g + p_g * c[l])`, `c[h, w] = a * i + c[u] * f + c[l] * g`, `o = gate_act(s_o + p_o * c[h, w])`,
    `y[h, w] = o * state_act(c[h, w])`

    where output and state outside of the image are zero. `bias` has the biases of the sums and then the peepholes of
    the four gates. Put a `conv` with windows of one point before the layer to map the input, and four layers with all
    pairs of `reverse` and `reverse_y` beside each other to let every point see the whole image. Paddle's takes the
    blocks that `block_expand` makes of an image, with any number of axes; its configs take sigmoid for `state_act`
    when nothing is set.
    """

    x = Input("N D H W", "five sums per unit, as channels", kinks=(0.0,))
    weight = Param("K D", "from the outputs above and on the left")
    bias = Param("B", "added to the sums; then the peepholes", init="zero")
    y = Output("N K H W", "output of the units, as channels")
    act = activation_choice("function of the candidate", "tanh", "active_type")
    gate_act = activation_choice("function of the gates", "sigmoid", "active_gate_type")
    state_act = activation_choice("function of the state on its way out", "tanh", "active_state_type")
    reverse = Bool("run from right to left: the point before is the one on the right", default=False)
    reverse_y = Bool("run from the last row to the first: the point before is the one below", default=False)
    state = Temp("N K H W", "what the unit remembers")
    candidate = Temp("N K H W", "new content")
    input_gate = Temp("N K H W", "share of the candidate that goes into the state")
    upper_gate = Temp("N K H W", "share of the state above that stays")
    left_gate = Temp("N K H W", "share of the state on the left that stays")
    output_gate = Temp("N K H W", "share of the state that goes into the output")
    state_delta = Temp("N K H W", "gradient of the state")
    candidate_delta = Temp("N K H W", "gradient of the candidate's sum")
    input_delta = Temp("N K H W", "gradient of the input gate's sum")
    upper_delta = Temp("N K H W", "gradient of the sum of the forget gate above")
    left_delta = Temp("N K H W", "gradient of the sum of the forget gate on the left")
    output_delta = Temp("N K H W", "gradient of the output gate's sum")
    past = Temp("N K H W", "sum of the outputs above and on the left")
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
    """Back from the last point: `d` is the row that comes behind a point, `r` the column."""
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
