"""One rule for weights wherever they are read: all of them and all that is there, unless the user says otherwise."""

import numpy as np
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.config.parameters import parameter_names
from paddle_layers.define import registries
from paddle_layers.runtime import WeightsError
from paddle_layers.testing.cases.case import network_text
from paddle_layers.training import TrainingError
from paddle_layers.training.inference.prediction import predict
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, train, write

TEXT = NETWORK + SOURCES + SETTINGS
HEAD = TEXT.replace('"fc2"', '"head"')


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Weights of the small network."""
    return train(write(tmp_path_factory.mktemp("trained")))[0].weights


def run(*arguments):
    return CliRunner().invoke(commands, [str(argument) for argument in arguments])


# ---- the rule


def test_weights_that_lack_a_layer_are_refused_everywhere(tmp_path, trained):
    path = write(tmp_path, HEAD)
    lines = (
        f"{trained} does not match the network:\n"
        "  `head.weight` (6x3) is not in the file; did you mean `fc2.weight`, which has the same shape?\n"
        "  `head.bias` (3) is not in the file; did you mean `fc2.bias`, which has the same shape?\n"
    )
    for command in (["predict", path], ["train", path, "--output", tmp_path / "out"]):
        done = run(*command, "--weights", trained)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith(lines)
        assert 'rename { from: "fc2.*" to: "head.*" } or leave_out: "head.*" to `weights { }`' in done.stderr
    assert not (tmp_path / "out").exists(), "nothing is made before the weights are known to fit"
    with pl.Net(pl.load_training(path).network) as net:
        before = net.parameters["fc1.weight"].value.copy()
        with pytest.raises(WeightsError, match=r"`head.bias` \(3\) is not in the file"):
            net.load(trained)
        np.testing.assert_array_equal(net.parameters["fc1.weight"].value, before)


def test_what_the_words_advise_makes_it_work(tmp_path, trained):
    path = write(tmp_path, HEAD)
    training = pl.load_training(path)
    with pl.Net(training.network) as net:
        drawn = net.parameters["head.weight"].value.copy()
        report = net.load(trained, leave_out=["head.*", "fc2.*"])
        assert (report.missing, report.unexpected) == (("head.weight", "head.bias"), ("fc2.bias", "fc2.weight"))
        np.testing.assert_array_equal(net.parameters["head.weight"].value, drawn)
        report = net.load(trained, rename={"fc2.*": "head.*"})
        assert report.sources["head.weight"] == "fc2.weight"
        with pl.Net(pl.loads(pl.dumps(training.network).replace("head", "fc2"))) as other:
            other.load(trained)
            np.testing.assert_array_equal(net.parameters["head.weight"].value, other.parameters["fc2.weight"].value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"leave_out": "heads.*"},
            "no name in the network or the file matches `leave_out: heads.\\*`; did you mean `head.\\*`",
        ),
        (
            {"rename": {"fc3.*": "head.*"}},
            "no name matches `rename` from `fc3.\\*`; did you mean `fc2",
        ),
        ({"rename": {"fc?.weight": "head.weight"}}, "no name matches"),
        ({"rename": {"fc2.*": "head.*.*"}}, "has more `\\*` than"),
        ({"rename": {"*.weight": "head.weight"}}, "both `fc1.weight` and `fc2.weight` map to `head.weight`"),
        (
            {"rename": {"fc2.*": "haed.*"}},
            "`fc2.weight`, renamed `haed.weight` \\(6x3\\) is in the file, but not in the network",
        ),
    ],
)
def test_patterns_match_something(tmp_path, trained, arguments, message):
    with pl.Net(pl.load_training(write(tmp_path, HEAD)).network) as net, pytest.raises(WeightsError, match=message):
        net.load(trained, **arguments)


def test_all_patterns_that_mean_nothing_are_told_at_once_each_at_its_place(tmp_path, trained):
    block = f"""weights {{
  file: "{trained}"
  rename {{ from: "conv.*" to: "fc1.*" }}
  rename {{ from: "fc1.*" to: "fc2.*" }}
  leave_out: ["nope.*",
              "fc2.bias", "haed.*"]
}}
"""
    with pytest.raises(pl.ConfigError) as caught:
        train(write(tmp_path, HEAD + block))
    begin = HEAD.count("\n") + 1
    assert [(fault.code, fault.line - begin) for fault in caught.value.diagnostics] == [
        *(("E308", line) for line in (2, 3, 4, 5))
    ]
    assert "both `fc1.weight` and `fc2.weight` map to `fc2.weight`" in caught.value.diagnostics[1].message
    assert "did you mean `head.*`?" in caught.value.diagnostics[3].message
    with pl.Net(pl.load_training(write(tmp_path, HEAD)).network) as net, pytest.raises(WeightsError) as error:
        net.load(trained, leave_out=["nope.*", "haed.*"])
    assert len(str(error.value).splitlines()) == 2


def test_many_problems_are_cut_and_names_cannot_command_a_terminal(tmp_path):
    from safetensors.numpy import save_file

    save_file({f"w{i}\n\x1b[2J": np.zeros(1, np.float32) for i in range(50)}, tmp_path / "w.safetensors")
    with pl.Net(pl.load_training(write(tmp_path)).network) as net, pytest.raises(WeightsError) as caught:
        net.load(tmp_path / "w.safetensors")
    assert len(str(caught.value).splitlines()) == 23
    assert "... and 34 more" in str(caught.value)
    assert "\x1b" not in str(caught.value)


# ---- predict


def test_predict_reads_the_part_it_runs(tmp_path):
    """Layers that lead to no scores have weights too; of shared ones the file has one name."""
    text = TEXT.replace(
        '  layer { name: "fc2" type: "fc" input: "fc1" fc { size: 3 } }',
        """
  layer { name: "twin" type: "fc" input: "fc1" fc { size: 3 } include { phase: "train" }
          param { of: "weight" share: "w" } param { of: "bias" share: "b" } }
  layer { name: "fc2.0" type: "fc" input: "fc1" fc { size: 3 } include { phase: "test" }
          param { of: "weight" share: "w" } param { of: "bias" share: "b" } }
  layer { name: "fc2" type: "fc" input: "x" fc { size: 3 } include { phase: "train" } }
  layer { name: "cost2" type: "softmax_with_loss" input: "fc2" input: "label" include { phase: "train" } }
  layer { name: "cost3" type: "softmax_with_loss" input: "twin" input: "label" include { phase: "train" } }""",
    )
    for kind in ("cost", "accuracy"):
        old = f'name: "{kind}" type: "{"softmax_with_loss" if kind == "cost" else kind}" input: "fc2" input: "label"'
        text = text.replace(old, old.replace("fc2", "fc2.0") + ' include { phase: "test" }')
    path = write(tmp_path, text)
    report, _, _ = train(path)
    found = predict(path, weights=report.weights).values["fc2.0"]
    with pl.Net(pl.load_training(path).network, keep=["fc2.0"]) as net, np.load(tmp_path / "test.npz") as data:
        assert "fc2.0.weight" not in net.parameters, "the file has `twin.weight`"
        net.load(report.weights)
        net.forward({"x": data["x"] * 1.5, "label": data["label"]}, phase="test")
        scores = np.exp(net.value("fc2.0"))
    np.testing.assert_allclose(found, scores / scores.sum(axis=1, keepdims=True), rtol=1e-4)


# ---- patterns of the training file


def test_names_of_parameters_are_those_of_the_runtime():
    for definition in registries["layer"].values():
        for example in definition.examples if definition.inputs else ():
            types, _ = definition.example_inputs(example)
            network = pl.loads(network_text(definition, types, example.settings))
            with pl.Net(network) as net:
                assert set(parameter_names(network)) == set(net.parameters), definition.name


def rules(folder, text, net=TEXT):
    path = write(folder, net + text)
    with pl.Net(pl.load_training(path).network) as made:
        return {name: (one.trained, one.settings.lr_mult) for name, one in made.parameters.items()}


def test_patterns_freeze_and_slow_down(tmp_path):
    found = rules(tmp_path, 'param { of: "*" frozen: true } param { of: "fc2.*" frozen: false lr_mult: 0.5 }')
    assert found == {
        "fc1.weight": (False, 1),
        "fc1.bias": (False, 1),
        "fc2.weight": (True, 0.5),
        "fc2.bias": (True, 0.5),
    }


def test_settings_of_the_network_stay_where_a_pattern_says_nothing_of_them(tmp_path):
    net = TEXT.replace("fc { size: 3 }", 'fc { size: 3 } param { of: "weight" lr_mult: 3 decay_mult: 2 clip: 1 }')
    path = write(tmp_path, net + 'param { of: "*.weight" decay_mult: 0 }')
    settings = pl.load_training(path).network["fc2"].params["weight"]
    assert (settings.lr_mult, settings.decay_mult, settings.clip) == (3, 0, 1)


def test_shared_parameters_share_the_rules(tmp_path):
    shared = 'param { of: "weight" share: "w" }'
    net = TEXT.replace("fc { size: 3 }", f"fc {{ size: 3 }} {shared}").replace(
        '  layer { name: "cost"',
        f'  layer {{ name: "fc3" type: "fc" input: "fc1" fc {{ size: 3 }} {shared} }}\n'
        '  layer { name: "cost3" type: "softmax_with_loss" input: "fc3" input: "label" }\n  layer { name: "cost"',
    )
    found = rules(tmp_path, 'param { of: "fc3.*" frozen: true }', net)
    assert found["fc2.weight"] == (False, 1)
    assert found["fc2.bias"] == (True, 1)


def test_parameters_inside_of_layers_and_steps(tmp_path):
    net = """
