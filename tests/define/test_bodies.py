"""Layers made of layers: what a body records, what a config says of them, and that they are their parts."""

from functools import partial

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import DefinitionError, Type, body, layer
from paddle_layers.editor.hover import hover
from paddle_layers.runtime import Sequences
from paddle_layers.testing.cases.trial import as_python
from tests.editor.helpers import labels, opened

pytestmark = pytest.mark.usefixtures("as_python")

LEARNED = 'layer { name: "x" type: "shift" input: "fed" }\n'
X = 'layer { name: "fed" type: "data" data { shape: 6 seq_nested_level: 1 } }\n' + LEARNED
ROWS = 'layer { name: "fed" type: "data" data { shape: 4 } }\n' + LEARNED
IMAGE = 'layer { name: "fed" type: "data" data { shape: [2, 6, 6] } }\n' + LEARNED
SEQUENCES = Sequences(np.random.default_rng(0).standard_normal((7, 6)).astype(np.float32), [0, 3, 4, 7])


def fields(**more):
    """Fields of a layer with one input and one output."""

    class Owner:
        """A layer of the tests."""

        x = pl.Input("N C", "rows")
        y = pl.Output("N K", "rows")
        examples = (pl.Example(x="3"),)

    for name, value in more.items():
        setattr(Owner, name, value)
        if hasattr(value, "__set_name__"):
            value.__set_name__(Owner, name)
    return Owner


def made_of(build, **more):
    """A registered layer with a body, complete."""
    owner = layer("of_tests")(fields(**more))
    try:
        body(owner)(build)
        return owner.__layer__.complete()
    finally:
        pl.registries["layer"].remove("of_tests")


def message(text):
    """The first fault of a network, as it is shown, and the text under its caret."""
    with pytest.raises(pl.ConfigError) as caught:
        pl.loads(text)
    first = caught.value.diagnostics[0]
    return f"{first.code}: {first.message}", text[first.start :].split()[0].strip('",:;[]')


# ---- what a body records


def test_parts_bear_their_names_or_type_and_number():
    def build(net, x):
        return net.fc(net.relu(net.fc(x, size=2)), size=3, name="last")

    found = made_of(build).bind_axes([Type.dense(3)], {}).body
    assert [part.name for part in found.parts] == ["fc_1", "relu_1", "last"]
    assert [part.inputs for part in found.parts] == [("x",), ("fc_1",), ("relu_1",)]
    assert (found.outputs, found.output_types) == (("last",), (Type.dense(3),))


def test_types_are_known_while_the_body_runs():
    seen = []

    def build(net, x, C):
        wide = net.fc(x, size=2 * C)
        seen.append((x.type.dims, wide.type.dims, C))
        return wide

    made_of(build)
    assert seen[-1] == ((3,), (6,), 3)


def test_a_repeatable_input_is_a_tuple():
    def build(net, x):
        return net.addto(*x, name="sum")

    repeated = {"x": pl.Input("N C", "rows", repeatable=True), "examples": (pl.Example(x=["3", "3"]),)}
    found = made_of(build, **repeated).bind_axes([Type.dense(3)] * 2, {}).body
    assert found.inputs == found.parts[0].inputs == ("x_0", "x_1")


def test_an_input_that_is_absent_is_none():
    def build(net, x, extra):
        return net.addto(x, extra, name="sum")

    found = made_of(build, extra=pl.Input("N C", "rows", optional=True))
    assert found.bind_axes([Type.dense(3)] * 2, {}).body.parts[0].inputs == ("x", "extra")
    assert found.bind_axes([Type.dense(3)], {}).body.parts[0].inputs == ("x",)


MISTAKES = {
    "unknown argument `nett`; did you mean `net`": lambda nett: nett.relu(),
    "unknown layer `rulu`; did you mean `relu`": lambda net, x: net.rulu(x),
    "unknown argument `sise`; did you mean `size`": lambda net, x: net.fc(x, sise=3),
    "needs `size`": lambda net, x: net.fc(x),
    "use a unique identifier": lambda net, x: net.relu(net.relu(x, name="a"), name="a"),
    "`x` cannot name a part": lambda net, x: net.relu(x, name="x"),
    "takes inputs and outputs of other parts, found 3": lambda net: net.relu(3),
    "is a `return` missing": lambda: None,
    "returns 2 outputs, but 1 are declared": lambda net, x: (net.relu(x), net.relu(x)),
}


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes_of_authors_name_the_place(words):
    with pytest.raises(DefinitionError, match=r"test_bodies\.py") as caught:
        made_of(MISTAKES[words])
    assert words in str(caught.value)


