"""Layers made of layers for sequences: recurrent ones with the map of their input, both ways, windows, attention."""

from paddle_layers.define import Bool, Choice, Example, Input, Int, Output, String, body, layer

from .recurrences import reverse_switch, squash_choice


@layer("simple_lstm", elsewhere={"Paddle": "simple_lstm"}, since=1)
class SimpleLstm:
    """Long short-term memory with the map of its input: `fc` to the sums of the gates, then `lstmemory`.

    The map has no bias, since `lstmemory` adds one to the same sums.
    """

    x = Input("T:S C", "rows of sequences", seq=(1, 2))
    y = Output("T:S K", "output of the units")
    size = Int("number of units", min=1, axis="K")
    act = squash_choice("function of the candidate", "tanh", "active_type")
    gate_act = squash_choice("function of the gates", "sigmoid", "active_gate_type")
    state_act = squash_choice("function of the state on its way out", "tanh", "active_state_type")
    reverse = reverse_switch()
    examples = (
        Example(x="sequence of 3", size=2),
        Example(x="nested sequence of 2", size=3, reverse=True, gate_act="tanh"),
    )


@body(SimpleLstm)
def simple_lstm_body(net, x, size, act, gate_act, state_act, reverse):
    gates = net.fc(x, size=4 * size, bias=False, name="gates")
    return net.lstmemory(gates, act=act, gate_act=gate_act, state_act=state_act, reverse=reverse, name="lstm")


@layer("simple_gru", elsewhere={"Paddle": "simple_gru2"}, since=1)
class SimpleGru:
    """Gated recurrent units with the map of their input: `fc` to the sums of the gates, then `grumemory`.

    The map has no bias, since `grumemory` adds one to the same sums. Paddle's `simple_gru` makes
    the same of steps.
    """

    x = Input("T:S C", "rows of sequences", seq=(1, 2))
    y = Output("T:S K", "output of the units")
    size = Int("number of units", min=1, axis="K")
    act = squash_choice("function of the candidate", "tanh", "active_type")
    gate_act = squash_choice("function of the gates", "sigmoid", "active_gate_type")
    reverse = reverse_switch()
    examples = (
        Example(x="sequence of 3", size=2),
        Example(x="nested sequence of 2", size=3, reverse=True, gate_act="tanh"),
    )


@body(SimpleGru)
def simple_gru_body(net, x, size, act, gate_act, reverse):
    gates = net.fc(x, size=3 * size, bias=False, name="gates")
    return net.grumemory(gates, act=act, gate_act=gate_act, reverse=reverse, name="gru")


def return_seq_switch() -> Bool:
    """What a layer that runs both ways gives."""
    return Bool("a row for every row of `x`; else one for each sequence: where both ways end", default=False)


def both_ways(net, forward, backward, return_seq):
    """Outputs of two directions side by side: all rows, or the one in which each direction ends."""
    if return_seq:
        return net.concat(forward, backward, name="both")
    level = "SUBSEQUENCE" if forward.type.level == 2 else "SEQUENCE"
    last = net.seq_last(forward, level=level, name="last")
    first = net.seq_first(backward, level=level, name="first")
    return net.concat(last, first, name="both")


@layer("bidirectional_lstm", elsewhere={"Paddle": "bidirectional_lstm"}, since=1)
class BidirectionalLstm:
    """Two `simple_lstm`, one from the start of each sequence and one from its end, side by side.

    By default a sequence becomes one row: the last one of the way forward and the first one of the way back, which have
    seen all of it. Of nested sequences every sub-sequence becomes one.
    """

    x = Input("T:S C", "rows of sequences", seq=(1, 2))
    y = Output("R D", "outputs of both ways, `2 * size` columns")
    size = Int("number of units of each way", min=1)
    return_seq = return_seq_switch()
    examples = (
        Example(x="sequence of 3", size=2),
        Example(x="sequence of 2", size=1, return_seq=True),
        Example(x="nested sequence of 2", size=2),
    )


@body(BidirectionalLstm)
def bidirectional_lstm_body(net, x, size, return_seq):
    forward = net.simple_lstm(x, size=size, name="forward")
    backward = net.simple_lstm(x, size=size, reverse=True, name="backward")
    return both_ways(net, forward, backward, return_seq)


