"""The definition language itself: scans, procedures, groups; and what is refused at registration, with its place."""

import itertools
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import DefinitionError, Type, load_plugin, registries
from paddle_layers.define.plugins import loading as plugins
from paddle_layers.testing import FAST, check_layer, compile_layer

pytestmark = pytest.mark.usefixtures("as_python")

PRIVATE = Path(__file__).with_name("private_layers.py")
PRIVATE_LAYERS = ("test_recurrent", "test_expand", "test_sorted", "test_joined", "test_halves")


@pytest.fixture(scope="module")
def private():
    """The layers of `private_layers.py`, for this module only."""
    before = set(registries["layer"])
    load_plugin(PRIVATE)
    yield
    for name in set(registries["layer"]) - before:
        registries["layer"].remove(name)
    plugins._FILES.discard(str(PRIVATE))  # the tests of a module may be taken up again


@pytest.mark.parametrize("name", PRIVATE_LAYERS)
@pytest.mark.usefixtures("private")
def test_private_layers_conform(name):
    check_layer(name, configs=FAST, compiled=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRIVATE_LAYERS)
@pytest.mark.usefixtures("private")
def test_private_layers_conform_compiled(name):
    check_layer(name)
    assert not any(kernel.has_f64 for kernel in compile_layer(pl.registry[name]))


@pytest.mark.usefixtures("private")
@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_is_the_recurrence(reverse):
    rng = np.random.default_rng(0)
    sequences = [rng.standard_normal((length, 3)) for length in (2, 0, 5, 1)]
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: [3] seq_nested_level: 1 }} }}
    layer {{ name: "y" type: "test_recurrent" input: "x" test_recurrent {{ reverse: {str(reverse).lower()} }} }}
    """
    with pl.Net(pl.loads(text), dtype="float64") as net:
        weight = net.parameters["y.weight"].value
        found = net.forward({"x": sequences})["y"]
    for rows, (start, stop) in zip(sequences, itertools.pairwise(found.starts), strict=True):
        past, expected = np.zeros(3), np.empty_like(rows)
        for t in reversed(range(len(rows))) if reverse else range(len(rows)):
            past = expected[t] = np.tanh(rows[t] + (past @ weight))
        np.testing.assert_allclose(found.data[start:stop], expected, rtol=1e-13)


@pytest.mark.usefixtures("private")
def test_levels_follow_the_axes():
    expand = pl.registry["test_expand"]
    nested = Type.dense(2, level=2)
    types = [Type.dense(3, level=1), nested]
    assert expand.infer(types, expand.bind({"level": "SUBSEQUENCE"})) == (Type.dense(3, level=2),)
    with pytest.raises(pl.ShapeError, match="is in no sequence"):
        expand.infer([Type.dense(3), nested], expand.bind({"level": "SUBSEQUENCE"}))


HEAD = """
from paddle_layers.define import *

@layer("test_wrong"{options})
class Wrong:
    '''A layer.'''

    x = Input("N C", "rows")
    y = Output("N C", "rows")
    {field}
    examples = ({example},)

"""
BODY = """
@each(Wrong.y)
def wrong_y({args}):
    return {value}

{tail}
"""
PARTS = """
@each(Wrong.parts{options})
def wrong_parts({args}):
    return 0.0
"""
GOOD = {"options": "", "field": "", "example": 'Example(x="3")', "args": "n, c, x", "value": "x[n, c]", "tail": ""}
WHILE = """
@each(Wrong.y)
def wrong_while(n, c, x, C):
    while sum(x[n, d] for d in range(C)) > 0.0:
        return 1.0
    return 0.0
"""
COUNTED = """
@each(Wrong.rows)
def wrong_rows(n):
    return 1.0
