"""Weights in files of PyTorch, where it is installed."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import paddle_layers as pl
from paddle_layers.runtime import WeightsError

from .data_files import check_message
from .mutators import changed_bytes
from .target import Target, demand

NETWORK = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "y" type: "fc" input: "x" fc { size: 4 bias: false } }
"""
NAMES = ("y.weight", "y.weight", "y.weight", "y.bias", "", "a" * 4000, "\u202e\n")


class TorchFiles(Target):
    """Files of PyTorch, which hold tensors of all kinds."""

    name = "torch-files"

    def __init__(self, folder: Path) -> None:
        import torch

        super().__init__(folder)
        warnings.simplefilter("ignore")  # PyTorch calls sparse and nested tensors prototypes
        self.torch: Any = torch
        self.net = pl.Net(pl.loads(NETWORK))
        self.path = folder / "w.pth"
        self.costly = (
            torch.nested.nested_tensor([torch.ones(3), torch.ones(2)]),
            torch.eye(3).to_sparse(),
            torch.quantize_per_tensor(torch.ones(4, 3), 0.5, 0, torch.quint8),
        )
        """Tensors whose construction takes longer than the rest of a case."""

    def make(self, rng: Random) -> bytes:
        """Tensors by name, or something else, saved in one of PyTorch's two ways; members and bytes changed."""
        names = [rng.choice(NAMES) for _ in range(rng.choice((1, 1, 2, 40)))]
        state: Any = {name: self._tensor(rng) for name in dict.fromkeys(names)}
        if rng.random() < 0.2:
            state = rng.choice(({"model": state}, [state], {"a": state, "b": state}, {**state, "n": 1}, None, {1: 2}))
        file = io.BytesIO()
        self.torch.save(state, file, _use_new_zipfile_serialization=rng.random() < 0.7)
        data = file.getvalue()
        if data[:2] == b"PK" and rng.random() < 0.5:
            data = self._repacked(data, rng)
        return changed_bytes(data, rng) if rng.random() < 0.4 else data

    def _tensor(self, rng: Random) -> Any:
        torch = self.torch
        kinds = (torch.float32, torch.float32, torch.bfloat16, torch.float64, torch.int8, torch.bool, torch.complex64)
        whole = torch.ones(rng.choice(((4, 3), (4, 3), (3, 4), (12,), (1,), (), (0, 3))), dtype=rng.choice(kinds))
        huge = rng.choice((2**4, 2**20, 2**31, 2**40))
        ways = (
            lambda: whole,
            lambda: whole,
            lambda: whole.t() if whole.dim() == 2 else whole,
            lambda: torch.ones(1, dtype=whole.dtype).expand(huge, rng.choice((1, 4))),
            lambda: torch.empty(huge, 3, device="meta"),
            *((lambda tensor=tensor: tensor) for tensor in self.costly),
            lambda: torch.nn.Parameter(torch.ones(4, 3)),
            lambda: torch.imag(torch.ones(4, 3, dtype=torch.complex64).conj()),
        )
        return rng.choice(ways)()

    @staticmethod
    def _repacked(data: bytes, rng: Random) -> bytes:
        """The archive with members that are compressed, grown, changed, doubled or left out."""
        file = io.BytesIO()
        method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
        with zipfile.ZipFile(io.BytesIO(data)) as sound, zipfile.ZipFile(file, "w", method, compresslevel=1) as archive:
            for name in sound.namelist():
                content = sound.read(name)
                if rng.random() < 0.4:
                    content = rng.choice((changed_bytes(content, rng), content + bytes(2**18), b"", content[:-1]))
                if rng.random() < 0.95:
                    archive.writestr(name, content)
        return file.getvalue()

    def check(self, case: bytes) -> None:
        """Loaded, or refused in a line."""
        self.path.write_bytes(case)
        try:
            self.net.load(str(self.path))
        except WeightsError as error:
            check_message(error, str(self.path))
        demand(self.net.parameters["y.weight"].value.shape == (3, 4), "another shape")
