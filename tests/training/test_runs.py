"""Whole trainings: what they leave, how they go on, what they say about bad input."""

import csv
import errno
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.config import ConfigError
from paddle_layers.data import Dataset
from paddle_layers.runtime import SaveError, WeightsError
from paddle_layers.training import TrainingError, make_callback
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, train, write


def test_a_training_learns_and_leaves_its_files(tmp_path, capsys):
    report, losses, shown = train(write(tmp_path))
    assert report.steps == len(losses) == 30
    assert report.results["accuracy"] > 0.5
    lines = list(csv.DictReader(report.log.read_text().splitlines()))
    assert [int(line["step"]) for line in lines if line["phase"] == "train"] == [5, 10, 15, 20, 25, 30]
    assert float(lines[0]["loss"]) == pytest.approx(np.mean([losses[step] for step in range(1, 6)]))
    assert [line["phase"] for line in lines][-1] == "test"
    assert float(lines[-1]["accuracy"]) == report.results["accuracy"]
    assert ElementTree.parse(report.curve).getroot().tag.endswith("svg")
    assert sorted(os.listdir(tmp_path / "output" / "checkpoints")) == ["step-00000020", "step-00000030"]
    printed = capsys.readouterr().out
    for expected in ("Test: loss", str(report.weights), str(report.log), "paddle-layers predict"):
        assert expected in printed
    assert "step 30/30  loss" in shown


def test_every_number_of_a_statistic_is_in_the_log_and_can_be_watched(tmp_path):
    text = (NETWORK + SOURCES + SETTINGS).replace(
        'name: "accuracy" type: "accuracy"', 'name: "all" type: "precision_recall"'
    )
    report, _, shown = train(write(tmp_path, text), callbacks=[make_callback("save_best", watch="all.F1", mode="max")])
    names = ["all.precision", "all.recall", "all.F1", "all.accuracy"]
    lines = list(csv.DictReader(report.log.read_text().splitlines()))
    assert list(lines[0])[-4:] == names
    assert {name: float(lines[-1][name]) for name in names} == {name: report.results[name] for name in names}
    assert "all.F1" in shown
    assert ">all.F1</text>" in report.curve.read_text()
    with pl.Net(pl.load_training(tmp_path / "train.textproto").network) as net, np.load(tmp_path / "test.npz") as data:
        net.load(str(tmp_path / "output" / "best.safetensors"))
        net.forward({"x": data["x"] * 1.5, "label": data["label"]}, phase="test")
        whole = net.statistics()
    best = max(float(line["all.F1"]) for line in lines if line["phase"] == "test")
    assert whole["all.precision_recall.F1"] == pytest.approx(best), "the test adds up batches of 8"


def test_a_seed_decides_everything(tmp_path):
    path = write(tmp_path)
    _, first, _ = train(path, output=tmp_path / "a")
    _, second, _ = train(path, output=tmp_path / "b")
    _, other, _ = train(path, output=tmp_path / "c", seed=1)
    assert first == second
    assert first != other


@pytest.mark.parametrize("stop", [10, 17])
def test_a_resumed_training_has_the_same_losses_bit_for_bit(tmp_path, stop):
    path = write(tmp_path)
    whole, expected, _ = train(path, output=tmp_path / "whole")
    report, first, _ = train(path, output=tmp_path / "parts", stop_after=stop)
    assert report.stopped == "the test wants it"
    report, second, shown = train(path, output=tmp_path / "parts", resume=True)
    assert f"resuming after step {stop}" in shown
    assert {**first, **second} == expected
    assert report.results == whole.results
    assert report.weights.read_bytes() == whole.weights.read_bytes()
    steps = [
        (line["step"], line["phase"], line["loss"]) for line in csv.DictReader(report.log.read_text().splitlines())
    ]
    parts = list(csv.DictReader(whole.log.read_text().splitlines()))
    assert {(line["step"], line["phase"], line["loss"]) for line in parts} <= set(steps)


def test_a_training_that_was_killed_goes_on_from_the_last_checkpoint(tmp_path):
    path = write(tmp_path)
    _, expected, _ = train(path, output=tmp_path / "whole")

    class Crash:
        def on_step(self, run):
            if run.step == 14:
                raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        train(path, callbacks=[Crash()])
    _, losses, _ = train(path, resume=True)
    assert losses == {step: expected[step] for step in range(11, 31)}


