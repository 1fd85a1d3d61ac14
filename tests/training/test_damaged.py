"""Damaged weights, checkpoints and logs: one line that names the file, whatever stands in them."""

import json
import shutil
import struct

import numpy as np
import pytest
from click.testing import CliRunner
from safetensors.numpy import load_file, save_file

from paddle_layers.cli.app import commands
from paddle_layers.runtime import SaveError, WeightsError
from paddle_layers.runtime.memory.tensorfiles import read_tensors, write_tensors
from paddle_layers.runtime.optimise.adaptive_history import AdaptiveHistory
from paddle_layers.training import TrainingError
from paddle_layers.training.results.records import COLUMNS, read_records
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, train, write

LISTENERS = """
test { every: 5 }
callback { type: "save_best" }
callback { type: "early_stop" early_stop { patience: 50 } }
"""


def refused(call, *words):
    """The call raises one of the project's errors, of one line, with these words."""
    with pytest.raises((TrainingError, WeightsError)) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def tensors(dtype, shape, size):
    header = json.dumps({"w": {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(size)


WEIGHTS = {
    "F8_E5M2": tensors("F8_E5M2", [8], 8),
    "F8_E4M3": tensors("F8_E4M3", [8], 8),
    "C64": tensors("C64", [8], 64),
    "hundred axes": tensors("F32", [1] * 100, 4),
    "no rows of endless length": tensors("F32", [0, 2**63], 0),
    "too large": tensors("F32", [2**62, 2**62], 4),
    "negative": tensors("F32", [-1], 4),
    "long header": struct.pack("<Q", 2**63) + b"{}",
    "open header": struct.pack("<Q", 20) + b"{" * 20,
    "surrogate": struct.pack("<Q", 14) + b'{"\\ud800":{}}  ',
    "empty": b"",
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_that_numpy_cannot_hold(tmp_path, case):
    (tmp_path / "w.safetensors").write_bytes(WEIGHTS[case])
    refused(lambda: read_tensors(tmp_path / "w.safetensors"), "w.safetensors")


def test_weights_that_memory_cannot_hold_twice(tmp_path, monkeypatch):
    """safetensors would end the process."""
    path = tmp_path / "weights.safetensors"
    path.write_text("as it was")
    tensors = {"large": np.broadcast_to(np.float32(0), (1, 8))}
    monkeypatch.setattr("paddle_layers.runtime.memory.tensorfiles._SLACK", 1 << 60)
    with pytest.raises(SaveError, match=r"weights\.safetensors: Cannot allocate memory"):
        write_tensors(path, tensors)
    assert path.read_text() == "as it was"


def test_weights_say_which_tensor_and_what_to_do(tmp_path):
    (tmp_path / "w.safetensors").write_bytes(WEIGHTS["F8_E4M3"])
    refused(lambda: read_tensors(tmp_path / "w.safetensors"), "`w` has unsupported dtype F8_E4M3; convert it to F32")


@pytest.mark.parametrize("name", ["x" * 300, "x" * 5000, "x\0y"])
def test_names_that_no_file_can_have(tmp_path, name):
    with pytest.raises(WeightsError):
        read_tensors(tmp_path / name)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A training that was stopped; it is copied for each case."""
    folder = tmp_path_factory.mktemp("stopped")
    path = write(folder, NETWORK + SOURCES + SETTINGS + LISTENERS)
    train(path, stop_after=12)
    return folder


@pytest.fixture
def folder(stopped, tmp_path):
    shutil.copytree(stopped, tmp_path, dirs_exist_ok=True)
    return tmp_path


def resume(folder):
    train(folder / "train.textproto", resume=True)


STRANGE = [None, [1], {}, "x", 1.5, -1, True, 10**30, float("nan"), float("inf")]


@pytest.mark.parametrize("name", ["step", "epoch", "batch", "loss_count", "loss_sum", "seconds", "callbacks"])
def test_facts_of_a_checkpoint_have_a_type_and_a_range(folder, name):
    path = folder / "output" / "checkpoints" / "step-00000012" / "state.json"
    facts = json.loads(path.read_text())
    fine = {"loss_sum": (1.5, -1, 10**30), "seconds": (1.5, -1, 10**30), "callbacks": ({},)}.get(name, ())
    for value in STRANGE:
        if not any(value is one or (type(value) is type(one) and value == one) for one in fine):
            path.write_text(json.dumps({**facts, name: value}))
            refused(lambda: resume(folder), "state.json", f"`{name}`", "delete ")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"batch": 10**9}, "`batch` is 1000000000, but an epoch has 7 batches"),
        ({"callbacks": {"0 SaveBest": None}}, "cannot restore the state of callback `0 SaveBest`"),
        ({"callbacks": {"0 SaveBest": {}}}, "cannot restore the state of callback `0 SaveBest`"),
        ({"callbacks": {"0 SaveBest": {"best": "x"}}}, "`best` must be a number or null"),
        ({"callbacks": {"0 SaveBest": {"best": 1, "step": -1}}}, "`step` must be an integer >= 0"),
        (
            {"callbacks": {"0 SaveBest": {"best": 1, "results": {"loss": "x"}}}},
            "`results` must be an object of numbers",
        ),
        ({"callbacks": {"0 SaveBest": {"best": 1, "results": [1]}}}, "`results` must be an object of numbers"),
        ({"callbacks": {"1 EarlyStop": {"best": 1, "worse": [1]}}}, "`worse` must be an integer"),
    ],
)
def test_facts_of_a_checkpoint_go_with_the_training(folder, change, words):
    path = folder / "output" / "checkpoints" / "step-00000012" / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    refused(lambda: resume(folder), "state.json", words)


@pytest.mark.parametrize(
    "content", [b"[" * 100_000, b"\xff", b"9" * 5000, b"null", b'{"step":' + b"9" * 5000 + b"}", b""]
)
def test_facts_of_a_checkpoint_that_are_no_facts(folder, content):
    (folder / "output" / "checkpoints" / "step-00000012" / "state.json").write_bytes(content)
    refused(lambda: resume(folder), "state.json", "delete ")


@pytest.mark.parametrize("dtype", [np.int64, bool])
def test_states_of_an_optimizer_are_real_numbers(folder, dtype):
    path = folder / "output" / "checkpoints" / "step-00000012" / "optimizer.safetensors"
    save_file({name: array.astype(dtype) for name, array in load_file(path).items()}, path)
    refused(lambda: resume(folder), "optimizer.safetensors: `", f"is {np.dtype(dtype)}, expected floats")


@pytest.mark.parametrize(
    "change",
    [
        {"sums": None},
        {"sums": np.zeros((2, 3))},
        {"sums": np.zeros((100, 11))},
        {"starts": np.array([1])},
        {"starts": np.array([0, 0])},
        {"starts": np.array([0.0])},
        {"starts": np.array([], np.int64)},
        {"tails": np.zeros((1, 4))},
        {"lifetime": np.array([-1])},
        {"lifetime": np.array([[1]])},
    ],
)
def test_pending_steps_of_an_optimizer_go_together(change):
    sound = {"sums": np.zeros((2, 11)), "starts": np.array([0]), "tails": np.ones((1, 3)), "lifetime": np.array([9])}
    AdaptiveHistory(8, "float32").restore(sound)
    found = {name: array for name, array in {**sound, **change}.items() if array is not None}
    with pytest.raises(ValueError, match="pending steps"):
        AdaptiveHistory(8, "float32").restore(found)


HEADER = ",".join(COLUMNS)
LOGS = {
    "a loss that is text": (f"{HEADER}\n5,0,train,abc,0.1,1\n", ":2: `loss` is 'abc'"),
    "a rate that is text": (f"{HEADER}\n5,0,train,1,abc,1\n", ":2: `rate` is 'abc'"),
    "a statistic that is text": (f"{HEADER},accuracy\n5,0,train,1,0.1,1,good\n", ":2: `accuracy` is 'good'"),
    "a zero byte": (f"{HEADER}\n5,0,train,1\0,0.1,1\n", ":2: "),
    "a step of many digits": (f"{HEADER}\n{'9' * 5000},0,train,1,0.1,1\n", ":2: `step` has 5000 digits"),
    "a cell without end": (f'{HEADER}\n5,0,"{"x" * 200_000}', "field larger than"),
    "other columns": ("a,b\n1,2\n", ":1: missing column `step`"),
    "no text": (b"\xff\xfe", "cannot read "),
}


@pytest.mark.parametrize("case", LOGS)
def test_a_log_with_text_in_it(folder, case):
    content, words = LOGS[case]
    path = folder / "output" / "log.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(lambda: read_records(path), "log.csv", words)
    if case == "a loss that is text":
        refused(lambda: resume(folder), "log.csv", words)


def test_lines_of_a_log_that_were_cut_short_are_left_out(tmp_path):
    (tmp_path / "log.csv").write_text(f"{HEADER}\n5,0,train,1,0.1,1\n6,0,tr")
    assert [line["step"] for line in read_records(tmp_path / "log.csv")] == ["5"]


def status_of(*arguments):
    """What the command line says to a mistake, without the parts that are no message."""
    result = CliRunner().invoke(commands, [str(argument) for argument in arguments])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    return result.output


def test_the_command_line_says_it_too(folder):
    path, output = folder / "train.textproto", folder / "output"
    (folder / "bad.safetensors").write_bytes(WEIGHTS["F8_E4M3"])
    assert "has unsupported dtype F8_E4M3" in status_of("predict", path, "--weights", folder / "bad.safetensors")
    assert "has unsupported dtype F8_E4M3" in status_of(
        "train", path, "--output", folder / "new", "--weights", folder / "bad.safetensors"
    )
    log = (output / "log.csv").read_text()
    (output / "log.csv").write_text(log.replace("train,", "train,text"))
    assert "log.csv:2: `loss`" in status_of("train", path, "--output", output, "--resume")
    (output / "checkpoints" / "step-00000012" / "state.json").write_text("[" * 100_000)
    assert "state.json" in status_of("train", path, "--output", output, "--resume")
    data = bytearray((folder / "train.npz").read_bytes())
    data[data.find(b"PK\1\2") + 6] = 99
    (folder / "train.npz").write_bytes(data)
    assert "train.npz is truncated or not an npz file" in status_of("train", path, "--output", output, "--overwrite")


def test_an_output_that_no_folder_can_be(tmp_path):
    path = write(tmp_path, NETWORK + SOURCES + SETTINGS + 'output: "a\\000b"\n')
    assert "`output` is 'a\\x00b', not a valid folder" in status_of("train", path)
