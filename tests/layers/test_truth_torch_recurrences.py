"""Recurrent layers and PyTorch's on the same batch: outputs, and gradients of the input and of every parameter."""

import itertools

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime import Sequences

torch = pytest.importorskip("torch")

STARTS = np.cumsum([0, 5, 1, 9, 0, 3])
ROWS, UNITS = int(STARTS[-1]), 7
GATES = {
    "recurrent": ("RNN", [(0, 1)]),
    "lstmemory": ("LSTM", [(1, 1), (2, 1), (0, 1), (3, 1)]),
    "grumemory": ("GRU", [(1, 1), (0, -1), (2, 1)]),
}
"""PyTorch's module, and for each of its gates ours and a sign: its update gate is 1 - u, which turns the sum round."""


def ours(kind, x, slope, weight, bias, settings, before=()):
    """`before` are the rows before the first ones: of outputs, and of states."""
    names = [f"before_{place}" for place in range(len(before))]
    data = "".join(f'layer {{ name: "{name}" type: "data" data {{ shape: {UNITS} }} }}' for name in names)
    inputs = "".join(f'input: "{name}" propagate_down: true ' for name in ("x", *names))
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: {x.shape[1]} seq_nested_level: 1 }} }}
    {data}
    layer {{ name: "y" type: "{kind}" {inputs} {kind} {{ {settings} }} }}
    """
    with pl.Net(pl.loads(text), dtype="float64") as net:
        net.parameters["y.weight"].value, net.parameters["y.bias"].value = weight, bias
        y = net.forward({"x": Sequences(x, STARTS), **dict(zip(names, before, strict=True))}, phase="train")["y"]
        net.backward(gradients={"y": slope})
        gradients = [net.parameters[f"y.{name}"].gradient for name in ("weight", "bias")]
        gradients += [net.gradient(name) for name in names]
        return [np.array(values) for values in (y.data, net.gradient("x"), *gradients)]


def theirs(kind, x, slope, weight, bias, reverse, before=()):
    """The module maps the input by the identity, so that it takes sums as ours does."""
    name, gates = GATES[kind]
    places = np.concatenate([UNITS * gate + np.arange(UNITS) for gate, _ in gates])
    signs = np.repeat([sign for _, sign in gates], UNITS)
    recall = len(bias) > len(places)  # of a gated unit that resets after the product
    module = getattr(torch.nn, name)(len(places), UNITS, dtype=torch.float64)
    with torch.no_grad():
        module.weight_ih_l0.copy_(torch.eye(len(places)))
        module.weight_hh_l0.copy_(torch.from_numpy((weight[:, places] * signs).T))
        module.bias_ih_l0.copy_(torch.from_numpy(bias[places] * signs))
        module.bias_hh_l0.zero_()
        if recall:
            module.bias_hh_l0[2 * UNITS :] = torch.from_numpy(bias[3 * UNITS :])
    given = torch.from_numpy(x[:, places] * signs).requires_grad_()
    outputs, starts = [], [torch.from_numpy(rows).requires_grad_() for rows in before]
    for place, (first, last) in enumerate(itertools.pairwise(STARTS)):
        if first < last:
            rows = given[first:last].flip(0) if reverse else given[first:last]
            own = tuple(start[place : place + 1] for start in starts)
            y = module(rows, own[0] if len(own) == 1 else own or None)[0]
            outputs.append(y.flip(0) if reverse else y)
    y = torch.cat(outputs)
    y.backward(torch.from_numpy(slope))
    back = np.argsort(places)
    gradients = [given.grad, module.weight_hh_l0.grad.T, module.bias_ih_l0.grad]
    found = [y.detach().numpy(), *((gradient.numpy() * signs)[..., back] for gradient in gradients)]
    if recall:
        found[3] = np.append(found[3], module.bias_hh_l0.grad[2 * UNITS :].numpy())
    return found + [start.grad.numpy() for start in starts]


def draw(kind):
    """A batch, the slope of its output, weight and bias."""
    rng, columns = np.random.default_rng(0), UNITS * len(GATES[kind][1])
    return [rng.standard_normal(shape) for shape in ((ROWS, columns), (ROWS, UNITS), (UNITS, columns), columns)]


def check(found, expected):
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", ["recurrent", "lstmemory"])
def test_units_are_those_of_pytorch(kind, reverse):
    given = draw(kind)
    settings = f"reverse: {str(reverse).lower()}" + (" peepholes: false" if kind == "lstmemory" else "")
    check(ours(kind, *given, settings), theirs(kind, *given, reverse))


@pytest.mark.parametrize(
    ("kind", "reverse"), [("recurrent", True), ("lstmemory", False), ("lstmemory", True), ("grumemory", True)]
)
def test_units_that_begin_with_given_rows_are_those_of_pytorch(kind, reverse):
    given, rng = draw(kind), np.random.default_rng(5)
    before = [rng.standard_normal((len(STARTS) - 1, UNITS)) for _ in range(2 if kind == "lstmemory" else 1)]
    settings = {"lstmemory": " peepholes: false", "grumemory": " reset_after: true"}.get(kind, "")
    if kind == "grumemory":
        given[3] = np.append(given[3], np.linspace(-1, 1, UNITS))
    check(
        ours(kind, *given, f"reverse: {str(reverse).lower()}{settings}", before),
        theirs(kind, *given, reverse, before),
    )


@pytest.mark.parametrize("reverse", [False, True])
def test_the_last_state_and_what_flows_back_through_it_are_those_of_pytorch(reverse):
    x, _, weight, bias = draw("lstmemory")
    slope, cells = np.random.default_rng(6).standard_normal((2, len(STARTS) - 1, UNITS))
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: {4 * UNITS} seq_nested_level: 1 }} }}
    layer {{ name: "h" type: "data" data {{ shape: {UNITS} }} }}
    layer {{ name: "c" type: "data" data {{ shape: {UNITS} }} }}
    layer {{ name: "y" type: "lstmemory" input: "x" input: "h" input: "c" propagate_down: true propagate_down: true
             propagate_down: true
             lstmemory {{ peepholes: false return_state: true reverse: {str(reverse).lower()} }} }}
    """
    with pl.Net(pl.loads(text), dtype="float64") as net:
        net.parameters["y.weight"].value, net.parameters["y.bias"].value = weight, bias
        feeds = {"x": Sequences(x, STARTS), "h": np.zeros_like(cells), "c": cells}
        found = np.array(net.forward(feeds, phase="train")["y.last_state"])
        net.backward(gradients={"y.last_state": slope})
        gradients = [np.array(net.gradient(name)) for name in ("x", "c")]
    places = np.concatenate([UNITS * gate + np.arange(UNITS) for gate, _ in GATES["lstmemory"][1]])
    cell = torch.nn.LSTMCell(len(places), UNITS, dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.eye(len(places)))
        cell.weight_hh.copy_(torch.from_numpy(weight[:, places].T))
        cell.bias_ih.copy_(torch.from_numpy(bias[places]))
        cell.bias_hh.zero_()
    rows, start = (torch.from_numpy(values).requires_grad_() for values in (x, cells))
    ends = []
    for place, (first, last) in enumerate(itertools.pairwise(STARTS)):
        h, c = torch.zeros(1, UNITS, dtype=torch.float64), start[place : place + 1]
        for t in reversed(range(first, last)) if reverse else range(first, last):
            h, c = cell(rows[t : t + 1, places], (h, c))
        ends.append(c)
    expected = torch.cat(ends)
    expected.backward(torch.from_numpy(slope))
    check([found, *gradients], [expected.detach().numpy(), rows.grad.numpy(), start.grad.numpy()])


