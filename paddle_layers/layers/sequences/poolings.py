"""Pooling over the steps of sequences."""

import math

import numpy as np

from paddle_layers.define import Choice, Example, Input, Int, Output, Temp, each, gradient, layer, onnx, real, starts
from paddle_layers.layers.helpers import exceeds


@layer(
    "seq_avg_pool",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "average"},
    terms=("average pooling over a sequence", "mean pooling over time"),
    since=1,
)
class SeqAvgPool:
    """Average pooling over the steps of each sequence; also sum, or sum divided by the square root of the length.

    `y[s] = sum over the steps t of s of x[t] * f`, where `f` is `1 / len(s)` (`AVERAGE`), `1` (`SUM`) or
    `1 / sqrt(len(s))` (`SQUARE_ROOT`). An empty sequence gives zeros, as in Paddle, whose `average_strategy` has the
    same three values and whose `trans_type` is `level`. For Paddle's windows (`seq_pool_stride`) see `seq_window_pool`.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    y = Output("S C", "one vector per sequence, or per sub-sequence")
    strategy = Choice(
        "divisor of the sum",
        options={
            "AVERAGE": "number of steps (mean)",
            "SUM": "1 (sum)",
            "SQUARE_ROOT": "square root of the number of steps",
        },
        default="AVERAGE",
    )
    level = Choice(
        "pooling level",
        options={"SEQUENCE": "whole sequences", "SUBSEQUENCE": "sub-sequences of nested sequences"},
        default="SEQUENCE",
        groups="S",
    )
    factor = Temp("S", "factor of the sum")
    examples = (
        Example(x="sequence of 3"),
        Example(x="nested sequence of 2", strategy="SUM"),
        Example(x="nested sequence of 2", strategy="SQUARE_ROOT", level="SUBSEQUENCE"),
        Example(x="sequence of 1", strategy="SQUARE_ROOT", act="relu"),
    )


@each(SeqAvgPool.factor)
def seq_avg_pool_factor(s, S_start, strategy):
    # At least 1: the sum of an empty sequence is 0, and 0 / 0 would be NaN.
    count = real(max(S_start[s + 1] - S_start[s], 1))
    if strategy == "AVERAGE":
        return 1.0 / count
    return 1.0 / math.sqrt(count) if strategy == "SQUARE_ROOT" else 1.0


@each(SeqAvgPool.y)
def seq_avg_pool_y(s, c, x, factor, S_start):
    total = sum(x[t, c] for t in range(S_start[s], S_start[s + 1]))
    return total * factor[s]


@gradient(SeqAvgPool.x)
def seq_avg_pool_dx(t, c, s, dy, factor):
    return dy[s, c] * factor[s]


@onnx(SeqAvgPool)
def seq_avg_pool_onnx(graph, x, T_mask, T_lengths, strategy):
    total = sum_of_rows(graph, x, T_mask)
    if strategy == "SUM":
        return total
    count = graph.Cast(graph.Unsqueeze(graph.Max(T_lengths, 1), [1]), to=1)
    return graph.Div(total, graph.Sqrt(count) if strategy == "SQUARE_ROOT" else count)


def sum_of_rows(graph, x, mask):
    """ONNX: the sum of the rows of padded sequences that a mask names."""
    return graph.ReduceSum(graph.Where(graph.Unsqueeze(mask, [2]), x, 0.0), [1], keepdims=0)


def _level() -> Choice:
    return Choice(
        "pooling level",
        options={"SEQUENCE": "whole sequences", "SUBSEQUENCE": "sub-sequences of nested sequences"},
        default="SEQUENCE",
        groups="S",
    )


@layer(
    "seq_max_pool",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "max"},
    terms=("max pooling over a sequence", "max pooling over time"),
    since=1,
)
class SeqMaxPool:
    """Max pooling over the steps of each sequence, per column.

    `y[s, c] = max over the steps t of s of x[t, c]`; the gradient flows to the first step with the maximum. An empty
    sequence gives zeros, as in Paddle, whose `trans_type` is `level`. For windows of steps (`seq_pool_stride`) see
    `seq_window_pool`, for the index of the maximum (`output_max_index`) `seq_arg_max`.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2), kinks=("ties",))
    y = Output("S C", "one vector per sequence, or per sub-sequence")
    level = _level()
    place = Temp("S C", "index of the maximum, -1 for an empty sequence", kind="INT")
    examples = (
        Example(x="sequence of 3"),
        Example(x="nested sequence of 2"),
        Example(x="nested sequence of 2", level="SUBSEQUENCE", act="tanh"),
    )


@each(SeqMaxPool.place)
def seq_max_pool_place(s, c, x, S_start):
    # An empty sequence has no step with the maximum.
    if S_start[s] == S_start[s + 1]:
        return -1
    best = S_start[s]
    for t in range(S_start[s] + 1, S_start[s + 1]):
        if exceeds(x[t, c], x[best, c]):
            best = t
    return best


