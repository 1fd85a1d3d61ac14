"""Recurrences of PyTorch that begin with given rows and hand their last states on, in from ONNX and out again."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.exchange.onnx_in.model import ImportFailure
from paddle_layers.testing.cases.trial import as_python

torch = pytest.importorskip("torch")


class Handed(torch.nn.Module):
    """An LSTM that begins with maps of a row, and one that goes on where it ended; a GRU beside them."""

    def __init__(self, directions: int = 1) -> None:
        super().__init__()
        self.first = torch.nn.LSTM(3, 4, batch_first=True, bidirectional=directions == 2)
        self.then, self.gated = (kind(4, 4, batch_first=True) for kind in (torch.nn.LSTM, torch.nn.GRU))
        self.outputs, self.states = torch.nn.Linear(2, 4), torch.nn.Linear(2, 4)
        self.directions = directions

    def forward(self, x, row):
        outputs = torch.tanh(self.outputs(row)).unsqueeze(0).expand(self.directions, -1, -1)
        states = self.states(row).unsqueeze(0).expand(self.directions, -1, -1)
        y, last = self.first(x, (outputs, states))
        if self.directions == 2:
            return y
        return self.gated(self.then(y, last)[0], outputs)[0], last[1][0] + 1


def exported(path: Path, module: torch.nn.Module, *given: torch.Tensor) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the older exporter says that it is old
        torch.onnx.export(
            module.eval(), given, str(path), input_names=["x", "row"], dynamo=False,
            dynamic_axes={"x": {0: "N", 1: "T"}, "row": {0: "N"}},
        )  # fmt: skip
    return path


def test_first_rows_and_last_states_come_in_and_go_out(tmp_path: Path) -> None:
    torch.manual_seed(0)
    module, given = Handed(), (torch.randn(2, 5, 3), torch.randn(2, 2))
    imported = pl.import_onnx(exported(tmp_path / "m.onnx", module, *given))
    assert imported.text.count("return_state: true") == 1, "the last states of the second one are read by nobody"
    feeds = {"x": list(given[0].numpy()), "row": given[1].numpy()}
    with imported.net() as net, torch.no_grad():
        found = as_python(lambda: net.forward(feeds, phase="test"))
        for name, expected in zip(imported.outputs.values(), module(*given), strict=True):
            value = found[name].data if isinstance(found[name], pl.Sequences) else found[name]
            np.testing.assert_allclose(value, expected.reshape(value.shape), rtol=1e-4, atol=1e-6)
        pl.export_onnx(net, tmp_path / "again.onnx")
    again = pl.import_onnx(tmp_path / "again.onnx")
    assert again.text == imported.text


def test_those_of_two_directions_are_refused(tmp_path: Path) -> None:
    path = exported(tmp_path / "m.onnx", Handed(2), torch.randn(2, 5, 3), torch.randn(2, 2))
    with pytest.raises(ImportFailure, match=r"split it into two nodes|repeating along the batch"):
        pl.import_onnx(path)
