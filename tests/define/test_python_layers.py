"""Layers whose functions are Python functions of whole arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime.devices.cpu.interpreter import interpreted
from paddle_layers.runtime.devices.cpu.table import always_cut
from paddle_layers.runtime.devices.cuda.device import Cuda
from paddle_layers.runtime.devices.cuda.simulator import SimulatedCard
from paddle_layers.runtime.memory.blocks import DeviceWarning

PLUGIN = '''
"""Layers of Python functions."""
import numpy as np
import paddle_layers as pl


@pl.layer("sorted_rows")
class SortedRows:
    """Every row times its factors, in rising order, and the place of the largest."""

    x = pl.Input("N C", "rows")
    factor = pl.Param("C", "a factor for each column", init="one")
    y = pl.Output("N C", "numbers in rising order")
    largest = pl.Output("N", "column of the largest number", kind="INT", size="C")
    falling = pl.Bool("in falling order instead", default=False)
    order = pl.Temp("N C", "where each number came from", kind="INT")
    examples = (pl.Example(x="3"),)


@pl.python(SortedRows.order)
def order(x, factor, falling):
    return np.argsort(-x * factor if falling else x * factor, axis=1)


@pl.python(SortedRows.y, SortedRows.largest)
def forward(x, factor, order):
    return np.take_along_axis(x * factor, order, axis=1), np.argmax(x * factor, axis=1)


@pl.python(SortedRows.x)
def dx(dy, factor, order):
    result = np.empty_like(dy)
    np.put_along_axis(result, order, dy * factor[order], axis=1)
    return result


@pl.python(SortedRows.factor)
def dfactor(dy, x, order):
    result = np.zeros(x.shape[1])
    np.add.at(result, order, dy * np.take_along_axis(x, order, axis=1))
    return result
'''
NETWORK = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "mapped" type: "fc" input: "x" propagate_down: true fc { size: 3 } }
layer { name: "sorted" type: "sorted_rows" input: "mapped" output: "sorted" output: "largest" }
layer { name: "both" type: "addto" input: "sorted" input: "mapped" }
layer { name: "column" type: "embedding" input: "largest" embedding { size: 3 } }
"""
ROWS = np.array([[1.0, -2, 0.5], [3, 0.25, -1]])


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Any]:
    """Registers the layer, with a part of its text replaced."""
    from paddle_layers.define import registries

    def load(old: str = "", new: str = "") -> None:
        assert old in PLUGIN
        file = tmp_path / "sorting.py"
        file.write_text(PLUGIN.replace(old, new) if old else PLUGIN)
        pl.load_plugin(str(file))

    yield load
    if "sorted_rows" in registries["layer"]:
        registries["layer"].remove("sorted_rows")


def passed(device: Any = "cpu") -> dict[str, np.ndarray]:
    with pl.Net(pl.loads(NETWORK), dtype="float64", seed=1, device=device) as net:
        net.parameters["sorted.factor"].value = [1, -2, 3]
        found = dict(net.forward({"x": ROWS}, phase="train"))
        net.backward(gradients={"both": np.arange(6.0).reshape(2, 3)})
        found |= {name: one.gradient for name, one in net.parameters.items() if not name.startswith("column")}
        return {name: np.array(value) for name, value in (found | {"dx": net.gradient("x")}).items()}


def expected() -> dict[str, np.ndarray]:
    with pl.Net(pl.loads(NETWORK), dtype="float64", seed=1) as net:
        weight, table = net.parameters["mapped.weight"].value.copy(), net.parameters["column.table"].value.copy()
    factor, slope = np.array([1.0, -2, 3]), np.arange(6.0).reshape(2, 3)
    mapped = ROWS @ weight
    scaled = mapped * factor
    order = scaled.argsort(axis=1)
    back = np.argsort(order, axis=1)
    dscaled = np.take_along_axis(slope, back, axis=1)
    dmapped = dscaled * factor + slope
    return {
        "both": np.sort(scaled, axis=1) + mapped,
        "column": table[scaled.argmax(axis=1)],
        "sorted.factor": (dscaled * mapped).sum(axis=0),
        "mapped.weight": ROWS.T @ dmapped,
        "mapped.bias": dmapped.sum(axis=0),
        "dx": dmapped @ weight.T,
    }


