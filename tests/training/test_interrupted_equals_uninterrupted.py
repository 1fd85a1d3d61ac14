"""An interrupted and resumed training leaves what an uninterrupted one leaves: files, states, log, messages."""

import json
import re

import pytest

from paddle_layers.training.results.records import read_records

from .helpers import NETWORK, SETTINGS, SOURCES, train, write

COMPILED = True

pytestmark = pytest.mark.usefixtures("as_python")

STEPS, TEST, SAVE = 12, 4, 3
CALLBACKS = """
callback { type: "save_best" save_best { best_tests: 2 } }
callback { type: "early_stop" early_stop { patience: 4 } }
callback { type: "plateau" plateau { patience: 1 gamma: 0.7 reload: true } }
callback { type: "write_values" write_values { values: "fc2" file: "v.npz" } }
callback { type: "print" print { values: "fc2" every: 5 } }
callback { type: "debug" debug { every: 5 } }
"""
TEXT = (
    NETWORK
    + SOURCES
    + SETTINGS.replace("steps: 30", f"steps: {STEPS}")
    .replace("learning_rate: 0.02", "learning_rate: 0.9")  # so that the loss of tests goes up and down
    .replace('schedule { type: "cosine" cosine { warmup: 5 } }', "")
    .replace("checkpoint { every: 10 }", f"checkpoint {{ every: {SAVE} keep: 2 }}")
    + CALLBACKS
)
WAYS = {
    "plain": f"test {{ every: {TEST} }}",
    "averages, at the start": f"test {{ every: {TEST} at_start: true }}\naverage {{ decay: 0.9 }}",
    "validation": f"test {{ every: {TEST} }}\n" + SOURCES.split("\n}\n")[1].replace('"test"', '"validation"') + "\n}\n",
}


class Counts:
    """A user's callback with a state: how often it was called, and what it saw of the last test."""

    def __init__(self):
        self.counts = {"step": 0, "test": 0, "epoch": 0, "seen": 0.0}

    def on_step(self, run):
        self.counts["step"] += 1
        self.counts["seen"] += run.results.get("loss", 0.0)

    def on_test(self, run):
        self.counts["test"] += run.step

    def on_epoch(self, run):
        self.counts["epoch"] += run.step

    def state(self):
        return self.counts

    def restore(self, state):
        self.counts = dict(state)


class Killed(BaseException):
    """As a signal ends a process."""


class Kill:
    """Ends a training behind a step, as `kill -9` does."""

    def __init__(self, step):
        self.step = step

    def on_step(self, run):
        if run.step == self.step:
            raise Killed


def left(folder):
    """Weights and logs of a run, and the states of the callbacks in its last checkpoint."""
    files = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.safetensors")}
    files = {name: content for name, content in files.items() if "checkpoints" not in name}
    states = json.loads((folder / "checkpoints" / f"step-{STEPS:08d}" / "state.json").read_text())
    log = [{**line, "seconds": ""} for line in read_records(folder / "log.csv")]
    return files, states["callbacks"], states["loss_sum"], log


def messages(shown, after):
    """What was shown behind a step, without the speed."""
    lines = re.sub(r"  [0-9]+ samples/s.*", "", shown).splitlines()
    first = next(
        (n for n, line in enumerate(lines) if (m := re.match(r"step (\d+)", line)) and int(m[1]) > after), None
    )
    return lines[first:] if first is not None else []


def parts(path, folder, way, step):
    """Train in two sittings."""
    if way == "stopped":
        train(path, output=folder, callbacks=[Counts()], stop_after=step)
    elif way == "fewer steps":
        train(path, output=folder, callbacks=[Counts()], settings=[f"steps={step}"])
    else:
        with pytest.raises(Killed):
            train(path, output=folder, callbacks=[Counts(), Kill(step)])
    return train(path, output=folder, callbacks=[Counts()], resume=True)


def check(tmp_path, settings, interruptions):
    path = write(tmp_path, TEXT + settings)
    whole, _, said = train(path, output=tmp_path / "whole", callbacks=[Counts()])
    expected = left(whole.folder)
    assert {"best.safetensors", "weights.safetensors"} <= expected[0].keys()
    for way, step in interruptions:
        report, losses, shown = parts(path, tmp_path / f"{way} {step}", way, step)
        at = min(losses, default=STEPS + 1) - 1
        files, *rest = left(report.folder)
        assert files == expected[0], (way, step)
        assert rest == list(expected[1:]), (way, step)
        assert messages(shown, at) == messages(said, at), (way, step)
        assert (report.best, report.results) == (whole.best, whole.results), (way, step)


@pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS)
def test_some_interruptions(tmp_path, settings):
    check(tmp_path, settings, [("stopped", 5), ("fewer steps", 7), ("killed", 11)])


@pytest.mark.slow
@pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("way", ["stopped", "fewer steps", "killed"])
def test_every_interruption(tmp_path, settings, way):
    check(tmp_path, settings, [(way, step) for step in range(SAVE + 1 if way == "killed" else 1, STEPS)])
