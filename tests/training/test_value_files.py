"""The callback `write_values`: values of tests and of batches in files, which `predict` and the net confirm."""

from __future__ import annotations

import os

import numpy as np
import pytest

import paddle_layers as pl
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, train, write

TESTED = NETWORK + SOURCES + SETTINGS + "test { every: 10 }\n"
SCORES = 'callback { type: "write_values" write_values { values: "fc2" values: "label" file: "scores.npz" } }\n'
BATCHES = """callback {
  type: "write_values"
  write_values { values: ["fc1", "label"] file: "b.jsonl" phase: "train" every: 15 }
}
"""


def softmax(scores):
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def test_every_test_has_a_file_with_all_its_rows(tmp_path):
    path = write(tmp_path, TESTED + SCORES)
    report, _, _ = train(path)
    files = sorted(os.listdir(tmp_path / "output" / "values"))
    assert files == [f"scores-{step:08d}.npz" for step in (10, 20, 30)]
    with np.load(tmp_path / "output" / "values" / files[-1]) as arrays, np.load(tmp_path / "test.npz") as data:
        assert set(arrays.files) == {"fc2", "label"}
        np.testing.assert_array_equal(arrays["label"], data["label"])
        found = pl.predict(path, weights=report.weights, values=["fc2"]).values["fc2"]
        np.testing.assert_allclose(softmax(arrays["fc2"]), found, rtol=1e-5)


def test_a_resumed_training_writes_the_same_files(tmp_path):
    path = write(tmp_path, TESTED + SCORES + BATCHES)
    train(path, stop_after=17)
    folder = tmp_path / "output" / "values"
    (folder / ".scores-00000020.npz.x.tmp").write_text("of one that was killed")
    train(path, resume=True)
    again = {file.name: file.read_bytes() for file in folder.iterdir()}
    train(path, overwrite=True)
    whole = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert sorted(whole) == ["b-00000015.jsonl", "b-00000030.jsonl", *(f"scores-000000{n}.npz" for n in (10, 20, 30))]
    assert set(again) - set(whole) == {"scores-00000017.npz"}, "that of the test at which it was stopped"
    for name in ("b-00000015.jsonl", "b-00000030.jsonl"):
        assert again[name] == whole[name]
    assert whole["b-00000015.jsonl"].count(b"\n") == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TESTED + SCORES.replace("scores.npz", "../scores.npz"), "expected a name without folders"),
        (
            TESTED + SCORES.replace("scores.npz", "scores.xls"),
            r"scores\.xls: unsupported extension; expected \.csv",
        ),
        (TESTED + SCORES.replace('"fc2"', '"fc3"'), "`fc3`: no such value in the test phase; did you mean `fc"),
        (TESTED.replace("test { every: 10 }", "").replace('phase: "test"', 'phase: "train"', 1) + SCORES, ""),
    ],
)
def test_mistakes_have_their_place(tmp_path, text, message):
    if not message:
        text = text[: text.rindex('source {\n  type: "npz" phase: "train"')] + text[text.index("\nbatch_size") :]
        message = "requires tests, but there is no source for the validation or test phase"
    path = write(tmp_path, text)
    with pytest.raises(pl.ConfigError, match=message) as caught:
        train(path)
    (fault,) = caught.value.diagnostics
    assert fault.line == 1 + text[: text.index('callback { type: "write_values"')].count("\n")


def test_files_of_an_earlier_training_go_with_it_and_others_stay(tmp_path):
    path = write(tmp_path, TESTED + SCORES)
    train(path)
    folder = tmp_path / "output" / "values"
    (folder / "mine.npz").write_text("mine")
    path.write_text(TESTED)
    train(path, overwrite=True)
    assert os.listdir(folder) == ["mine.npz"]
