"""Mistakes of a layer's author are answered at the author's line, with what to write."""

import pytest

import paddle_layers as pl

LAYER = """
import paddle_layers as pl
from paddle_layers import real

@pl.layer("sums")
class Sums:
    '''Adds up.'''

    x = pl.Input("T:S C", "rows", seq=(1,))
    y = pl.Output("T:S K", "sums")
    examples = (pl.Example(x="sequence of 4"),)


@pl.infer(Sums)
def sums_sizes(C):
    return {"K": C}


@pl.each(Sums.y, scan="forward")
def sums_y(t, k, before, x, y):
    return x[t, k] + (y[before, k] if before >= 0 else real(0))


@pl.gradient(Sums.x)
def sums_dx(t, c, dy):
    return dy[t, c]
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Load the plugin with a text replaced; gives the layer, or what is said with the line it is said of."""
    monkeypatch.setattr(pl.registry, "_entries", {name: pl.registry[name] for name in pl.registry})

    def loaded(old="", new="", text=LAYER):
        assert old in text
        (tmp_path / "plugin.py").write_text(text.replace(old, new, 1) if old else text)
        try:
            pl.load_plugin(tmp_path / "plugin.py")
            layer = pl.registry["sums"]
            layer.complete()
            layer.infer([pl.Type.dense(4, level=1)], layer.bind({}))
        except pl.DefinitionError as error:
            line = (tmp_path / "plugin.py").read_text().splitlines()[error.line - 1]
            return f"{line.strip()} -> {error.message}"
        return layer

    return loaded


def test_the_layer_is_sound(load):
    assert load().name == "sums"


AXIS = "is no axis of the layer"
MISTAKES = [
    ('scan="forward"', 'scan="fwd"', '(Sums.y, scan="fwd") -> sums_y: `scan` is "fwd"; it takes "forward" or "back"'),
    ('scan="forward"', 'scan="backward"', 'it takes "forward" or "back"'),
    ('scan="forward"', "scan=True", "`scan` is True; it takes"),
    ('"T:S K"', '"T K"', "`scan` goes along sequences, but the rows of `y` are in none: name them `T:S`"),
    ("@pl.gradient(Sums.x)", '@pl.gradient(Sums.x, kind="dense")', '`kind` is "dense"; it takes "DENSE"'),
    ('return {"K": C}', 'return {"k": C}', f"(Sums) -> sums_sizes: @infer gives a size for `k`, which {AXIS}"),
    ('return {"K": C}', 'return {"K": C, "Rows": 3}', f"gives a size for `Rows`, which {AXIS}"),
    ('return {"K": C}', 'sizes = {"K": C}', "it gave nothing: its `return` is missing"),
    ('return {"K": C}', "return C", '@infer gives a dict of sizes by axis, such as {"P": 4}; it gave 4'),
    ('return {"K": C}', 'return {"K": C / 2}', "@infer gives 2.0 for `K`; a size is a whole number"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_is_told_at_its_line(load, old, new, message):
    assert message in load(old, new).replace("'", '"')