net {
  layer { name: "x" type: "data" data { shape: 4 seq_nested_level: 1 } }
  layer { name: "label" type: "data" data { data_type: INT size: 3 } }
  layer { name: "lstm" type: "simple_lstm" input: "x" simple_lstm { size: 2 }
          param { of: "gates.weight" lr_mult: 3 } }
  layer { name: "group" type: "recurrent_group" input: "lstm"
    step {
      layer { name: "before" type: "memory" memory { of: "state" size: 3 } }
      layer { name: "state" type: "fc" input: "lstm" input: "before" fc { size: 3 } }
      output: "state"
    }
  }
  layer { name: "last" type: "seq_last" input: "group" }
  layer { name: "cost" type: "softmax_with_loss" input: "last" input: "label" }
}
"""
    text = 'param { of: "lstm.*.bias" frozen: true } param { of: "group.state.weight_1" lr_mult: 0.1 }'
    found = rules(tmp_path, text, net + SOURCES.replace("transform", "# transform") + SETTINGS)
    assert found["lstm.gates.weight"] == (True, 3)
    assert found["group.state.weight_0"] == (True, 1)
    assert found["group.state.weight_1"] == (True, 0.1)
    assert not any(trained for name, (trained, _) in found.items() if "lstm" in name and name.endswith("bias"))


def test_frozen_parameters_stay_and_the_rest_learns(tmp_path, trained):
    block = f'weights {{ file: "{trained}" rename {{ from: "fc2.*" to: "head.*" }} leave_out: "*.bias" }}\n'
    path = write(tmp_path, HEAD + block + 'param { of: "fc1.weight" frozen: true } param { of: "head.*" lr_mult: 2 }')
    report, _, shown = train(path)
    assert f"""initial weights, from {trained}:
  fc1.weight   8x6  loaded                  frozen
  fc1.bias     6    newly initialized
  head.weight  6x3  loaded from fc2.weight  learning rate x 2
  head.bias    3    newly initialized       learning rate x 2
  fc1.bias     6    in the file, skipped
  fc2.bias     3    in the file, skipped
