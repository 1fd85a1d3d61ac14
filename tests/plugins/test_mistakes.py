"""Mistakes in a plugin's functions: one message at the plugin's own line, before anything is compiled if possible."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.testing import check_layer

TEXT = (
    '''import math

import paddle_layers as pl

HALF = 0.5


@pl.helper
def halved(value):
    return value * HALF


@pl.layer("oops")
class Oops:
    """Rows, and their running sums."""

    x = pl.Input("N C", "rows")
    t = pl.Input("T:S C", "rows of sequences", seq=(1,))
    shift = pl.Param("C", "added to every row")
    level = pl.State("C", "a running number")
    y = pl.Output("N C", "rows")
    z = pl.Output("T:S C", "sums")
    low = pl.Temp("N", "smallest of the row")
    high = pl.Temp("N", "largest of the row")
    factor = pl.Float("factor", default=2.0)
    examples = (pl.Example(x="3", t="sequence of 3"),)


@pl.each(Oops.y)
def oops_y(n, c, x, shift, factor):
    return halved(x[n, c]) * factor + shift[c]


@pl.each(Oops.low, Oops.high)
def oops_ends(n, x, C):
    low, high = math.inf, -math.inf
    for c in range(C):
        low, high = min(low, x[n, c]), max(high, x[n, c])
    return low, high


@pl.each(Oops.z, scan="forward")
def oops_z(t, c, before, t_, z):
    return 0.0


@pl.gradient(Oops.x)
def oops_dx(n, c, dy, factor):
    return halved(dy[n, c]) * factor


@pl.gradient(Oops.shift)
def oops_dshift(c, dy, N):
    total = 0.0
    for n in range(N):
        total += dy[n, c]
    return total


@pl.update(Oops.level)
def oops_level(c, level, shift):
    return level[c] + shift[c]
'''.replace("t = pl.Input", "rows = pl.Input")
    .replace('t="seq', 'rows="seq')
    .replace("before, t_, z", "before, rows, z")
)
TEXT = TEXT.replace("    return 0.0", "    return rows[t, c] + (z[before, c] if before >= 0 else 0.0)")

SWITCHED = '@pl.infer(Oops)\ndef oops_sizes(C):\n    return {"K": C}\n\n\n@pl.each(Oops.y)'
NEEDS_ONE = "it must return one number, the element of `y`"
MISTAKES = {
    "an unknown name": (
        "* factor + shift",
        "* faktor + shift",
        "oops_y: unknown name `faktor`: not an argument, a variable or a number of the module; did you mean `factor`?",
        0,
    ),
    "numpy in a function": (
        "* factor + shift",
        "* np.tanh(factor) + shift",
        "oops_y: `np` cannot be used here: the function computes one element; use `math`",
        0,
    ),
    "a tensor that is not asked for": (
        "halved(dy[n, c])",
        "halved(dy[n, c]) * x[n, c]",
        "oops_dx: reads `x`, which is not an argument: add it to the arguments",
        0,
    ),
    "an unknown name in a helper": (
        "return value * HALF",
        "return value * HALFE",
        "halved: unknown name `HALFE`: not an argument",
        0,
    ),
    "an unknown function of math": (
        "math.inf, -math.inf",
        "math.inf, -math.infi",
        "unknown function `math.infi`; did you mean `inf`?",
        0,
    ),
    "a tuple for one number": ("factor + shift[c]", "factor, shift[c]", f"oops_y: returns 2 values; {NEEDS_ONE}", 0),
    "a tuple in one branch": (
        "    return halved(x[n, c]) * factor + shift[c]",
        "    return (1.0, 2.0) if factor > 1 else 0.0",
        f"oops_y: returns 2 values; {NEEDS_ONE}",
        0,
    ),
    "one number for two": (
        "    return low, high",
        "    return low + high",
        "oops_ends: returns one number; it must return 2 numbers, the elements of `low`, `high`",
        0,
    ),
    "three numbers for two": (
        "    return low, high",
        "    return low, high, 0.0",
        "oops_ends: returns 3 values; it must",
        0,
    ),
    "a list": (
        "    return low, high",
        "    return [low, high]",
        "oops_ends: returns `[low, high]`; it must return 2",
        0,
    ),
    "no return": (
        "    return halved(x[n, c]) * factor + shift[c]",
        "    halved(x[n, c])",
        f"has no `return`; {NEEDS_ONE}",
        -1,
    ),
    "an empty return": (
        "    return halved(x[n, c]) * factor + shift[c]",
        "    return",
        f"returns None here; {NEEDS_ONE}",
        0,
    ),
    "a way without a return": (
        "    return halved(x[n, c]) * factor + shift[c]",
        "    if factor > 1:\n        return 0.0",
        f"oops_y: may end without `return` here; {NEEDS_ONE}",
        0,
    ),
    "a forgotten scan": (
        '@pl.each(Oops.z, scan="forward")',
        "@pl.each(Oops.z)",
        "oops_z: `before` is only available in "
        "a scan over sequences, axes `T:S`: add "
        '`scan="forward"` or `scan="back"`',
        0,
    ),
    "a scan that is none": (
        'scan="forward"',
        'scan="fwd"',
        'oops_z: `scan` must be "forward" or "back", not \'fwd\'',
        0,
    ),
    "a scan over plain rows": (
        "@pl.each(Oops.y)",
        '@pl.each(Oops.y, scan="forward")',
        "oops_y: a scan requires axes of sequences, such as `T:S C`; those of `y` are `N C`",
        0,
    ),
    "its own rows in no order": (
        "def oops_y(n, c, x, shift, factor):\n    return ",
        "def oops_y(n, c, x, y, shift, factor):\n    return y[n - 1, c] + ",
        "oops_y: reads its target `y`, but "
        "elements are computed in any order; to read the previous row, declare sequences, axes "
        '`"T:S C"`',
        1,
    ),
    "another element of the state": (
        "return level[c] + shift[c]",
        "return level[0] + shift[c]",
        "oops_level: reads its target `level`, but elements are computed in any order; "
        "an update may only read `level[c]`",
        0,
    ),
    "the gradient of an output": (
        "@pl.gradient(Oops.x)",
        "@pl.gradient(Oops.y)",
        "oops_dx: `y` is an output; a gradient is with respect to an input or a parameter, and reads `dy`: write "
        "@gradient(Oops.x)",
        0,
    ),
    "the gradient of a temporary": (
        "@pl.gradient(Oops.x)",
        "@pl.gradient(Oops.low)",
        "`low` is a temporary; a gradient is",
        0,
    ),
    "a state by @each": (
        "@pl.update(Oops.level)",
        "@pl.each(Oops.level)",
        "oops_level: `level` is a state, which is updated after the pass: write @update(Oops.level)",
        0,
    ),
    "an output by @update": (
        "@pl.each(Oops.y)",
        "@pl.update(Oops.y)",
        "`y` is an output; a function below @update computes a state",
        0,
    ),
    "an input by @each": (
        "@pl.each(Oops.y)",
        "@pl.each(Oops.x)",
        "oops_y: `x` is an input; a function below @each computes",
        0,
    ),
    "a decorator without a tensor": (
        "@pl.each(Oops.y)",
        "@pl.each",
        "@each requires the tensors that the function computes, as in @each(Swish.y)",
        0,
    ),
    "a decorator without a class": (
        "@pl.each(Oops.y)",
        SWITCHED.replace("(Oops)", ""),
        "@infer requires the class of the layer",
        0,
    ),
    "@infer without a return": (
        "@pl.each(Oops.y)",
        SWITCHED.replace("return ", ""),
        "oops_sizes: returns None; it must return a dict of sizes, {",
        0,
    ),
    "@infer of an unknown axis": (
        "@pl.each(Oops.y)",
        SWITCHED.replace('"K"', '"Q"'),
        "oops_sizes: returns a size for the unknown axis `Q`",
        0,
    ),
    "@infer of half a column": (
        "@pl.each(Oops.y)",
        SWITCHED.replace('"K": C', '"C": C / 2'),
        "oops_sizes: returns 1.5 for axis C; sizes must be integers (use `//` instead of `/`)",
        0,
    ),
    "@infer of an axis that is bound": (
        "@pl.each(Oops.y)",
        SWITCHED.replace('"K": C', '"C": C + 1'),
        "oops_sizes: returns 4 for axis C, which is already 3",
        0,
    ),
    "@infer that asks for what is not there": (
        "@pl.each(Oops.y)",
        SWITCHED.replace("(C)", "(facter)"),
        "oops_sizes: unknown argument `facter`; did you mean `factor`?",
        0,
    ),
    "a fill that returns": (
        "@pl.each(Oops.low, Oops.high)\ndef oops_ends(n, x, C)",
        '@pl.fill(Oops.low, Oops.high, per="N")\ndef oops_ends(n, x, C)',
        "a @fill function writes into `low`, `high` and returns nothing",
        5,
    ),
    "a fill per what is no row": (
        "@pl.each(Oops.low, Oops.high)\ndef oops_ends(n, x",
        '@pl.fill(Oops.low, Oops.high, per="Z")\ndef oops_ends(z, x',
        "unknown rows `Z` in `per`; available: N, S, T",
        0,
    ),
}
"""What is written, what is written instead, the message, and how many lines below the change it points."""

COMPILED = {
    "a row for a number": (
        "    return halved(x[n, c]) * factor + shift[c]",
        "    return x[n]",
        "returns array(float32, 1d, C); expected one number per tensor",
        -2,
    ),
    "a method that numbers have not": (
        "x[n, c]) * factor",
        "x[n, c].half()) * factor",
        "cannot be compiled: Unknown attribute 'half' of type float32",
        0,
    ),
    "a method in a helper": (
        "    return value * HALF",
        "    twice = value * 2.0\n\n    return twice.half()",
        "cannot be compiled: Unknown attribute 'half' of type float32",
        2,
    ),
    "a text": (
        "* factor + shift",
        "* 'a' + shift",
        "cannot be compiled: unsupported operation `mul(float32, Literal[str](a))`",
        0,
    ),
}
"""Mistakes that the text does not show."""

NETWORK = """# plugins: oops.py
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "rows" type: "data" data { shape: 3 seq_nested_level: 1 } }
layer { name: "y" type: "oops" input: "x" input: "rows" }
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    Path("net.textproto").write_text(NETWORK, encoding="utf-8")
    yield tmp_path / "oops.py"
    pl.registry.remove("oops")


