"""Several processes under mpiexec train what one trains alone; what one of them suffers ends all."""

import csv
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import paddle_layers as pl

NETWORK = """
name: "shared"
layer { name: "x" type: "data" data { shape: [6] } }
layer { name: "words" type: "data" data { data_type: INT size: 9 seq_nested_level: 1 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "kind" type: "data" data { data_type: INT size: 9 seq_nested_level: 1 } }
layer { name: "table" type: "embedding" input: "words" embedding { size: 5 } }
layer { name: "tags" type: "fc" input: "table" fc { size: 9 } }
layer { name: "tagging" type: "softmax_with_loss" input: "tags" input: "kind" loss_weight: 0.5 }
layer { name: "mean" type: "seq_avg_pool" input: "table" }
layer { name: "both" type: "concat" input: "x" input: "mean" }
layer { name: "wide" type: "fc" input: "both" fc { size: 7 act: "tanh" } }
layer { name: "scores" type: "fc" input: "wide" fc { size: 3 } }
layer {
  name: "cost" type: "softmax_with_loss" input: "scores" input: "label"
  softmax_with_loss { ignore_label: 2 normalization: VALID }
}
layer { name: "accuracy" type: "accuracy" input: "scores" input: "label" }
"""
DENSE = """
layer { name: "x" type: "data" data { shape: [6] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "wide" type: "fc" input: "x" fc { size: 7 act: "tanh" } }
layer { name: "scores" type: "fc" input: "wide" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
"""
TRAINING = """
network: "shared.textproto"
batch_size: 10
epochs: 4
source { type: "npz" phase: "train" npz { file: "train.npz" } }
source { type: "npz" phase: "test" npz { file: "train.npz" } }
optimizer { type: "sgd" learning_rate: 0.1 }
checkpoint { every: 5 keep: 4 }
test { every: 4 }
log { every: 1 }
output: "output"
"""
WRITES = 'callback { type: "write_values" write_values { values: "scores" file: "scores.npz" phase: test } }\n'
ROWS = 31
"""Of which the last batch of an epoch has one: two of three processes have none."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("ranks"), np.random.default_rng(5)
    lengths = rng.integers(1, 6, ROWS)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    np.savez(
        folder / "train.npz",
        x=rng.normal(size=(ROWS, 6)).astype(np.float32),
        label=rng.integers(0, 3, ROWS),
        **{name: rng.integers(0, 9, starts[-1]) for name in ("words", "kind")},
        **{f"{name}.starts": starts for name in ("words", "kind")},
    )
    (folder / "shared.textproto").write_text(NETWORK)
    (folder / "train.textproto").write_text(TRAINING)
    return folder


def command(processes, *args):
    own = [sys.executable, "-m", "paddle_layers", "train", "train.textproto", *args]
    return own if processes == 1 else [str(Path(sys.executable).with_name("mpiexec")), "-n", str(processes), *own]


def train(folder, processes, *args, ok=True):
    done = subprocess.run(
        command(processes, *args), cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode == 0) == ok, done.stdout + done.stderr
    return done.stdout + done.stderr


def losses(folder):
    with (folder / "log.csv").open() as file:
        lines = list(csv.DictReader(file))
    names = [name for name in lines[0] if name not in ("phase", "seconds")]
    return [line["phase"] for line in lines], np.array([[float(line[name] or 0) for name in names] for line in lines])


@pytest.fixture(scope="module")
def trained(folder):
    """The outputs of finished trainings by the number of processes, and what the training has shown."""

    @functools.cache
    def output_of(processes):
        shown = train(folder, processes, "--output", f"shared{processes}")
        return folder / f"shared{processes}", shown

    return output_of


@pytest.fixture(scope="module")
def alone(trained):
    return trained(1)[0]


def assert_alike(found, alone, atol=2e-6):
    """The same lines of the log and the same weights, but for the order in which numbers are added up."""
    assert losses(found)[0] == losses(alone)[0]
    np.testing.assert_allclose(losses(found)[1], losses(alone)[1], atol=atol)
    ours, others = (load_file(path / "weights.safetensors") for path in (found, alone))
    assert ours.keys() == others.keys()
    for name, value in ours.items():
        np.testing.assert_allclose(value, others[name], atol=atol, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [2, 3])
def test_processes_train_what_one_trains_alone(trained, alone, processes):
    """Costs with divisors of their own, of sequences of unequal lengths; a last batch of one row."""
    output, shown = trained(processes)
    assert_alike(output, alone)
    assert shown.count("Learning curve") == shown.count("step 16/16") == 1


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_small_batches_are_a_large_one(folder, alone, processes):
    """A loss of tokens beside one of samples with labels that are ignored, over two batches of each process."""
    text = TRAINING.replace("batch_size: 10", "batch_size: 5 accumulate: 2")
    (folder / "small.textproto").write_text(text)
    args = [
        one.replace("train.textproto", "small.textproto") for one in command(processes, "--output", f"a{processes}")
    ]
    done = subprocess.run(args, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert_alike(folder / f"a{processes}", alone)


@pytest.mark.slow
def test_two_processes_have_the_bits_of_one_that_accumulates(folder, tmp_path):
    """A sum of two has one order, and each part divides by the divisors of the whole. Twice the same, too."""
    arrays = np.load(folder / "train.npz")
    np.savez(tmp_path / "train.npz", x=arrays["x"][:24], label=arrays["label"][:24])
    (tmp_path / "shared.textproto").write_text(DENSE)
    for name, size, accumulate in (("two", 8, 1), ("one", 4, 2)):
        text = TRAINING.replace("batch_size: 10", f"batch_size: {size} accumulate: {accumulate}")
        (tmp_path / "train.textproto").write_text(text)
        for again in ("", "_again") if name == "two" else ("",):
            train(tmp_path, 2 if name == "two" else 1, "--output", name + again)
    bits = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("two", "two_again", "one")]
    assert bits[0] == bits[1] == bits[2]


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after"), [(3, 2), (1, 3), (2, 2)])
def test_goes_on_with_any_number_of_processes(folder, trained, alone, before, after):
    output = shutil.copytree(trained(before)[0], folder / f"{before}{after}")
    bits = (output / "weights.safetensors").read_bytes()
    shutil.rmtree(output / "checkpoints" / "step-00000015")
    shutil.rmtree(output / "checkpoints" / "step-00000016")
    assert "resuming after step 10" in train(folder, after, "--output", output.name, "--resume")
    assert_alike(output, alone)
    assert before != after or (output / "weights.safetensors").read_bytes() == bits


WATCHING = """
callback { type: "save_best" save_best { watch: "loss" mode: min } }
callback { type: "plateau" plateau { watch: "loss" mode: min patience: 1 gamma: 0.5 margin: 0.02 reload: true } }
callback { type: "early_stop" early_stop { watch: "loss" mode: min patience: 3 margin: 0.05 } }
"""


@pytest.mark.slow
def test_what_looks_at_tests_sees_all_rows(folder, tmp_path):
    """Lower rates, weights that `plateau` goes back to, the step of the stop, the best weights: as in one process."""
    for name in ("shared.textproto", "train.npz"):
        shutil.copy(folder / name, tmp_path)
    text = TRAINING.replace("epochs: 4", "epochs: 40").replace("every: 4", "every: 2").replace("0.1", "0.3")
    (tmp_path / "train.textproto").write_text(text + WATCHING)
    for processes in (1, 3):
        shown = train(tmp_path, processes, "--output", f"watched{processes}")
        assert "`loss` has not improved on" in shown
        assert "restored the weights of step" in shown
    assert_alike(tmp_path / "watched3", tmp_path / "watched1", atol=1e-5)
    assert len({*losses(tmp_path / "watched3")[1][:, 2]}) > 1, "the plateau lowers the rate"
    ours, others = (load_file(tmp_path / f"watched{one}" / "best.safetensors") for one in (3, 1))
    for name, value in ours.items():
        np.testing.assert_allclose(value, others[name], atol=1e-5, err_msg=name)


FULL = """
import resource, sys
from mpi4py import MPI  # which needs files when it begins
from paddle_layers.cli import main
if MPI.COMM_WORLD.Get_rank() == int(sys.argv.pop(1)):
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
def test_a_full_disk(folder, trained, alone):
    """That of the first process ends the job in one line, the last checkpoint is whole; others write nothing."""
    output = shutil.copytree(trained(2)[0], folder / "full")  # whose kernels are compiled before there is a limit
    for step in (15, 16):
        shutil.rmtree(output / "checkpoints" / f"step-{step:08}")

    def limited(number):
        own = command(2, "--output", output.name, "--resume")
        at = own.index("-m")
        return subprocess.run(
            [*own[:at], "-c", FULL, str(number), *own[at + 2 :]], cwd=folder, capture_output=True, text=True,
            timeout=600, check=False,
        )  # fmt: skip

    done = limited(0)
    shown = done.stdout + done.stderr
    assert done.returncode != 0
    assert shown.count("File too large") == 2, shown  # each process says it
    assert "Traceback" not in shown
    done = limited(1)
    assert done.returncode == 0, done.stderr
    assert "resuming after step 10" in done.stderr
    assert_alike(output, alone)