"""

WRONG = {
    "misspelt argument": (
        {"field": "slope = Float('s', default=0.0)", "args": "n, c, x, slop"},
        "did you mean `slope`",
    ),
    "indices in the wrong order": ({"args": "c, n, x"}, "the first arguments must be n, c, not c, n"),
    "a reduction in a branch": (
        {"args": "n, c, x, C", "value": "0.0 if n > 0 else sum(x[n, d] for d in range(C))"},
        ":16: wrong_y: `sum` over a range in a branch of a conditional expression",
    ),
    "a reduction after a condition": (
        {"args": "n, c, x, C", "value": "n > 0 and sum(x[n, d] for d in range(C))"},
        "an operand of `and` or `or`, which is not always evaluated; write an `if` statement",
    ),
    "a reduction at the end of a chain": (
        {"args": "n, c, x, C", "value": "0.0 < x[n, c] < sum(x[n, d] for d in range(C))"},
        "in a chained comparison",
    ),
    "a reduction in a while loop": ({"tail": WHILE}, "the condition of `while`, which is evaluated again"),
    "a reduction in a comprehension": (
        {"args": "n, c, x, C", "value": "[sum(x[n, d] for d in range(k)) for k in range(C)][c]"},
        "in a comprehension or a nested function, whose variables it may read",
    ),
    "a maximum with a default": (
        {"args": "n, c, x, C", "value": "max((x[n, d] for d in range(C)), default=0.0)"},
        "`max` over a range has no other argument",
    ),
    "a function that no device has": ({"value": "print(x[n, c])"}, "uses `print`"),
    "no example": ({"example": ""}, "has no example"),
    "an example that does not fit": ({"example": 'Example(x="3x3")'}, "after the rows"),
    "an example that is no type": ({"example": 'Example(x="three")'}, "invalid type"),
    "an empty range": ({"field": 'a = Int("a", default=1, min=3, max=2)'}, "the range >= 3 and <= 2 is empty"),
    "an illegal default": ({"field": 'a = Int("a", default=1, min=3)'}, "must be >= 3"),
    "a field named like an index": ({"field": 'n = Int("a", default=1)'}, "conflicts with an index"),
    "a keyword": (
        {"field": 'a = Int("a", default=1, aliases=("lambda",))'},
        "attribute `lambda`: a name must be an identifier",
    ),
    "names that clash": ({"field": 'a_b = Int("a", default=1); aB = Int("b", default=1)'}, "clash"),
    "a reserved name": ({"field": 'key = Int("a", default=1)'}, "this name is reserved"),
    "a taken name": ({"options": ", common=('acts',)"}, "unknown common attribute `acts`"),
    "a tensor that nothing computes": ({"field": 't = Temp("N", "t")'}, "no function computes `t`"),
    "an axis that is none": ({"field": 't = Temp("N c", "t")'}, "invalid axis"),
    "a result of what is not counted": (
        {"field": 'rows = Stat("N", "s")', "tail": COUNTED + "@result(Wrong)\ndef wrong_result(row): return row"},
        "unknown argument `row` of the @result function; did you mean `rows`",
    ),
    "a result with a name that is no word": (
        {
            "field": 'rows = Stat("N", "s")',
            "tail": COUNTED + "@result(Wrong, 'a', 'b c')\ndef wrong_result(rows): pass",
        },
        "@result name `b c` must be a unique identifier",
    ),
    "parts without a repeatable input": (
        {"field": 'parts = Output("N C", "p")', "tail": PARTS.format(options=", along='C'", args="n, c")},
        "`along` requires one target, `over` a repeatable input or output, and no scan",
    ),
    "parts along an axis that is none": (
        {
            "field": 'z = Input("N D_i", "z", repeatable=True); parts = Output("N C", "p")',
            "tail": PARTS.format(options=", over=Wrong.z, along='D'", args="n, c"),
        },
        "`along` must name an axis after the rows that is separate per item of `z`",
    ),
    "a sum over an output": (
        {
            "field": 'parts = Output("N C_i", "p", repeatable=True)',
            "tail": PARTS.format(options=", over=Wrong.parts", args="n, c"),
        },
        "`over` with an output requires `along`",
    ),
    "how far the items before reach, in a function of all items": (
        {
            "field": 'z = Input("N C_i", "z", repeatable=True); parts = Output("N C", "p")',
            "tail": PARTS.format(options="", args="n, c, C_offset"),
        },
        "unknown argument `C_offset`",
    ),
    "a place that no attribute says": (
        {"field": 'z = Input("N... D@axis", "z")'},
        "`@axis` must name an Int attribute",
    ),
    "a place that only the first axis behind others can have": (
        {"field": 'z = Input("N D... C@axis", "z")'},
        "write `N... C@axis ...`",
    ),
    "rows with axes that nothing divides": (
        {"field": 't = Temp("N... C", "t")'},
        "`N...` requires an input with `@`, the position of an axis",
    ),
    "numbers that are not given": (
        {
            "field": 'steps = Numbers("steps")',
            "tail": "@infer(Wrong)\ndef wrong_sizes(C):\n    return {}",
        },
        "returns no value for the Numbers `steps`",
    ),
    "an output that no attribute decides of": (
        {
            "field": 'parts = Output("N C", "p", when="shown")',
            "tail": PARTS.format(options="", args="n, c"),
        },
        "output `parts`: `when` must name a Bool, not `shown`",
    ),
    "no description": ({"field": 't = Int("", default=1)'}, "needs a description"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_mistakes_are_refused_at_registration(fault, tmp_path):
    changes, message = WRONG[fault]
    settings = {**GOOD, **changes}
    path = tmp_path / f"wrong_{abs(hash(fault))}.py"
    path.write_text(HEAD.format(**settings).replace("(,)", "()") + BODY.format(**settings))
    try:
        with pytest.raises(DefinitionError, match="(?s)" + message.replace("(", r"\(")) as caught:
            load_plugin(path)
        assert str(path) in str(caught.value)
        assert caught.value.line > 0
    finally:
        registries["layer"].remove("test_wrong")


def places(shape, **settings):
    """Sizes that `layer_norm` binds for rows of a shape: what `N...`, `C...` and `...` stand for."""
    layer = pl.registry["layer_norm"]
    binding = layer.bind_axes([Type.dense(*shape)], layer.bind(settings))
    assert binding.outputs == (Type.dense(*shape),)
    return binding.merged["N"], binding.merged["C"], binding.sizes["..."]


def test_an_attribute_says_which_axis_one_is():
    assert places((2, 3, 5)) == ((), (2, 3, 5), ())
    assert places((2, 3, 5), axis=-1) == ((2, 3), (5,), ())
    assert places((2, 3, 5), axis=2, end_axis=-2) == ((2,), (3,), (5,))
    assert places((), axis=1) == ((), (), ())


@pytest.mark.parametrize(
    ("settings", "attribute", "message"),
    [
        ({"axis": 0}, "axis", "`axis` is 0: axis 0 is the batch axis"),
        ({"axis": 4}, "axis", "`axis` is 4: the axes after the rows are 1 to 3, or -1 for the last"),
        ({"axis": -4}, "axis", "`axis` is -4: the axes after the rows are 1 to 3"),
        ({"axis": 3, "end_axis": 2}, "end_axis", "`end_axis` is 2, an axis before `axis`"),
    ],
)
def test_an_axis_that_is_none_is_refused_at_the_attribute(settings, attribute, message):
    with pytest.raises(pl.ShapeError, match=message) as caught:
        places((2, 3, 5), **settings)
    assert caught.value.attribute == attribute


def test_leading_axes_are_equal():
    fc = pl.registry["fc"]
    attributes = fc.bind({"size": 4, "axis": -1})
    assert fc.infer([Type.dense(2, 3), Type.dense(2, 7)], attributes) == (Type.dense(2, 4),)
    with pytest.raises(pl.ShapeError, match="the leading axes of input `x` #2 are 3, but 2 in input `x`"):
        fc.infer([Type.dense(2, 3), Type.dense(3, 7)], attributes)


def test_a_name_that_is_taken_names_both_places(tmp_path):
    path = tmp_path / "taken.py"
    path.write_text((HEAD + BODY).format(**GOOD).replace("test_wrong", "relu"))
    with pytest.raises(DefinitionError, match=r"the name is already registered at .*activations\.py:\d+"):
        load_plugin(path)


def test_a_result_gives_as_many_numbers_as_it_names(monkeypatch):
    chunk = pl.registry["chunk"]
    assert chunk.report({"correct": 1, "found": 2, "wanted": 4}) == {"precision": 0.5, "recall": 0.25, "F1": 1 / 3}
    monkeypatch.setattr(chunk, "results", ("precision", "recall"))
    with pytest.raises(DefinitionError, match="names precision, recall, but returns 3 numbers"):
        chunk.report({"correct": 1, "found": 2, "wanted": 4})