@pytest.mark.parametrize(("number", "reason"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")])
def test_ctrl_c_and_sigterm_save_and_stop(tmp_path, number, reason):
    path, before = write(tmp_path), signal.getsignal(number)

    class Interrupt:
        def on_step(self, run):
            if run.step == 7:
                os.kill(os.getpid(), number)

    report, losses, _ = train(path, callbacks=[Interrupt()])
    assert (report.stopped, report.steps) == (reason, 7)
    assert signal.getsignal(number) == before
    assert "--resume" in str(report)
    _, rest, _ = train(path, resume=True)
    assert sorted({**losses, **rest}) == list(range(1, 31))


def test_training_works_outside_the_main_thread(tmp_path):
    path, found = write(tmp_path), []
    thread = threading.Thread(target=lambda: found.append(train(path)[0].steps))
    thread.start()
    thread.join()
    assert found == [30]


def test_an_output_folder_is_not_overwritten(tmp_path):
    path = write(tmp_path)
    train(path)
    train(path, overwrite=True)
    (tmp_path / "file").touch()
    with pytest.raises(TrainingError, match="is a file"):
        train(path, output=tmp_path / "file")
    with pytest.raises(TrainingError, match="no checkpoint to resume from"):
        train(path, output=tmp_path / "new", resume=True)


def test_a_full_disk_leaves_the_old_checkpoint_intact(tmp_path, monkeypatch):
    path = write(tmp_path)
    _, expected, _ = train(path, output=tmp_path / "whole")
    real, folder = os.fsync, tmp_path / "output" / "checkpoints"

    def full(handle):
        if any(folder.glob(".step-00000020*")):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(SaveError) as caught:
            train(path)
    assert "step-00000020" in str(caught.value)
    assert "No space left on device. The previous file is unchanged. Free disk space" in str(caught.value)
    assert os.listdir(folder) == ["step-00000010"]
    _, losses, _ = train(path, resume=True)
    assert losses == {step: expected[step] for step in range(11, 31)}


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_failing_rename_leaves_the_old_checkpoint_intact(tmp_path, monkeypatch, call):
    path = write(tmp_path)
    train(path, stop_after=10)
    before = {p: p.read_bytes() for p in (tmp_path / "output").rglob("*") if p.is_file() and p.name != "log.csv"}

    def fail(*args, **options):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(SaveError, match=r"cannot save .*: Input/output error"):
            train(path, resume=True)
    now = {p: p.read_bytes() for p in (tmp_path / "output").rglob("*") if p.is_file() and p.name != "log.csv"}
    assert now == before


def test_a_loss_that_is_no_number_names_the_layer(tmp_path):
    path = write(tmp_path, NETWORK + SOURCES + SETTINGS.replace("adam", "sgd").replace("0.02", "1e30"))
    with pytest.raises(TrainingError) as caught:
        train(path)
    assert re.search(r"the loss is (nan|inf) at step \d+: the first layer .* is `fc\d`", str(caught.value))
    assert "Try a smaller learning_rate (now" in str(caught.value)


def test_bad_data_point_into_the_training_file(tmp_path):
    path = write(tmp_path)
    (tmp_path / "train.npz").unlink()
    with pytest.raises(pl.ConfigError) as caught:
        train(path)
    assert "file not found" in str(caught.value)
    assert caught.value.diagnostics[0].line == SOURCES[: SOURCES.index("source")].count("\n") + NETWORK.count("\n") + 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"x": np.zeros((0, 8)), "label": np.zeros(0, int)}, "has no rows"),
        ({"x": np.full((4, 8), np.nan), "label": np.zeros(4, int)}, "row 0: field `x` is nan"),
        ({"x": np.zeros((4, 8)), "label": np.array([0, 1, 2, 3])}, "field `label` is 3"),
        (
            {"x": np.zeros((4, 8)), "label": np.full(4, 0.5)},
            "is 0.5, but the data layer `label` expects integers (ids<3)",
        ),
        ({"x": np.zeros((4, 7)), "label": np.zeros(4, int)}, "samples of shape 7, but the data layer `x` expects 8"),
        ({"x": np.zeros((4, 8)), "label": np.zeros(3, int)}, "same number of rows, but `x` has 4, `label` has 3"),
    ],
)
def test_data_that_do_not_fit_are_refused_before_the_first_step(tmp_path, fields, message):
    path = write(tmp_path, **fields)
    with pytest.raises(pl.ConfigError) as caught:
        train(path)
    assert message in str(caught.value)


