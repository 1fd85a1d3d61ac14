"""Validation data: evaluations during the training use them, and the test data once at the end."""

import re
import signal

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.training import TrainingError
from paddle_layers.training.results.records import read_records
from paddle_layers.training.results.run_files import read_run
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, Losses, train, write

VALIDATION = """
source {
  type: "npz" phase: "validation" npz { file: "validation.npz" }
  transform { type: "scale" input: "x" scale { factor: 1.5 } }
}
"""
# The learning rate is so large that the validation loss has its minimum before the end.
TEXT = NETWORK + SOURCES + SETTINGS.replace("0.02", "0.5") + "test { every: 2 }\n"
BEST = 'callback { type: "save_best" }\n'


def with_validation(folder, text):
    path, rng = write(folder, text), np.random.default_rng(3)
    np.savez(folder / "validation.npz", x=rng.normal(size=(30, 8)).astype(np.float32), label=rng.integers(0, 3, 30))
    return path


def close(found, wanted):
    assert found.keys() == wanted.keys()
    assert found == pytest.approx(wanted, rel=1e-6)


def test_test_data_are_used_once_with_the_best_weights(tmp_path):
    path = with_validation(tmp_path, TEXT + VALIDATION + BEST)
    report, losses, shown = train(path)
    lines = read_records(report.log)
    validations = {int(line["step"]): float(line["loss"]) for line in lines if line["phase"] == "validation"}
    assert list(validations) == list(range(2, 31, 2))
    assert report.best.step == min(validations, key=validations.get) < 30
    (tested,) = (line for line in lines if line["phase"] == "test")
    assert (int(tested["step"]), float(tested["loss"])) == (30, report.test_results["loss"])

    last, best = report.folder / "weights.safetensors", report.weights
    assert best.name == "best.safetensors"
    keys = report.results.keys()
    of_last = pl.evaluate(path, tmp_path / "validation.npz", weights=last).results
    close(report.results, {name: of_last[name] for name in keys})
    of_best = pl.evaluate(path, tmp_path / "validation.npz", weights=best).results
    close(report.best.results, {name: of_best[name] for name in keys})
    of_test = pl.evaluate(path, weights=best).results  # of the source of the test phase
    close(report.test_results, {name: of_test[name] for name in keys})
    assert read_run(report.folder).test == report.test_results
    assert f"step 30: test of the weights of step {report.best.step}  loss" in shown
    assert re.search(r"(?m)^step 4: validation  loss", shown)
    printed = str(report)
    assert re.search(
        r"(?m)^Validation: loss .*\nBest validation, after \d+ steps: .*\nTest of the best weights: ", printed
    )

    path.write_text(path.read_text().replace(VALIDATION, ""))
    _, same, _ = train(path, output=tmp_path / "without")
    assert same == losses


def test_early_stopping_acts_on_the_validation_loss(tmp_path):
    stop = 'callback { type: "early_stop" early_stop { patience: 3 } }\n'
    path = with_validation(tmp_path, TEXT.replace("steps: 30", "steps: 200") + VALIDATION + stop)
    report, _, _ = train(path)
    losses = [float(line["loss"]) for line in read_records(report.log) if line["phase"] == "validation"]
    best = losses.index(min(losses))
    assert report.steps == 2 * len(losses) < 200
    assert re.fullmatch(r"`loss` has not improved on \S+ for 3 validations", report.stopped)
    assert len(losses) - 1 - best == 3
    assert report.test_results.keys() == report.results.keys()  # it is at its end
    close(
        report.test_results,
        dict(list(pl.evaluate(path, weights=report.weights).results.items())[: len(report.results)]),
    )


def test_a_signal_leaves_the_test_to_the_resumed_training(tmp_path):
    class Signal:
        def on_step(self, run):
            if run.step == 7:
                signal.raise_signal(signal.SIGTERM)

    path = with_validation(tmp_path, TEXT + VALIDATION + BEST)
    whole, _, _ = train(path, output=tmp_path / "whole")
    broken, _, _ = train(path, callbacks=[Signal()])
    assert (broken.steps, broken.test_results) == (7, {})
    assert "test" not in {line["phase"] for line in read_records(broken.log)}
    resumed, _, _ = train(path, resume=True)
    assert resumed.test_results == whole.test_results
    again, _, _ = train(path, resume=True)  # nothing is left to do
    assert again.test_results == whole.test_results
    assert [line["phase"] for line in read_records(again.log)].count("test") == 1


def test_all_test_data_are_used_where_validations_have_a_few_batches(tmp_path):
    path = with_validation(tmp_path, TEXT.replace("every: 2", "every: 2 batches: 1") + VALIDATION)
    report, _, _ = train(path)
    wanted = pl.evaluate(path, weights=report.weights).results["loss"]
    assert report.test_results["loss"] == pytest.approx(wanted, rel=1e-6)
    first = {name: array[:8] for name, array in np.load(tmp_path / "validation.npz").items()}
    assert report.results["loss"] == pytest.approx(
        pl.evaluate(path, first, weights=report.weights).results["loss"], rel=1e-6
    )


