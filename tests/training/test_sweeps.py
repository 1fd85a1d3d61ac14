"""`sweep`: what may be varied, trials that go on, several processes, and the best settings."""

import contextlib
import json
import re
import shlex
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.training import TrainingError
from paddle_layers.training.sweeps.search import ended_trials, prepare_sweep, run_sweep
from paddle_layers.training.sweeps.study import Varied, next_trial, open_study, parse_varied
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, write

TEXT = NETWORK + SOURCES + SETTINGS.replace("steps: 30", "steps: 10") + 'output: "out"'
RATE = "optimizer.learning_rate=1e-4..1e-1:log"
SIZE = "net.layer[fc1].fc.size=2..9"


def sweep(*arguments, status=0):
    done = CliRunner().invoke(commands, ["sweep", "train.textproto", *arguments])
    assert done.exit_code == status, done.output
    return done


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TEXT)
    return tmp_path


def test_what_is_varied():
    assert parse_varied(["a.b=1..5", "c=1.5..2e1", "d[x].e=.1..10:log", "f=sgd, adam"]) == [
        Varied("a.b", 1, 5, whole=True),
        Varied("c", 1.5, 20),
        Varied("d[x].e", 0.1, 10, logarithmic=True),
        Varied("f", choices=("sgd", "adam")),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed", "invalid --vary 'seed': write FIELD=LOW..HIGH"),
        ("seed=5", "neither a range nor distinct choices"),
        ("seed=1,1", "neither a range nor distinct choices"),
        ("seed=5..1", "the lower bound must be less than the upper bound"),
        ("seed=1..1e999", "the lower bound must be less"),
        ("seed=0..5:log", "must be above 0"),
    ],
)
def test_what_cannot_be_varied(text, message):
    with pytest.raises(TrainingError, match=re.escape(message)):
        parse_varied([text])


def test_fields_and_results_are_checked_before_the_first_trial(folder):
    found = sweep("--vary", "optimizer.learning_rate=-1..1", status=1).stderr
    assert "error[E103]: `learning_rate` is -1.0" in found
    assert "available: `loss`, `accuracy`" in sweep("--vary", RATE, "--watch", "acuracy", status=1).stderr
    assert (
        "larger values of `accuracy` are better"
        in sweep("--vary", RATE, "--watch", "accuracy", "--mode", "min", status=1).stderr
    )
    assert "missing --vary: write FIELD=LOW..HIGH" in sweep(status=1).stderr
    both = sweep("--vary", RATE, "--set", "optimizer.learning_rate=1", status=1).stderr
    assert "--vary and --set both set `optimizer.learning_rate`" in both
    assert not (folder / "out-sweep").exists()


def test_a_sweep_finds_the_best_of_its_trials(folder):
    done = sweep("--vary", RATE, "--vary", SIZE, "--trials", "4", "--set", "seed=2")
    lines = done.stderr.splitlines()
    assert [line.partition(":")[0] for line in lines] == [f"trial {number}" for number in range(4)]
    losses = {}
    for number in range(4):
        facts = json.loads((folder / "out-sweep" / f"trial-{number:04d}" / "run" / "run.json").read_text())
        losses[number] = facts["results"]["loss"]
        config = (folder / "out-sweep" / f"trial-{number:04d}" / "run" / "train.textproto").read_text()
        rate = re.search(r"learning_rate=(\S+)", lines[number])[1]
        assert f"learning_rate: {float(rate)!r}" in config
        assert "seed: 2" in config
    best = min(losses, key=losses.get)
    rows = done.stdout.splitlines()
    assert rows[1].split()[0] == str(best)
    assert rows[1].split()[1] == f"{losses[best]:.4g}"
    words = shlex.split(rows[-1].partition("paddle-layers ")[2])
    again = CliRunner().invoke(commands, [*words, "--output", "again"])
    assert again.exit_code == 0, again.output
    again_loss = json.loads((folder / "again" / "run" / "run.json").read_text())["results"]["loss"]
    assert again_loss == losses[best]


def test_it_goes_on_as_if_it_had_not_stopped(folder):
    one = prepare_sweep("train.textproto", [RATE, SIZE], trials=5, output="whole")
    whole = run_sweep(one, 1, print)
    for trials in (2, 5):
        parts = prepare_sweep("train.textproto", [RATE, SIZE], trials=trials, output="parts")
        found = run_sweep(parts, 1, print)
    assert found == whole


def test_what_a_killed_process_left_is_done_first(folder):
    import optuna

    asked = prepare_sweep("train.textproto", [RATE], trials=2)
    path = str(folder / "out-sweep" / "study.jsonl")
    backend = optuna.storages.journal.JournalFileBackend(path)
    study = optuna.load_study(study_name="sweep", storage=optuna.storages.JournalStorage(backend))
    study.ask({"optimizer.learning_rate": optuna.distributions.FloatDistribution(1e-4, 1e-1, log=True)})
    found = run_sweep(asked, 1, print)
    assert sorted(one.number for one in found) == [0, 1]
    assert all(one.value is not None for one in found)


def test_trials_that_fail_and_those_that_are_alike(folder):
    done = sweep("--vary", "seed=1,2", "--trials", "5", "--set", "optimizer.learning_rate=0.001")
    assert done.stderr.count(", same settings as trial ") == 3
    text = TEXT.replace('act: "relu"', 'act: "exp"')
    (folder / "train.textproto").write_text(text.replace('type: "adam"', 'type: "sgd"'))
    done = sweep("--vary", "optimizer.learning_rate=1e300..1e305", "--trials", "9", "--output", "bad", status=1)
    assert done.stderr.count("failed: the loss is") == 5
    assert "5 consecutive trials failed" in done.stderr


