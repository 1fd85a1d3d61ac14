"""Attention: blocks of queries and keys against the point functions, with partial blocks, shared heads and one value.

Gradients that nobody needs are computed by the same kernel, and then discarded.
"""

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size
from tests.selection import COMPILER, files_of, later_unless_changed

pytestmark = later_unless_changed(__file__, *COMPILER, *files_of("multi_head_attention"))

TEXT = """
layer {{ name: "q" type: "data" data {{ shape: {0} seq_nested_level: 1 }} }}
layer {{ name: "k" type: "data" data {{ shape: {1} seq_nested_level: 1 }} }}
layer {{ name: "v" type: "data" data {{ shape: {2} seq_nested_level: 1 }} }}
layer {{ name: "query" type: "scale" input: "q" }}
layer {{ name: "key" type: "scale" input: "k" }}
layer {{ name: "value" type: "scale" input: "v" }}
layer {{
  name: "y" type: "multi_head_attention" input: "{3}" input: "{4}" input: "{5}"
  multi_head_attention {{ num_heads: {6} num_kv_heads: {7} {8} }}
}}
"""
# Lengths below, at and above a block of 64; a query without a key.
QUERIES, KEYS = [1, 0, 64, 70, 130, 3], [5, 2, 64, 129, 40, 0]
CASES = {
    "heads of whole vectors": (64, 64, 64, "query", "key", "value", 2, 2, ""),
    "causal": (64, 64, 64, "query", "key", "value", 2, 2, "causal: true"),
    "causal, shared heads of part vectors": (60, 20, 14, "query", "key", "value", 6, 2, "causal: true scale: -0.5"),
    "narrow heads": (6, 6, 8, "query", "key", "value", 2, 2, ""),
    "one value": (32, 32, 32, "query", "query", "query", 2, 2, "causal: true"),
    "keys without gradients": (32, 32, 32, "query", "k", "v", 2, 2, ""),
    "only values with gradients": (32, 16, 16, "q", "k", "value", 2, 1, ""),
}


def starts(lengths):
    return np.append(0, np.cumsum(lengths))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CASES)
def test_blocks_equal_the_point_functions(case, dtype):
    rng, widths = np.random.default_rng(0), CASES[case][:3]
    shapes = {"q": (starts(QUERIES), widths[0]), "k": (starts(KEYS), widths[1]), "v": (starts(KEYS), widths[2])}
    feeds = {name: pl.Sequences(rng.standard_normal((at[-1], wide)), at) for name, (at, wide) in shapes.items()}
    text, results = TEXT.format(*CASES[case]), []
    names = [name for name in ("query", "key", "value") if f'input: "{name}"' in text]
    slope = rng.standard_normal((starts(QUERIES)[-1], CASES[case][6] * widths[2] // CASES[case][7]))
    for selection in (point_functions_only, tuned_at_every_size):
        with selection(), pl.Net(pl.loads(text), dtype=dtype, keep=["query", "key", "value"]) as net:
            outputs = net.forward(feeds)
            net.backward({"y": slope})
            results.append([outputs["y"].data, *(np.asarray(net.gradient(name)) for name in names)])
            used = {launch.code.tuned.function.__name__ for launch in net.plan("train").launches if launch.items}
    assert used >= {"attention", "attention_gradients"}
    for expected, found in zip(*results, strict=True):
        assert np.abs(found - expected).max() <= np.abs(expected).max() * (1e-13 if dtype == "float64" else 5e-6)
