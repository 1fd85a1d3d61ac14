"""Windows over sequences: context windows, lookahead convolution, softmax over a sequence."""

import math

from paddle_layers.define import Example, Input, Int, Numbers, Output, Param, Temp, each, gradient, infer, layer, onnx

END = (1 << 63) - 1
"""ONNX: the end of an axis."""


@layer(
    "context",
    common=("drop_rate", "error_clip"),
    elsewhere={"Paddle": "context_projection"},
    terms=("context window", "sliding window", "n-gram"),
    since=1,
)
class Context:
    """Context window: concatenates the steps in a window around each step of a sequence.

    `y[t] = x[t + start], ..., x[t + start + length - 1]`, zeros beyond the ends of the sequence. With an `fc` it is a
    1-D convolution over sequences of any length. In Paddle it is a projection of `mixed`; for learned padding
    (`trainable_padding`) see `padded_context`.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    y = Output("T:S K", "`length` concatenated steps")
    length = Int("window length", min=1, max=1024, aliases=("context_length",))
    start = Int(
        "start of the window relative to the current step; if absent, centered",
        min=-1024,
        max=1024,
        optional=True,
        aliases=("context_start",),
    )
    examples = (
        Example(x="sequence of 2", length=3),
        Example(x="nested sequence of 3", length=2, start=0),
        Example(x="sequence of 1", length=2, start=-4),
    )


@infer(Context)
def context_sizes(C, length):
    return {"K": C * length}


@each(Context.y)
def context_y(t, k, s, x, C, S_start, start, length):
    # With an even length, the window has one more step after the current one than before it.
    first = t - (length - 1) // 2 if start is None else t + start
    u = first + k // C
    return x[u, k % C] if S_start[s] <= u < S_start[s + 1] else 0.0


@gradient(Context.x)
def context_dx(t, c, s, dy, C, S_start, start, length):
    # The window reversed: step u contains step t at position j.
    total = 0.0
    for j in range(length):
        u = (t + (length - 1) // 2 if start is None else t - start) - j
        if S_start[s] <= u < S_start[s + 1]:
            total += dy[u, j * C + c]
    return total


@onnx(Context)
def context_onnx(graph, x, T_mask, length, start):
    """Slices of the padded rows, each one row further on; ends count from the end, so that no length is needed."""
    first = -((length - 1) // 2) if start is None else start
    before, after = max(0, -first), max(0, first + length - 1)
    rows = graph.Where(graph.Unsqueeze(T_mask, [2]), x, 0.0)
    padded = graph.Pad(rows, [0, before, 0, 0, after, 0])
    shifts = range(first + before, first + before + length)
    # An end of 0 would be the start of the axis.
    parts = [graph.Slice(padded, [at], [at - before - after or END], [1]) for at in shifts]
    return graph.Concat(*parts, axis=2)


@layer(
    "padded_context",
    common=("drop_rate", "error_clip"),
    elsewhere={"Paddle": "context_projection"},
    terms=("context window", "trainable padding"),
    since=1,
)
class PaddedContext:
    """Context window with learned padding: as `context`, but steps beyond the ends of a sequence are parameters.

    `y[t] = x[t + start], ..., x[t + start + length - 1]`. The step k positions before the first one is row `before - k`
    of `padding`, and the step k positions after the last one is row `before + k - 1`, with `before = max(0, -start)`:
    Paddle's `trainable_padding`. All sequences share these rows.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    padding = Param("P C", "padding vectors before the first step, then after the last", init="zero")
    y = Output("T:S K", "`length` concatenated steps")
    length = Int("window length", min=2, max=1024, aliases=("context_length",))
    start = Int(
        "start of the window relative to the current step; if absent, centered",
        min=-1024,
        max=1024,
        optional=True,
        aliases=("context_start",),
    )
    first = Numbers("`start`, or its default")
    ahead = Numbers("number of padding vectors before the first step")
    examples = (
        Example(x="sequence of 2", length=3),
        Example(x="nested sequence of 3", length=2, start=0),
        Example(x="sequence of 1", length=2, start=-4),
    )