WORDS = 3000
"""Of which a batch has some: rows of the table are gathered, where the nine of `NETWORK` are summed as a whole."""


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_rows_of_tables_are_gathered(folder, tmp_path, optimizer):
    """What waits for rows that no batch has used is made alike in all processes, before tests too."""
    rng = np.random.default_rng(3)
    arrays = dict(np.load(folder / "train.npz"))
    np.savez(tmp_path / "train.npz", **arrays | {"words": rng.integers(0, WORDS, len(arrays["words"]))})
    text = NETWORK.replace("size: 9 seq_nested_level: 1 } }", f"size: {WORDS} seq_nested_level: 1 }} }}", 1)
    assert text != NETWORK
    (tmp_path / "shared.textproto").write_text(text)
    own = 'optimizer { type: "adam" learning_rate: 0.01 }'
    if optimizer == "sgd":
        own = 'optimizer { type: "sgd" learning_rate: 0.1 sgd { momentum: 0.9 } }'
        own += 'regularizer { type: "l2" l2 { rate: 0.01 } }'
    (tmp_path / "train.textproto").write_text(TRAINING.replace('optimizer { type: "sgd" learning_rate: 0.1 }', own))
    train(tmp_path, 1, "--output", "alone")
    train(tmp_path, 3, "--output", "shared")
    assert_alike(tmp_path / "shared", tmp_path / "alone", atol=2e-5 if optimizer == "adam" else 2e-6)


