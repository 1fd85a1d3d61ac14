"""Reference pages: one for everything that is registered, complete, and safe whatever a plugin's text says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from latex2mathml.converter import convert
from paddle_layers.codegen.axes import axes_picture
from paddle_layers.codegen.examples import python_text, worked_examples
from paddle_layers.codegen.formulas import formula, written_formulas
from paddle_layers.codegen.markdown import block, cell, code, escape, prose
from paddle_layers.codegen.pages import code_page, file_page, page, terminal_page
from paddle_layers.codegen.python_pages import write_python_pages
from paddle_layers.codegen.reference import FOLDERS
from paddle_layers.codegen.words import FAMILIES
from paddle_layers.codegen.wrapping import WIDTH, broken, width, wrap

import paddle_layers as pl
from paddle_layers.cli.terminal import print_markdown
from paddle_layers.config.binding.headers import spec
from paddle_layers.config.building.builder import HEADERS
from paddle_layers.config.diagnostics.explanations import EXPLANATIONS
from paddle_layers.define import registries
from tests.each import each

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
LAYERS = list(pl.registry)
OTHERS = [(kind, name) for kind in registries if kind != "layer" for name in registries[kind]]
FENCE = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)


def tables(text: str) -> Iterator[list[str]]:
    """Tables outside of code blocks, as lists of lines."""
    rows: list[str] = []
    for line in [*FENCE.sub("", text).splitlines(), ""]:
        if line.startswith("|"):
            rows.append(line)
        elif rows:
            yield rows
            rows = []


def columns(row: str) -> int:
    return len(re.findall(r"(?<!\\)\|", row))


def committed(kind: str, name: str) -> str:
    """The committed page, which `test_refresh` compares with the generated one."""
    return (REFERENCE / FOLDERS[kind] / f"{name}.md").read_text(encoding="utf-8")


@each("name", LAYERS)
def test_page_of_a_layer(name: str) -> None:
    layer, text = pl.registry[name], committed("layer", name)
    assert text.startswith(f"# {name}\n")
    for part in (*layer.inputs, *layer.outputs, *layer.attributes, *layer.params, *layer.states, *layer.stats):
        assert f"`{part}`" in text, part
    for system in layer.elsewhere:
        assert f"| {system} |" in text
    assert text.count("```textproto") == len(layer.examples) + len(layer.networks)
    assert f".py:{layer.line}`" in text
    assert "\n\n\n" not in text
    for rows in tables(text):
        assert {columns(row) for row in rows} == {columns(rows[0])}, rows
    assert not re.search(r"\\?\{\w+\}", FENCE.sub("", text).replace("param { of:", "")), "a template is shown"


@pytest.mark.parametrize(("kind", "name"), OTHERS)
def test_page_of_a_component(kind: str, name: str) -> None:
    definition, text = registries[kind][name], committed(kind, name)
    assert text.startswith(f"# {name}\n")
    for attribute in definition.attributes.values():
        assert f"`{attribute.name}`" in text
    for rows in tables(text):
        assert {columns(row) for row in rows} == {columns(rows[0])}, rows


def test_examples_show_inferred_types() -> None:
    text = page(pl.registry["fc"])
    assert "| output `y` | `5` |" in text
    assert "| parameter `weight` | `7x5`, 35 weights |" in text


def links(path: Path) -> Iterator[Path]:
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    return (path.parent / target.partition("#")[0] for target in re.findall(r"\]\(([^#)][^)]*)\)", text))


def test_every_page_is_linked_and_every_link_leads_somewhere() -> None:
    written = {path for path in REFERENCE.rglob("*") if path.is_file()}
    linked = {link.resolve() for path in written if path.suffix == ".md" for link in links(path)}
    assert written - {REFERENCE / "index.md"} <= linked
    assert [link for link in linked if not link.exists()] == []
    assert set(FOLDERS) == set(registries)


@pytest.mark.parametrize(("name", "root"), [("network-file", "Network"), ("training-file", "Training")])
def test_pages_of_the_files_tell_every_field(name: str, root: str) -> None:
    text = file_page(name, FOLDERS)
    seen, waiting = set(), [root]
    while waiting:
        message = waiting.pop()
        for field in spec(message).fields.values():
            assert re.search(rf"^\| `{field.name}` \| .* \| [^|]+ \|$", text, re.MULTILINE), (message, field.name)
            if field.message not in ("", "Network", *seen):
                seen.add(field.message)
                waiting.append(field.message)
    for anchor in re.findall(r"\]\(#([\w-]+)\)", text):
        assert f"\n## `{anchor.replace('-', ' ')}`\n" in text


def test_a_foreign_name_leads_to_the_layer() -> None:
    text = (REFERENCE / "elsewhere.md").read_text(encoding="utf-8")
    assert "| `InnerProduct` | Caffe | [fc](layers/fc.md) |" in text
    nested = (REFERENCE / "by-input.md").read_text(encoding="utf-8").partition("## Sparse ids")[2].partition("##")[0]
    assert "[fc]" in nested
    assert "[conv]" not in nested


@each("code_", list(EXPLANATIONS))
def test_page_of_a_code_shows_what_validate_says(code_: str) -> None:
    text = code_page(code_)
    assert text.startswith(f"# {code_}: ")
    if EXPLANATIONS[code_].wrong:
        assert f"[{code_}]: " in text
        assert "/tmp" not in text


def test_numbers_of_an_example_are_those_of_a_plain_computation() -> None:
    text = page(pl.registry["fc"])
    x = np.array([[-1.5, 1, -1], [1.5, -0.5, 2], [0, -2, 0.5]])
    weight = np.array([[1.5, -0.5, 2, 0], [-2, 0.5, -1.5, 1], [-1, 1.5, -0.5, 2]])
    y = np.maximum(x @ weight + [1.5, -0.5, 2, 0], 0)
    rows = "<br>".join(f"`[{', '.join(f'{v:g}' for v in row)}]`" for row in y)
    assert f"| output `y` | `sequence of 4` | {rows} |" in text


# ---- formulas


def test_formulas_say_what_the_functions_do() -> None:
    expected = {
        ("relu", "relu_y"): r"y_{i} = \begin{cases} x_{i} & \text{if } x_{i} > 0 \\ "
        r"\mathit{negative\_slope} \cdot x_{i} & \text{otherwise} \end{cases}",
        ("fc", "fc_y"): r"y_{n, k} = \sum_{c < C_{i}} x_{n, c} \cdot \mathit{weight}_{c, k}",
        ("softmax", "softmax_y"): r"y_{n, c, i} = \frac{\exp\left(x_{n, c, i} - \mathit{peak}_{n, i}\right)}"
        r"{\mathit{total}_{n, i}}",
        ("seq_avg_pool", "seq_avg_pool_y"): r"y_{s, c} = \left(\sum_{t \in s} x_{t, c}\right) "
        r"\cdot \mathit{factor}_{s}",
        ("tanh", "tanh_dx"): r"\mathrm{d}x_{i} = \mathrm{d}y_{i} \cdot \left(1 - y_{i}^2\right)",
    }
    for (name, function), latex in expected.items():
        layer = pl.registry[name]
        found = formula(layer, next(f for f in layer.complete().functions if f.name == function))
        assert found is not None
        assert found.lines == (latex,)


def test_what_is_no_sum_has_no_formula() -> None:
    """Searches for a position would read as constants if a loop's assignments were taken for values."""
    for name, function in (("maxid", "maxid_y"), ("pool", "pool_where"), ("eltwise", "eltwise_y")):
        layer = pl.registry[name]
        assert formula(layer, next(f for f in layer.functions if f.name == function)) is None


