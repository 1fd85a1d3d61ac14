"""`validate` reports what `train` would refuse before its first step, all at once; refused trainings leave nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.config.checking import validated
from paddle_layers.training.callbacks import make_callback
from paddle_layers.training.events import Run
from paddle_layers.training.problems import TrainingError
from paddle_layers.training.training_checks import training_faults
from tests.config.test_mutations import OPERATORS, misspelled

pytestmark = pytest.mark.usefixtures("as_python")

NET = """\
net {
  layer { name: "x" type: "data" data { shape: 2 } }
  layer { name: "label" type: "data" data { data_type: INT size: 2 } }
  layer { name: "scores" type: "fc" input: "x" fc { size: 2 } }
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
  layer { name: "accuracy" type: "accuracy" input: "scores" input: "label" include { phase: "test" } }
}
optimizer { type: "sgd" learning_rate: 0.1 }
steps: 2
"""
SOURCE = 'source { type: "csv" csv { file: "table.csv" columns: "x = a, b" label: "kind" } }\n'
TESTED = 'source { type: "csv" phase: "test" csv { file: "table.csv" columns: "x = a, b" label: "kind" } }\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("a,b,kind\n1,2,0\n2,3,1\n3,4,1\n")
    return tmp_path


def messages(text: str) -> list[str]:
    """Line, code and message of each diagnostic of `validate`."""
    Path("t.textproto").write_text(text)
    done = CliRunner().invoke(commands, ["validate", "t.textproto"])
    assert done.exit_code == int("error[" in done.output)
    found = (line.split(":", 3) for line in done.output.splitlines() if line.startswith("t.textproto:"))
    return [f"{rest[1]}:{rest[3]}" for rest in found if len(rest) > 3]


def test_a_broken_row_hides_no_cell_and_data_hide_no_layer(folder: Path) -> None:
    Path("table.csv").write_text("a,b,kind\n1,2,0\n2,x,1\n3,4\n")
    norm = 'layer { name: "n" type: "data_norm" input: "scores" }'
    text = NET.replace('layer { name: "cost"', f'{norm}\n  layer {{ name: "cost"').replace(
        '"softmax_with_loss" input: "scores"', '"softmax_with_loss" input: "n"'
    )
    found = messages(text + SOURCE)
    assert len(found) == 3
    assert "`scores` is computed by a layer, but `data_norm` computes its statistics from" in found[0]
    assert "table.csv:3: column 2 (`b`): 'x' is not a number" in found[1]
    assert "table.csv:4: got 2 cells, expected 3" in found[2]
    assert [one.partition(": ")[2][:11] for one in messages(text)] == ["error[E304]", "error[E209]"]


def test_all_errors_at_once(folder: Path) -> None:
    Path("table.csv").write_text("a,b,kind\n1,2,0\n2,3,5\n")
    text = (
        NET
        + SOURCE.replace(" }\n", " split { test: 0.01 } }\n")
        + (
            'test { every: 1 }\noutput: "table.csv"\nweights { file: "w.safetensors" }\n'
            'callback { type: "early_stop" early_stop { watch: "acuracy" } }\n'
            'callback { type: "save_best" save_best { watch: "accuracy" mode: min } }\n'
        )
    )
    assert messages(text) == [
        "10: error[E309]: table.csv:3: field `label` is 5, but the data layer `label` expects 0 to 1; number ids from "
        "0, or set `size: 6` in the data layer",
        "10: error[E307]: table.csv: a test share of 0.01 leaves none of the 2 rows for testing",
        "12: error[E321]: table.csv is a file, not a folder; choose another --output",
        "13: error[E308]: file not found: w.safetensors",
        "14: error[E318]: unknown test result `acuracy` in `watch`; available: `accuracy`, `loss`; did you mean "
        "`accuracy`?",
        "15: error[E318]: larger values of `accuracy` are better: remove `mode`, or write `mode: max`",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NET.replace('"softmax_with_loss"', '"accuracy"') + SOURCE, "1: error[E320]: the network has no loss in"),
        (NET + SOURCE.replace("table", "tabel"), "10: error[E317]: file not found: tabel.csv; paths are relative"),
        (NET + SOURCE.replace('"kind"', '"kinds"'), "10: error[E317]: table.csv:1: unknown column `kinds`"),
        (NET.replace("shape: 2", "shape: 3") + SOURCE, "10: error[E309]: table.csv: field `x` has samples of shape 2"),
        (
            NET + SOURCE + TESTED.replace(' phase: "test"', ' name: "loss" phase: "test"') + TESTED,
            "11: error[E304]: the first test source cannot have a `name`",
        ),
        (
            NET.replace("0.1 }", "0.1 sgd { momentum: 0.9 } }").replace("steps: 2", "steps: 99")
            + SOURCE
            + 'momentum_schedule { type: "exp" exp { gamma: 1.1 } }',
            "11: error[E103]: the momentum is",
        ),
        (
            NET + SOURCE + 'callback { type: "save_best" }\n',
            "11: error[E310]: `save_best` requires tests, but there is no",
        ),
    ],
)
def test_validate_and_train_refuse_the_same(folder: Path, text: str, message: str) -> None:
    found = messages(text)
    assert len(found) == 1
    assert found[0].startswith(message)
    with pytest.raises((pl.ConfigError, TrainingError)) as refused:
        pl.train("t.textproto", output="out/run")
    assert found[0].partition("]: ")[2] in str(refused.value)
    assert sorted(path.name for path in folder.iterdir()) == ["t.textproto", "table.csv"]


def test_every_field_that_does_not_fit_is_named(folder: Path) -> None:
    found = messages(
        NET.replace("shape: 2", "shape: 3").replace(
            'size: 2 } }\n  layer { name: "scores', 'size: 1 } }\n  layer { name: "scores'
        )
        + SOURCE
    )
    assert [line.partition(";")[0] for line in found] == [
        "10: error[E309]: table.csv: field `x` has samples of shape 2, but the data layer `x` expects 3",
        "10: error[E309]: table.csv:3: field `label` is 1, but the data layer `label` expects 0 to 0",
    ]


def test_words_of_the_test_are_those_of_the_training_even_if_they_do_not_fit(folder: Path) -> None:
    Path("table.csv").write_text("a,b,kind,place\n" + "".join(f"{row},2,{row % 2},p{row}\n" for row in range(10)))
    words = (
        'net { layer { name: "place" type: "data" data { data_type: INT size: 1 } }\n'
        '  layer { name: "vector" type: "embedding" input: "place" embedding { size: 2 } }\n'
    )
    text = NET.replace("net {", words).replace('input: "x" fc', 'input: "x" input: "vector" fc')
    found = messages(text + SOURCE.replace(" } }\n", ' ids: "place" } split { test: 0.2 } }\n'))
    # And not the two words of the test data, which are a second error otherwise.
    assert [line.partition(";")[0] for line in found] == [
        "12: error[E309]: table.csv: field `place` has 8 words, but the data layer `place` expects ids<1",
    ]


@pytest.mark.parametrize(
    ("shape", "source", "help_"),
    [
        ("64", 'type: "digits" digits { part: "test" }', "set `shape: [1, 8, 8]` in the data layer"),
        (
            "[1, 8, 8]",
            'type: "synthetic" synthetic { fields: ["x: 8x8x1", "label: ids<2"] }',
            "write `x: 1x8x8` in `fields` of the source",
        ),
    ],
)
def test_built_in_data_are_not_reshaped(folder: Path, shape: str, source: str, help_: str) -> None:
    text = NET.replace("shape: 2", f"shape: {shape}").replace("size: 2", "size: 10").replace("ids<2", "ids<10")
    feed = 'feed { input: "x" field: "pixels" }\n' if "digits" in source else ""
    found = messages(text + feed + f"source {{ {source} }}\n")
    assert len(found) == 1
    assert found[0].endswith(help_)


def test_a_folder_of_the_user_stays(folder: Path) -> None:
    (folder / "mine").mkdir()
    Path("t.textproto").write_text(NET + SOURCE.replace("table", "tabel"))
    with pytest.raises(pl.ConfigError):
        pl.train("t.textproto", output="mine")
    assert (folder / "mine").is_dir()


@pytest.mark.parametrize(("watch", "kept"), [("accuracy", 1.0), ("loss", 0.0)])
def test_mode_is_known_from_the_result(folder: Path, watch: str, kept: float) -> None:
    class Results:
        """Results of the tests: 0, then 1."""

        def on_test(self, run: Run) -> None:
            run.results[watch] = float(run.step == 2)

    text = NET + SOURCE + TESTED + "test { every: 1 }\n"
    Path("t.textproto").write_text(text)
    best = make_callback("save_best", watch=watch)
    assert best.mode is None
    pl.train("t.textproto", callbacks=[Results(), best], output="out")
    assert best.state()["best"] == kept


def test_a_result_of_one_callback_is_not_that_of_the_other(folder: Path) -> None:
    text = NET + SOURCE + TESTED + "test { every: 1 }\n"
    stop, best = (
        'callback { type: "early_stop" early_stop { watch: "accuracy" } }\n',
        'callback { type: "save_best" }\n',
    )
    assert messages(text + stop + best) == [
        "14: warning[W008]: `early_stop` monitors `accuracy`, but `save_best` monitors `loss`"
    ]
    assert messages(text + stop + best.replace(" }", ' save_best { watch: "loss" } }')) == []


MIXED = """\
net {
layer { name: "x" type: "data" data { shape: 2 } }
layer { name: "words" type: "data" data { data_type: INT size: 10 seq_nested_level: 1 } }
layer { name: "kind" type: "data" data { data_type: INT size: 2 } }
layer { name: "vectors" type: "embedding" input: "words" embedding { size: 4 } }
layer { name: "mean" type: "seq_avg_pool" input: "vectors" seq_avg_pool { strategy: AVERAGE } }
layer { name: "hidden" type: "fc" input: "x" input: "mean" fc { size: 8 act: "tanh" } param { of: "bias" lr_mult: 2 } }
layer { name: "scores" type: "fc" input: "hidden" fc { size: 2 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "kind" loss_weight: 2 }
layer { name: "accuracy" type: "accuracy" input: "scores" input: "kind" include { phase: "test" } }
}
source { type: "csv" csv { file: "table.csv" columns: "x = a, b" text: "words = c" ids: "kind" } split { test: 0.3 } }
optimizer { type: "adam" learning_rate: 0.01 }
test { every: 2 }
callback { type: "early_stop" early_stop { watch: "accuracy" patience: 3 } }
steps: 10
"""


def _field_misspelled(line: str, rng: random.Random) -> str | None:
    match = re.match(r"\w{4,}", line)
    return line.replace(match[0], misspelled(match[0]), 1) if match and not line.startswith("layer") else None


def _name_misspelled(line: str, rng: random.Random) -> str | None:
    return re.sub(r'(?<=name: ")\w+', lambda name: f"{name[0]}x", line) if 'type: "data"' in line else None


def test_an_error_of_the_config_neither_hides_errors_of_the_data_nor_causes_some(folder: Path) -> None:
    rows = [f"{i},{2 * i},good soup {i % 3},{'yn'[i % 2]}" for i in range(12)]
    lines = MIXED.splitlines()
    rng = random.Random(0)
    changed = []
    for number, line in enumerate(lines):
        if line not in ("net {", "}"):
            for operator in (*OPERATORS, _field_misspelled, _name_misspelled):
                with suppress(KeyError, ValueError):  # an operator for layers only
                    changed += [(number, text)] if (text := operator(line, rng)) not in (None, line) else []
    assert len(changed) > 130
    found, reached = 0, [choice for choice in rng.sample(changed, 60) if not lines[choice[0]].startswith("source")]
    for number, line in reached:
        for wrong in (False, True):
            Path("table.csv").write_text("\n".join(["a,b,c,kind", *rows, f"{'six' if wrong else '6'},6,good,y"]) + "\n")
            Path("t.textproto").write_text("\n".join([*lines[:number], line, *lines[number + 1 :]]) + "\n")
            _, faults, training = validated("t.textproto")
            assert any(fault.severity == "error" for fault in faults), line
            of_data = training_faults(training) if training is not None else []
            assert all("'six' is not a number" in fault.message for fault in of_data), (line, of_data)
            assert wrong or not of_data, line
            found += bool(of_data)
    assert found >= 0.8 * len(reached)


def test_errors_of_a_network_file_and_of_the_data_it_reads(folder: Path) -> None:
    net = NET.partition("optimizer")[0].replace("net {\n", "").removesuffix("}\n")
    Path("net.textproto").write_text(net.replace('fc" input: "x" fc { size', 'fc" input: "x" fc { sice'))
    text = 'network: "net.textproto"\noptimizer { type: "sgd" }\nsteps: 2\n' + SOURCE.replace("a, b", "a, c")
    done = messages(text)
    assert [line[:16] for line in done] == ["2: error[E105]: ", "4: error[E317]: "]
    shown = CliRunner().invoke(commands, ["validate", "t.textproto"]).output
    assert "net.textproto:3:53: error[E101]: layer `fc` has no attribute `sice`" in shown
    assert "table.csv:1: unknown column `c`" in shown
    assert "requires `steps`" not in shown


def test_the_first_error_of_every_column_of_a_table(folder: Path) -> None:
    Path("table.csv").write_text("a,b,day,kind\n1,2,2026-01-01,0\n,3,2026-01-02,1\n3,four,2026-01-03,x\n")
    found = messages(NET.replace("shape: 2", "shape: 3") + SOURCE.replace("a, b", "a, b, day"))
    assert [line.partition("; ")[0] for line in found] == [
        "10: error[E317]: table.csv:2: column 3 (`day`): '2026-01-01' is not a number",
        "10: error[E317]: table.csv:3: column 1 (`a`): empty cell",
        "10: error[E317]: table.csv:4: column 2 (`b`): 'four' is not a number",
        "10: error[E317]: table.csv:4: column 4 (`kind`): 'x' is not a number",
    ]


def test_data_are_not_compared_with_a_data_layer_whose_type_is_in_question(folder: Path) -> None:
    text = NET.replace('"fc" input: "x" fc { size: 2 }', '"concat" input: "x" input: "x"').replace("shape: 2", "")
    (found,) = (line for line in messages(text + SOURCE) if "error[" in line)
    assert found.startswith("4: error[E208]: layer `scores`: input `x` of `concat` has shape scalar")


def test_a_missing_config_with_a_similar_name(folder: Path) -> None:
    Path("train.textproto").write_text(NET + SOURCE)
    done = CliRunner().invoke(commands, ["validate", "trian.textproto"])
    assert "file `trian.textproto` not found; did you mean `train.textproto`?" in done.output
    text = 'network: "tran.textproto"\nsteps: 1\noptimizer { type: "sgd" learning_rate: 0.1 }\n' + SOURCE
    (found,) = messages(text)
    assert found == "1: error[E302]: network file `tran.textproto` not found; did you mean `train.textproto`?"


def _batches(good: int) -> Iterator[dict[str, np.ndarray]]:
    for _ in range(good):
        yield {"x": np.zeros((2, 2), np.float32), "label": np.array([0, 1])}
    raise OSError("the camera is gone")


@pytest.mark.parametrize("good", [0, 1])
def test_a_first_batch_that_fails_leaves_no_folder(folder: Path, good: int) -> None:
    with pytest.raises(OSError, match="the camera is gone"):
        pl.train(NET, output="kept/out", datasets={"train": _batches(good)})
    # The second batch is read ahead of the first step.
    assert not Path("kept").exists()
    with pytest.raises(OSError, match="the camera is gone"):
        pl.train(NET, output="kept/out", datasets={"train": _batches(3)}, settings=["steps=9"])
    assert Path("kept/out/weights.safetensors").is_file()
