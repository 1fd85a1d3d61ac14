"""Every code has a page whose wrong example gives that code and nothing else, and whose right example is right."""

import re
from pathlib import Path

import pytest

import paddle_layers
from paddle_layers.config.diagnostics.explanations import EXPLANATIONS
from paddle_layers.config.files import examine_network
from paddle_layers.config.trainingfiles import read_training

PACKAGE = Path(paddle_layers.__file__).parent
SHOWN = [code for code, page in EXPLANATIONS.items() if page.wrong]


def codes(kind: str, text: str) -> list[str]:
    """Codes of the diagnostics of a text, warnings too."""
    found = examine_network(text) if kind == "network" else read_training(text, "train.textproto")[1]
    return [diagnostic.code for diagnostic in found.faults]


@pytest.mark.parametrize("code", SHOWN)
def test_examples(code: str) -> None:
    page = EXPLANATIONS[code]
    assert codes(page.kind, page.wrong) == [code]
    assert codes(page.kind, page.right) == []


def test_every_code_has_a_page() -> None:
    texts = (path.read_text() for path in PACKAGE.rglob("*.py") if not path.name.endswith("explanations.py"))
    used = {code for text in texts for code in re.findall(r'"([EW]\d{3})"', text)}
    assert used == set(EXPLANATIONS)