@pytest.mark.parametrize("engine", [nullcontext, interpreted])
def test_outputs_and_gradients_are_those_of_numpy(plugin: Any, engine: Any) -> None:
    plugin()
    with engine():
        found = passed()
    right = expected()
    assert found.keys() == right.keys()
    for name, values in right.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-12, err_msg=name)


def test_on_a_card_it_runs_on_the_host_and_says_so(plugin: Any) -> None:
    plugin()
    assert pl.registry["sorted_rows"].definition.facts.devices == ["cpu"]
    with pytest.warns(DeviceWarning, match=r"no CUDA kernel for `sorted` \(order\).* Python functions run on the CPU"):
        found = passed(Cuda(SimulatedCard(), simulated=True))
    for name, values in expected().items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-12, err_msg=name)


WRONG = {
    "np.argmax(x * factor, axis=1)\n": (
        "np.argmax(x, axis=0)\n",
        "returns shape (3,) for `largest`; expected (2,)",
    ),
    "np.argmax(x * factor, axis=1)\n\n": (
        "np.full(2, 3)\n\n",
        "returns id 3 for `largest`; valid ids are 0 to 2",
    ),
    ", np.argmax(x * factor, axis=1)": ("", "returns 1 arrays for `y`, `largest`"),
    "np.argmax(x": ("np.mean(x", "returns float64 for `largest`; expected an integer dtype"),
    "    return np.argsort": ("    np.argsort", "returns None for `order`; is a `return` missing?"),
    "    return np.take": ("    x[0] = 1\n    return np.take", "ValueError: assignment destination is read-only"),
    "np.argsort(-x * factor if": ("{}['a'] + np.argsort(-x * factor if", "KeyError: 'a'"),
}


@pytest.mark.parametrize("engine", [nullcontext, interpreted])
@pytest.mark.parametrize("old", WRONG)
def test_what_goes_wrong_is_told_in_one_line(plugin: Any, old: str, engine: Any) -> None:
    new, message = WRONG[old]
    plugin(old, new)
    with engine(), pytest.raises(pl.DefinitionError) as caught:
        passed()
    assert message in str(caught.value)
    assert ", in layer `sorted`: " in str(caught.value)
    assert "sorting.py:" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_failure_is_told_where_other_threads_run_launches_beside_it(plugin: Any) -> None:
    old = "np.argsort(-x * factor if"
    plugin(old, WRONG[old][0])
    feeds = {"x": np.ones((20_000, 3))}  # enough for the others to have come
    with always_cut("pieces"), pl.Net(pl.loads(NETWORK)) as net:
        for _ in range(50):
            with pytest.raises(pl.DefinitionError, match="KeyError: 'a'"):
                net.forward(feeds)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("forward(x, factor, order)", "forward(x, y)", "takes its target `y` as an argument"),
        ("forward(x, factor, order)", "forward(x, factr)", "unknown argument `factr`; did you mean `factor`?"),
        (
            "SortedRows.x)",
            "SortedRows.x, SortedRows.factor)",
            "a Python function computes one gradient; write one function per gradient",
        ),
    ],
)
def test_what_a_function_cannot_have_is_refused_when_it_is_registered(
    plugin: Any, old: str, new: str, message: str
) -> None:
    with pytest.raises(pl.DefinitionError, match=r"sorting\.py") as caught:
        plugin(old, new)
    assert message in str(caught.value)


def test_a_config_cannot_name_a_function() -> None:
    for kind in ("sorted_rows", "numpy.sort", "python", "os.system"):
        with pytest.raises(pl.ConfigError, match="E111"):
            pl.loads(f'layer {{ name: "x" type: "data" data {{ }} }} layer {{ name: "y" type: "{kind}" input: "x" }}')