@each(SeqMaxPool.y)
def seq_max_pool_y(s, c, x, place):
    return x[place[s, c], c] if place[s, c] >= 0 else 0.0


@gradient(SeqMaxPool.x)
def seq_max_pool_dx(t, c, s, dy, place):
    return dy[s, c] if place[s, c] == t else 0.0


@onnx(SeqMaxPool)
def seq_max_pool_onnx(graph, x, T_mask, T_lengths):
    # Padded steps never win.
    peak = graph.ReduceMax(graph.Where(graph.Unsqueeze(T_mask, [2]), x, -math.inf), [1], keepdims=0)
    return graph.Where(graph.Unsqueeze(graph.Equal(T_lengths, 0), [1]), 0.0, peak)


@layer(
    "seq_arg_max",
    terms=("argmax over the steps", "argmax over a sequence"),
    since=1,
)
class SeqArgMax:
    """Argmax over the steps of each sequence, per column: the index of the value that `seq_max_pool` returns.

    `y[s, c]` is the index of the first step with that value, from 0 in the sequence; -1 for an empty one. It is a
    float, as in Paddle, which counts the rows of the batch. There is no gradient.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    y = Output("S C", "one vector per sequence, or per sub-sequence")
    level = _level()
    examples = (
        Example(x="sequence of 3"),
        Example(x="nested sequence of 2"),
        Example(x="nested sequence of 2", level="SUBSEQUENCE"),
    )


@each(SeqArgMax.y)
def seq_arg_max_y(s, c, x, S_start):
    if S_start[s] == S_start[s + 1]:
        return -1.0
    best = S_start[s]
    for t in range(S_start[s] + 1, S_start[s + 1]):
        if exceeds(x[t, c], x[best, c]):
            best = t
    return real(best - S_start[s])


@onnx(SeqArgMax)
def seq_arg_max_onnx(graph, x, T_mask, T_lengths):
    best = graph.ArgMax(graph.Where(graph.Unsqueeze(T_mask, [2]), x, -math.inf), axis=1, keepdims=0)
    before = graph.CumSum(graph.Cast(T_mask, to=7), 1, exclusive=1)  # padding between sub-sequences is no row
    place = graph.Cast(graph.GatherElements(before, best, axis=1), to=1)
    return graph.Where(graph.Unsqueeze(graph.Equal(T_lengths, 0), [1]), -1.0, place)


@layer(
    "seq_last",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "seqlastins"},
    terms=("last step", "final state", "last time step", "last_seq"),
    since=1,
)
class SeqLast:
    """Last step of each sequence: the final state of a recurrent layer.

    `y[s] = x[last step of s]`; zeros for an empty sequence. Paddle's `trans_type` is `level`. The final state of a
    recurrent layer with `reverse` is the first step: see `seq_first`.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    y = Output("S C", "one vector per sequence, or per sub-sequence")
    level = _level()
    examples = (
        Example(x="sequence of 3"),
        Example(x="nested sequence of 2", act="relu"),
        Example(x="nested sequence of 2", level="SUBSEQUENCE"),
    )


@each(SeqLast.y)
def seq_last_y(s, c, x, S_start):
    return x[S_start[s + 1] - 1, c] if S_start[s + 1] > S_start[s] else 0.0


@gradient(SeqLast.x)
def seq_last_dx(t, c, s, dy, S_start):
    return dy[s, c] if t + 1 == S_start[s + 1] else 0.0


@onnx(SeqLast)
def seq_last_onnx(graph, x, T_mask):
    places = graph.Where(T_mask, graph.places(x), -1)
    last = graph.ReduceMax(places, [1], keepdims=1)
    return sum_of_rows(graph, x, graph.And(T_mask, graph.Equal(places, last)))