def test_data_from_python(tmp_path):
    path = with_validation(tmp_path, TEXT + BEST)
    own = dict(np.load(tmp_path / "validation.npz"))
    report, _, _ = train(path, datasets={"validation": own})
    with_source = tmp_path / "source.textproto"
    with_source.write_text(path.read_text() + VALIDATION.replace("factor: 1.5", "factor: 1"))
    same, _, _ = train(with_source, output=tmp_path / "same")
    assert (report.results, report.test_results) == (same.results, same.test_results)
    with pytest.raises(TrainingError, match=r"can be iterated only once, but every validation reads it"):
        train(path, datasets={"validation": iter([own])}, overwrite=True)
    with pytest.raises(TrainingError, match=r"unknown phase 'val' in `datasets`; .* a third phase is 'validation'"):
        train(path, datasets={"val": own})


def test_additional_sources(tmp_path):
    hard = VALIDATION.replace('"validation" npz', '"validation" name: "hard" npz')
    far = SOURCES.split("\n}\n")[1].replace('"test" npz', '"test" name: "far" npz') + "\n}\n"
    watch = 'callback { type: "save_best" save_best { watch: "hard.loss" } }\n'
    path = with_validation(tmp_path, TEXT + VALIDATION + hard + far + watch)
    report, _, _ = train(path)
    assert list(report.results) == ["loss", "accuracy", "hard.loss", "hard.accuracy"]
    assert list(report.test_results) == ["loss", "accuracy", "far.loss", "far.accuracy"]
    assert report.results["hard.loss"] == report.results["loss"]
    assert report.test_results["far.loss"] == report.test_results["loss"]
    path.write_text(path.read_text().replace("hard.loss", "far.loss"))
    message = "`far.loss` is a result of the test at the end; `watch` needs one of the validations"
    with pytest.raises(pl.ConfigError, match=re.escape(message)):
        train(path, overwrite=True)


def test_a_split_into_three(tmp_path):
    split = 'source { type: "npz" npz { file: "train.npz" } split { test: 0.2 validation: 0.1 } }\n'
    path = write(tmp_path, NETWORK + split + SETTINGS + "test { every: 2 }\n", rows=50)
    report, _, _ = train(path)
    whole = dict(np.load(tmp_path / "train.npz"))
    order = np.random.Generator(np.random.Philox(key=0)).permutation(50)
    parts = {"test": np.sort(order[:10]), "validation": np.sort(order[10:15]), "train": np.sort(order[15:])}
    for results, name in ((report.results, "validation"), (report.test_results, "test")):
        own = {field: array[parts[name]] for field, array in whole.items()}
        assert results["loss"] == pytest.approx(
            pl.evaluate(path, own, weights=report.weights).results["loss"], rel=1e-6
        )
    assert pl.evaluate(path, weights=report.weights).rows == 10
    path.write_text(path.read_text().replace("test: 0.2 ", ""))
    held_out = pl.evaluate(path, weights=report.weights)
    assert held_out.rows == 5
    assert held_out.notes == ["evaluated on the validation data: there is no source for the test phase"]


def test_a_layer_for_tests_is_there_in_validations(tmp_path):
    network = NETWORK.replace('input: "label" }\n}', 'input: "label" include { phase: "test" } }\n}')
    path = with_validation(tmp_path, network + TEXT.removeprefix(NETWORK) + VALIDATION)
    report, _, _ = train(path)
    assert "accuracy" in report.results


MISTAKES = {
    "split { validation: 1 }": "`validation` must be less than 1, found 1",
    "split { validation: 0.5 test: 0.5 }": "`test` and `validation` must have a sum less than 1, found 1",
    'split { field: "p" validation_value: "a" value: "a" }': "`value` and `validation_value` must differ",
    'split { validation: 0.5 field: "p" value: "a" }': "`split` has both `validation` and `field`",
    'split { validation_value: "a" }': "`split` has no `field`",
    'phase: "validation" split { test: 0.5 }': '`phase: "validation"` is not allowed with `split`',
    'phase: "val"': "`val` is called `validation` here",
    "split { validation: 0.2 }": "two sources for the validation phase",
    'phase: "validation" name: "x" ratio: 1': "`ratio` is only allowed on training sources",
}


@pytest.mark.parametrize("settings", MISTAKES)
def test_mistakes(settings):
    source = f'source {{ type: "npz" npz {{ file: "a.npz" }} {settings} }}\n'
    others = VALIDATION if "two sources" in MISTAKES[settings] or "ratio" in settings else ""
    with pytest.raises(pl.ConfigError, match=re.escape(MISTAKES[settings])):
        pl.config.loads_training(NETWORK + others + source + SETTINGS, sources_needed=False)


def test_a_block_named_validation_is_explained():
    with pytest.raises(pl.ConfigError, match="did you mean `test`"):
        pl.config.loads_training(NETWORK + SETTINGS + "validation { every: 5 }", sources_needed=False)


def test_a_stop_by_a_callback_is_an_end(tmp_path):
    path = with_validation(tmp_path, TEXT + VALIDATION)
    report = pl.train(path, callbacks=[Losses(stop_after=5)], output=tmp_path / "output")
    assert report.steps == 5
    assert report.test_results


def test_the_best_validation_is_not_compared_with_earlier_tests(tmp_path):
    path = with_validation(tmp_path, TEXT + BEST)
    train(path, stop_after=10)
    path.write_text(path.read_text() + VALIDATION)
    with pytest.raises(TrainingError, match=r"cannot resume .* monitored_phase changed from test to validation"):
        train(path, resume=True)