@infer(PaddedContext)
def padded_context_sizes(C, length, start):
    first = -((length - 1) // 2) if start is None else start
    ahead = max(0, -first)
    return {"K": C * length, "P": ahead + max(0, first + length - 1), "first": first, "ahead": ahead}


@each(PaddedContext.y)
def padded_context_y(t, k, s, x, padding, C, S_start, first, ahead):
    u = t + first + k // C
    if u < S_start[s]:
        return padding[u - S_start[s] + ahead, k % C]
    return x[u, k % C] if u < S_start[s + 1] else padding[u - S_start[s + 1] + ahead, k % C]


@gradient(PaddedContext.x)
def padded_context_dx(t, c, s, dy, C, S_start, first, length):
    total = 0.0
    for j in range(length):
        u = t - first - j
        if S_start[s] <= u < S_start[s + 1]:
            total += dy[u, j * C + c]
    return total


@gradient(PaddedContext.padding)
def padded_context_dpadding(p, c, dy, C, S, S_start, first, ahead, length):
    total = 0.0
    for s in range(S):
        # The step, before or after the sequence, that this padding vector replaces.
        u = (S_start[s] if p < ahead else S_start[s + 1]) + p - ahead
        for t in range(max(S_start[s], u - first - length + 1), min(S_start[s + 1], u - first + 1)):
            total += dy[t, (u - t - first) * C + c]
    return total


@onnx(PaddedContext)
def padded_context_onnx(graph, x, padding, T_lengths, P, first, ahead, length):
    """Shifted steps, or those of the padding at positions beyond an end."""
    places, lengths, steps = graph.places(x), graph.Unsqueeze(T_lengths, [1]), graph.Shape(x, start=1, end=2)
    parts = []
    for offset in range(first, first + length):
        at = graph.Add(places, offset)
        outside = graph.Or(graph.Less(at, 0), graph.Not(graph.Less(at, lengths)))
        own = graph.Where(graph.Less(at, 0), graph.Add(at, ahead), graph.Add(graph.Sub(at, lengths), ahead))
        # Gather needs valid indices in the branch that is not selected, too.
        learned = graph.Gather(padding, graph.Min(graph.Max(own, 0), P - 1), axis=0)
        shifted = graph.Gather(x, graph.Min(graph.Max(at, 0), graph.Sub(steps, 1)), axis=1)
        parts.append(graph.Where(graph.Unsqueeze(outside, [2]), learned, shifted))
    return graph.Concat(*parts, axis=2)


@layer(
    "row_conv",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "row_conv"},
    terms=("lookahead", "lookahead convolution", "row convolution"),
    since=1,
)
class RowConv:
    """Lookahead (row) convolution: a weighted sum of each step and the steps that follow it, per column.

    `y[t, c] = sum over j of x[t + j, c] * weight[j, c]` within the sequence (Deep Speech 2, Amodei et al.).
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    weight = Param("J C", "weights of the current and the following steps", init="xavier")
    y = Output("T:S C", "same shape as `x`")
    length = Int(
        "window length, including the current step", min=1, axis="J", aliases=("context_length", "context_len")
    )
    examples = (
        Example(x="sequence of 3", length=2),
        Example(x="nested sequence of 2", length=3, act="relu"),
        Example(x="sequence of 1", length=9),
    )


@each(RowConv.y)
def row_conv_y(t, c, s, x, weight, S_start, J):
    return sum(x[u, c] * weight[u - t, c] for u in range(t, min(t + J, S_start[s + 1])))


@gradient(RowConv.x)
def row_conv_dx(t, c, s, dy, weight, S_start, J):
    return sum(dy[u, c] * weight[t - u, c] for u in range(max(t - J + 1, S_start[s]), t + 1))


@gradient(RowConv.weight)
def row_conv_dweight(j, c, dy, x, S_start, S):
    return sum(dy[t, c] * x[t + j, c] for s in range(S) for t in range(S_start[s], S_start[s + 1] - j))


@onnx(RowConv)
def row_conv_onnx(graph, x, weight, T_mask, C, J):
    rows = graph.Transpose(graph.Where(graph.Unsqueeze(T_mask, [2]), x, 0.0), perm=[0, 2, 1])
    # Lookahead: padding after the last step only.
    y = graph.Conv(rows, weight.array.T[:, None], group=C, pads=[0, J - 1])
    return graph.Transpose(y, perm=[0, 2, 1])


@layer(
    "sequence_softmax",
    common=("drop_rate", "error_clip"),
    elsewhere={"Paddle": "sequence_softmax"},
    terms=("softmax over a sequence", "attention weights", "softmax over the steps"),
    since=1,
)
class SequenceSoftmax:
    """Softmax over the steps of each sequence: attention weights that sum to one.

    `y[t, c] = exp(x[t, c]) / sum over the steps u of the sequence of exp(x[u, c])`, per column. In nested sequences it
    is computed over the steps of each sub-sequence. In Paddle it is an activation of values of width one.
    """

    x = Input("T:S C", "score per step", seq=(1, 2))
    y = Output("T:S C", "weights: each column sums to one over a sequence")
    peak = Temp("S C", "maximum score of the sequence")
    total = Temp("S C", "sum of the sequence's exponentials")
    dot = Temp("S C", "gradient of the sequence times its output")
    examples = (Example(x="sequence of 1"), Example(x="nested sequence of 2"))


@each(SequenceSoftmax.peak)
def sequence_softmax_peak(s, c, x, S_start):
    # Minus infinity for an empty sequence, whose maximum is not read.
    return max(x[t, c] for t in range(S_start[s], S_start[s + 1]))


@each(SequenceSoftmax.total)
def sequence_softmax_total(s, c, x, peak, S_start):
    return sum(math.exp(x[t, c] - peak[s, c]) for t in range(S_start[s], S_start[s + 1]))


@each(SequenceSoftmax.y)
def sequence_softmax_y(t, c, s, x, peak, total):
    return math.exp(x[t, c] - peak[s, c]) / total[s, c]


@each(SequenceSoftmax.dot)
def sequence_softmax_dot(s, c, y, dy, S_start):
    return sum(y[t, c] * dy[t, c] for t in range(S_start[s], S_start[s + 1]))


@gradient(SequenceSoftmax.x)
def sequence_softmax_dx(t, c, s, y, dy, dot):
    return y[t, c] * (dy[t, c] - dot[s, c])


@onnx(SequenceSoftmax)
def sequence_softmax_onnx(graph, x, T_mask):
    mask = graph.Unsqueeze(T_mask, [2])
    # Padded steps have weight 0, but a sequence of padding only gives NaN, which Where replaces.
    return graph.Where(mask, graph.Softmax(graph.Where(mask, x, -math.inf), axis=1), 0.0)
