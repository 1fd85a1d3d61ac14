"""Processes that fork, have little memory, or a single core."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

from .cases import NotTried, Place
from .processes import Preparation, end, program, start
from .trainings import left, train, write_training

LARGE = """
import hashlib, multiprocessing, os
import numpy as np
import paddle_layers as pl

TEXT = 'layer { name: "x" type: "data" data { shape: 600 } } layer { name: "y" type: "fc" input: "x" fc { size: 500 } }'

def show():
    with pl.Net(pl.loads(TEXT)) as net:  # large enough for several threads
        print(hashlib.sha256(net.forward({"x": np.ones((300, 600))})["y"].tobytes()).hexdigest(), flush=True)

def fork(work):
    if (number := os.fork()) == 0:
        work()
        os._exit(0)
    assert os.waitpid(number, 0)[1] == 0, "the child failed"
"""


def _run(place: Place, text: str, before: Preparation | None = None) -> list[str]:
    """The lines that a program shows."""
    (place.folder / "large.py").write_text(LARGE + text)
    return end(start([sys.executable, "large.py"], place.folder, before=before)).fine().out.splitlines()


def fork_after_import(place: Place) -> None:
    """fork after the import: the child computes the same bits"""
    child, parent = _run(place, "fork(show)\nshow()")
    assert child == parent


def fork_after_a_pass(place: Place) -> None:
    """fork after a pass with threads: the child starts threads of its own, and computes the same bits"""
    parent, child = _run(place, "show()\nfork(show)")
    assert child == parent


def fork_after_a_pass_without_nets(place: Place) -> None:
    """fork after a pass, and the child uses no net: nothing is in its way"""
    _, child = _run(place, "show()\nfork(lambda: print('done', flush=True))")
    assert child == "done"


def spawn(place: Place) -> None:
    """spawn after a pass: the child computes the same bits"""
    text = """
if __name__ == "__main__":
    show()
    process = multiprocessing.get_context("spawn").Process(target=show)
    process.start()
    process.join()
"""
    parent, child = _run(place, text)
    assert child == parent


PEAK = """
import runpy, sys
sys.argv[1:] = ["train", "train.textproto", "--output", "out"]
try:
    runpy.run_module("paddle_layers", run_name="__main__")
except SystemExit:
    print(next(line for line in open("/proc/self/status") if line.startswith("VmPeak")))
"""
ALONE = {"NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
LESS = (5, 15, 30, 45)
"""Megabytes that are missing."""


def little_memory(place: Place) -> str:
    """less memory than it takes (ulimit -v): one line, with more of it the same bits; never a crash

    A single thread: OpenBLAS takes 32 MB for each, at their first product, and waits forever where there are none. Nor
    is there less than it takes to import the libraries, which crash then.
    """
    write_training(place.folder, steps=2, wide=1500)
    if not Path("/proc/self/status").exists():
        raise NotTried("there is no /proc/self/status")
    peak = int(end(start(program(PEAK), place.folder, **ALONE)).fine().out.split()[-2])  # kB
    whole, refused = left(place.folder / "out"), []
    for less in LESS:
        limit = (peak << 10) - (less << 20)

        def lower(limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        output = f"less{less}"
        done = train(place.folder, output=output, before=lower, **ALONE)
        if done.status:
            refused.append(done.refused("memory").err.splitlines()[-1])
        else:
            assert left(place.folder / output) == whole
    assert refused, "it takes less memory than it took"
    return f"{len(refused)} of {len(LESS)} limits refused"


def one_core(place: Place) -> None:
    """one core (taskset): the same bits as with all"""
    if not hasattr(os, "sched_setaffinity"):
        raise NotTried("processes cannot be bound to a core here")
    bind = lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # noqa: E731
    assert _run(place, "show()", before=bind) == _run(place, "show()")


CASES = (fork_after_import, fork_after_a_pass, fork_after_a_pass_without_nets, spawn, little_memory, one_core)