def test_most_functions_have_a_formula_and_all_of_them_are_mathml() -> None:
    found = [(f.name, formula(layer, f)) for layer in pl.registry.values() for f in layer.functions if f.role != "bias"]
    formulas = [made for _, made in found if made is not None]
    assert len(formulas) >= 0.6 * len(found)  # recursions over sequences and searches show their text
    for made in formulas:
        for line in (*made.lines, *made.where):
            assert convert(line).startswith("<math")
            assert "\\" not in convert(line), line


def test_helpers_are_shown() -> None:
    assert "def pixels(p, size, stride, padding, extent):" in page(pl.registry["pool"])
    assert "def philox(key, i):" in page(pl.registry["dropout"]), "a helper of a helper"
    assert "The helpers" not in page(pl.registry["fc"])


def test_a_terminal_gets_no_tags() -> None:
    text = FENCE.sub("", terminal_page(pl.registry["batch_norm"]))
    assert not re.search(r"<[a-z/]", text)
    assert "```math" not in terminal_page(pl.registry["batch_norm"])


@each("name", LAYERS)
def test_picture_is_svg_and_names_every_tensor(name: str) -> None:
    layer = pl.registry[name]
    svg = axes_picture(layer)
    texts = {element.text for element in ElementTree.fromstring(svg).iter() if element.tag.endswith("text")}
    for field in (*layer.inputs, *layer.params, *layer.outputs):
        assert {field, f"{field} ..."} & texts
    assert layer.name in svg


