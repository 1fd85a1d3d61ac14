"""Advice in messages can be followed: the settings that it names exist in the source that the message comes from."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import paddle_layers.data
from paddle_layers.cli.app import commands
from paddle_layers.config import ConfigError
from paddle_layers.data import DataError, Dataset, make_feeds
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.define import Type, registries
from tests.training.helpers import train

ROOT = Path(paddle_layers.data.__file__).parent
SETTING = re.compile(r"`(?:[a-z0-9_]+ \{ )?([a-z_]+): |^([a-z_]+): ")
GENERAL = {"on_error", "shape", "size", "data_type", "seq_nested_level"}
"""Settings of every source, and of data layers."""
NOT_SETTINGS = {"image", "label", "words"}
"""Names of fields in examples of `synthetic`."""


@cache
def imported(name: str) -> frozenset[str]:
    """Modules of formats and sources that a module imports, itself included."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    found = {name}
    for node in ast.walk(ast.parse(Path(spec.origin).read_text())):
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            module = importlib.util.resolve_name("." * node.level + node.module, name.rpartition(".")[0])
            if module.startswith(("paddle_layers.data.formats.", "paddle_layers.data.sources.")):
                found |= imported(module)
    return frozenset(found)


def messages(module: str) -> Iterator[str]:
    """The texts of a module that are no docstrings."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text())
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


@pytest.mark.parametrize("source", sorted(name for name in registries["source"]))
def test_messages_name_settings_that_the_source_has(source):
    definition = registries["source"][source]
    if not definition.owner.__module__.startswith("paddle_layers.data."):
        pytest.fail(f"{source} is no built-in source")
    of_module = {
        name
        for other in registries["source"]
        if registries["source"][other].owner.__module__ == definition.owner.__module__
        for name in registries["source"][other].attributes
    }
    for module in imported(definition.owner.__module__):
        if ".sources." in module and module != definition.owner.__module__:
            continue  # the messages of another source
        own = of_module if module == definition.owner.__module__ else set(definition.attributes)
        for text in messages(module):
            for match in SETTING.finditer(text):
                setting = match[1] or match[2]
                known = {*own, *GENERAL} | (NOT_SETTINGS if source == "synthetic" else set())
                assert setting in known, f"{module}: {text!r} names `{setting}`"


def opened(source: str, base: Path, /, **attributes: object) -> Dataset:
    definition = registries["source"][source]
    found: Dataset = definition.create(definition.bind(attributes)).open(base)
    return encoded(found, learn(found, np.arange(len(found))), "here")


@pytest.mark.parametrize("source", ["hdf5", "parquet"])
def test_a_file_outside_of_a_list_is_named_in_the_source(tmp_path, source):
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "l.txt").write_text(f"{tmp_path}/d\n")
    with pytest.raises(
        DataError, match=r"the folder of the list; to allow it, name the file in `file` of the source instead of"
    ):
        opened(source, tmp_path, file=["lists/l.txt"])


@pytest.mark.parametrize(("text", "delimiter"), [("59 2 32.1 101\n48 1 21.6 87\n", " "), ("a;b\n1;2\n", ";")])
def test_the_delimiter_that_is_proposed_reads_the_table(tmp_path, text, delimiter):
    (tmp_path / "d.csv").write_text(text)
    with pytest.raises(DataError, match=f'try `delimiter: "{delimiter}"`'):
        opened("csv", tmp_path, file="d.csv")
    assert opened("csv", tmp_path, file="d.csv", delimiter=delimiter).fields["features"].shape[1] > 1


def test_names_beside_numbers_in_the_first_line(tmp_path):
    (tmp_path / "d.csv").write_text("country,1960,1970\n1,2,3\n")
    with pytest.raises(
        DataError, match=r"'country' is not a number; if the first line is a header, write `header: yes`"
    ):
        opened("csv", tmp_path, file="d.csv")
    assert opened("csv", tmp_path, file="d.csv", header="yes").fields["features"].tolist() == [[1, 2, 3]]


@pytest.mark.parametrize("kind", ["csv", "large csv"])
def test_an_unknown_class_is_given_no_id_of_its_own(tmp_path, kind, monkeypatch):
    from paddle_layers.data.formats import text_lines

    if kind != "csv":
        monkeypatch.setattr(text_lines, "IN_MEMORY", 0)
    (tmp_path / "d.csv").write_text("x,kind,where\n1,a,here\n2,b,there\n")
    (tmp_path / "e.csv").write_text("x,kind,where\n1,c,here\n")
    (tmp_path / "f.csv").write_text("x,kind,where\n1,a,elsewhere\n")
    file = tmp_path / "t.textproto"
    file.write_text("""
    net { layer { name: "features" type: "data" data { shape: 1 } }
          layer { name: "where" type: "data" data { data_type: INT size: 2 } }
          layer { name: "label" type: "data" data { data_type: INT size: 2 } }
          layer { name: "place" type: "embedding" input: "where" embedding { size: 2 } }
          layer { name: "found" type: "fc" input: "features" input: "place" fc { size: 2 } }
          layer { name: "cost" type: "softmax_with_loss" input: "found" input: "label" } }
    steps: 2 batch_size: 2 optimizer { type: "sgd" learning_rate: 0.001 }
    source { type: "csv" csv { file: "d.csv" columns: "features = x" ids: "label = kind" ids: "where" } }
    """)
    weights = train(file)[0].weights
    evaluate = ["evaluate", str(file), "--weights", str(weights)]
    shown = CliRunner().invoke(commands, [*evaluate, str(tmp_path / "e.csv")]).output
    assert "of field `label`, not one of the 2 words of the training data; an unseen class cannot be predicted" in shown
    assert "set `size" not in shown
    shown = CliRunner().invoke(commands, [*evaluate, str(tmp_path / "f.csv")]).output
    assert "set `size: 3` in the data layer `where` for an out-of-vocabulary id" in shown


def test_numbers_in_strings_are_no_words():
    with pytest.raises(DataError, match=r"convert numeric strings: store x\.astype\(float\)"):
        Dataset({"x": np.array(["10.5", "2"])})
    with pytest.raises(DataError, match=r"for words, pass one string per row"):
        Dataset({"x": np.array(["a", "2"])})


def test_parts_of_sparse_rows_can_be_given_where_a_source_has_none(tmp_path):
    (tmp_path / "d.csv").write_text("x\n1\n")
    data = opened("csv", tmp_path, file="d.csv", columns=["x"])
    with pytest.raises(DataError, match=r"store `x\.ids` and `x\.starts`, as arrays of an npz file or from Python"):
        make_feeds(data, {"x": Type.sparse(4)})
    np.savez(tmp_path / "d.npz", **{"x.ids": np.array([1]), "x.starts": np.array([0, 1])})
    make_feeds(opened("npz", tmp_path, file="d.npz"), {"x": Type.sparse(4)})


def test_an_empty_word_of_a_parquet_label(tmp_path):
    import pyarrow as arrow
    from pyarrow import parquet

    parquet.write_table(arrow.table({"x": [1.0, 2.0], "label": ["a", ""]}), tmp_path / "d.parquet")
    file = tmp_path / "t.textproto"
    file.write_text("""
    net { layer { name: "x" type: "data" data { shape: 1 } }
          layer { name: "label" type: "data" data { data_type: INT size: 2 } }
          layer { name: "found" type: "fc" input: "x" fc { size: 2 } }
          layer { name: "cost" type: "softmax_with_loss" input: "found" input: "label" } }
    steps: 2 batch_size: 2 optimizer { type: "sgd" learning_rate: 0.001 }
    source { type: "parquet" parquet { file: "d.parquet" } }
    """)
    with pytest.raises((ConfigError, DataError), match=r"d\.parquet, row 1: `label` is empty, but it is a target"):
        train(file)
