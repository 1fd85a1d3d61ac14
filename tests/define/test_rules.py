"""The conditions on a layer's page are the `require` calls of its hooks, by every name and through helpers."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers.define import LayerDefinition, load_plugin, registries
from tests.each import each

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "write-a-layer.md"
LAYER = '''
import paddle_layers
import paddle_layers as nets
import paddle_layers.define
import paddle_layers as pl
from paddle_layers import require
from paddle_layers.define import require as insist


class Other:
    def require(self, *given):
        return given

other = Other()


def check(columns, attribute, parts=2):
    require(columns % parts == 0, attribute, f"`{attribute}` does not cut {columns}")
    return check_again(columns)


def check_again(columns):
    if columns < 0:
        check(columns, "never")
    columns = columns - 1
    require(columns > 0, "x", f"{columns} is not enough")


@pl.layer("of_rules")
class OfRules:
    """Copies."""

    x = pl.Input("N C", "rows", derivative=False)
    y = pl.Output("N K", "the same")
    parts = pl.Int("a number", default=2)
    examples = (pl.Example(x="4"),)


@pl.infer(OfRules)
def of_rules_sizes(C, parts):
    BODY
    return {"K": C}


@pl.each(OfRules.y)
def of_rules_y(n, k, x):
    return x[n, k]
'''
Rules = list[tuple[str, str, str]]


@pytest.fixture
def rules_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Rules]]:
    """Rules of a layer with these lines in its inference."""
    before = set(sys.modules)
    monkeypatch.setattr(registries["layer"], "_entries", {name: pl.registry[name] for name in pl.registry})

    def rules(body: str) -> Rules:
        path = tmp_path / "of_rules.py"
        path.write_text(LAYER.replace("BODY", body.replace("\n", "\n    ")), encoding="utf-8")
        load_plugin(path)
        return texts(pl.registry["of_rules"])

    yield rules
    for name in set(sys.modules) - before:
        sys.modules.pop(name)


def texts(layer: LayerDefinition) -> Rules:
    return [(rule.subject, rule.condition, rule.message) for rule in layer.definition.rules]


NAMES = ("require", "insist", "pl.require", "nets.require", "paddle_layers.require", "paddle_layers.define.require")


@pytest.mark.parametrize("name", NAMES)
def test_by_every_name(name: str, rules_with: Callable[[str], Rules]) -> None:
    assert rules_with(f'{name}(C > 1, "x", f"{{C}} is one")') == [("x", "C > 1", "{C} is one")]


def test_with_names_of_arguments(rules_with: Callable[[str], Rules]) -> None:
    assert rules_with('pl.require(message="one", name="x", condition=C > 1)') == [("x", "C > 1", "one")]


@pytest.mark.parametrize("text", ['other.require(C > 1, "x", "one")', 'require = print\nrequire(C > 1, "x", "one")'])
def test_another_function_of_that_name_is_none(text: str, rules_with: Callable[[str], Rules]) -> None:
    assert rules_with(text) == []


AGAIN = ("x", "columns > 0", "{columns} is not enough")
OF_HELPERS = {
    'check(C + 2, "parts")': [("parts", "(C + 2) % 2 == 0", "`parts` does not cut {C + 2}"), AGAIN],
    'check(C, "parts", parts)\ncheck(C, parts=parts, attribute="parts")': [
        ("parts", "C % parts == 0", "`parts` does not cut {C}"),
        AGAIN,
    ],
}


@pytest.mark.parametrize("text", OF_HELPERS)
def test_of_helpers_with_what_is_given_to_them(text: str, rules_with: Callable[[str], Rules]) -> None:
    assert rules_with(text) == OF_HELPERS[text]


def test_of_a_helper_that_is_given_unpacked_arguments(rules_with: Callable[[str], Rules]) -> None:
    assert ("attribute", "columns % parts == 0", "`{attribute}` does not cut {columns}") in rules_with(
        'check(*(C, "parts"))'
    )


def test_the_guides_layer_has_its_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registries["layer"], "_entries", {name: pl.registry[name] for name in pl.registry})
    block = re.search(r"```python\n# file: bilinear_form.py\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    path = tmp_path / "bilinear_form.py"
    path.write_text(block[1], encoding="utf-8")
    load_plugin(path)
    message = "{C} columns cannot be cut into groups of {parts}"
    assert texts(pl.registry["fold"]) == [("parts", "C % parts == 0", message)]
    assert texts(pl.registry["gate"]) == []


def requires_in(function: Callable[..., object]) -> set[str]:
    """Conditions in the text of the function's file, by a search for the name alone."""
    tree = ast.parse(Path(function.__code__.co_filename).read_text(encoding="utf-8"))
    defined = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == function.__name__)
    calls = [
        n for n in ast.walk(defined) if isinstance(n, ast.Call) and ast.unparse(n.func) in ("require", "pl.require")
    ]
    return {ast.unparse(call.args[0]) for call in calls}


@each("name", list(pl.registry))
def test_no_condition_of_a_hook_is_missing(name: str) -> None:
    layer = pl.registry[name]
    found = {condition for _, condition, _ in texts(layer)}
    assert {subject for subject, _, _ in texts(layer)} <= {*layer.attributes, *layer.inputs}
    for hook in layer.hooks.values():
        assert requires_in(hook) <= found
        checks = [name for name in hook.__code__.co_names if name.startswith("check_")]
        assert not checks or found, f"{hook.__name__} calls {checks[0]}, but no rule is found"