@layer(
    "seq_first",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "seqfirstins"},
    terms=("first step", "first time step", "first_seq"),
    since=1,
)
class SeqFirst:
    """First step of each sequence.

    `y[s] = x[first step of s]`; zeros for an empty sequence. Paddle's `trans_type` is `level`.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    y = Output("S C", "one vector per sequence, or per sub-sequence")
    level = _level()
    examples = (
        Example(x="sequence of 3"),
        Example(x="nested sequence of 2", act="relu"),
        Example(x="nested sequence of 2", level="SUBSEQUENCE"),
    )


@each(SeqFirst.y)
def seq_first_y(s, c, x, S_start):
    return x[S_start[s], c] if S_start[s + 1] > S_start[s] else 0.0


@gradient(SeqFirst.x)
def seq_first_dx(t, c, s, dy, S_start):
    return dy[s, c] if t == S_start[s] else 0.0


@onnx(SeqFirst)
def seq_first_onnx(graph, x, T_mask):
    # Larger than any position.
    places = graph.Where(T_mask, graph.places(x), 1 << 40)
    first = graph.ReduceMin(places, [1], keepdims=1)
    return sum_of_rows(graph, x, graph.And(T_mask, graph.Equal(places, first)))


@layer(
    "seq_window_pool",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "seq_pool_stride"},
    terms=("pooling over windows", "temporal pooling"),
    since=1,
)
class SeqWindowPool:
    """Pooling over windows of `stride` steps: shortens each sequence.

    The last window has the remaining steps. In Paddle every sequence pooling has the attribute `seq_pool_stride` for
    it, and when it pools first steps, the first window has the remaining steps.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2), kinks=("ties",))
    y = Output("W:S C", "one vector per window")
    stride = Int("rows of a window", min=1)
    strategy = Choice(
        "type of pooling",
        options={
            "AVERAGE": "mean",
            "SUM": "sum",
            "SQUARE_ROOT": "sum divided by the square root of the number of steps",
            "FIRST": "first step",
            "LAST": "last step",
            "MAX": "maximum",
        },
        default="AVERAGE",
    )
    examples = (
        Example(x="sequence of 3", stride=2),
        Example(x="sequence of 2", stride=3, strategy="MAX"),
        Example(x="nested sequence of 2", stride=3, strategy="LAST"),
        Example(x="sequence of 2", stride=2, strategy="SQUARE_ROOT", act="tanh"),
        Example(x="sequence of 2", stride=5, strategy="FIRST"),
    )


@starts(SeqWindowPool)
def seq_window_pool_starts(T_start, stride):
    # Rounded up: the last window may be shorter.
    windows = -(-np.diff(T_start) // stride)
    return np.concatenate([[0], np.cumsum(windows)])


@each(SeqWindowPool.y)
def seq_window_pool_y(w, c, s, x, W_start, T_start, stride, strategy):
    first = T_start[s] + (w - W_start[s]) * stride
    last = min(first + stride, T_start[s + 1])
    if strategy == "FIRST":
        return x[first, c]
    if strategy == "LAST":
        return x[last - 1, c]
    total, peak = 0.0, x[first, c]
    for t in range(first, last):
        total += x[t, c]
        peak = max(peak, x[t, c])
    if strategy == "MAX":
        return peak
    if strategy == "AVERAGE":
        return total / real(last - first)
    return total / math.sqrt(real(last - first)) if strategy == "SQUARE_ROOT" else total


@gradient(SeqWindowPool.x)
def seq_window_pool_dx(t, c, s, dy, x, W_start, T_start, stride, strategy):
    window = (t - T_start[s]) // stride
    first = T_start[s] + window * stride
    last = min(first + stride, T_start[s + 1])
    derivative = dy[W_start[s] + window, c]
    if strategy == "FIRST":
        return derivative if t == first else 0.0
    if strategy == "LAST":
        return derivative if t == last - 1 else 0.0
    if strategy == "MAX":
        # The first of equal steps receives the gradient.
        best = first
        for u in range(first + 1, last):
            if exceeds(x[u, c], x[best, c]):
                best = u
        return derivative if t == best else 0.0
    if strategy == "AVERAGE":
        return derivative / real(last - first)
    return derivative / math.sqrt(real(last - first)) if strategy == "SQUARE_ROOT" else derivative


@onnx(SeqWindowPool)
def seq_window_pool_onnx(graph, x, T_mask, T_lengths, C, stride, strategy):
    windows = graph.Div(graph.Add(graph.Shape(x, start=1, end=2), stride - 1), stride)
    # Padded to whole windows; padding has no weight in them.
    real_rows = graph.Pad(graph.Cast(T_mask, to=7), [0, 0, 0, stride - 1])
    ends = graph.Mul(windows, stride)
    rows = graph.Slice(graph.Pad(x, [0, 0, 0, 0, stride - 1, 0]), [0], ends, [1])
    rows = graph.Reshape(rows, [0, -1, stride, C])
    mask = graph.Reshape(graph.Slice(real_rows, [0], ends, [1]), [0, -1, stride])
    count = graph.ReduceSum(mask, [2], keepdims=1)
    lengths = graph.Div(graph.Add(T_lengths, stride - 1), stride)
    if strategy == "MAX":
        kept = graph.Where(graph.Unsqueeze(graph.Cast(mask, to=9), [3]), rows, -math.inf)
        return graph.ReduceMax(kept, [2], keepdims=0), lengths
    chosen = graph.Cast(mask, to=9)
    if strategy in ("FIRST", "LAST"):
        place = np.arange(stride).reshape(1, 1, stride)
        chosen = graph.And(chosen, graph.Equal(place, 0 if strategy == "FIRST" else graph.Sub(count, 1)))
    total = graph.ReduceSum(graph.Where(graph.Unsqueeze(chosen, [3]), rows, 0.0), [2], keepdims=0)
    number = graph.Cast(graph.Max(count, 1), to=1)
    if strategy in ("AVERAGE", "SQUARE_ROOT"):
        total = graph.Div(total, graph.Sqrt(number) if strategy == "SQUARE_ROOT" else number)
    return total, lengths