def test_a_part_that_is_given_what_it_refuses_is_told_of_the_attribute():
    def build(net, x, columns):
        return net.fc(x, num_output=columns, name="map")

    less = pl.Int("columns", default=2)
    found = made_of(build, columns=less)
    with pytest.raises(pl.ShapeError, match=r"its part `map` \(fc\): `size` is 0, must be >= 1") as caught:
        found.infer([Type.dense(3)], found.bind({"columns": 0}))
    assert caught.value.attribute == "columns"


def test_what_a_body_makes_is_what_is_declared():
    def build(net, x):
        return net.fc(x, size=5)

    with pytest.raises(
        DefinitionError, match="`y` is declared as DENSE `N C`, where axis C is 3, but its body returns 5"
    ):
        made_of(build, y=pl.Output("N C", "rows"))
    with pytest.raises(DefinitionError, match="declared as DENSE `N K Q`, but its body returns 5"):
        made_of(build, y=pl.Output("N K Q", "rows"))
    with pytest.raises(DefinitionError, match="declared as INT `N`"):
        made_of(build, y=pl.Output("N", "rows", kind="INT", size="K"))


def test_a_body_computes_all_of_the_layer():
    def build(net, x):
        return net.relu(x)

    with pytest.raises(DefinitionError, match="inputs, outputs and attributes; remove field `weight`"):
        made_of(build, weight=pl.Param("C", "what no part has"))


# ---- what a config says


def test_a_gradient_flows_back_through_it_where_one_reaches_a_part():
    ids = pl.Output("N", "class", kind="INT", size="C")
    stopped = made_of(lambda net, x, C: net.maxid(net.fc(x, size=C)), y=ids).definition
    assert stopped.facts.has_param
    assert not stopped.facts.can_do_bp
    assert not stopped.inputs[0].differentiable
    table = made_of(lambda net, x: net.embedding(net.maxid(x), size=2)).definition
    assert table.facts.can_do_bp
    assert not table.inputs[0].differentiable
    through = made_of(lambda net, x: net.tanh(net.fc(x, size=2))).definition
    assert through.facts.can_do_bp
    assert through.inputs[0].differentiable


def test_a_fault_inside_is_told_of_what_made_it():
    wrong = X + 'layer { name: "b" type: "transformer_block" input: "x" transformer_block { num_heads: 4 } }'
    assert message(wrong) == ("E209: layer `b`: 6 columns cannot be cut into 4 heads", "4")
    wrong = ROWS + 'layer { name: "g" type: "gated_unit" input: "x" gated_unit { size: 3 act: "rule" } }'
    text, place = message(wrong)
    assert text.endswith("layer `g`: its part `value` (fc): unknown layer `rule`")
    assert place == "rule"


def test_a_type_that_does_not_fit_a_part_is_told_of_the_input():
    wrong = ROWS + 'layer { name: "m" type: "mixed" input: "x" mixed { size: 3 terms: ["table"] } }'
    text, place = message(wrong)
    assert (
        text == "E206: layer `m`: its part `table` (embedding): input `ids` of `embedding` is dense (4); it takes ids"
    )
    assert place == "x"


def test_a_body_that_fails_is_its_authors_fault():
    owner = layer("of_tests")(fields(wide=pl.Bool("twice the columns", default=False), y=pl.Output("N C", "rows")))
    body(owner)(lambda net, x, wide, C: net.fc(x, size=2 * C if wide else C))
    try:
        text, place = message(ROWS + 'layer { name: "t" type: "of_tests" input: "x" of_tests { wide: true } }')
    finally:
        pl.registries["layer"].remove("of_tests")
    assert text.startswith("E401: layer type `of_tests` raised an error")
    assert text.endswith("`y` is declared as DENSE `N C`, where axis C is 4, but its body returns 8")
    assert place == "of_tests"


PARAM = 'layer {{ name: "l" type: "bidirectional_lstm" input: "x" bidirectional_lstm {{ size: 2 }} param {{ {} }} }}'


def test_param_speaks_of_a_part_of_a_part():
    net = pl.Net(pl.loads(X + PARAM.format('of: "forward.gates.weight" frozen: true')))
    assert net.parameters["l.forward.gates.weight"].gradient is None
    assert net.parameters["l.backward.gates.weight"].gradient is not None


@pytest.mark.parametrize("name", ["forward.gates.wait", "forwards.gates.weight", "gates.weight", "forward.gates.bias"])
def test_a_parameter_that_no_part_has_is_unknown(name):
    text, place = message(X + PARAM.format(f'of: "{name}"'))
    assert text == f"E112: `bidirectional_lstm` has no parameter `{name}`"
    assert place == name