HOSTILE = (
    "<script>alert(1)</script> | [x](javascript:alert(1)) ![i](x)\n\n# big\n\n```\nopen `a|b` & *b* _c_ snake_case"
    "\n\n{download}`/etc/passwd`\n\n% gone\n\n(target)=\n\n+++\n\n| a | b |\n|---|---|\n| <i>x</i> | [l](http://x) |"
)

PLUGIN = f'''
import paddle_layers as pl

@pl.layer("hostile", elsewhere={{"A|B": "`x`|"}})
class Hostile:
    """{HOSTILE}"""

    examples = [pl.Example(x="3"), pl.Example(x="3", word="a|b`")]
    x = pl.Input("...", "values | <b>bold</b>")
    y = pl.Output("...", "same\\n| shape")
    word = pl.String("a `word|here`", default="|`<i>")

@pl.each(Hostile.y)
def hostile_y(i, x):
    return x[i]  # ``` closes nothing

@pl.gradient(Hostile.x)
def hostile_dx(i, dy):
    return dy[i]
'''


def test_text_from_a_plugin_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(PLUGIN)
    pl.load_plugin(tmp_path / "hostile.py")
    try:
        text = page(pl.registry["hostile"])
    finally:
        pl.registry.remove("hostile")
    outside = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", FENCE.sub("", text))
    tags = r'<a id="[a-z]+-[a-z0-9_]+"></a>|<br>|</?details>|</?summary>'
    assert "<" not in re.sub(tags, "", outside)
    assert "](" not in outside.replace("\\]", "")
    assert not re.search(r"^# (big|lines)", text, re.MULTILINE)
    for rows in tables(text):
        assert {columns(row) for row in rows} == {columns(rows[0])}, rows


def test_markup_of_the_site_is_escaped_too() -> None:
    assert escape("{download}`x`") == "\\{download}`x`"
    assert escape("% a\n(b)=\n+++") == "\\% a\n\\(b)=\n\\+++"
    assert prose("a\n\n| x | <b> |\n|---|---|\n| `p` | q |") == "a\n\n| x | &lt;b&gt; |\n|---|---|\n| `p` | q |"


def test_escape_keeps_what_is_meant_as_code() -> None:
    assert escape("`a < b` < c") == "`a < b` &lt; c"
    assert escape("snake_case and _em_") == "snake_case and \\_em\\_"
    assert cell("`a | b`\nand | c") == "`a \\| b` and \\| c"
    assert code("a`b") == "``a`b``"
    assert block("```\n", "python") == "````python\n```\n````"


def test_what_a_python_program_uses_has_a_page_and_a_summary(tmp_path: Path) -> None:
    names = write_python_pages(tmp_path / "python")
    index = (tmp_path / "python" / "index.md").read_text(encoding="utf-8")
    assert {"Net", "Network", "train", "Dataset", "Sequences", "Parameter", "Optimizer", "Schedule"} <= {*names}
    for name in names[1:]:
        assert f".{name}\n" in (tmp_path / "python" / f"{name}.md").read_text(encoding="utf-8")
        assert re.search(rf"^\| \[`{name}`\]\({name}\.md\) \| \w.+ \|$", index, re.MULTILINE), name


# ---- use first


@each("name", LAYERS)
def test_examples_in_python_give_the_types_that_the_page_says(name: str) -> None:
    layer = pl.registry[name]
    for example, worked in zip(layer.examples, worked_examples(layer), strict=True):
        names: dict[str, Any] = {}
        exec(python_text(layer, example, worked), names)
        outputs = [names[output] for output, _ in worked.outputs]
        if not outputs:
            continue
        network = pl.Network(outputs=outputs)
        assert [str(type_) for type_ in network.nodes[-1].output_types] == [type_ for _, type_ in worked.outputs]


def test_a_page_begins_with_the_use() -> None:
    text = page(pl.registry["conv"])
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[:5] == ["Use", "Attributes", "Inputs", "Outputs", "Parameters"]
    assert "y = nn.conv(x, num_filters=4, filter_size=3)  # 4x4x5" in text
    assert re.findall("<summary>(.*)</summary>", text) == ["Example values", "Gradients", "Definition", "More examples"]