@layer("bidirectional_gru", elsewhere={"Paddle": "bidirectional_gru"}, since=1)
class BidirectionalGru:
    """Two `simple_gru`, one from the start of each sequence and one from its end, side by side.

    By default a sequence becomes one row: the last one of the way forward and the first one of the way back, which have
    seen all of it. Of nested sequences every sub-sequence becomes one.
    """

    x = Input("T:S C", "rows of sequences", seq=(1, 2))
    y = Output("R D", "outputs of both ways, `2 * size` columns")
    size = Int("number of units of each way", min=1)
    return_seq = return_seq_switch()
    examples = (
        Example(x="sequence of 3", size=2),
        Example(x="sequence of 2", size=1, return_seq=True),
        Example(x="nested sequence of 2", size=2),
    )


@body(BidirectionalGru)
def bidirectional_gru_body(net, x, size, return_seq):
    forward = net.simple_gru(x, size=size, name="forward")
    backward = net.simple_gru(x, size=size, reverse=True, name="backward")
    return both_ways(net, forward, backward, return_seq)


@layer("sequence_conv_pool", elsewhere={"Paddle": "sequence_conv_pool"}, since=1)
class SequenceConvPool:
    """Features of short runs of rows, the strongest of each sequence: `context`, `fc`, then a pool over the rows.

    It is a convolution over a sequence, as for the sentiment of a text. Of nested sequences each sample becomes a row.
    """

    x = Input("T:S C", "rows of sequences", seq=(1, 2))
    y = Output("R K", "one row per sequence")
    size = Int("number of features", min=1, axis="K", aliases=("hidden_size",))
    context_len = Int("rows of a run", min=1, max=1024)
    context_start = Int(
        "first row of a run, counted from the row itself; when absent: the run lies around it", optional=True
    )
    fc_act = String("elementwise layer applied to the features", default="tanh")
    pool_type = Choice(
        "what is kept of a feature", options={"MAX": "the largest", "AVERAGE": "the mean"}, default="MAX"
    )
    examples = (
        Example(x="sequence of 2", size=3, context_len=3),
        Example(x="sequence of 3", size=2, context_len=2, context_start=0, fc_act="relu", pool_type="AVERAGE"),
        Example(x="nested sequence of 1", size=2, context_len=2),
    )


@body(SequenceConvPool)
def sequence_conv_pool_body(net, x, size, context_len, context_start, fc_act, pool_type):
    runs = net.context(x, length=context_len, start=context_start, name="context")
    features = net.fc(runs, size=size, act=fc_act, name="features")
    pool = net.seq_max_pool if pool_type == "MAX" else net.seq_avg_pool
    return pool(features, name="pool")


@layer("simple_attention", elsewhere={"Paddle": "simple_attention"}, since=1)
class SimpleAttention:
    """Mean of the rows of a sequence, weighted by how well they fit a state (Bahdanau, Cho and Bengio 2015).

    `score[t] = v . tanh(projected[t] + W state)`, the weights are the softmax of the scores of a sequence, and
    `y = sum_t weight[t] * encoded[t]`. `projected` is a map of `encoded` that is the same in every step of a
    decoder, so it is made outside of the step, by an `fc` without a bias.
    """

    encoded = Input("T:S C", "what is to be read", seq=(1,))
    projected = Input("T:S D", "what each row is found by", seq=(1,))
    state = Input("S E", "what is looked for, such as the state of a decoder")
    y = Output("S C", "what was read, a row per sequence")
    examples = (
        Example(encoded="sequence of 3", projected="sequence of 2", state="4"),
        Example(encoded="sequence of 1", projected="sequence of 1", state="1"),
    )


@body(SimpleAttention)
def simple_attention_body(net, encoded, projected, state, D):
    wanted = net.fc(state, size=D, bias=False, name="transform")
    spread = net.expand(wanted, projected, name="spread")
    fit = net.addto(projected, spread, act="tanh", name="fit")
    scores = net.fc(fit, size=1, bias=False, name="scores")
    weights = net.sequence_softmax(scores, name="weights")
    weighted = net.scaling(weights, encoded, name="weighted")
    return net.seq_avg_pool(weighted, strategy="SUM", name="read")