""" in shown.replace("  \n", "\n")
    with pl.Net(pl.load_training(path).network) as first, pl.Net(pl.load_training(path).network) as net:
        first.load(trained, rename={"fc2.*": "head.*"})
        net.load(report.weights)
        same = {n: np.array_equal(net.parameters[n].value, first.parameters[n].value) for n in net.parameters}
    assert same == {"fc1.weight": True, "fc1.bias": False, "head.weight": False, "head.bias": False}


def test_the_file_is_relative_and_the_command_line_goes_before_it(tmp_path, trained):
    path = write(tmp_path, TEXT + 'weights { file: "start/w.safetensors" }')
    with pytest.raises(pl.ConfigError, match=r"E308.*file not found: .*start/w.safetensors"):
        train(path)
    _, _, shown = train(path, weights=trained)
    assert f"loaded 4 weights from {trained}" in shown
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "w.safetensors").write_bytes(trained.read_bytes())
    _, _, shown = train(path, overwrite=True)
    assert "start/w.safetensors" in shown


def test_weights_that_do_not_fit_point_into_the_training_file(tmp_path, trained):
    path = write(tmp_path, HEAD + f'weights {{\n  file: "{trained}"\n  leave_out: "nope"\n}}')
    with pytest.raises(pl.ConfigError) as caught:
        train(path)
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.line) == ("E308", HEAD.count("\n") + 3)
    path.write_text(path.read_text().replace("nope", "fc1.*"))
    with pytest.raises(pl.ConfigError) as caught:
        train(path)
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.line) == ("E308", HEAD.count("\n") + 2)
    assert [note.message.split()[0] for note in fault.notes] == [
        "`head.weight`",
        "`head.bias`",
        "`fc2.bias`",
        "`fc2.weight`",
    ]


def test_a_training_in_which_nothing_learns_is_refused(tmp_path):
    with pytest.raises(
        TrainingError, match="nothing to train: the network has no parameters in the train phase, or all are frozen"
    ):
        train(write(tmp_path, TEXT + 'param { of: "*" frozen: true }'))


def test_weights_and_resume_exclude_each_other(tmp_path, trained):
    path = write(tmp_path)
    with pytest.raises(TrainingError, match="remove `weights`"):
        train(path, resume=True, weights=trained)
    done = run("train", path, "--resume", "--weights", trained)
    assert (done.exit_code, "remove --weights" in done.stderr) == (2, True)
