"""What a training finds and leaves in its folder: results of an earlier one, a full disk, callbacks that go on."""

import json
import resource
import subprocess
import sys

import pytest

import paddle_layers as pl
from paddle_layers.config.writing.text import value_text
from paddle_layers.runtime import SaveError
from paddle_layers.training import TrainingError
from paddle_layers.training.results.folders import MARK
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, train, write

COMPILED = True

TEXT = NETWORK + SOURCES + SETTINGS


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != MARK)


def test_overwrite_removes_what_an_earlier_training_left(tmp_path):
    path = write(tmp_path, TEXT + 'test { every: 10 } callback { type: "save_best" }')
    report, _, _ = train(path)
    (report.folder / "mine.txt").write_text("notes")
    assert "best.safetensors" in files(report.folder)
    path.write_text(TEXT.replace("steps: 30", "steps: 5"))
    train(path, overwrite=True)
    checkpoint = [f"checkpoints/step-00000005/{name}.safetensors" for name in ("optimizer", "weights")]
    assert files(report.folder) == [
        *sorted([*checkpoint, "checkpoints/step-00000005/state.json"]),
        *("curve.svg", "log.csv", "mine.txt", "run/run.json", "run/train.textproto", "weights.safetensors"),
    ]


class Away:
    """A callback that moves the output folder away when a checkpoint is about to be written."""

    def __init__(self, folder):
        self.folder = folder

    def state(self):
        self.folder.rename(f"{self.folder}_away")
        return {}

    def on_end(self, run):
        """What makes it a callback."""


def test_a_folder_that_is_moved_away_is_not_made_anew(tmp_path):
    path = write(tmp_path)
    with pytest.raises(SaveError, match=r"cannot save .*step-00000010: No such file or directory"):
        train(path, callbacks=[Away(tmp_path / "output")])
    assert not (tmp_path / "output").exists()


NAMES = ["../../named", "/named", "a/b", "a\\b", "..", ".hidden", "C:named", "a\x1bb", "a\nb", "n" * 300]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_networks_name_is_no_path(tmp_path, monkeypatch, name):
    here = tmp_path / "one" / "two" / "here"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    path = write(here, TEXT.replace('name: "small"', f"name: {value_text(name)}"))
    before = files(tmp_path)
    with pytest.raises(TrainingError, match="not a valid folder name"):
        pl.train(path, overwrite=True)
    assert files(tmp_path) == before


def test_a_folder_that_no_training_made_is_not_cleared(tmp_path):
    path = write(tmp_path)
    folder = tmp_path / "mine"
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "checkpoints" / "notes").write_text("mine")
    (folder / "log.csv").write_text("mine")
    before = files(folder)
    with pytest.raises(TrainingError, match="was not created by a training, so --overwrite does not delete"):
        train(path, output=folder, overwrite=True)
    assert files(folder) == before


def test_overwrite_removes_nothing_when_the_training_cannot_start(tmp_path):
    path = write(tmp_path)
    report, _, _ = train(path)
    before = files(report.folder)
    (tmp_path / "train.npz").unlink()
    with pytest.raises(pl.ConfigError, match="file not found"):
        train(path, overwrite=True)
    assert files(report.folder) == before


class Counter:
    """A callback that counts steps over all sittings."""

    def __init__(self):
        self.steps = 0

    def on_step(self, run):
        assert run.step == self.steps + 1
        self.steps += 1

    def state(self):
        return {"steps": self.steps}

    def restore(self, state):
        self.steps = state["steps"]


def test_callbacks_go_on_where_they_stood(tmp_path):
    path = write(tmp_path)
    train(path, callbacks=[Counter()], stop_after=13)
    counter = Counter()
    train(path, callbacks=[counter], resume=True)
    assert counter.steps == 30


def test_early_stop_ends_at_the_same_step_in_one_sitting_or_two(tmp_path):
    settings = 'watch: "accuracy" mode: "max" margin: 0.9'
    path = write(tmp_path, TEXT + f'test {{ every: 2 }} callback {{ type: "early_stop" early_stop {{ {settings} }} }}')
    whole, _, _ = train(path, output=tmp_path / "whole")
    train(path, stop_after=7)
    parts, _, _ = train(path, resume=True)
    assert whole.steps == parts.steps == 12
    assert whole.stopped == parts.stopped


def test_save_best_does_not_forget_the_best(tmp_path):
    path = write(tmp_path, TEXT + 'test { every: 5 } callback { type: "save_best" }')
    train(path, stop_after=20)
    checkpoint = tmp_path / "output" / "checkpoints" / "step-00000020"
    facts = json.loads((checkpoint / "state.json").read_text())
    facts["callbacks"]["0 SaveBest"]["best"] = 0.0
    (checkpoint / "state.json").write_text(json.dumps(facts))
    (tmp_path / "output" / "best.safetensors").write_text("as it was")
    train(path, resume=True)
    assert (tmp_path / "output" / "best.safetensors").read_text() == "as it was"


def test_a_disk_that_takes_no_more_leaves_the_old_checkpoint(tmp_path):
    """The system itself refuses to write; the command says so and the older checkpoint can be continued."""
    path = write(tmp_path)
    train(path, stop_after=10)
    before = files(tmp_path / "output" / "checkpoints")
    program = [sys.executable, "-m", "paddle_layers", "train", path.name, "--output"]
    subprocess.run([*program, "other"], cwd=tmp_path, capture_output=True, check=True)  # kernels are in the cache now
    command = [*program, "output", "--resume"]
    limit = (tmp_path / "output" / "log.csv").stat().st_size + 400  # bytes; weights are larger

    def lower():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, preexec_fn=lower)
    assert done.returncode == 1
    assert ": File too large. The previous file is unchanged." in done.stderr
    assert "Traceback" not in done.stderr
    assert files(tmp_path / "output" / "checkpoints") == before
    _, losses, _ = train(path, resume=True)
    assert min(losses) == 11