@pytest.mark.parametrize("name", ["conv1d_trans", "crf", "gelu", "transformer_block"])
def test_wrapped_code_is_the_same_code(name: str) -> None:
    source = Path(pl.registry[name].file).read_text(encoding="utf-8")
    wrapped = wrap(source, "python")
    assert wrapped != source
    assert ast.dump(ast.parse(wrapped)) == ast.dump(ast.parse(source))
    message = f'    raise ValueError(f"{"x" * 60} {{a + b}} is not {{map(str, order)}}")'
    assert wrap(message, "python") == message, "a string is not broken inside, nor are its fields"
    config = (
        'layer { name: "a b: {" type: "fc" input: "x" fc { size: 10 act: "relu" bias: false init: [1, 2, 3] } }  # x: {'
    )
    assert wrap(config, "textproto").split() == config.split()
    assert max(map(len, wrap(config, "textproto").splitlines())) <= WIDTH


def test_helpers_are_listed_with_all_keyword_arguments() -> None:
    text = page(pl.registry["conv"])
    for name in ("num_filters", *HEADERS):
        assert re.search(rf"\b{name}\b[=,]", text.partition("## Attributes")[0]), name
    assert "nn.crf( x, label, weight=None, *, name=None" in " ".join(page(pl.registry["crf"]).split())


def test_equal_choices_have_one_table() -> None:
    text = page(pl.registry["lstmemory"])
    assert "`act`, `gate_act`, `state_act` are each one of" in text
    assert text.count("| `sigmoid` | between 0 and 1 |") == 1


def test_formulas_in_a_description_are_set() -> None:
    assert written_formulas("`y[t] = act(x[t] + y[t-1] @ weight)`, `c = (1 - u) * h`") == [
        r"y_{t} = \operatorname{act}\left(x_{t} + y_{t - 1}\, \mathit{weight}\right)",
        r"c = \left(1 - u\right) \cdot h",
    ]
    for other in ("`a` and `b = c`", "`f(x)`", "`x = 1; y = 2`", "`a = <b>`", "`a = b = c`"):
        assert written_formulas(other) == []
    assert r"\sqrt{\mathit{var} + \epsilon}" in page(pl.registry["batch_norm"])


def test_recurrences_and_batch_norm_have_formulas() -> None:
    for name, function in (("lstmemory", "lstmemory_y"), ("recurrent", "recurrent_y"), ("gru_step", "gru_step_y")):
        layer = pl.registry[name]
        assert formula(layer, next(f for f in layer.functions if f.name == function)) is not None
    layer = pl.registry["batch_norm"]
    moments = formula(layer, next(f for f in layer.functions if f.name == "batch_norm_moments"))
    assert moments is not None
    assert moments.lines[2] == r"\mathit{scale}_{c} = \frac{1}{\sqrt{\mathit{var}_{c} + \epsilon}}"
    sums = formula(layer, next(f for f in layer.functions if f.name == "batch_norm_sums"))
    assert sums is not None
    assert r"a_{c} \cdot" not in sums.lines[1], "a sum is no part of the sum of products that begins alike"
    state = formula(pl.registry["lstmemory"], next(f for f in pl.registry["lstmemory"].functions if f.scan))
    assert state is not None
    assert state.lines[0] == (
        r"y_{t, k} = \mathit{output\_gate}_{t, k} \cdot \operatorname{state\_act}\left(\mathit{state}_{t, k}\right)"
    )


def test_wide_formulas_are_broken_and_stay_mathml() -> None:
    for layer in pl.registry.values():
        for function in layer.functions:
            made = formula(layer, function)
            for line in (*made.lines, *made.where) if made is not None else ():
                text = convert(broken(line))
                assert "\\" not in text
                assert "&<" not in text, line
    long = "y = " + " + ".join(rf"\mathit{{number}}_{{{i}}} \cdot x_{{{i}}}" for i in range(20))
    lines = broken(long).removeprefix(r"\begin{split} ").removesuffix(r" \end{split}").split(r" \\ ")
    assert len(lines) > 3
    assert all(width(line) <= 80 for line in lines)
    assert broken("y = x") == "y = x"


def test_a_terminal_gets_no_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("conv", "batch_norm", "data"):
        print_markdown(terminal_page(pl.registry[name]))
    shown = capsys.readouterr().out
    assert "# conv" in shown
    assert ">= 1" in shown
    for escape_ in ("&gt;", "&lt;", "\\{", "\\_", "<a ", "<details", "<br>"):
        assert escape_ not in shown, escape_
    assert not re.search(r" +$", shown, re.MULTILINE)


def test_families_have_the_titles_that_people_use() -> None:
    text = (REFERENCE / "layers" / "index.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert {"Losses", "Metrics"} <= set(headings)
    assert {layer.family for layer in pl.registry.values()} <= set(FAMILIES)
    assert all(title.lower().startswith(family) for family, title in FAMILIES.items())
