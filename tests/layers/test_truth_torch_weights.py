"""Weights of PyTorch's modules give the same outputs here, and ours there; its files are read by its own loader."""

from __future__ import annotations

import os

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime import Sequences, WeightsError
from paddle_layers.runtime.memory.tensorfiles import read_tensors

torch = pytest.importorskip("torch")

IMAGES = """
layer { name: "x" type: "data" data { shape: [2, 6, 5] } }
layer { name: "conv" type: "conv" input: "x" conv { num_filters: 4 filter_size: 3 stride: 2 padding: 1 groups: 2 } }
layer { name: "bn" type: "batch_norm" input: "conv" }
layer { name: "slope" type: "prelu" input: "bn" }
layer { name: "hidden" type: "fc" input: "slope" fc { size: 5 } }
layer { name: "norm" type: "layer_norm" input: "hidden" }
layer { name: "y" type: "fc" input: "norm" fc { size: 5 } }
"""


class Images(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 4, 3, stride=2, padding=1, groups=2)
        self.bn, self.slope = torch.nn.BatchNorm2d(4), torch.nn.PReLU(4)
        self.hidden, self.norm, self.y = torch.nn.Linear(36, 5), torch.nn.LayerNorm(5), torch.nn.Linear(5, 5)

    def forward(self, x):
        x = self.slope(self.bn(self.conv(x)))
        return self.y(self.norm(self.hidden(x.flatten(1))))


def stirred(module):
    """The module with other numbers in everything that it has, for the averages start with 0 and 1."""
    torch.manual_seed(3)
    with torch.no_grad():
        for tensor in (*module.parameters(), *module.buffers()):
            if tensor.is_floating_point():
                tensor.copy_(torch.rand_like(tensor) + 0.5 * (tensor > 0))
    return module.eval()


def outputs(module, x):
    with torch.no_grad():
        return module(torch.from_numpy(x)).numpy()


def save(module, path):
    from safetensors.torch import save_file

    save_file({name: tensor.contiguous() for name, tensor in module.state_dict().items()}, path)
    return path


def load_into(module, path):
    """Strictly: every name is there, and no other."""
    from safetensors.torch import load_file

    module.load_state_dict(load_file(path), strict=True)
    return module.eval()


@pytest.mark.parametrize("ending", ["safetensors", "pth"])
def test_an_image_network_there_is_the_same_here_and_back(tmp_path, ending):
    theirs, x = stirred(Images()), np.random.default_rng(0).normal(size=(3, 2, 6, 5)).astype(np.float32)
    path = tmp_path / f"w.{ending}"
    if ending == "pth":
        torch.save(theirs.state_dict(), path)
    else:
        save(theirs, path)
    with pl.Net(pl.loads(IMAGES)) as net:
        net.load(path, layout="torch")
        found = net.forward({"x": x}, phase="test")["y"]
        np.testing.assert_allclose(found, outputs(theirs, x), rtol=1e-5, atol=1e-5)
        net.save(tmp_path / "back.safetensors", layout="torch")
    back = load_into(Images(), tmp_path / "back.safetensors")
    np.testing.assert_array_equal(outputs(back, x), outputs(theirs, x))


def test_transposed_filters_are_read_as_they_are(tmp_path):
    theirs = torch.nn.Sequential(torch.nn.ConvTranspose2d(4, 4, 3, stride=2, groups=2))
    text = """
    layer { name: "x" type: "data" data { shape: [4, 3, 3] } }
    layer { name: "0" type: "conv_trans" input: "x" conv_trans { num_filters: 4 filter_size: 3 stride: 2 groups: 2 } }
    """
    path, x = save(theirs, tmp_path / "w.safetensors"), np.random.default_rng(0).random((2, 4, 3, 3)).astype(np.float32)
    with pl.Net(pl.loads(text)) as net:
        net.load(path, layout="torch")
        np.testing.assert_allclose(net.forward({"x": x}, phase="test")["0"], outputs(theirs, x), rtol=1e-4, atol=1e-5)


UNITS = {
    "lstmemory": (torch.nn.LSTM, 4, "peepholes: false"),
    "grumemory": (torch.nn.GRU, 3, "reset_after: true"),
    "recurrent": (torch.nn.RNN, 1, ""),
}
TEXT = """
layer {{ name: "x" type: "data" data {{ shape: 3 seq_nested_level: 1 }} }}
layer {{ name: "map" type: "fc" input: "x" fc {{ size: {columns} }} }}
layer {{ name: "unit" type: "{kind}" input: "map" {kind} {{ {settings} }} }}
"""
THERE = {"unit.*_ih_l0": "map.*", "unit.*_hh_l0": "unit.*"}


class Unit(torch.nn.Module):
    def __init__(self, kind, size):
        super().__init__()
        self.unit = UNITS[kind][0](3, size)

    def forward(self, x):
        return self.unit(x)[0]


@pytest.mark.parametrize("kind", UNITS)
def test_recurrent_units_there_are_the_same_here_and_back(tmp_path, kind):
    _, runs, settings = UNITS[kind]
    theirs, x = stirred(Unit(kind, 5)), np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
    path = save(theirs, tmp_path / "w.safetensors")
    with pl.Net(pl.loads(TEXT.format(kind=kind, columns=5 * runs, settings=settings))) as net:
        net.load(path, layout="torch", rename=THERE)
        found = net.forward({"x": Sequences(x, np.array([0, 4, 7]))}, phase="test")["unit"].data
        expected = np.concatenate([outputs(theirs, x[:4]), outputs(theirs, x[4:])])
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        net.save(tmp_path / "back.safetensors", layout="torch", rename={new: old for old, new in THERE.items()})
        if kind == "grumemory":
            net.parameters["unit.bias"].value[11] = 1.0
            with pytest.raises(
                WeightsError,
                match=r"cannot convert `unit.bias` to PyTorch's layout: the candidate's recurrent bias is not",
            ):
                net.save(tmp_path / "w2.safetensors", layout="torch")
    for name, tensor in read_tensors(tmp_path / "back.safetensors")[0].items():
        np.testing.assert_array_equal(tensor, theirs.state_dict()[name].numpy(), err_msg=name)