@pytest.mark.parametrize("reverse", [False, True])
def test_gated_units_that_reset_after_the_product_are_those_of_pytorch(reverse):
    x, slope, weight, bias = draw("grumemory")
    bias = np.append(bias, np.linspace(-1, 1, UNITS))
    check(
        ours("grumemory", x, slope, weight, bias, f"reset_after: true reverse: {str(reverse).lower()}"),
        theirs("grumemory", x, slope, weight, bias, reverse),
    )


@pytest.mark.parametrize("reverse", [False, True])
def test_gated_units_and_their_gradients_are_those_of_a_loop_in_pytorch(reverse):
    x, slope, weight, bias = values = [torch.from_numpy(array).requires_grad_() for array in draw("grumemory")]
    rows = {}
    for first, last in itertools.pairwise(STARTS):
        h = torch.zeros(UNITS, dtype=torch.float64)
        for t in reversed(range(first, last)) if reverse else range(first, last):
            s_u, s_r, s_c = (x[t] + bias).split(UNITS)
            w_u, w_r, w_c = weight.split(UNITS, 1)
            u, r = torch.sigmoid(s_u + h @ w_u), torch.sigmoid(s_r + h @ w_r)
            h = rows[t] = (1 - u) * h + u * torch.tanh(s_c + (r * h) @ w_c)
    y = torch.stack([rows[t] for t in range(ROWS)])
    y.backward(slope.detach())
    expected = [y.detach(), x.grad, weight.grad, bias.grad]
    found = ours("grumemory", *(value.detach().numpy() for value in values), f"reverse: {str(reverse).lower()}")
    check(found, [value.numpy() for value in expected])