def plant(file: Path, before: str, after: str, below: int) -> str:
    """Write the plugin with a mistake; gives the place where the message has to point."""
    assert TEXT.count(before) == 1
    file.write_text(TEXT.replace(before, after), encoding="utf-8")
    line = TEXT[: TEXT.index(before)].count("\n") + 1
    return f"{file}:{line + below}: "


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(commands, [*arguments, "--plugins", "oops.py", "net.textproto"])
    return done.exit_code, done.stderr


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_that_the_text_shows_is_told_at_import(mistake: str, file: Path) -> None:
    before, after, message, below = MISTAKES[mistake]
    place = plant(file, before, after, below)
    status, told = run("validate")
    assert (status, told.count("\n")) == (1, 1), told
    assert told.startswith(place), told
    assert message in told


@pytest.mark.parametrize("mistake", COMPILED)
def test_a_mistake_that_the_compiler_finds_is_told_at_the_plugins_line(mistake: str, file: Path) -> None:
    before, after, message, below = COMPILED[mistake]
    place = plant(file, before, after, below)
    status, told = run("warm", "--batch-size", "2")
    assert status == 1
    assert told.splitlines()[1:] == [f"{place}oops_y: {message}"], told  # behind the line about compiling


def test_a_mistake_that_shows_as_python_has_the_plugins_line_too(file: Path) -> None:
    before, after, _, below = COMPILED["a method that numbers have not"]
    place = plant(file, before, after, below)
    pl.load_plugin(file)
    report = check_layer("oops", raise_findings=False, compiled=False, configs=0, properties={"types"})
    (finding,) = report.findings
    assert finding.message == (
        f"the layer fails: AttributeError: 'numpy.float32' object has no attribute 'half', at {place[:-2]}"
    )


def test_without_a_mistake_it_is_a_layer(file: Path) -> None:
    file.write_text(TEXT, encoding="utf-8")
    assert run("validate") == (0, "")
    assert check_layer("oops", compiled=False, configs=0, properties={"types", "memory"}).checked["types"] > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@pl.layer\nclass A:\n    pass\n", '@layer requires the layer type, as in @layer("swish")'),
        (
            '@pl.layer("a")\nclass A:\n    """Nothing."""\n',
            "layer `a`: has neither inputs nor outputs; write `x = pl.Input(",
        ),
        (
            TEXT.replace('@pl.layer("oops")\n', "").partition("import paddle_layers as pl\n")[2],
            "Oops is not registered: add",
        ),
    ],
)
def test_a_class_that_is_no_layer_is_told_at_its_line(file: Path, text: str, message: str) -> None:
    file.write_text(f"import math\nimport paddle_layers as pl\n{text}", encoding="utf-8")
    status, told = run("validate")
    assert (status, told.count("\n")) == (1, 1), told
    assert re.match(rf"{re.escape(str(file))}:[1-9]", told), told
    assert message in told
