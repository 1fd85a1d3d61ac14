"""Files of PyTorch that hold other tensors than weights, or announce more than they have."""

import zipfile

import pytest

import paddle_layers as pl
from paddle_layers.runtime import WeightsError

torch = pytest.importorskip("torch")

FC = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "y" type: "fc" input: "x" fc { size: 4 bias: false } }
"""


def no_weights():
    """Tensors whose numbers are absent, fewer than the shape has, or no plain array."""
    one = torch.ones(1)
    yield torch.empty(4, 3, device="meta"), "has no data (device `meta`)"
    yield torch.nested.nested_tensor([torch.ones(3), torch.ones(2)]), "is a nested tensor"
    yield torch.eye(3).to_sparse(), "torch.sparse_coo; convert it with `.to_dense()`"
    yield torch.eye(3).to_sparse_csr(), "torch.sparse_csr; convert it with `.to_dense()`"
    yield torch.quantize_per_tensor(torch.ones(4, 3), 0.5, 0, torch.qint8), "is torch.qint8"
    yield one.expand(4, 3), "has fewer stored values than its shape 4x3; save it with `.contiguous()`"
    yield one.bfloat16().expand(1 << 16, 1 << 16), "has fewer stored values than its shape 65536x65536"


@pytest.mark.filterwarnings("ignore")  # PyTorch calls nested, sparse and quantized tensors prototypes
def test_tensors_without_an_array_of_numbers_are_refused(tmp_path):
    with pl.Net(pl.loads(FC)) as net:
        for tensor, message in no_weights():
            torch.save({"y.weight": tensor}, tmp_path / "w.pth")
            with pytest.raises(WeightsError) as caught:
                net.load(tmp_path / "w.pth")
            assert f"w.pth: `y.weight` {message}" in str(caught.value) or message in str(caught.value)
            assert "\n" not in str(caught.value)


def test_many_tensors_of_the_same_numbers_are_refused(tmp_path):
    weight = torch.ones(1000, dtype=torch.bfloat16)
    torch.save({f"w{k}": weight for k in range(400)}, tmp_path / "w.pth")
    assert (tmp_path / "w.pth").stat().st_size < 48_000
    with pl.Net(pl.loads(FC)) as net, pytest.raises(WeightsError, match="its 400 tensors would need 1600000 bytes"):
        net.load(tmp_path / "w.pth")


def test_members_that_unpack_to_more_than_the_file_are_not_read(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "w.pth", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("w/data.pkl", b"\0" * (1 << 20))
    monkeypatch.setattr(torch, "load", None)  # nothing is loaded
    with pl.Net(pl.loads(FC)) as net, pytest.raises(WeightsError, match="would decompress to 1048576"):
        net.load(tmp_path / "w.pth")
