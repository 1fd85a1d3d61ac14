"""Terminology: definitions lead with an established term; texts avoid the words of `vocabulary.toml`."""

from __future__ import annotations

from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers.define import registries, search, terms_of
from tests.each import each

from .vocabulary import ROOT, check

CLEAN = ("paddle_layers", "schema", "codegen", "docs", "README.md", "SECURITY.md")
"""Files and folders of texts that users and contributors read."""
SUFFIXES = (".py", ".md", ".j2", ".textproto", ".proto")


@each("name", list(pl.registry))
def test_the_summary_of_a_layer_contains_a_term_that_people_search_for(name: str) -> None:
    definition = registries["layer"][name]
    summary = definition.summary.lower()
    assert any(term.lower() in summary for term in terms_of(definition)), (definition.summary, terms_of(definition))


@pytest.mark.parametrize("name", CLEAN)
def test_texts_avoid_words(name: str) -> None:
    paths = [ROOT / name] if (ROOT / name).is_file() else sorted((ROOT / name).rglob("*"))
    written = [path for path in paths if path.suffix in SUFFIXES and "docs/reference" not in path.as_posix()]
    assert written
    assert [str(finding) for path in written for finding in check(path)] == []


def test_avoided_words_are_found_in_texts_and_not_in_code(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text('"""Puts pictures `behind` it."""\nbehind = 1  # what lies there\n')
    assert [(finding.line, finding.word) for finding in check(file)] == [(2, "lies"), (1, "pictures")]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("transposed convolution", "conv_trans"),
        ("batch normalization", "batch_norm"),
        ("LSTM", "simple_lstm"),
        ("custom loss", "sum_cost"),
        ("embedding", "embedding"),
        ("hierarchical softmax", "hsigmoid"),
        ("class weights", "class_weight"),
        ("Conv2DTranspose", "conv_trans"),
        ("SiLU", "swish"),
        ("mse_loss", "square_error"),
    ],
)
def test_search_finds_a_layer_by_its_term_first(words: str, name: str) -> None:
    assert search(words)[0].definition.name == name