@pytest.mark.slow
def test_synchronised_batch_norm_is_that_of_the_whole_batch(folder, alone, tmp_path):
    """A process without rows, too; where each normalizes by its own rows, the losses are others."""
    shutil.copy(folder / "train.npz", tmp_path)
    (tmp_path / "train.textproto").write_text(TRAINING)
    norm = 'layer {{ name: "norm" type: "batch_norm" input: "wide" batch_norm {{ synchronised: {} }} }}\n'
    for synchronised in ("true", "false"):
        layer = norm.format(synchronised) + 'layer { name: "scores" type: "fc" input: "norm"'
        text = NETWORK.replace('layer { name: "scores" type: "fc" input: "wide"', layer)
        (tmp_path / "shared.textproto").write_text(text)
        for processes in (1, 3):
            train(tmp_path, processes, "--output", f"{synchronised}{processes}")
    assert_alike(tmp_path / "true3", tmp_path / "true1", atol=1e-5)
    assert_alike(tmp_path / "true1", tmp_path / "false1", atol=0)
    others = losses(tmp_path / "false3")[1] - losses(tmp_path / "false1")[1]
    assert np.abs(others).max() > 1e-3


def processes_of(job):
    """Process numbers of the trainings that a job has started, by their place in it."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            environment = dict(part.split("=", 1) for part in path.read_text().split("\0") if "=" in part)
            text = (path.parent / "cmdline").read_text()
        except OSError:
            continue
        if environment.get("PMI_RANK") and environment.get("JOB_OF_TEST") == job and "mpiexec" not in text:
            found[int(environment["PMI_RANK"])] = int(path.parent.name)
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_dies_or_hangs_ends_the_job(folder, tmp_path, number):
    """The last checkpoint is whole: the training goes on from it."""
    output = tmp_path / "ended"
    text = TRAINING.replace("epochs: 4", "steps: 1000000").replace("every: 1 }", "every: 1000 }")
    (folder / f"long{number}.textproto").write_text(
        text.replace("checkpoint { every: 5 keep: 4 }", "checkpoint { every: 500 }")
    )
    args = [part.replace("train.textproto", f"long{number}.textproto") for part in command(2, "--patience", "8")]
    environment = os.environ | {"JOB_OF_TEST": str(tmp_path)}
    job = subprocess.Popen(
        [*args, "--output", str(output)], cwd=folder, env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 240
    while not list(output.glob("checkpoints/step-*")) and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    assert job.poll() is None, job.communicate()[0]
    started = processes_of(str(tmp_path))
    assert sorted(started) == [0, 1]
    os.kill(started[1], number)
    try:
        shown = job.communicate(timeout=600)[0]
    finally:
        for process in processes_of(str(tmp_path)).values():
            os.kill(process, signal.SIGKILL)
    assert job.returncode != 0
    if number == signal.SIGKILL:
        # mpiexec's word: the process could say nothing, and mpiexec kills the others before they notice
        assert re.search("signal:? 9", shown, re.IGNORECASE)
    else:
        assert "error: process 0 of 2 waited 8 s for the other processes" in shown
    last = max(int(path.name.removeprefix("step-")) for path in output.glob("checkpoints/step-*"))
    (folder / f"long{number}.textproto").write_text(text.replace("steps: 1000000", f"steps: {last + 3}"))
    again = [part.replace("train.textproto", f"long{number}.textproto") for part in command(1, "--resume")]
    done = subprocess.run(
        [*again, "--output", str(output)], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"resuming after step {last}" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("batch_size: 10", "batch_size: 1", "`batch_size` is 1, must be at least 2"),
        ("learning_rate: 0.1", "learning_rate: 1e30", "Try a smaller learning_rate"),
        ("sgd", "sdg", "did you mean `sgd`?"),
        ("log {", WRITES + "log {", "needs all samples of a test, but each process has only some"),
    ],
)
def test_what_is_wrong_is_said_once_by_each(folder, tmp_path, old, new, message):
    """The second process says that the first one has failed, and the first line of why."""
    text = (folder / "train.textproto").read_text()
    assert old in text
    for name in ("shared.textproto", "train.npz"):
        shutil.copy(folder / name, tmp_path)
    (tmp_path / "train.textproto").write_text(text.replace(old, new))
    shown = train(tmp_path, 2, ok=False)
    assert shown.count(message) == (1 if message.startswith("did you mean") else 2), shown
    assert shown.count("error: process 0 of 2 failed: ") == 1, shown
    assert "Traceback" not in shown


ONE_FAILS = """
import sys
from paddle_layers.training.problems import TrainingError
from paddle_layers.training.processes.ranks import join
ranks = join()
sys.stderr = open(f"{ranks.number}.txt", "w")
with ranks.together():
    if ranks.number == 1:
        raise TrainingError("row 7 is none")
    ranks.any_of("")
