"""The memo in front of the reader changes nothing: the same layers, the same faults at the same places."""

from __future__ import annotations

import importlib
import random
import re
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]

from paddle_layers.config.binding.memo import memo
from paddle_layers.config.diagnostics.diagnostic import Source
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.reading.fields import BLOCK, KNOWN
from paddle_layers.config.reading.syntax import read
from paddle_layers.config.wiring.network_builder import wire_fields
from tests.config.test_mutations import mutants
from tests.each import each

MISTAKES = sorted((Path(__file__).parents[1] / "golden" / "mistakes").glob("*.textproto"))
CHAIN = 'layer { name: "x" type: "data" data { shape: 8 } }\n' + "".join(
    f'layer {{ name: "{name}" type: "fc" input: "{before}" fc {{ size: 4 }} }}\n'
    for before, name in (("x", "a"), ("a", "b"), ("b", "c"))
)


def seen(text, recall):
    """The layers and the faults of a network text."""
    report = DiagnosticReport(Source("text", text))
    wired = wire_fields(read(report, recall), report)
    layers = [(repr(node), node.span, node.inputs, node.attributes.as_dict()) for node in wired.nodes]
    return wired.name, layers, [fault.to_dict() for fault in report.sorted()]


def test_layers_are_recalled_up_to_one_that_has_to_be_read():
    text = CHAIN.replace('name: "b"', "name: 'b'")
    kinds = [field[1] for field in read(DiagnosticReport(Source("text", text)), memo())]
    assert kinds == [KNOWN, BLOCK, KNOWN]
    assert seen(text, memo()) == seen(text, None)


def test_a_fault_of_the_wiring_has_its_place_in_a_recalled_layer():
    text = CHAIN.replace('input: "b"', 'input: "lost"')
    (fault,) = seen(text, memo())[2]
    assert (fault["code"], fault["line"], fault["column"]) == ("E203", 4, 37)


@each("path", MISTAKES, ids=lambda path: path.stem)
def test_mistakes_are_the_same(path):
    text = path.read_text()
    assert seen(text, memo()) == seen(text, None)


def test_mutants_are_the_same():
    for mutant in random.Random(1).sample(mutants(1), 500):
        assert seen(mutant.text, memo()) == seen(mutant.text, None), mutant


def test_no_pattern_repeats_alternatives_possessively():
    """Up to Python 3.11.4, `(?:a|b)*+` may match half of what it repeats."""
    package = Path(__file__).parents[2] / "paddle_layers"
    files = [path for path in package.rglob("*.py") if "re.compile(" in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(package.parent).with_suffix("").parts) for path in files]
    found = [
        one for name in names for one in vars(importlib.import_module(name)).values() if isinstance(one, re.Pattern)
    ]
    assert len(found) > 20
    assert not [pattern for pattern in found if _is_unsafe(parser.parse(pattern.pattern, pattern.flags))]


def _is_unsafe(parsed, possessive=False):
    """Whether something that may be tried in several ways lies in a possessive repetition."""
    for code, argument in parsed:
        if possessive and code in (parser.BRANCH, parser.MAX_REPEAT, parser.MIN_REPEAT):
            return True
        inside = possessive or code is parser.POSSESSIVE_REPEAT
        for part in _parts(argument):
            if _is_unsafe(part, inside):
                return True
    return False


def _parts(argument):
    if isinstance(argument, parser.SubPattern):
        yield argument
    elif isinstance(argument, (tuple, list)):
        for one in argument:
            yield from _parts(one)
