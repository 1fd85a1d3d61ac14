"""Simple (Elman) RNN over sequences; the input projection is a separate layer."""

import numpy as np

from paddle_layers.define import Example, Input, Output, Param, Temp, each, gradient, infer, layer, onnx

from .gates import (
    activate,
    activation_choice,
    activation_derivative,
    onnx_functions,
    onnx_recurrence,
    reverse_switch,
)


@layer(
    "recurrent",
    elsewhere={"Paddle": "recurrent", "Caffe": "RNN", "ONNX": "RNN", "Keras": "SimpleRNN", "PyTorch": "RNN"},
    terms=("simple RNN", "Elman network", "recurrent layer"),
    since=1,
)
class Recurrent:
    """Simple (Elman) recurrent layer over pre-computed inputs: `y[t] = act(x[t] + y[t-1] @ weight + bias)`.

    (Elman 1990), in each sequence, or in the innermost sequences of nested ones; the initial hidden state is `initial`,
    or zero. `x` are the pre-activations: add an `fc` before the layer as the input projection, which `SimpleRNN` of
    Keras and `RNN` of PyTorch include. Paddle is the same. ONNX includes the input projection; Caffe's RNN also has an
    output projection.
    """

    x = Input("T:S K", "pre-activations", seq=(1, 2), kinks=(0.0,))
    initial = Input("S K", "initial hidden state, one per sequence", seq=(0, 1), optional=True)
    weight = Param("J K", "recurrent weights")
    bias = Param("K", "added to the pre-activations", init="zero")
    y = Output("T:S K", "hidden states")
    act = activation_choice("activation", "tanh", "active_type")
    reverse = reverse_switch()
    delta = Temp("T:S K", "gradient of the pre-activation")
    past = Temp("T:S K", "previous hidden state")
    examples = (
        Example(x="sequence of 3"),
        Example(x="nested sequence of 2", reverse=True, act="sigmoid"),
        Example(x="sequence of 1", act="relu"),
        Example(x="sequence of 4", act="linear"),
        Example(x="sequence of 3", initial="3"),
        Example(x="nested sequence of 2", initial="sequence of 2", reverse=True),
    )


@infer(Recurrent)
def recurrent_sizes(K):
    return {"J": K}


@each(Recurrent.y, scan="forward")
def recurrent_y(t, k, s, before, x, initial, y, weight, bias, act, K):
    total = x[t, k] + bias[k]
    if before >= 0 or initial is not None:
        for j in range(K):
            # As in `grumemory`: the first test is decided when the kernel is compiled.
            total += (y[before, j] if initial is None or before >= 0 else initial[s, j]) * weight[j, k]
    return activate(total, act == "tanh", act == "sigmoid", act == "relu")


@each(Recurrent.delta, scan="back")
def recurrent_delta(t, k, after, y, dy, delta, weight, act, K):
    total = dy[t, k]
    if after >= 0:
        for j in range(K):
            total += delta[after, j] * weight[k, j]
    # The derivative from the output, so that pre-activations need not be kept.
    return total * activation_derivative(y[t, k], act == "tanh", act == "sigmoid", act == "relu")


@each(Recurrent.past)
def recurrent_past(t, k, s, y, initial, before_of):
    # Shifted once, so that the gradient of the weight is a plain product over all steps.
    if before_of[t] >= 0:
        return y[before_of[t], k]
    return 0.0 if initial is None else initial[s, k]


@gradient(Recurrent.x)
def recurrent_dx(t, k, delta):
    return delta[t, k]


@gradient(Recurrent.initial)
def recurrent_dinitial(s, k, delta, weight, S_start, reverse, K):
    total = 0.0
    if S_start[s] < S_start[s + 1]:
        # The first step in the direction of the recurrence.
        t = S_start[s + 1] - 1 if reverse else S_start[s]
        for j in range(K):
            total += delta[t, j] * weight[k, j]
    return total


@gradient(Recurrent.weight)
def recurrent_dweight(j, k, past, delta, T):
    return sum(past[t, j] * delta[t, k] for t in range(T))


@gradient(Recurrent.bias)
def recurrent_dbias(k, delta, T):
    return sum(delta[t, k] for t in range(T))


@onnx(Recurrent)
def recurrent_onnx(graph, x, initial, weight, bias, T_lengths, K, act, reverse):
    weights = (np.eye(K), weight.array.T, np.concatenate([bias.array, np.zeros(K)]))
    return onnx_recurrence(graph, "RNN", x, T_lengths, weights, reverse, (initial,), **onnx_functions(act))[0]
