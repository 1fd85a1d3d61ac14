"""How a process finds out with how many others it was started, and which cores are its own."""

import os
import sys
from types import SimpleNamespace

import pytest

import paddle_layers as pl
from paddle_layers.training.job import check_sharing
from paddle_layers.training.problems import TrainingError
from paddle_layers.training.processes.ranks import SINGLE_PROCESS, _cores_of_one, join


def test_processes_that_slurm_starts_by_pmix(monkeypatch):
    world = SimpleNamespace(Get_size=lambda: 1)
    mpi = SimpleNamespace(COMM_WORLD=world, Get_library_version=lambda: "Some MPI, version 1")
    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=mpi))
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "2")
    assert join() is SINGLE_PROCESS, "a script of Slurm's, which has the number too"
    monkeypatch.setenv("PMIX_RANK", "0")
    with pytest.raises(TrainingError, match=r"2 processes were started, but mpi4py sees 1: .* \(Some MPI\)"):
        join()


class OneMachine:
    def __init__(self, *cores):
        self.cores = cores

    def allgather(self, own):
        return [own, *self.cores]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not bind processes to cores")
def test_processes_share_the_cores_that_they_have_in_common(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr("paddle_layers.training.processes.ranks.usable_cores", lambda: 4)
    assert _cores_of_one(OneMachine()) == 4
    assert _cores_of_one(OneMachine([0, 1, 2, 3])) == 2
    assert _cores_of_one(OneMachine([4, 5, 6, 7])) == 4
    assert _cores_of_one(OneMachine(*[[0, 1, 2, 3]] * 7)) == 1


def test_synchronised_beside_rows_that_values_decide():
    """A pass that outgrows its buffers begins anew, in one process only: the others would wait for it in its middle."""
    network = pl.loads("""
layer { name: "x" type: "data" data { shape: [1] seq_nested_level: 2 } }
layer { name: "norm" type: "batch_norm" input: "x" batch_norm { synchronised: true } }
layer { name: "part" type: "seq_avg_pool" input: "norm" seq_avg_pool { level: SUBSEQUENCE } }
layer { name: "best" type: "kmax_seq_score" input: "part" kmax_seq_score { beam_size: 2 } }
layer { name: "taken" type: "sub_nested_seq" input: "norm" input: "best" }
""")
    training = SimpleNamespace(network=network, batch_size=4)
    with pytest.raises(TrainingError, match="`norm` is synchronized, but `taken` has a dynamic row count"):
        check_sharing(training, 2, [], [])
