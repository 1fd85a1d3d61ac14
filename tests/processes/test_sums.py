"""Sums of gradients by MPI: in place on the CPU, in memory of a card where MPI knows cards, else in a copy of it."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import load_file

import paddle_layers as pl
from paddle_layers.runtime.devices.cuda import simulated_device
from paddle_layers.runtime.devices.cuda.driver import DriverCard
from paddle_layers.training.processes.gradient_allreduce import MpiSums
from tests.cuda.fake_driver import FakeDriver

NETWORK = """
layer { name: "x" type: "data" data { shape: [40] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "wide" type: "fc" input: "x" fc { size: 30 act: "tanh" } }
layer { name: "scores" type: "fc" input: "wide" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
"""


class Twice:
    """MPI between two processes with the same gradients; it knows these kinds of memory."""

    Request = SimpleNamespace(Testall=len, Waitall=len)
    IN_PLACE, __file__ = object(), None

    def __init__(self, kinds):
        self.COMM_WORLD, self.kinds, self.on_card = self, kinds, 0

    def Get_info(self):  # noqa: N802  as MPI writes it
        return {"mpi_memory_alloc_kinds": self.kinds} if self.kinds else {}

    def Iallreduce(self, place, numbers):  # noqa: N802
        assert place is self.IN_PLACE
        if not isinstance(numbers, np.ndarray):
            self.on_card += 1
            given = numbers.__cuda_array_interface__
            assert (given["version"], given["typestr"]) == (3, "<f4")
            floats = ctypes.cast(given["data"][0], ctypes.POINTER(ctypes.c_float))  # a simulated card's lie here
            numbers = np.ctypeslib.as_array(floats, given["shape"])
        numbers *= 2


@pytest.mark.parametrize(
    ("card", "kinds", "handed_over", "noted"),
    [
        (False, "mpi,system", False, False),
        (True, "mpi,system,cuda:host", False, True),
        (True, "", False, True),
        (True, "mpi,system,cuda:device", True, False),
    ],
)
def test_memory_that_mpi_is_handed(card, kinds, handed_over, noted):
    rng = np.random.default_rng(3)
    batch, mpi = {"x": rng.normal(size=(4, 40)), "label": np.array([0, 2, 1, 1])}, Twice(kinds)
    with pl.Net(pl.loads(NETWORK)) as alone, pl.Net(pl.loads(NETWORK), device=_device(card)) as net:
        sums = MpiSums(mpi, net.target)
        for _ in range(2):
            for one, ready in ((alone, None), (net, sums.start_sum)):
                one.forward(batch, step=0)
                one.backward(ready=ready)
            sums.wait()
            for name, parameter in alone.parameters.items():
                np.testing.assert_allclose(net.parameters[name].gradient, 2 * parameter.gradient, atol=1e-6)
    assert bool(mpi.on_card) == handed_over
    assert ("is not CUDA-aware" in sums.note) == noted


def _device(card):
    return simulated_device() if card else "cpu"


def test_processes_of_a_machine_take_its_cards_in_turn():
    class TwoCards(FakeDriver):
        def do_cuDeviceGetCount(self):  # noqa: N802
            return (2,)

        def do_cuDeviceGet(self, number):  # noqa: N802
            taken.append(number)
            return super().do_cuDeviceGet(number)

    taken = []
    for number in range(3):
        DriverCard(TwoCards(), number=number)
    assert taken == [0, 1, 0]


TRAINING = """
net { LAYERS }
batch_size: 8
steps: 3
source { type: "npz" phase: "train" npz { file: "train.npz" } }
optimizer { type: "adam" learning_rate: 0.01 }
"""
WITHOUT = """
import os, sys
import paddle_layers.training.processes.gradient_allreduce as sums
from paddle_layers.cli import main
del os.memfd_create
if sys.argv.pop(1) == "CUDA-aware":  # the memory of a simulated card is the machine's: any MPI can take it
    sums.is_cuda_aware = lambda mpi: True
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="where processes share memory, they do not do that")
def test_processes_that_share_no_memory(tmp_path):
    """On CPUs, and on simulated cards both ways: the weights of one process alone."""
    rng = np.random.default_rng(5)
    np.savez(tmp_path / "train.npz", x=rng.normal(size=(24, 40)).astype(np.float32), label=rng.integers(0, 3, 24))
    (tmp_path / "train.textproto").write_text(TRAINING.replace("LAYERS", NETWORK))
    mpiexec = str(Path(sys.executable).with_name("mpiexec"))

    def weights(processes, way, device):
        own = [sys.executable, "-c", WITHOUT, way, "train", "train.textproto", "--output", f"{way}-{device}"]
        done = subprocess.run(
            [*([mpiexec, "-n", str(processes)] if processes > 1 else []), *own, "--device", device], cwd=tmp_path,
            env=os.environ | ({"NUMBA_ENABLE_CUDASIM": "1"} if device == "cuda" else {}), capture_output=True,
            text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert ("is not CUDA-aware" in done.stderr) == (way == "copies")
        return load_file(tmp_path / f"{way}-{device}" / "weights.safetensors")

    alone = weights(1, "alone", "cpu")
    for way, device in (("plain", "cpu"), ("copies", "cuda"), ("CUDA-aware", "cuda")):
        for name, value in weights(2, way, device).items():
            np.testing.assert_allclose(value, alone[name], atol=1e-6, err_msg=f"{way} {name}")