def test_an_editor_knows_the_parameters_of_parts():
    text = X + PARAM.format('of: "forward.gates.|weight"')
    assert hover(*opened(text)).text.startswith("**forward.gates.weight**: 6x8, axes `C_i K`")
    assert "backward.lstm.bias" in labels(X + PARAM.format('of: "|"'))


def test_parts_of_two_layers_share_a_parameter():
    one = 'layer {{ name: "{}" type: "simple_lstm" input: "x" simple_lstm {{ size: {} }} {} }}\n'
    share = 'param { of: "gates.weight" share: "w" }'
    with pl.Net(pl.loads(X + one.format("a", 2, share) + one.format("b", 2, share))) as net:
        assert [name for name in net.parameters if "gates" in name] == ["a.gates.weight"]
    text, _ = message(X + one.format("a", 2, share) + one.format("b", 3, share))
    assert text.startswith("E212: shared parameter `w` has shape 6x12 as `gates.weight` of layer `b`, but 6x8 as")


@pytest.mark.parametrize("name", ['name: "l.gates"', 'name: "l.other"', 'name: "other" output: "l.gates"'])
def test_no_layer_is_called_like_a_part_of_another(name):
    text = X + 'layer { name: "l" type: "simple_lstm" input: "x" simple_lstm { size: 2 } }\n'
    text += f'layer {{ {name} type: "fc" input: "x" fc {{ size: 8 bias: false }} }}'
    if "l.other" in name:
        assert "l.other" in pl.loads(text)
    else:
        assert message(text)[0].startswith("E201: ")
        assert message(text)[0].endswith("is also the name of a part of layer `l`")


def test_settings_of_one_layer_are_not_those_of_another():
    one = 'layer {{ name: "{}" type: "gated_unit" input: "x" gated_unit {{ size: 2 }} {} }}\n'
    text = ROWS + one.format("a", 'param { of: "gate.weight" lr_mult: 0.5 }') + one.format("b", "")
    settings = [node.inside.nodes[1].params for node in pl.loads(text).nodes[-2:]]
    assert settings[0]["weight"].lr_mult == 0.5
    assert settings[1] == {}


def test_it_may_be_written_again():
    text = X + PARAM.format('of: "forward.gates.weight" lr_mult: 2')
    network = pl.loads(text)
    assert pl.dumps(pl.loads(pl.dumps(network))) == pl.dumps(network)
    assert "forward.gates.weight" in pl.dumps(network)


def test_helpers_make_them():
    from paddle_layers import nn

    made = nn.simple_gru(nn.data(shape=[3], seq_nested_level=1, name="x"), size=2, name="gru")
    network = pl.Network(outputs=[made])
    assert [node.name for node in network["gru"].inside.nodes] == ["gates", "gru"]


def test_a_layer_made_of_layers_is_no_activation():
    text, _ = message(ROWS + 'layer { name: "y" type: "fc" input: "x" fc { size: 3 act: "mixed" } }')
    assert text.startswith("E114")


# ---- a layer made of layers is its parts