def test_another_sweep_is_not_mixed_in(folder):
    sweep("--vary", RATE, "--trials", "1")
    assert "contains a sweep with a different --vary" in sweep("--vary", SIZE, status=1).stderr
    assert "contains a sweep with a different length" in sweep("--vary", RATE, "--set", "steps=11", status=1).stderr
    (folder / "mine").mkdir()
    (folder / "mine" / "notes").touch()
    assert "is not empty and not a sweep" in sweep("--vary", RATE, "--output", "mine", status=1).stderr


@pytest.mark.parametrize("content", [b"\xff\n", b"[1]\n", b'{"op_code": 99, "worker_id": "x"}\n', b"{}\n" * 9])
def test_a_journal_of_somebody_else(folder, content):
    (folder / "out-sweep").mkdir()
    (folder / "out-sweep" / "study.jsonl").write_bytes(content)
    found = sweep("--vary", RATE, status=1).stderr
    assert "study.jsonl as the journal of this sweep" in found


COMMAND = ("--vary", "optimizer.learning_rate=0.1,0.01", "--vary", SIZE, "--trials", "2")
JOURNALS = {
    "other choices": (r"\"0.01\"", r"\"0.02\"", "trial 0 varies `optimizer.learning_rate` differently from --vary"),
    "another range": (r"\"high\": 9", r"\"high\": 99", "trial 0 varies `net.layer[fc1].fc.size` differently"),
    "another kind": ("IntDistribution", "FloatDistribution", "as the journal of this sweep"),
    "a choice that there is none of": (
        'learning_rate","param_value_internal":0',
        'learning_rate","param_value_internal":7',
        "",
    ),
    "a number out of its range": (r'size","param_value_internal":\d+', 'size","param_value_internal":1000', "1000"),
    "a result that is NaN": (r'"values":\[[^]]*\]', '"values":[NaN]', "trial 0 has the invalid result nan"),
    "a result that is text": (r'"values":\[[^]]*\]', '"values":["x"]', "trial 0 has the invalid result 'x'"),
    "two results": (r'"values":\[[^]]*\]', '"values":[1, 2]', "multi-objective"),
    "the other direction": ('"directions":\\[1\\]', '"directions":[2]', "its direction is maximize, expected minimize"),
    "a number of digits": (r'"values":\[[^]]*\]', f'"values":[{"9" * 5000}]', "value has 5000 digits"),
}


@pytest.mark.parametrize("name", JOURNALS)
def test_a_journal_with_trials_of_another_sweep(folder, name):
    old, new, message = JOURNALS[name]
    path = folder / "out-sweep" / "study.jsonl"
    one = prepare_sweep("train.textproto", [COMMAND[1], SIZE], output="out-sweep")
    study = open_study(one)
    for _ in range(6):  # both choices come up
        with contextlib.ExitStack() as held:
            study.tell(next_trial(one, study, held).number, 0.5)
    text = path.read_text()
    changed = text.replace(old, new) if old in text else re.sub(old, new, text)
    assert changed != text
    path.write_text(changed)
    found = sweep(*COMMAND, status=1).stderr
    assert "study.jsonl as the journal of this sweep" in found
    assert message in found
    assert len(found) < 1500


def test_a_process_that_is_killed_before_all_values_are_drawn(folder):
    path = folder / "out-sweep" / "study.jsonl"
    one = prepare_sweep("train.textproto", [COMMAND[1], SIZE], output="out-sweep")
    study = open_study(one)
    with contextlib.ExitStack() as held:
        next_trial(one, study, held)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "fc.size" not in line or "--vary" in line))
    with contextlib.ExitStack() as held:
        assert next_trial(one, open_study(one), held).number == 1
    (failed,) = ended_trials(one)
    assert (failed.number, failed.value, len(failed.settings)) == (0, None, 1)


def test_a_journal_that_is_a_link(folder):
    (folder / "mine").write_text("mine")
    (folder / "out-sweep").mkdir()
    (folder / "out-sweep" / "study.jsonl").symlink_to(folder / "mine")
    assert "study.jsonl: symbolic links are not followed" in sweep(*COMMAND, status=1).stderr
    assert (folder / "mine").read_text() == "mine"


def test_the_folder_of_a_trial_that_is_a_link(folder):
    (folder / "mine").mkdir()
    sweep("--vary", RATE, "--trials", "1")
    (folder / "out-sweep" / "trial-0001").symlink_to(folder / "mine")
    assert "trial-0001: symbolic links are not followed" in sweep("--vary", RATE, "--trials", "2").stderr
    assert not any((folder / "mine").iterdir())


@pytest.mark.slow
def test_several_processes_and_a_kill(folder):
    command = [sys.executable, "-m", "paddle_layers", "sweep", "train.textproto", "--vary", RATE, "--trials", "6"]
    first = subprocess.Popen([*command, "--set", "steps=3000"], stderr=subprocess.DEVNULL)
    while not (folder / "out-sweep" / "trial-0001").exists():
        time.sleep(0.05)
    first.kill()
    first.wait()
    both = [subprocess.Popen([*command, "--set", "steps=3000", "--processes", "2"]) for _ in range(2)]
    assert [one.wait() for one in both] == [0, 0]
    found = ended_trials(prepare_sweep("train.textproto", [RATE], trials=6, settings=["steps=3000"]))
    assert sorted(one.number for one in found) == [0, 1, 2, 3, 4, 5]
    assert all(one.value is not None for one in found)
    names = sorted(path.name for path in (folder / "out-sweep").iterdir() if path.is_dir())
    assert names == [f"trial-{number:04d}" for number in range(6)]
    again = pl.train(folder / "out-sweep" / "trial-0000" / "run" / "train.textproto", output=folder / "again")
    assert again.weights.read_bytes() == (folder / "out-sweep" / "trial-0000" / "weights.safetensors").read_bytes()
