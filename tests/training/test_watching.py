"""Several sources of tests, weights of the best ones, going back to them; what is shown of a network."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config import load_training
from paddle_layers.data import Dataset
from paddle_layers.training.callbacks import make_callback
from paddle_layers.training.callbacks.monitoring import Watching
from paddle_layers.training.results.records import read_records
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, train, write

TEXT = NETWORK + SOURCES + SETTINGS + "test { every: 2 }\n"
NOISY = """
source {
  type: "npz" phase: "test" name: "noisy" npz { file: "noisy.npz" }
  transform { type: "scale" input: "x" scale { factor: 1.5 } }
}
"""


def with_noise(folder, text):
    path, rng = write(folder, text), np.random.default_rng(5)
    np.savez(folder / "noisy.npz", x=rng.normal(size=(15, 8)).astype(np.float32), label=rng.integers(0, 3, 15))
    return path


class Notes:
    """Results and weights of every test."""

    def __init__(self):
        self.results, self.weights = {}, {}

    def on_test(self, run):
        self.results[run.step] = dict(run.results)

    def after_test(self, run):
        self.weights[run.step] = {name: np.array(one.value) for name, one in run.net.parameters.items()}


def test_each_source_of_tests_has_its_results(tmp_path):
    path = with_noise(tmp_path, TEXT + NOISY)
    report, losses, shown = train(path)
    assert list(report.results) == ["loss", "accuracy", "noisy.loss", "noisy.accuracy"]
    found = pl.evaluate(path, tmp_path / "noisy.npz", weights=report.weights)
    assert report.results["noisy.loss"] == pytest.approx(found.results["loss"], rel=1e-6)
    assert report.results["noisy.accuracy"] == found.results["accuracy"]
    assert re.search(r"noisy\.accuracy [0-9.]+ %", shown)
    lines = [line for line in read_records(report.log) if line["phase"] == "test"]
    assert {"noisy.loss", "noisy.accuracy"} < lines[0].keys()
    assert ">noisy</text>" in report.curve.read_text()
    path.write_text(TEXT)
    alone, same, _ = train(path, output=tmp_path / "alone")
    assert same == losses
    assert report.results["loss"] == alone.results["loss"]


def test_a_callback_watches_one_of_them(tmp_path):
    watch = 'watch: "noisy.accuracy" mode: max'
    path, notes = (
        with_noise(tmp_path, TEXT + NOISY + f'callback {{ type: "save_best" save_best {{ {watch} }} }}'),
        Notes(),
    )
    report, _, _ = train(path, callbacks=[notes])
    best = max(notes.results, key=lambda step: (notes.results[step]["noisy.accuracy"], -step))
    assert report.best.step == best
    path.write_text(path.read_text().replace("mode: max", "mode: min"))
    with pytest.raises(pl.ConfigError, match="larger values of"):
        train(path)


class Speed:
    """A callback with a result of its own."""

    gives = ("speed",)

    def on_test(self, run):
        run.results["speed"] = float(run.step)


@pytest.mark.parametrize("callback", ["early_stop", "plateau", "save_best"])
def test_the_mode_of_unknown_results_is_required(tmp_path, callback):
    path = write(tmp_path, TEXT)
    message = r"it is unknown whether smaller or larger values of `speed` are better\n(.*\n)*.*add `mode: min` or"
    with pytest.raises(pl.ConfigError, match=message):
        train(path, callbacks=[Speed(), make_callback(callback, watch="speed")])
    report, _, _ = train(path, callbacks=[Speed(), make_callback(callback, watch="speed", mode="max")])
    assert report.steps == 30  # every test is better than the one before


def test_single_losses_are_minimized(tmp_path):
    second = 'layer { name: "other" type: "softmax_with_loss" input: "fc2" input: "label" loss_weight: 0.5 }'
    text = TEXT.replace('  layer { name: "accuracy"', f'  {second}\n  layer {{ name: "accuracy"')
    path = write(tmp_path, text + 'callback { type: "save_best" save_best { watch: "other" } }')
    report, _, _ = train(path)
    losses = {int(x["step"]): float(x["other"]) for x in read_records(report.log) if x["phase"] == "test"}
    assert report.best.step == min(losses, key=losses.get)
    path.write_text(path.read_text().replace("loss_weight: 0.5", "loss_weight: -0.5"))
    with pytest.raises(pl.ConfigError, match="it is unknown whether smaller or larger values of `other` are better"):
        train(path)


FAULTS = {
    "phase": (NOISY.replace('phase: "test" ', ""), "`name` is only allowed on additional validation and test sources"),
    "twice": (NOISY * 2, "duplicate name `noisy` of sources"),
    "letters": (NOISY.replace('"noisy"', '"noisy,"'), "`name` must be a letter followed by letters, digits"),
    "none": (NOISY.replace(' name: "noisy"', ""), "two sources for the test phase"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_with_names(tmp_path, name):
    text, message = FAULTS[name]
    with pytest.raises(pl.ConfigError, match=re.escape(message)) as caught:
        load_training(with_noise(tmp_path, TEXT + text))
    assert [one.code for one in caught.value.diagnostics] == ["E304"]


def test_the_first_one_has_no_name(tmp_path):
    first = SOURCES.replace('phase: "test"', 'phase: "test" name: "clean"')
    with pytest.raises(pl.ConfigError, match="the first test source cannot have a `name`"):
        load_training(write(tmp_path, NETWORK + first + SETTINGS))


def test_a_name_that_results_have(tmp_path):
    layers = NETWORK.replace('name: "accuracy"', 'name: "noisy.loss"')
    with pytest.raises(pl.ConfigError, match=r"`noisy\.loss` is already a result of the network"):
        train(with_noise(tmp_path, layers + SOURCES + SETTINGS + NOISY))


@pytest.mark.parametrize("stops", [(), (9, 21)], ids=["in one sitting", "in three"])
def test_weights_of_the_best_tests(tmp_path, stops):
    path, notes = write(tmp_path, TEXT + 'callback { type: "save_best" save_best { best_tests: 3 } }'), Notes()
    for stop in stops:
        train(path, callbacks=[notes], stop_after=stop, resume=stop > 9)
    report, _, _ = train(path, callbacks=[notes], resume=bool(stops))
    best = sorted(notes.results, key=lambda step: (notes.results[step]["loss"], step))[:3]
    files = {file.name: file for file in (report.folder / "best").iterdir()}
    assert sorted(files) == sorted(f"step-{step:08d}.safetensors" for step in best)
    assert files[f"step-{best[0]:08d}.safetensors"].read_bytes() == report.weights.read_bytes()
    train(path, overwrite=True, settings=["steps=1", "callback[0].best_tests=1"])
    assert not (report.folder / "best").exists()


RELOAD = 'callback { type: "plateau" plateau { patience: 2 gamma: 0.5 reload: true } }'


def test_plateau_goes_back_to_the_best_weights(tmp_path):
    text = TEXT.replace("learning_rate: 0.02", "learning_rate: 0.5")
    path, notes = write(tmp_path, text + RELOAD), Notes()
    _, losses, shown = train(path, callbacks=[notes])
    expected, best, worse = {}, None, 0
    for step, results in notes.results.items():
        if best is None or results["loss"] < notes.results[best]["loss"]:
            best, worse = step, 0
            continue
        worse += 1
        if worse == 2:
            expected[step], worse = best, 0
    assert expected
    for step, origin in expected.items():
        assert f"step {step}: restored the weights of step {origin}" in shown
        assert all(np.array_equal(notes.weights[step][name], one) for name, one in notes.weights[origin].items())
    for stop in (step + 1 for step in list(expected)[:2]):
        parts, _ = tmp_path / str(stop), train(path, output=tmp_path / str(stop), stop_after=stop)
        _, rest, _ = train(path, output=parts, resume=True)
        assert rest == {step: loss for step, loss in losses.items() if step > stop}


def test_what_plateau_no_longer_needs_goes(tmp_path):
    path = write(tmp_path, TEXT.replace("checkpoint { every: 10 }", "checkpoint { every: 4 keep: 1 }") + RELOAD)
    notes = Notes()
    report, _, _ = train(path, callbacks=[notes])
    steps = [int(file.stem.rpartition("-")[2]) for file in (report.folder / "plateau").iterdir()]
    best = min(notes.results, key=lambda step: (notes.results[step]["loss"], step))
    assert max(steps) == best
    assert len(steps) <= 4  # those since the last checkpoint, and the one before
    assert len(notes.results) > 10


class Means:
    """What `debug` is to show, in NumPy."""

    keep = ("fc1",)

    def on_gradients(self, run):
        self.before = {name: one.value.copy() for name, one in run.net.parameters.items()}

    def on_step(self, run):
        if run.step == 6:
            update = run.net.parameters["fc1.weight"].value - self.before["fc1.weight"]
            value, gradient = run.net.value("fc1"), run.net.gradient("fc1")
            self.expected = [np.abs(one).mean() for one in (value, gradient)]
            self.update, self.dead = np.abs(update).mean(), int((value == 0).all(axis=0).sum())
            self.weight = np.abs(run.net.parameters["fc1.weight"].value).mean()


def test_debug_shows_means_and_dead_units(tmp_path):
    text = NETWORK.replace(
        'act: "relu" drop_rate: 0.25 }',
        'act: "relu" } param { of: "bias" init { type: "constant" constant { value: -5 } } }',
    )
    path = write(tmp_path, text + SOURCES + SETTINGS + 'callback { type: "debug" debug { every: 3 } }')
    means = Means()
    _, losses, shown = train(path, callbacks=[means])
    page = shown[
        shown.index("step 6: values, gradients and updates") : shown.index("step 9: values, gradients and updates")
    ]
    cells = {row[0]: row[1:] for row in (re.split(r"  +", line.strip()) for line in page.splitlines()) if len(row) > 1}
    assert [float(cell) for cell in cells["fc1"][:2]] == pytest.approx(means.expected, rel=6e-3)
    assert means.dead
    assert cells["fc1"][2] == f"{means.dead} of 6"
    assert float(cells["fc1.weight"][0]) == pytest.approx(means.weight, rel=6e-3)
    assert float(cells["fc1.weight"][2]) == pytest.approx(means.update, rel=6e-3)
    assert shown.count("values, gradients and updates") == 10
    path.write_text(text + SOURCES + SETTINGS)
    assert train(path, output=tmp_path / "without")[1] == losses


def test_debug_of_sequences_and_tables(tmp_path):
    text = """
    net {
      layer { name: "words" type: "data" data { data_type: INT size: 30 seq_nested_level: 1 } }
      layer { name: "label" type: "data" data { data_type: INT size: 3 } }
      layer { name: "vectors" type: "embedding" input: "words" embedding { size: 4 } }
      layer { name: "mean" type: "seq_avg_pool" input: "vectors" }
      layer { name: "scores" type: "fc" input: "mean" fc { size: 3 } }
      layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
    }
    batch_size: 4 epochs: 3 optimizer { type: "sgd" learning_rate: 0.1 sgd { momentum: 0.9 } }
    callback { type: "debug" debug { every_epochs: 2 } }
    """
    path, rng = tmp_path / "train.textproto", np.random.default_rng(0)
    path.write_text(text)
    starts = np.arange(0, 31, 3)
    data = {"words": rng.integers(0, 30, 30), "words.starts": starts, "label": rng.integers(0, 3, 10)}
    _, _, shown = train(path, datasets={"train": Dataset(data)})
    assert shown.count("values, gradients and updates") == 1
    assert re.search(r"step 6: values, gradients and updates.*\n.*\n  vectors  .*vectors\.\w+ +0\.", shown, re.DOTALL)


def test_callbacks_of_epochs(tmp_path):
    callbacks = 'callback { type: "print" print { values: "fc2" every_epochs: 2 } }'
    callbacks += (
        'callback { type: "write_values" write_values { values: "fc2" file: "v.npz" phase: train every_epochs: 1 } }'
    )
    path = write(tmp_path, TEXT + callbacks)
    report, _, shown = train(path)
    assert re.findall(r"step (\d+): fc2", shown) == ["14", "28"]
    assert sorted(file.name for file in (report.folder / "values").iterdir()) == [
        f"v-{step:08d}.npz" for step in (7, 14, 21, 28)
    ]


@pytest.mark.parametrize(
    ("margin", "results", "mode", "better"),
    [
        (0.25, [0.5, 0.25, 0.0], "min", [True, True, True]),
        (0.1, [0.3, 0.2, 0.15, 0.1], "min", [True, True, False, True]),
        (0.1, [0.2, 0.3, 0.39, 0.4], "max", [True, True, False, True]),
        (0.0, [0.3, 0.3, 0.29], "min", [True, False, True]),
        (1e-9, [0.3, 0.3 - 5e-10, 0.3 - 2e-9], "min", [True, False, True]),
        (0.1, [math.inf, 3.0, math.nan], "min", [True, True, False]),
    ],
)
def test_a_difference_of_exactly_the_margin_counts(margin, results, mode, better):
    """Decimals too, whose difference as floats is a little less; without a margin an equal result is no better."""
    watching, best, found = Watching(), None, []
    watching.watch, watching.mode = "loss", mode
    for result in results:
        value = watching.better_by(SimpleNamespace(results={"loss": result}), best, margin)
        best = best if value is None else value
        found.append(value is not None)
    assert found == better
