"""Several threads: the first nets of a process, one net for all, drivers that are being imported."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numba import carray, cfunc, njit, types
from numba.core.dispatcher import Dispatcher

import paddle_layers as pl
from paddle_layers.define.machine import usable_cores
from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.runtime.devices.cpu import atomics, native, workers
from paddle_layers.runtime.devices.cpu.atomics import nanoseconds
from paddle_layers.runtime.devices.cpu.native import (
    ADDRESS,
    BODY,
    CHUNKS,
    COLUMNS,
    LENGTH,
    MOST_CHUNKS,
    PARTS,
    POINTERS,
    TOTAL,
    take_piece,
)
from paddle_layers.runtime.devices.cpu.pool import WorkerPool, _Limit, allowed_threads, pool
from paddle_layers.runtime.devices.cpu.workers import run_together
from paddle_layers.runtime.generate.cache import load_driver

TEXT = """
layer { name: "x" type: "data" data { shape: [4] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "scores" type: "fc" input: "x" fc { size: 3 act: "relu" } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
"""
FIRST_LOOK = """
import threading
import paddle_layers as pl

start, failed = threading.Barrier(8), []

def look():
    start.wait()
    try:
        pl.loads('layer { name: "x" type: "data" data { shape: [4] } } layer { name: "y" type: "fc" input: "x" }')
    except pl.ConfigError as error:  # fc has no size
        failed.extend(one.code for one in error.diagnostics if one.code != "E105")
    pl.registry["fc"].definition

threads = [threading.Thread(target=look) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failed, failed
"""


AFTER_A_FORK = """
import os, sys, threading
import numpy as np
import paddle_layers as pl

net = pl.Net(pl.loads(
    'layer { name: "x" type: "data" data { shape: 600 } } layer { name: "y" type: "fc" input: "x" fc { size: 600 } }'
))
many = {"x": np.ones((600, 600))}
expected = net.forward(many)["y"].tobytes()
if os.fork():
    sys.exit(os.wait()[1] != 0)
names = [thread.name for thread in threading.enumerate()]
assert names == ["MainThread"], names
assert net.forward(many)["y"].tobytes() == expected
print("the same,", threading.active_count() - 1)
"""


def test_nothing_of_the_loop_over_launches_is_compiled_twice():
    """numba compiles another form for a literal and for a number without a sign, which take as long again."""
    njit("void(int64, int64)", nogil=True)(workers.work.py_func)
    njit("void(int64[:, ::1], int64, int64, int64, boolean, int64)", nogil=True)(workers.run_launches.py_func)
    njit("void(int64[:, ::1], int64[::1], int64, int64)", nogil=True)(workers.time_launches.py_func)
    functions = [function for module in (atomics, native, workers) for function in vars(module).values()]
    forms = [(f.__name__, str(form)) for f in functions if isinstance(f, Dispatcher) for form in f.signatures]
    assert "run_together" in dict(forms)
    assert [each for each in forms if "Literal" in each[1] or "uint" in each[1]] == []


def test_what_threads_count_in_is_freed_when_none_of_them_looks_at_it_any_more():
    """numba frees an array behind its last use, whoever has its address, and workers read it until they have left."""

    @njit("void(int64[:, ::1], int64, int64, int64, int64)")
    def entry(table, start, stop, threads, board):
        run_together(table, start, stop, threads, board)

    (module,) = entry.inspect_llvm().values()
    (text,) = [text for text in module.split("\n}") if "call i32 @clock_gettime" in text]
    (allocated,) = re.findall(r"(%\S+) = .*@NRT_MemInfo_alloc", text)
    freed = [found.start() for found in re.finditer(rf"@NRT_decref\([^)]*{re.escape(allocated)}\)", text)]
    waited = text.index("call i32 @clock_gettime")  # when the pass has ended, after the wait
    assert len(freed) == 1
    assert freed[0] > waited


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", AFTER_A_FORK], capture_output=True, text=True, check=True)
    assert done.stdout == f"the same, {min(usable_cores(), MAX_CHUNKS) - 1}\n"


AT_THE_END = """
import atexit, threading
import numpy as np

@atexit.register
def late():  # behind what the library has registered
    assert net.forward(many)["y"].tobytes() == expected
    print("the same,", threading.active_count())

import paddle_layers as pl

net = pl.Net(pl.loads(
    'layer { name: "x" type: "data" data { shape: 600 } } layer { name: "y" type: "fc" input: "x" fc { size: 600 } }'
))
many = {"x": np.ones((600, 600))}
expected = net.forward(many)["y"].tobytes()
"""


def test_threads_end_before_python_does() -> None:
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("the same, 1\n", "")


def in_threads(work: Callable[[int], None], count: int) -> None:
    """Run work(0), work(1) ... at once; raise the first error."""
    errors: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    running = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    if errors:
        raise errors[0]


def test_the_first_threads_of_a_process_find_all_layers() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_LOOK], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_driver_is_not_seen_before_it_is_whole(tmp_path: Path) -> None:
    text = "import time\ntime.sleep(0.2)\nbody = 7\n"
    found: list[int] = []

    def load(number: int) -> None:
        time.sleep(0.05 * number)
        found.append(load_driver(tmp_path / "cpu" / "slow.py", text).body)

    in_threads(load, 4)
    assert found == [7] * 4


def test_threads_may_share_a_net_for_forward_passes() -> None:
    rows = {count: np.random.default_rng(count).standard_normal((count, 4)) for count in (3, 8)}
    with pl.Net(pl.loads(TEXT), batch_size=8) as net:

        def run(count: int) -> np.ndarray:
            feeds = {"x": rows[count], "label": np.zeros(count, np.int64)}
            return net.forward(feeds, phase="test")["cost"]

        expected = {count: run(count) for count in rows}

        def work(number: int) -> None:
            for _ in range(100):
                count = (3, 8)[number % 2]
                np.testing.assert_array_equal(run(count), expected[count])

        in_threads(work, 4)


def test_what_belongs_to_a_pass_is_for_the_thread_that_made_it() -> None:
    feeds = {"x": np.ones((2, 4)), "label": np.array([0, 1])}
    with pl.Net(pl.loads(TEXT)) as net:
        net.forward(feeds)
        for read in (lambda: net.loss, net.backward, lambda: net.value("cost"), lambda: net.gradient("scores")):
            with pytest.raises(RuntimeError, match="ran in another thread; use one Net per training thread"):
                in_threads(lambda _, read=read: read(), 1)
        net.backward()


def test_nets_of_several_threads_train_side_by_side() -> None:
    def losses(number: int) -> list[float]:
        rng = np.random.default_rng(number)
        with pl.Net(pl.loads(TEXT), seed=number) as net:
            found = []
            for _ in range(10):
                net.forward({"x": rng.standard_normal((600, 4)), "label": rng.integers(0, 3, 600)})
                net.backward()
                found.append(net.loss)
        return found

    expected = [losses(number) for number in range(3)]
    found: dict[int, list[float]] = {}
    in_threads(lambda number: found.update({number: losses(number)}), 3)
    assert [found[number] for number in range(3)] == expected


@pytest.mark.parametrize("pieces", [1, 5, MOST_CHUNKS])
def test_each_piece_is_taken_by_one_thread(pieces: int) -> None:
    taken, found = np.zeros(1, np.int64), []
    take_piece(taken.ctypes.data, 0, 0)  # compiles

    def take(number: int) -> None:
        while (piece := take_piece(taken.ctypes.data, pieces, number * pieces // 4)) >= 0:
            found.append(piece)

    in_threads(take, 4)
    assert sorted(found) == [*range(pieces)]


ITEMS = 32
_this_thread = types.ExternalFunction("pthread_self", types.int64())


@cfunc(BODY)
def _note_thread(first, last, pointers, ints, floats):
    """Write down who computes each item, which takes 1 ms."""
    found = carray(pointers, ITEMS)
    for item in range(first, last):
        found[item] = _this_thread()
        end = nanoseconds() + 1_000_000
        while nanoseconds() < end:
            pass


def slow_launch(found: np.ndarray) -> np.ndarray:
    """A table of one launch, whose items write into `found` who computes them."""
    row = np.zeros((1, len(COLUMNS)), np.int64)
    columns = [ADDRESS, TOTAL, CHUNKS, PARTS, LENGTH, POINTERS]
    row[0, columns] = _note_thread.address, ITEMS, ITEMS, ITEMS, 1, found.ctypes.data
    return row


@pytest.mark.skipif(os.name != "posix", reason="there are no workers here")
@pytest.mark.parametrize("limit", [1, 2, MAX_CHUNKS])
def test_as_many_threads_compute_as_may(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(_Limit, "threads", limit)
    found = np.zeros(ITEMS, np.int64)
    seen, deadline = [], time.monotonic() + 20
    while not seen or (max(seen) < allowed_threads() and time.monotonic() < deadline):  # a core may be busy
        pool().run(slow_launch(found), 0, 1, worth=True)
        assert found.all()
        seen.append(len(set(found)))
        found[:] = 0
    assert max(seen) == min(limit, usable_cores())


@pytest.mark.skipif(os.name != "posix", reason="there are no workers here")
def test_one_caller_at_a_time_has_the_workers() -> None:
    done = []

    def call() -> None:
        found = np.zeros(ITEMS, np.int64)
        for _ in range(10):
            pool().run(slow_launch(found), 0, 1, worth=True)
            assert found.all()
            found[:] = 0
        done.append(found)

    callers = [threading.Thread(target=call, daemon=True) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    assert len(done) == len(callers)


def test_without_workers_one_thread_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddle_layers.runtime.devices.cpu.pool.HAS_WORKERS", False)
    found = np.zeros(ITEMS, np.int64)
    WorkerPool().run(slow_launch(found), 0, 1, worth=True)
    assert found.all()
    assert len(set(found)) == 1


LEARNED = """
layer { name: "words" type: "data" data { data_type: INT size: 9 } }
layer { name: "table" type: "embedding" input: "words" embedding { size: 2 } }
layer { name: "y" type: "fc" input: "table" fc { size: 2 } }
layer { name: "cost" type: "sum_cost" input: "y" }
"""


@pytest.mark.usefixtures("as_python")
def test_results_of_the_pass_of_another_thread_are_refused() -> None:
    """What one thread reads never silently belongs to the pass of another one."""
    net = pl.Net(pl.loads(LEARNED), keep=["y"])
    optimizer = pl.Optimizer(net, "sgd")
    readers: dict[str, Callable[[], object]] = {
        "loss": lambda: net.loss,
        "loss_sums": net.loss_sums,
        "value": lambda: net.value("y"),
        "gradient": lambda: net.gradient("y"),
        "backward": net.backward,
        "find_non_finite": net.find_non_finite,
        "dense gradient": lambda: net.parameters["y.weight"].gradient,
        "gradient by rows": lambda: net.parameters["table.table"].gradient,
        "gradient_rows": lambda: net.parameters["table.table"].gradient_rows,
        "step": lambda: optimizer.step(0.1),
    }

    def train(ids: list[int]) -> None:
        net.forward({"words": np.array(ids)})
        net.backward()
        assert net.loss is not None  # read, and kept

    train([1, 2])
    first = {name: read() for name, read in readers.items() if name != "step"}
    in_threads(lambda _: train([3, 4]), 1)
    for read in readers.values():
        with pytest.raises(RuntimeError, match="ran in another thread"):
            read()
    train([1, 2])
    assert net.loss == first["loss"]
    optimizer.step(0.1)


FORK_IN_A_PASS = """
import os, sys, threading
import numpy as np
import paddle_layers as pl
from paddle_layers.define.definitions.definition import LOADING
from paddle_layers.runtime.generate import cache

net = pl.Net(pl.loads(
    'layer { name: "x" type: "data" data { shape: 3 } } layer { name: "y" type: "fc" input: "x" fc { size: 2 } }'
))
feeds = {"x": np.ones((2, 3))}
expected = net.forward(feeds)["y"].tobytes()
held, done = threading.Event(), threading.Event()

def hold():
    with net.lock.current, LOADING.current, cache._IMPORTING.current:
        held.set()
        done.wait()

threading.Thread(target=hold, daemon=True).start()
held.wait()
if child := os.fork():
    done.set()
    sys.exit(os.waitpid(child, 0)[1] != 0)
assert net.forward(feeds)["y"].tobytes() == expected
own = pl.Net(pl.loads(
    'layer { name: "x" type: "data" data { shape: 5 } } layer { name: "y" type: "fc" input: "x" fc { size: 7 } }'
))
own.forward({"x": np.ones((2, 5))})
print("the same")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_during_a_pass_of_another_thread_leaves_no_lock_held() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK_IN_A_PASS], capture_output=True, text=True, check=True, timeout=600
    )
    assert done.stdout == "the same\n"


def test_no_lock_of_the_package_is_lost_by_a_fork() -> None:
    """A lock that another thread holds stays locked in the child: all are `ForkSafeLock`, or are renewed by hand."""
    folder = Path(pl.__file__).parent
    found = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if re.search(r"\b(RLock|Lock|Condition|Semaphore|Event)\(", path.read_text(encoding="utf-8"))
    }
    assert found == {
        "define/concurrency.py",
        "runtime/devices/cpu/pool.py",  # the pool is renewed as a whole
        "runtime/devices/cuda/simulator.py",  # the simulator; a device does not outlive a fork
        "training/processes/watchdog.py",  # its thread is that of a training
    }
