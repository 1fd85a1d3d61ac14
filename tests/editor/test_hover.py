"""Hover, definitions, faults: what inference and the registry say, at the place that the cursor is in."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers.config import Diagnostic, Source, examine
from paddle_layers.config.wiring.nodes import parameter_shapes
from paddle_layers.define import LayerDefinition, registries
from paddle_layers.editor.document import Document, problems
from paddle_layers.editor.hover import definitions, hover, symbols
from paddle_layers.schema.comments import COMMENTS
from paddle_layers.testing.cases.case import LAYER, cases
from tests.each import each
from tests.editor.helpers import DATA, opened

LENET = Path(__file__).parents[2] / "docs" / "examples" / "digits" / "lenet.textproto"
TRAIN = LENET.with_name("train.textproto")


def shown(marked: str, path: str = "<text>") -> str:
    """The hover at the mark; empty for none."""
    found = hover(*opened(marked, path))
    return found.text if found else ""


NET = (
    DATA
    + 'layer { name: "c" type: "conv" input: "x" conv { num_filters: 5 filter_size: 3 } }\n'
    + 'layer { name: "y" type: "fc" input: "c" fc { size: 3 act: "relu" } param { of: "weight" lr_mult: 2 } }\n'
)


def marked(text: str, word: str, by: int = 1) -> str:
    """The text with the cursor in a word."""
    assert text.count(word) == 1, word
    at = text.index(word) + by
    return text[:at] + "|" + text[at:]


@pytest.mark.parametrize("word", ['"c" type', '"conv" input', "conv { num"])
def test_a_layer(word: str) -> None:
    text = shown(marked(NET, word))
    assert text.startswith(
        "**c**: `conv`\n\n```text\nx 4x8x8 → c 5x6x6\nparameters weight 5x4x3x3, bias 5\n```\n\n2-D convolution "
    )
    assert "Caffe `Convolution`" in text
    assert "ONNX `Conv`" in text


@pytest.mark.parametrize("name", sorted(pl.registry))
def test_inferred_types_and_parameters_are_those_of_the_net(name: str) -> None:
    for case in cases(pl.registry[name]):
        document = Document(case.text())
        node = pl.loads(case.text())[LAYER]
        found = hover(document, document.text.index(f'"{LAYER}"') + 1)
        assert found is not None
        for output, type_ in zip(node.output_names, node.output_types, strict=True):
            assert f"{output} {type_}" in found.text
        with case.net() as net:
            shapes = {key.partition(".")[2]: value.shape for key, value in net.parameters.items()}
        assert parameter_shapes(node) == shapes


@pytest.mark.parametrize("wrong", ["num_filters: 5", "filter_size: 3", '"conv" input', '"c" type'])
def test_types_are_shown_while_another_layer_is_broken(wrong: str) -> None:
    text = NET.replace(wrong, f"! {wrong[2:]}") + 'layer { name: "z" type: "fc" input: "x" fc { size: 7 } }\n'
    assert problems(Document(text))
    assert "x 4x8x8 → z 7" in shown(marked(text, '"z"'))
    assert shown(marked(text, '"y"')).startswith("**fc**: layer\n\nFully connected"), "it depends on the fault"
    if '"c" type' in text:
        assert "unknown type" in shown(marked(text, 'input: "c"', 8))


def test_types_are_shown_while_a_layer_is_being_written() -> None:
    text = NET + 'layer { name: "z" type: "fc" input: "'
    assert "→ c 5x6x6" in shown(marked(text, '"c" type'))
    text = 'layer { name: "w" type: "fc" input: "x" fc { si\n' + NET
    assert "→ c 5x6x6" in shown(marked(text, '"c" type'))


def test_an_input() -> None:
    assert shown(marked(NET, 'input: "c"', 8)) == "`c`: `5x6x6`\n\noutput of `c`, a layer of type `conv`"
    assert shown(marked(NET, 'input: "x"', 8)) == "`x`: `4x8x8`\n\noutput of `x`, a layer of type `data`"
    unknown = shown(NET.replace('"c" fc', '"lo|st" fc'))
    assert unknown.endswith(COMMENTS["Layer.input"]), "what is not known is not made up"


def test_a_size_that_data_will_determine() -> None:
    text = """net {
      layer { name: "word" type: "data" data { data_type: INT } }
      layer { name: "rows" type: "embedding" input: "word" embedding { size: 3 } }
      layer { name: "cost" type: "sum_cost" input: "rows" }
    }
    steps: 1 optimizer { type: "sgd" learning_rate: 0.1 } source { type: "csv" csv { file: "table.csv" } }"""
    assert "`word`: `ids<?`" in shown(marked(text, 'input: "word"', 8))
    assert "parameters table ?x3" in shown(marked(text, '"embedding" input'))


def test_a_parameter() -> None:
    assert shown(marked(NET, '"weight"')).startswith("**weight**: 180x3, axes `C_i K`")


@each("definition", [pl.registry[name] for name in pl.registry], ids=lambda d: d.name)
def test_every_attribute(definition: LayerDefinition) -> None:
    for name, attribute in definition.attribute_by_name.items():
        text = shown(f'layer {{ type: "{definition.name}" {definition.name} {{ {name[0]}|{name[1:]}: 1 }} }}')
        assert text.startswith(f"**{attribute.name}**: ")
        for limit in (attribute.min, attribute.max, attribute.above, attribute.below):
            assert limit is None or f"{limit:g}" in text
        for option in attribute.options:
            assert option in text


def test_attributes_and_fields() -> None:
    assert shown(marked(NET, "num_filters")).startswith("**num_filters**: `int, >= 1, required`\n\nNumber of filters.")
    assert shown(marked(NET, "size: 3 act")).startswith("**size**: `int")
    assert shown(marked(NET, "lr_mult")).endswith(COMMENTS["ParamSettings.lr_mult"])
    assert shown(marked(NET, "lr_mult")).startswith("**lr_mult**: `float, >= 0, default 1`")
    assert shown("epo|chs: 3").endswith(COMMENTS["Training.epochs"])
    assert shown(marked(NET, '"relu"')).startswith("**relu**: layer\n\n" + registries["layer"]["relu"].summary[:10])
    assert shown('optimizer { type: "s|gd" learning_rate: 1 sgd { } }').startswith("**sgd**: optimizer")
    assert shown('optimizer { type: "sgd" sgd { momen|tum: 0.5 } }').startswith("**momentum**: `float")
    assert shown('optimizer { type: "sgd" momen|tum: 0.5 }').startswith("**momentum**: `float"), "outside of its block"
    assert shown("# nothi|ng") == shown("non|sense: 3") == shown("|") == shown("layer { | }") == ""


def test_text_of_plugins_is_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pl.registry["conv"], "description", "[a](command:x) <img src=x> `code`\n\nmore")
    text = shown(marked(NET, '"conv" input'))
    assert "\\[a\\](command:x) &lt;img src=x&gt; `code`" in text
    assert "more" not in text


# ---- definitions


def target(marked: str, path: str = "<text>") -> list[str]:
    return [found.text[found.start - 1 : found.end + 6] for found in definitions(*opened(marked, path))]


def test_the_layer_that_makes_an_input() -> None:
    assert target(marked(NET, 'input: "c"', 8)) == ['"c" type']
    assert target(marked(NET + "layer { type: ", 'input: "c"', 9)) == ['"c" type'], "in a broken text"
    assert target(marked(NET, '"relu"')) == []
    json = '{"layer": [{"type": "data", "name": "x"}, {"input": ["|x"]}]}'
    assert target(json) == ['"x"}, {"']


def test_a_name_that_is_made_in_each_phase() -> None:
    text = (
        DATA.replace("} }", '} include { phase: "train" } }')
        + DATA.replace("} }", '} exclude { phase: "train" } }')
        + 'layer { name: "y" type: "relu" input: "|x" }'
    )
    assert target(text) == ['"x" type', '"x" type']


def test_the_network_file_and_its_layers() -> None:
    text = TRAIN.read_text(encoding="utf-8")
    (found,) = definitions(*opened(marked(text, '"lenet.textproto"'), str(TRAIN)))
    assert Path(found.path) == LENET
    (found,) = definitions(*opened(marked(text, 'feed { input: "image"', 16), str(TRAIN)))
    assert Path(found.path) == LENET
    assert found.text[found.start - 1 : found.end + 1] == '"image"'
    assert shown(marked(text, 'feed { input: "image"', 16), str(TRAIN)).startswith("`image`: `1x8x8`")
    assert definitions(*opened('network: "lo|st.textproto"', str(TRAIN))) == []


def test_symbols() -> None:
    found = symbols(Document(LENET.read_text(encoding="utf-8")))
    network = pl.load(LENET)
    assert [(one.name, one.type) for one in found] == [(node.name, node.definition.name) for node in network]


# ---- faults


def test_faults_are_those_of_the_reader() -> None:
    text = NET.replace("num_filters", "nun_filters").replace('input: "x"', 'input: "xx"')
    wanted = examine(text, "<text>").faults
    found = problems(Document(text))
    assert [(p.code, p.start, p.end) for p in found] == [(d.code, d.start, d.end) for d in wanted]
    assert {p.code for p in found} == {"E101", "E203"}
    for problem in reversed(found):
        assert problem.fix is not None
        text = text[: problem.fix.start] + problem.fix.replacement + text[problem.fix.end :]
    assert text == NET


def test_faults_of_the_network_file_stand_at_its_name(tmp_path: Path) -> None:
    net = tmp_path / "net.textproto"
    net.write_text(NET.replace("num_filters", "nun_filters").replace('"relu"', '"rely"'), encoding="utf-8")
    text = TRAIN.read_text(encoding="utf-8").replace("lenet", "net")
    (problem,) = [p for p in problems(Document(text, str(tmp_path / "train.textproto"))) if p.code != "E305"]
    assert text[problem.start : problem.end] == '"net.textproto"'
    assert problem.message.startswith(f"{net}:2:")
    assert problem.message.endswith("(and 1 more)")
    assert [r.text[r.start : r.end] for r in problem.related] == ["nun_filters", '"rely"']


def test_a_plugin_that_exits_is_a_fault_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(*_: object) -> None:
        raise SystemExit(3)

    monkeypatch.setattr(type(pl.registry["conv"]), "infer", leave)
    (problem,) = problems(Document(NET))
    assert problem.code == "E401"
    assert "SystemExit" in problem.message
    assert shown(marked(NET, "num_filters")).startswith("**num_filters**"), "the rest goes on"


def test_a_remark_without_a_place_is_part_of_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    from paddle_layers.config import Examined, Note

    fault = Diagnostic("W001", "old", Source("<text>", NET), 0, notes=(Note("since then"),), help="change it")
    document = Document(NET)
    monkeypatch.setattr(fault, "source", Source("<text>", document.text))
    document.__dict__["examined"] = Examined(None, [fault])
    (problem,) = problems(document)
    assert (problem.severity, problem.message) == ("warning", "old\nchange it\nsince then")


def test_an_input_that_is_being_written_is_one_fault() -> None:
    (problem,) = problems(Document(NET + 'layer { name: "z" type: "fc" input: "'))
    assert problem.code == "E003"