WRITTEN_OUT = {
    "simple_lstm": (
        X,
        "simple_lstm { size: 3 reverse: true }",
        """
        layer { name: "gates" type: "fc" input: "x" fc { size: 12 bias: false } }
        layer { name: "lstm" type: "lstmemory" input: "gates" output: "y" lstmemory { reverse: true } }
        """,
    ),
    "bidirectional_gru": (
        X,
        "bidirectional_gru { size: 2 }",
        """
        layer { name: "forward.gates" type: "fc" input: "x" fc { size: 6 bias: false } }
        layer { name: "forward.gru" type: "grumemory" input: "forward.gates" }
        layer { name: "backward.gates" type: "fc" input: "x" fc { size: 6 bias: false } }
        layer { name: "backward.gru" type: "grumemory" input: "backward.gates" grumemory { reverse: true } }
        layer { name: "last" type: "seq_last" input: "forward.gru" }
        layer { name: "first" type: "seq_first" input: "backward.gru" }
        layer { name: "y" type: "concat" input: "last" input: "first" }
        """,
    ),
    "sequence_conv_pool": (
        X,
        "sequence_conv_pool { size: 3 context_len: 2 }",
        """
        layer { name: "runs" type: "context" input: "x" context { length: 2 } }
        layer { name: "features" type: "fc" input: "runs" fc { size: 3 act: "tanh" } }
        layer { name: "y" type: "seq_max_pool" input: "features" }
        """,
    ),
    "transformer_block": (
        X,
        "transformer_block { num_heads: 2 causal: true hidden: 5 }",
        """
        layer { name: "norm1" type: "layer_norm" input: "x" }
        layer { name: "query" type: "fc" input: "norm1" fc { size: 6 } }
        layer { name: "key" type: "fc" input: "norm1" fc { size: 6 bias: false } }
        layer { name: "value" type: "fc" input: "norm1" fc { size: 6 bias: false } }
        layer { name: "attention" type: "multi_head_attention" input: "query" input: "key" input: "value"
                multi_head_attention { num_heads: 2 causal: true } }
        layer { name: "out_proj" type: "fc" input: "attention" fc { size: 6 } }
        layer { name: "residual1" type: "addto" input: "x" input: "out_proj" }
        layer { name: "norm2" type: "layer_norm" input: "residual1" }
        layer { name: "ffn_in" type: "fc" input: "norm2" fc { size: 5 act: "gelu" } }
        layer { name: "ffn_out" type: "fc" input: "ffn_in" fc { size: 6 } }
        layer { name: "y" type: "addto" input: "residual1" input: "ffn_out" }
        """,
    ),
    "gated_unit": (
        ROWS,
        'gated_unit { size: 3 act: "tanh" }',
        """
        layer { name: "value" type: "fc" input: "x" fc { size: 3 act: "tanh" } }
        layer { name: "gate" type: "fc" input: "x" fc { size: 3 act: "sigmoid" } }
        layer { name: "y" type: "eltwise" input: "value" input: "gate" eltwise { operation: PROD } }
        """,
    ),
    "residual_block": (
        IMAGE,
        "residual_block { num_filters: 3 stride: 2 }",
        """
        layer { name: "conv1" type: "conv" input: "x"
                conv { num_filters: 3 filter_size: 3 stride: 2 padding: 1 bias: false } }
        layer { name: "conv1_norm" type: "batch_norm" input: "conv1" batch_norm { act: "relu" } }
        layer { name: "conv2" type: "conv" input: "conv1_norm"
                conv { num_filters: 3 filter_size: 3 padding: 1 bias: false } }
        layer { name: "conv2_norm" type: "batch_norm" input: "conv2" }
        layer { name: "shortcut" type: "conv" input: "x" conv { num_filters: 3 filter_size: 1 stride: 2 bias: false } }
        layer { name: "shortcut_norm" type: "batch_norm" input: "shortcut" }
        layer { name: "y" type: "addto" input: "conv2_norm" input: "shortcut_norm" addto { act: "relu" } }
        """,
    ),
    "img_conv_group": (
        IMAGE,
        "img_conv_group { num_filters: [3, 2] pool_size: 2 }",
        """
        layer { name: "conv1" type: "conv" input: "x" conv { num_filters: 3 filter_size: 3 padding: 1 act: "relu" } }
        layer { name: "conv2" type: "conv" input: "conv1"
                conv { num_filters: 2 filter_size: 3 padding: 1 act: "relu" } }
        layer { name: "y" type: "pool" input: "conv2" pool { pool_size: 2 stride: 2 } }
        """,
    ),
    "mixed": (
        ROWS,
        'mixed { size: 4 terms: ["full_matrix", "dot_mul"] act: "tanh" drop_rate: 0.5 }',
        """
        layer { name: "full_matrix" type: "fc" input: "x" fc { size: 4 bias: false } }
        layer { name: "dot_mul" type: "scale" input: "x" scale { bias: false } }
        layer { name: "y" type: "addto" input: "full_matrix" input: "dot_mul" addto { act: "tanh" drop_rate: 0.5 } }
        """,
    ),
}  # fmt: skip


def passes(text, values, feed):
    """The output, and gradients of parameters in their order, of a network with these parameters."""
    with pl.Net(pl.loads(text), seed=3) as net:
        for parameter, value in zip(net.parameters.values(), values, strict=True):
            parameter.value = value
        found = net.forward({"fed": feed}, phase="train", step=0)["y"]
        rows = found.data if isinstance(found, Sequences) else found
        net.backward(gradients={"y": np.arange(rows.size, dtype=np.float32).reshape(rows.shape) / rows.size})
        return rows.copy(), [p.gradient.copy() for p in net.parameters.values()], net.gradient("x").copy()


