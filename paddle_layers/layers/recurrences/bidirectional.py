"""Complete LSTM and GRU layers with their input projection; bidirectional ones."""

from paddle_layers.define import Bool, Example, Input, Int, Output, body, layer

from .gates import activation_choice, reverse_switch


@layer(
    "simple_lstm",
    elsewhere={"Paddle": "simple_lstm", "Keras": "LSTM", "PyTorch": "LSTM"},
    terms=("long short-term memory", "LSTM layer", "LSTM"),
    since=1,
)
class SimpleLstm:
    """Long short-term memory (LSTM) layer with its input projection: an `fc` followed by `lstmemory`.

    This is the equivalent of `LSTM` in Keras and PyTorch, with peephole connections, whose weights start at zero;
    without them use `fc` and `lstmemory` with `peepholes: false`. The projection has no bias, since `lstmemory` adds
    one to the same gate pre-activations.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    y = Output("T:S K", "hidden states")
    size = Int("number of units", min=1, axis="K")
    act = activation_choice("activation of the candidate", "tanh", "active_type")
    gate_act = activation_choice("activation of the gates", "sigmoid", "active_gate_type")
    state_act = activation_choice("activation of the cell state in the output", "tanh", "active_state_type")
    reverse = reverse_switch()
    examples = (
        Example(x="sequence of 3", size=2),
        Example(x="nested sequence of 2", size=3, reverse=True, gate_act="tanh"),
    )


@body(SimpleLstm)
def simple_lstm_body(net, x, size, act, gate_act, state_act, reverse):
    # All steps at once: only the recurrent product has to go step by step.
    gates = net.fc(x, size=4 * size, bias=False, name="gates")
    return net.lstmemory(gates, act=act, gate_act=gate_act, state_act=state_act, reverse=reverse, name="lstm")


@layer(
    "simple_gru",
    elsewhere={"Paddle": "simple_gru2", "Keras": "GRU", "PyTorch": "GRU"},
    terms=("gated recurrent unit", "GRU layer", "GRU"),
    since=1,
)
class SimpleGru:
    """Gated recurrent unit (GRU) layer with its input projection: an `fc` followed by `grumemory`.

    This is the equivalent of `GRU` in Keras and PyTorch, in the original form; for `reset_after`, their default, use
    `fc` and `grumemory`. The projection has no bias, since `grumemory` adds one to the
    same gate pre-activations. Paddle's `simple_gru` is the same, composed of single steps.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    y = Output("T:S K", "hidden states")
    size = Int("number of units", min=1, axis="K")
    act = activation_choice("activation of the candidate", "tanh", "active_type")
    gate_act = activation_choice("activation of the gates", "sigmoid", "active_gate_type")
    reverse = reverse_switch()
    examples = (
        Example(x="sequence of 3", size=2),
        Example(x="nested sequence of 2", size=3, reverse=True, gate_act="tanh"),
    )


@body(SimpleGru)
def simple_gru_body(net, x, size, act, gate_act, reverse):
    # All steps at once, as in `simple_lstm`.
    gates = net.fc(x, size=3 * size, bias=False, name="gates")
    return net.grumemory(gates, act=act, gate_act=gate_act, reverse=reverse, name="gru")


def return_seq_switch() -> Bool:
    """The attribute `return_seq` of bidirectional layers."""
    return Bool("return all steps; if false, only the final states", default=False)


def both_ways(net, forward, backward, return_seq):
    """Concatenated outputs of two directions: all steps, or the final states."""
    if return_seq:
        return net.concat(forward, backward, name="concat")
    level = "SUBSEQUENCE" if forward.type.level == 2 else "SEQUENCE"
    last = net.seq_last(forward, level=level, name="last")
    # The backward direction ends at the first step.
    first = net.seq_first(backward, level=level, name="first")
    return net.concat(last, first, name="concat")


@layer(
    "bidirectional_lstm",
    elsewhere={"Paddle": "bidirectional_lstm", "Keras": "Bidirectional"},
    terms=("bidirectional LSTM", "BiLSTM"),
    since=1,
)
class BidirectionalLstm:
    """Bidirectional LSTM: two `simple_lstm` layers in opposite directions, concatenated.

    By default a sequence becomes one vector: the final states of both directions, the last step of the forward and the
    first step of the backward layer. In nested sequences every sub-sequence becomes one.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    y = Output("R D", "outputs of both directions, `2 * size` columns")
    size = Int("number of units per direction", min=1)
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


@layer(
    "bidirectional_gru",
    elsewhere={"Paddle": "bidirectional_gru"},
    terms=("bidirectional GRU", "BiGRU"),
    since=1,
)
class BidirectionalGru:
    """Bidirectional GRU: two `simple_gru` layers in opposite directions, concatenated.

    By default a sequence becomes one vector: the final states of both directions, the last step of the forward and the
    first step of the backward layer. In nested sequences every sub-sequence becomes one.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    y = Output("R D", "outputs of both directions, `2 * size` columns")
    size = Int("number of units per direction", min=1)
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