"""


def test_why_one_process_fails_is_said_by_all(tmp_path):
    """Those that wait for it, too; where each has a file of its own, all have the reason."""
    mpiexec = str(Path(sys.executable).with_name("mpiexec"))
    done = subprocess.run([mpiexec, "-n", "3", sys.executable, "-c", ONE_FAILS], cwd=tmp_path, timeout=600, check=False)
    assert done.returncode != 0
    for number in (0, 2):
        assert (tmp_path / f"{number}.txt").read_text() == "error: process 1 of 3 failed: row 7 is none\n"
    assert "TrainingError: process 1 of 3: row 7 is none" in (tmp_path / "1.txt").read_text()


def test_another_mpi_than_that_of_the_program_that_starts(folder):
    """mpi4py sees one process where mpiexec says that there are two."""
    environment = {name: value for name, value in os.environ.items() if not re.match("PMI|OMPI|MPI", name)}
    done = subprocess.run(
        command(1), cwd=folder, env=environment | {"OMPI_COMM_WORLD_SIZE": "2"}, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "2 processes were started, but mpi4py sees 1: it uses another MPI" in done.stderr


def test_parts_of_a_batch_add_up_to_its_gradients():
    rng = np.random.default_rng(3)
    network = pl.loads(NETWORK)
    lengths = [2, 5, 1, 4]
    data = {"x": rng.normal(size=(4, 6)), "label": np.array([0, 2, 1, 2])}
    words = {name: [rng.integers(0, 9, length) for length in lengths] for name in ("words", "kind")}

    def feeds(rows):
        starts = np.concatenate([[0], np.cumsum([lengths[row] for row in rows])])
        found = {name: array[rows] for name, array in data.items()}
        return found | {
            name: pl.Sequences(np.concatenate([arrays[row] for row in rows]), starts) for name, arrays in words.items()
        }

    with pl.Net(network, dtype="float64") as net:
        net.forward(feeds([0, 1, 2, 3]))
        sums = net.loss_sums()
        net.backward()
        whole = {name: one.gradient.copy() for name, one in net.parameters.items()}
        added = {name: np.zeros_like(one) for name, one in whole.items()}
        for rows in ([0, 1], [2, 3]):
            net.forward(feeds(rows))
            net.backward(divisors={name: one.divisor for name, one in sums.items()})
            for name, one in net.parameters.items():
                added[name] += one.gradient
        for name, one in whole.items():
            np.testing.assert_allclose(added[name], one, atol=1e-12, err_msg=name)
        net.forward(feeds([0, 1, 2, 3]))
        net.backward()  # what was said of parts is forgotten
        for name, one in whole.items():
            np.testing.assert_array_equal(net.parameters[name].gradient, one)
