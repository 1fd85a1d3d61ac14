"""Gate activations and attributes shared by the recurrent layers."""

import math

from paddle_layers.define import (
    Bool,
    Choice,
    Type,
    helper,
    require,
)
from paddle_layers.layers.helpers import sigmoid

ACTIVATIONS = {"tanh": "between -1 and 1", "sigmoid": "between 0 and 1", "relu": "not below 0", "linear": "as it is"}


def activation_choice(doc: str, default: str, alias: str) -> Choice:
    """An attribute that names a function of recurrent units or gates."""
    return Choice(doc, options=ACTIVATIONS, default=default, aliases=(alias,))


def reverse_switch() -> Bool:
    """The direction of a recurrence."""
    return Bool("process each sequence in reverse", default=False, aliases=("reversed",))


def reset_after_switch() -> Bool:
    """The position of the reset gate: before or after the recurrent weights of the candidate."""
    return Bool(
        "apply the reset gate after the recurrent weights (cuDNN, PyTorch, Keras)",
        default=False,
        aliases=("linear_before_reset",),
    )


def check_gates(columns: int, gates: int, layer: str = "") -> int:
    """Number of units of an input with one pre-activation per gate and unit; `layer` is the one for features."""
    of_features = f"; for features, use `{layer}`, which computes them" if layer else ""
    require(columns % gates == 0, "x", f"{columns} columns are not {gates} gate pre-activations per unit{of_features}")
    return columns // gates


def check_initial(units: int, initial: Type | None, name: str) -> None:
    """Refuse rows before the first ones that are not as wide as there are units."""
    if initial is not None:
        require(initial.size == units, name, f"there are {units} units, but `{name}` is {initial}")


LEVELS = (0, 1, 2)


def check_units(units: int, columns: int, gates: int) -> None:
    """Refuse sums that are not those of the units of the step before."""
    check_gates(columns, gates)
    require(
        columns == gates * units,
        "previous",
        f"there are {units} units in `previous`, but {columns} columns of sums, {gates} for each unit",
    )


@helper
def activate(v, tanh, sigmoid_, relu):
    """The function of a recurrent unit or gate that is asked for; `v` itself if none is."""
    if tanh:
        return math.tanh(v)
    if sigmoid_:
        return sigmoid(v)
    return max(v, 0.0) if relu else v


@helper
def activation_derivative(y, tanh, sigmoid_, relu):
    """Derivative of `activate` where its value is `y`."""
    # From the output, so that pre-activations need not be kept for the backward pass.
    if tanh:
        return 1.0 - y * y
    if sigmoid_:
        return y * (1.0 - y)
    # Where relu is 0 its derivative is 0, also at the corner.
    return 0.0 if relu and y <= 0.0 else 1.0


ONNX_NAMES = {"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu", "linear": "Affine"}


def onnx_functions(*names):
    """The attributes of an ONNX recurrence that name its functions."""
    linear = names.count("linear")
    # ONNX has no linear activation; Affine has the factor and the offset as attributes.
    slopes = {"activation_alpha": [1.0] * linear, "activation_beta": [0.0] * linear} if linear else {}
    return {"activations": [ONNX_NAMES[name] for name in names], **slopes}


def onnx_activate(graph, x, name):
    """The function of a unit or gate as a node."""
    return x if name == "linear" else graph.node(ONNX_NAMES[name], x)


def onnx_recurrence(graph, operator, x, lengths, weights, reverse, initial=(), peepholes=None, **settings):
    """A recurrence over padded sequences; `weights` map the input, the output of before, and are added.

    All outputs, then the last outputs and, of an LSTM, the last states.
    """
    # ONNX's recurrences have time as the first axis.
    steps = graph.Transpose(x, perm=[1, 0, 2])
    # ONNX wants the lengths in 32 bits.
    lengths = graph.Cast(lengths, to=6)
    before = [None if rows is None else graph.Unsqueeze(rows, [0]) for rows in initial]
    y, *last = graph.node(
        operator, steps, *(one[None] for one in weights), lengths, *before, *([] if peepholes is None else [peepholes]),
        outputs=3 if operator == "LSTM" else 2, direction="reverse" if reverse else "forward",
        hidden_size=weights[1].shape[1], **settings,
    )  # fmt: skip
    return graph.Transpose(graph.Squeeze(y, [1]), perm=[1, 0, 2]), *(graph.Squeeze(one, [0]) for one in last)