def test_a_batch_larger_than_the_data_takes_all_rows_and_says_so(tmp_path):
    path = write(tmp_path, NETWORK + SOURCES + SETTINGS.replace("batch_size: 8", "batch_size: 64"), rows=10)
    report, _, shown = train(path)
    assert report.steps == 30
    assert "note: batch_size is 64, but there are only 10 samples: every step takes all of them" in shown


def test_a_network_without_a_loss_is_refused(tmp_path):
    text = "\n".join(line for line in NETWORK.splitlines() if '"cost"' not in line)
    with pytest.raises(TrainingError, match="no loss in the train phase"):
        train(write(tmp_path, text + SOURCES + SETTINGS))


def test_weights_to_start_from(tmp_path):
    path = write(tmp_path)
    report, _, _ = train(path)
    _, losses, _ = train(path, output=tmp_path / "more", weights=report.weights)
    assert losses[1] < 0.9
    data = report.weights.read_bytes()
    report.weights.write_bytes(data[: len(data) // 2])
    with pytest.raises(WeightsError, match="is not a safetensors file, or is truncated"):
        train(path, output=tmp_path / "short", weights=report.weights)
    with pytest.raises(WeightsError, match="file not found"):
        train(path, output=tmp_path / "none", weights=tmp_path / "none.safetensors")


def test_weights_of_another_network_are_refused(tmp_path):
    path = write(tmp_path)
    report, _, _ = train(path)
    for old, new, message in (
        (
            '"fc2"',
            '"fc3"',
            r"(?s)does not match the network:.*`fc3.weight` \(6x3\) is not in the file"
            r".*`fc2.weight` \(6x3\) is in the file, but not in the network",
        ),
        ("size: 6", "size: 7", r"`fc1.weight` is \(8x7\), but \(8x6\) in the file"),
    ):
        path.write_text((NETWORK + SOURCES + SETTINGS).replace(old, new))
        with pytest.raises(WeightsError, match=message):
            train(path, output=tmp_path / "other", weights=report.weights, overwrite=True)


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    path = write(tmp_path)
    train(path)
    with pytest.raises(TrainingError, match="seed changed from 0 to 5"):
        train(path, resume=True, seed=5)
    path.write_text((NETWORK + SOURCES + SETTINGS).replace("adam", "sgd"))
    with pytest.raises(TrainingError, match="optimizer changed from adam to sgd"):
        train(path, resume=True)


@pytest.mark.parametrize("name", ["state.json", "optimizer.safetensors", "weights.safetensors"])
def test_a_damaged_checkpoint_is_named(tmp_path, name):
    path = write(tmp_path)
    train(path, stop_after=12)
    file = tmp_path / "output" / "checkpoints" / "step-00000012" / name
    file.write_bytes(file.read_bytes()[:20])
    with pytest.raises((TrainingError, WeightsError), match=name):
        train(path, resume=True)


def test_the_state_of_a_checkpoint_is_json(tmp_path):
    train(write(tmp_path), stop_after=17)
    facts = json.loads((tmp_path / "output" / "checkpoints" / "step-00000017" / "state.json").read_text())
    assert (facts["step"], facts["epoch"], facts["batch"], facts["loss_count"]) == (17, 2, 3, 2)


def test_datasets_in_memory_replace_sources(tmp_path):
    path = write(tmp_path)
    (tmp_path / "train.npz").unlink()
    rng = np.random.default_rng(1)
    data = Dataset({"x": rng.normal(size=(20, 8)), "label": rng.integers(0, 3, 20)})
    report, _, _ = train(path, datasets={"train": data})
    assert report.steps == 30


def test_callbacks_of_the_file(tmp_path):
    text = (
        NETWORK
        + SOURCES
        + SETTINGS
        + """
    test { every: 1 }
    callback { type: "early_stop" early_stop { patience: 2 watch: "accuracy" mode: "max" margin: 0.5 } }
    callback { type: "save_best" save_best { watch: "loss" } }
    """
    )
    report, _, _ = train(write(tmp_path, text))
    assert report.steps < 30
    assert "has not improved" in report.stopped
    assert (tmp_path / "output" / "best.safetensors").exists()
    with pytest.raises(ConfigError, match="unknown test result `speed` in `watch`; available: `accuracy`, `loss`"):
        train(write(tmp_path, text.replace('"accuracy" mode', '"speed" mode')), overwrite=True)


WATCHED = """
test { every: 5 }
callback { type: "early_stop" early_stop { patience: 2 watch: "accuracy" mode: "max" margin: 0.5 } }
callback { type: "save_best" save_best { watch: "loss" } }
"""


class Worse:
    """A callback: from step 6 on, every test has a larger loss."""

    def on_step(self, run):
        if run.step > 5:
            for parameter in run.net.parameters.values():
                parameter.value = np.random.default_rng(0).normal(0, 50, parameter.shape)


def test_the_best_weights_are_named_and_used(tmp_path):
    """The closing words and predict's default take those of the best test, not of the last step."""
    path = write(tmp_path, NETWORK + SOURCES + SETTINGS + f"output: '{tmp_path / 'output'}'" + WATCHED)
    report, _, _ = train(path, callbacks=[Worse()])
    assert (report.steps, report.best.step) == (15, 5)
    assert report.best.results["loss"] < report.results["loss"]
    best, last = tmp_path / "output" / "best.safetensors", tmp_path / "output" / "weights.safetensors"
    assert report.weights == best
    words = str(report)
    assert f"Best test, after 5 steps: loss {report.best.results['loss']:.4g}  accuracy" in words
    assert f"Weights: {best} (best test; weights.safetensors has those of the last step)" in words
    assert f"Predict: paddle-layers predict {path} --weights {best}" in words
    assert "Resume: paddle-layers train" in words

    def predicted(*more):
        done = CliRunner().invoke(commands, ["predict", str(path), *more])
        assert done.exit_code == 0, done.stderr
        return done.stdout, done.stderr

    assert predicted() == (predicted("--weights", str(best))[0], f"weights: {best} (best validation or test)\n")
    assert predicted()[0] != predicted("--weights", str(last))[0]
    best.unlink()
    assert predicted() == (predicted("--weights", str(last))[0], "")


def test_a_resumed_training_still_knows_its_best_test(tmp_path):
    path = write(tmp_path, NETWORK + SOURCES + SETTINGS + "test { every: 5 } callback { type: 'save_best' }")
    stopped, _, _ = train(path, stop_after=5, callbacks=[Worse()])
    report, _, _ = train(path, resume=True, callbacks=[Worse()])
    assert report.best == stopped.best
    assert report.weights.name == "best.safetensors"


def test_a_watched_result_that_is_no_number(tmp_path):
    class Nan:
        gives = ("odd",)

        def on_test(self, run):
            run.results["odd"] = float("nan")

    watch = [make_callback(name, watch="odd", mode="min") for name in ("save_best", "early_stop")]
    report, _, _ = train(write(tmp_path, NETWORK + SOURCES + SETTINGS + "test { every: 1 }"), callbacks=[Nan(), *watch])
    assert report.stopped == "`odd` has been NaN for 5 tests"
    assert report.best is None


def test_events_come_in_order(tmp_path):
    events = []

    class Listener:
        def on_epoch(self, run):
            events.append(("epoch", run.step))

        def on_test(self, run):
            events.append(("test", run.step))

        def on_end(self, run):
            events.append(("end", run.step))

    train(write(tmp_path, NETWORK + SOURCES + SETTINGS + "test { every: 20 }"), callbacks=[Listener()])
    assert events == [
        ("epoch", 7), ("epoch", 14), ("test", 20), ("epoch", 21), ("epoch", 28), ("test", 30), ("end", 30)
    ]  # fmt: skip


def test_the_command_trains(tmp_path):
    path = write(tmp_path)
    command = [sys.executable, "-m", "paddle_layers", "train", path.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Test: loss " in done.stdout
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert "output/small contains a finished run of this training; writing to output/small-2" in again.stderr


NO_TESTS = SETTINGS + SOURCES[: SOURCES.rindex("source {")]


@pytest.mark.parametrize(
    "text", ["test { every: 5 }", 'callback { type: "save_best" }', 'callback { type: "early_stop" }']
)
def test_what_waits_for_tests_is_refused_where_there_are_none(tmp_path, text):
    path = write(tmp_path, NETWORK + NO_TESTS + text)
    with pytest.raises(pl.ConfigError, match="no source for the validation or test phase") as caught:
        train(path)
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.line) == ("E310", (NETWORK + NO_TESTS).count("\n") + 1)
    with np.load(tmp_path / "test.npz") as data:
        given = Dataset(dict(data))
    every = "" if text.startswith("test") else "test { every: 10 }"
    path.write_text(path.read_text() + every)
    report, _, _ = train(path, datasets={"test": given})
    assert report.results


def test_one_test_of_data_from_python_is_a_warning(tmp_path):
    path = write(tmp_path, NETWORK + NO_TESTS)
    with np.load(tmp_path / "test.npz") as data:
        given = Dataset(dict(data))
    waiting = [make_callback("save_best"), make_callback("early_stop", patience=1)]
    with pytest.warns(pl.ConfigWarning) as told:
        train(path, datasets={"test": given}, callbacks=waiting)
    found = [diagnostic for one in told for diagnostic in one.message.diagnostics]
    assert [(one.code, one.message.split("`")[1]) for one in found] == [("W005", "SaveBest"), ("W005", "EarlyStop")]
    path.write_text(path.read_text() + "test { every: 10 }")
    train(path, datasets={"test": given}, callbacks=waiting, overwrite=True)  # warnings are errors


@pytest.mark.parametrize(("watch", "wrong"), [("accuracy", "min"), ("loss", "max")])
def test_the_worst_result_is_not_kept_as_the_best(tmp_path, watch, wrong):
    path = write(tmp_path, NETWORK + SOURCES + SETTINGS + "test { every: 10 }")
    for name in ("save_best", "early_stop"):
        with pytest.raises(
            pl.ConfigError, match=f"er values of `{watch}` are better: remove `mode`, or write `mode: m"
        ):
            train(path, callbacks=[make_callback(name, watch=watch, mode=wrong)])


def test_a_statistic_that_is_no_number_is_said_once(tmp_path):
    of_scores = 'layer { name: "area" type: "auc" input: "score" input: "side" }'
    text = """
    net {
      layer { name: "x" type: "data" data { shape: [8] } }
      layer { name: "side" type: "data" data { data_type: INT size: 2 } }
      layer { name: "score" type: "fc" input: "x" fc { size: 2 } }
      layer { name: "chance" type: "softmax" input: "score" }
      layer { name: "cost" type: "softmax_with_loss" input: "score" input: "side" }
    """
    path = write(
        tmp_path, text + of_scores + "}" + SOURCES + SETTINGS + "test { every: 10 }", side=np.arange(20) % 2, rows=20
    )
    report, _, shown = train(path)
    assert math.isnan(report.results["area"])
    assert shown.count("note: `area` is NaN; see its inputs with `paddle-layers layers auc`") == 1
    assert pl.evaluate(path, weights=report.weights).notes[-1].startswith("`area` is NaN")
    path.write_text(path.read_text().replace('input: "score" input: "side" }}', 'input: "chance" input: "side" }}'))
    report, _, shown = train(path, overwrite=True)  # obeyed: the page says to put a softmax between
    assert 0 <= report.results["area"] <= 1
    assert "is NaN" not in shown


def test_a_callback_from_python_that_waits_for_tests(tmp_path):
    path = write(tmp_path, NETWORK + NO_TESTS)
    with pytest.raises(TrainingError, match="`SaveBest` requires tests, but there is no source for the validation"):
        train(path, callbacks=[make_callback("save_best")])


def test_data_from_python_need_no_source(tmp_path):
    path = write(tmp_path, NETWORK + SETTINGS)
    with np.load(tmp_path / "train.npz") as data:
        given = Dataset(dict(data))
    assert train(path, datasets={"train": given})[0].steps == 30
    with pytest.raises(pl.ConfigError, match=r"E304.*missing source for the train phase"):
        train(path, overwrite=True)


TWO_COSTS = NETWORK.replace(
    '  layer { name: "accuracy"',
    '  layer { name: "loss" type: "square_error" input: "fc2" input: "fc1x" loss_weight: 0.25 }\n'
    '  layer { name: "accuracy"',
).replace(
    '  layer { name: "cost"', '  layer { name: "fc1x" type: "fc" input: "fc1" fc { size: 3 } }\n  layer { name: "cost"'
)


@pytest.mark.parametrize("stop", [None, 12])
def test_every_cost_is_in_the_log_by_name(tmp_path, stop):
    path = write(tmp_path, TWO_COSTS + SOURCES + SETTINGS)
    if stop:
        train(path, stop_after=stop)
    report, _, shown = train(path, resume=bool(stop))
    lines = list(csv.DictReader(report.log.read_text().splitlines()))
    assert list(lines[0])[-3:] == ["cost", "loss.square_error", "accuracy"], "a cost named like a column has its type"
    for line in lines:
        parts = float(line["cost"]) + 0.25 * float(line["loss.square_error"])
        assert float(line["loss"]) == pytest.approx(parts, rel=1e-5)
    assert "loss.square_error" in shown
    assert list(report.results) == ["loss", "cost", "loss.square_error", "accuracy"]
