"""Layers made of layers: recurrent ones with the map of their input, and both ways."""

from paddle_layers.define import Bool, Example, Input, Int, Output, body, layer

from .gates import activation_choice, reverse_switch


@layer("simple_lstm", elsewhere={"Paddle": "simple_lstm"}, since=1)
class SimpleLstm:
    """Long short-term memory with the map of its input: `fc` to the sums of the gates, then `lstmemory`.

    The map has no bias, since `lstmemory` adds one to the same sums.
    """

    x = Input("T:S C", "rows of sequences", seq=(1, 2))
    y = Output("T:S K", "output of the units")
    size = Int("number of units", min=1, axis="K")
    act = activation_choice("function of the candidate", "tanh", "active_type")
    gate_act = activation_choice("function of the gates", "sigmoid", "active_gate_type")
    state_act = activation_choice("function of the state on its way out", "tanh", "active_state_type")
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
    act = activation_choice("function of the candidate", "tanh", "active_type")
    gate_act = activation_choice("function of the gates", "sigmoid", "active_gate_type")
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