def test_an_embedding_is_read_as_it_is(tmp_path):
    theirs = torch.nn.ModuleDict({"words": torch.nn.Embedding(6, 6)})
    text = """
    layer { name: "ids" type: "data" data { data_type: INT size: 6 } }
    layer { name: "words" type: "embedding" input: "ids" embedding { size: 6 } }
    """
    path = save(theirs, tmp_path / "w.safetensors")
    with pl.Net(pl.loads(text)) as net:
        net.load(path, layout="torch")
        found = net.forward({"ids": np.arange(6)}, phase="test")["words"]
    np.testing.assert_array_equal(found, theirs["words"].weight.detach().numpy())


# ---- its own files

FC = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "y" type: "fc" input: "x" fc { size: 4 bias: false } }
"""


@pytest.fixture
def net():
    with pl.Net(pl.loads(FC)) as made:
        yield made


def test_a_checkpoint_with_one_set_of_tensors_is_read(tmp_path, net):
    weight = torch.randn(4, 3).bfloat16()
    torch.save({"epoch": 3, "state_dict": {"y.weight": weight}, "lr": [0.1]}, tmp_path / "w.pth")
    assert net.load(tmp_path / "w.pth", layout="torch").types == {"y.weight": "BF16"}
    np.testing.assert_array_equal(net.parameters["y.weight"].value, weight.float().numpy().T)
    torch.save({"model": {"y.weight": weight}, "ema": {"y.weight": weight}}, tmp_path / "w.pth")
    with pytest.raises(WeightsError, match="must contain exactly one state_dict, but contains several: `model`, `ema`"):
        net.load(tmp_path / "w.pth")


class Evil:
    def __reduce__(self):
        return os.mkdir, ("owned",)


def test_no_code_of_a_pickle_runs(tmp_path, net, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save({"y.weight": Evil()}, "w.pth")
    with pytest.raises(WeightsError, match=r"w.pth contains more than weights, or is corrupt; not loaded") as caught:
        net.load("w.pth")
    assert "\n" not in str(caught.value)
    assert not os.path.exists("owned")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"\x80\x04."])
def test_what_is_no_file_of_pytorch_is_said_to_be_none(tmp_path, net, content):
    (tmp_path / "w.pt").write_bytes(content)
    with pytest.raises(WeightsError, match=r"w.pt (is not a file that PyTorch can load|holds)") as caught:
        net.load(tmp_path / "w.pt")
    assert "\n" not in str(caught.value)


def test_other_numbers_than_ours_are_refused(tmp_path, net):
    torch.save({"y.weight": torch.zeros(4, 3, dtype=torch.complex64)}, tmp_path / "w.pth")
    with pytest.raises(WeightsError, match=r"`y.weight` is torch.complex64"):
        net.load(tmp_path / "w.pth")


PADDED = """
layer { name: "w" type: "data" data { data_type: INT size: 4 } }
layer { name: "e" type: "embedding" input: "w" embedding { size: 2 padding_id: 1 } }
"""
TIED = PADDED.replace("padding_id: 1 }", 'padding_id: 1 } param { of: "table" share: "t" }') + (
    'layer { name: "other" type: "embedding" input: "w" embedding { size: 2 } param { of: "table" share: "t" } }'
)


def test_the_row_of_the_padding_id_is_zero_there_too(tmp_path):
    ids = np.arange(4)
    with pl.Net(pl.loads(PADDED)) as net:
        net.save(tmp_path / "w.safetensors", layout="torch")
        wanted = net.forward({"w": ids}, phase="test")["e"]
        assert net.arena.by_name["e.table"].value[1].any(), "the table here stays as it is"
    module = torch.nn.Embedding(4, 2, padding_idx=1)
    module.load_state_dict({"weight": torch.from_numpy(read_tensors(tmp_path / "w.safetensors")[0]["e.weight"])})
    np.testing.assert_array_equal(module(torch.from_numpy(ids)).detach().numpy(), wanted)


REFUSED = {
    "row 1 is the padding of one layer": TIED,
    "it is shared by layers that store it in different layouts": """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "code" type: "fc" input: "x" fc { size: 3 } param { of: "weight" share: "w" } }
layer { name: "again" type: "trans_fc" input: "code" trans_fc { size: 3 } param { of: "weight" share: "w" } }
""",
    "the gates of PyTorch's GRU use sigmoid": """
layer { name: "x" type: "data" data { shape: 6 seq_nested_level: 1 } }
layer { name: "gru" type: "grumemory" input: "x" grumemory { reset_after: true gate_act: "tanh" } }
""",
}


@pytest.mark.parametrize("message", REFUSED)
def test_weights_that_would_compute_something_else_there_are_not_written(message, tmp_path):
    with pl.Net(pl.loads(REFUSED[message])) as net, pytest.raises(WeightsError, match=message):
        net.save(tmp_path / "w.safetensors", layout="torch")
