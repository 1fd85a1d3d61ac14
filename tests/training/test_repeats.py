"""What a run keeps of itself repeats it, and a command that is given again goes on or gets a new folder."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config import ConfigError, load_training
from paddle_layers.config.resolved import flat_fields, resolved_texts
from paddle_layers.training import TrainingError
from paddle_layers.training.results.folders import MARK, claimed_folder
from paddle_layers.training.results.run_files import read_run
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, train, write

TEXT = NETWORK + SOURCES + SETTINGS
APART = 'network: "net.textproto" # the network' + SOURCES + SETTINGS


def folders(tmp_path):
    return sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("output"))


@pytest.mark.parametrize("apart", [False, True], ids=["inside", "apart"])
def test_a_run_is_repeated_from_its_folder(tmp_path, apart):
    path = write(tmp_path, APART if apart else TEXT)
    (tmp_path / "net.textproto").write_text(NETWORK[NETWORK.index("{") + 1 : NETWORK.rindex("}")])
    first, losses, _ = train(path, seed=3, settings=["net.layer[fc1].fc.size=5", "steps=12"])
    path.unlink()
    (tmp_path / "net.textproto").unlink()
    again, same, _ = train(tmp_path / "output" / "run" / "train.textproto", output=tmp_path / "again")
    assert same == losses
    assert again.weights.read_bytes() == first.weights.read_bytes()
    facts = json.loads((tmp_path / "output" / "run" / "run.json").read_text())
    assert facts["versions"]["paddle_layers"] == pl.__version__
    assert (facts["steps"], facts["step"], facts["ended"]) == (12, 12, "all steps")
    assert facts["results"] == pytest.approx(first.results)
    assert len(facts["commands"]) == 1


def test_both_may_be_moved_together(tmp_path):
    (tmp_path / "here").mkdir()
    path = write(tmp_path / "here")
    _, losses, _ = train(path)
    (tmp_path / "here").rename(tmp_path / "there")
    _, same, _ = train(tmp_path / "there" / "output" / "run" / "train.textproto", output=tmp_path / "again")
    assert same == losses


def test_predictions_of_the_file_in_a_folder_have_its_weights(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, TEXT + 'output: "output"')
    for seed in (0, 1):
        train(path, seed=seed, output=None)
    assert folders(tmp_path) == ["output", "output-2"]
    for name in folders(tmp_path):
        found = pl.evaluate(tmp_path / name / "run" / "train.textproto")
        assert found.weights == tmp_path / name / "weights.safetensors"
    assert pl.evaluate(path).weights.parent.name == "output-2"


def test_the_same_again_is_another_run(tmp_path):
    path = write(tmp_path)
    first, _, _ = train(path)
    before = first.log.read_bytes()
    second, _, said = train(path)
    assert f"{tmp_path / 'output'} contains a finished run of this training; writing to {tmp_path / 'output-2'}" in said
    assert second.folder == tmp_path / "output-2"
    assert second.weights.read_bytes() == first.weights.read_bytes()
    third, _, _ = train(path, settings=["optimizer.learning_rate=0.1"])
    assert third.folder == tmp_path / "output-3"
    assert first.log.read_bytes() == before


def test_more_steps_go_on(tmp_path):
    path = write(tmp_path, TEXT.replace('schedule { type: "cosine" cosine { warmup: 5 } }', ""))
    _, whole, _ = train(path, output=tmp_path / "whole", settings=["steps=50"])
    _, losses, _ = train(path)
    _, more, said = train(path, settings=["steps=50", "log.every=10"])
    assert "resuming after step 30" in said
    assert losses | more == whole
    assert folders(tmp_path) == ["output"]
    fewer, _, _ = train(path)
    assert fewer.folder == tmp_path / "output-2"


class Crash(Exception):
    pass


class Crashing:
    def __init__(self, at):
        self.at = at

    def on_step(self, run):
        if run.step == self.at:
            raise Crash


@pytest.mark.parametrize("at", [3, 14])
def test_what_was_interrupted_goes_on_by_the_same_command(tmp_path, at):
    path = write(tmp_path)
    _, whole, _ = train(path, output=tmp_path / "whole")
    with pytest.raises(Crash):
        train(path, callbacks=[Crashing(at)])
    _, rest, _ = train(path)
    assert rest == {step: loss for step, loss in whole.items() if step > at // 10 * 10}
    assert folders(tmp_path) == ["output"]


def test_one_that_could_not_begin_leaves_the_name_free(tmp_path):
    path = write(tmp_path, TEXT.replace("train.npz", "none.npz"))
    with pytest.raises(pl.ConfigError):
        train(path)
    path.write_text(TEXT)
    assert train(path)[0].folder == tmp_path / "output"


def test_data_from_python_never_go_on_by_themselves(tmp_path):
    path, rng = write(tmp_path), np.random.default_rng(1)
    data = {"train": {"x": rng.normal(size=(50, 8)), "label": rng.integers(0, 3, 50)}}
    with pytest.raises(Crash):
        train(path, datasets=data, callbacks=[Crashing(14)])
    assert train(path, datasets=data)[0].folder == tmp_path / "output-2"


def test_another_training_may_run_beside(tmp_path):
    path = write(tmp_path)
    train(path, output=tmp_path / "other")
    shutil.copytree(tmp_path / "other", tmp_path / "output")
    with claimed_folder(tmp_path / "output"):
        with pytest.raises(TrainingError, match="another training is running"):
            train(path)
        assert train(path, seed=1)[0].folder == tmp_path / "output-2"


def test_the_working_directory_has_no_number(tmp_path, monkeypatch):
    path = write(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TrainingError, match=r"is not empty.*--output.*--resume.*--overwrite"):
        train(path, output=".")
    assert not (tmp_path / MARK).exists()
    assert not (tmp_path / "run").exists()


def test_a_kept_file_with_more_errors_than_are_listed():
    with pytest.raises(ConfigError, match="E002"):
        flat_fields("}" * 2000, "Training")


def test_flat_fields_are_settings(tmp_path):
    path = write(tmp_path, TEXT)
    training = load_training(path)
    text, _ = resolved_texts(training, tmp_path)
    fields = flat_fields(text, "Training")
    assert fields["net.layer[fc1].fc.size"] == "6"
    assert fields["source[test].transform[scale].scale.factor"] == "1.5"
    changed = [f"{name}={value}" for name, value in fields.items() if not name.startswith("net.name")]
    again, _ = resolved_texts(load_training(path, settings=changed), tmp_path)
    assert flat_fields(again, "Training") == fields


HOSTILE = {
    "run.json": [b"[" * 100_000, b'{"steps": -1}', b'{"steps": 1e999}', b"\xff", b'{"steps": 30, "commands": 3}'],
    "train.textproto": [b"", b"\x00", b"net {" * 100_000, b"a: 1 " * 100_000],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_damaged_run_is_another_one(tmp_path, name):
    path = write(tmp_path, TEXT.replace("steps: 30", "steps: 3"))
    report, _, _ = train(path)
    for content in HOSTILE[name]:
        (report.folder / "run" / name).write_bytes(content)
        facts = read_run(report.folder)
        assert facts is None or facts.commands == [] or "a" in facts.fields


@pytest.mark.slow
def test_three_seeds_at_once(tmp_path):
    path = write(tmp_path, TEXT + 'output: "output"')
    command = [sys.executable, "-m", "paddle_layers", "train", path.name, "--seed"]
    started = [subprocess.Popen([*command, str(seed)], cwd=tmp_path, stderr=subprocess.DEVNULL) for seed in range(3)]
    assert [process.wait() for process in started] == [0, 0, 0]
    assert folders(tmp_path) == ["output", "output-2", "output-3"]
