"""Every code has a page whose wrong example gives that code and nothing else, and whose right example is right."""

import re
from pathlib import Path

import pytest

import paddle_layers
from paddle_layers.config import ConfigError, validate
from paddle_layers.config.diagnostics.explanations import EXPLANATIONS

PACKAGE = Path(paddle_layers.__file__).parent
SHOWN = [code for code, page in EXPLANATIONS.items() if page.wrong]


def codes(kind: str, text: str, folder: Path) -> list[str]:
    """Codes of the diagnostics of a text."""
    (folder / "file.textproto").write_text(text)
    try:
        what, found = validate(folder / "file.textproto")
        assert what.startswith("a training file" if kind == "training" else "a network")
    except ConfigError as error:
        found = error.diagnostics
    return [diagnostic.code for diagnostic in found]


@pytest.mark.parametrize("code", SHOWN)
def test_examples(code: str, tmp_path: Path) -> None:
    page = EXPLANATIONS[code]
    assert codes(page.kind, page.wrong, tmp_path) == [code]
    assert codes(page.kind, page.right, tmp_path) == []


def test_every_code_has_a_page() -> None:
    texts = (path.read_text() for path in PACKAGE.rglob("*.py") if not path.name.endswith("explanations.py"))
    used = {code for text in texts for code in re.findall(r'"([EW]\d{3})"', text)}
    assert used == set(EXPLANATIONS)