@pytest.mark.parametrize("kind", WRITTEN_OUT)
def test_it_computes_what_its_parts_compute_when_they_are_written_out(kind):
    data, settings, parts = WRITTEN_OUT[kind]
    inputs = 'input: "x" ' * (2 if kind == "mixed" else 1)
    short = data + f'layer {{ name: "y" type: "{kind}" {inputs}{settings} }}'
    long = data + parts
    feed = np.random.default_rng(1).standard_normal((5, 2, 6, 6)).astype(np.float32)
    feed = SEQUENCES if data == X else feed if data == IMAGE else feed[:, 0, 0, :4]
    rng = np.random.default_rng(2)
    with pl.Net(pl.loads(short)) as net:
        values = [rng.standard_normal(p.shape) for p in net.parameters.values()]
    found, expected = (as_python(partial(passes, text, values, feed)) for text in (short, long))
    np.testing.assert_array_equal(found[0], expected[0])
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_array_equal(one, other)


# ---- mixed


@pytest.mark.parametrize(
    ("terms", "words", "place"),
    [
        ('["tabel"]', "there is no term `tabel`; did you mean `table`?", ""),
        ('["identity", "identity"]', "the terms take 2 inputs, but there are 1", ""),
        ('["full_matrix"]', "`full_matrix` can give any number of columns: set `size`", ""),
        ('["identity"] size: 3', "term 1, `identity`, gives 4 columns, not 3", ""),
        ('["identity"] size: 3 offset: 2', "3 columns from 2 on are more than the 4 of the input", ""),
    ],
)
def test_terms_that_do_not_fit_are_refused_in_words(terms, words, place):
    text, _ = message(ROWS + f'layer {{ name: "m" type: "mixed" input: "x" mixed {{ terms: {terms} }} }}')
    assert text == f"E209: layer `m`: {words}"


def test_columns_are_those_of_the_first_term_that_has_its_own():
    text = X + 'layer { name: "m" type: "mixed" input: "x" input: "x" mixed { terms: ["full_matrix", "context"] } }'
    assert pl.loads(text)["m"].output_types == (Type.dense(18, level=1),)


def test_a_transposed_map_shares_the_weight_of_an_fc():
    text = (
        ROWS
        + """
        layer { name: "code" type: "fc" input: "x" fc { size: 2 } param { of: "weight" share: "w" } }
        layer { name: "again" type: "mixed" input: "code" mixed { size: 4 terms: ["trans_full_matrix"] }
                param { of: "trans_full_matrix.weight" share: "w" } }
    """
    )
    with pl.Net(pl.loads(text)) as net:
        weight = net.parameters["code.weight"].value
        x = np.ones((1, 4), np.float32)
        np.testing.assert_allclose(net.forward({"fed": x})["again"], x @ weight @ weight.T, rtol=1e-6)


# ---- in the steps of a group

DECODER = """
layer { name: "source" type: "data" data { shape: 3 seq_nested_level: 1 } }
layer { name: "x" type: "data" data { shape: 2 seq_nested_level: 1 } }
layer { name: "encoded" type: "bidirectional_gru" input: "source" bidirectional_gru { size: 2 return_seq: true } }
layer { name: "projected" type: "fc" input: "encoded" fc { size: 3 bias: false } }
layer {
  name: "decoder" type: "recurrent_group" input: "x" input: "encoded" input: "projected"
  recurrent_group { static: ["encoded", "projected"] }
  step {
    layer { name: "before" type: "memory" memory { of: "state" size: 2 } }
    layer { name: "read" type: "simple_attention" input: "encoded" input: "projected" input: "before" }
    layer { name: "sums" type: "fc" input: "x" input: "read" fc { size: 6 bias: false } }
    layer { name: "state" type: "gru_step" input: "sums" input: "before" }
    output: "state"
  }
}
"""


def test_a_decoder_reads_a_sequence_by_attention():
    as_python(decode)


def decode():
    rng = np.random.default_rng(0)
    fed = {
        "source": Sequences(rng.standard_normal((7, 3)), [0, 3, 4, 7]),
        "x": Sequences(rng.standard_normal((5, 2)), [0, 2, 3, 5]),
    }
    with pl.Net(pl.loads(DECODER), dtype="float64") as net:
        for parameter in net.parameters.values():
            parameter.value = rng.standard_normal(parameter.shape)

        def total():
            return float(net.forward(fed, phase="train")["decoder"].data.sum())

        total()
        net.backward(gradients={"decoder": np.ones((5, 2))})
        gradients = {name: parameter.gradient.copy() for name, parameter in net.parameters.items()}
        assert "decoder.read.query.weight" in gradients
        for name, parameter in net.parameters.items():
            values, direction = parameter.value.copy(), rng.choice((-1.0, 1.0), parameter.shape)
            ends = []
            for step in (1e-5, -1e-5):
                parameter.value = values + step * direction
                ends.append(total())
            parameter.value = values
            slope = (ends[0] - ends[1]) / 2e-5
            assert slope == pytest.approx(np.sum(gradients[name] * direction), rel=1e-5, abs=1e-8), name
