"""Files of weights that other tools write: precision, several files with an index, layouts, names. No PyTorch here."""

from __future__ import annotations

import json
import struct
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.runtime import WeightsError
from paddle_layers.runtime.memory.tensorfiles import read_tensors

TWO = """
layer { name: "x" type: "data" data { shape: 3 } }
layer { name: "fc1" type: "fc" input: "x" fc { size: 4 } }
layer { name: "fc2" type: "fc" input: "fc1" fc { size: 4 bias: false } }
"""
SQUARE = TWO.replace("shape: 3", "shape: 4")
RNG = np.random.default_rng(0)
WEIGHTS = {"fc1.weight": (3, 4), "fc1.bias": (4,), "fc2.weight": (4, 4)}


def drawn(shapes=WEIGHTS):
    return {name: RNG.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def safetensors(path, tensors, dtypes=None, facts=None):
    """A file by the format's own description: the length of the header, the header, the numbers."""
    header, numbers = {"__metadata__": facts} if facts else {}, b""
    for name, array in tensors.items():
        data = array.tobytes()
        kind = (dtypes or {}).get(name) or {"f": "F32", "e": "F16", "d": "F64", "l": "I64"}[array.dtype.char]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(numbers), len(numbers + data)]}
        numbers += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + numbers)
    return path


def values(net):
    return {name: one.value.copy() for name, one in net.parameters.items()}


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def turned(tensors):
    return {name: np.ascontiguousarray(array.T) for name, array in tensors.items()}


@pytest.fixture
def net():
    with pl.Net(pl.loads(TWO)) as made:
        yield made


# ---- precision


def test_every_number_of_16_bits_becomes_float32_exactly(tmp_path):
    bits = np.arange(1 << 16, dtype=np.uint16)
    path = safetensors(tmp_path / "w.safetensors", {"brief": bits, "half": bits}, {"brief": "BF16", "half": "F16"})
    tensors, _ = read_tensors(path)
    sign, exponent, fraction = bits >> 15, (bits >> 7 & 255).astype(int), (bits & 127).astype(float)
    normal = np.ldexp(1 + fraction / 128, exponent - 127)
    value = np.where(exponent == 0, np.ldexp(fraction / 128, -126), normal) * np.where(sign, -1.0, 1.0)
    finite = exponent < 255
    assert tensors["brief"].dtype == np.float32
    np.testing.assert_array_equal(tensors["brief"][finite], value[finite])
    infinite = ~finite & (fraction == 0)
    np.testing.assert_array_equal(tensors["brief"][infinite], [np.inf, -np.inf])
    assert np.isnan(tensors["brief"][~finite & ~infinite]).all()
    np.testing.assert_array_equal(tensors["half"], bits.view(np.float16))


def test_they_are_read_and_reported(tmp_path, net):
    halves = {name: array.astype(np.float16) for name, array in drawn().items()}
    brief = {"fc1.bias": (drawn()["fc1.bias"].view(np.uint32) >> 16).astype(np.uint16)}
    path = safetensors(tmp_path / "w.safetensors", halves | brief, {"fc1.bias": "BF16"})
    report = net.load(path)
    assert dict(report.types) == {"fc1.weight": "F16", "fc1.bias": "BF16", "fc2.weight": "F16"}
    same(
        values(net),
        {
            **{name: array.astype(np.float32) for name, array in halves.items()},
            "fc1.bias": (brief["fc1.bias"].astype(np.uint32) << 16).view(np.float32),
        },
    )


# ---- several files


def sharded(folder, tensors):
    names = list(tensors)
    for number, part in enumerate((names[:1], names[1:]), 1):
        safetensors(folder / f"model-0000{number}-of-00002.safetensors", {name: tensors[name] for name in part})
    homes = {name: f"model-0000{1 + (name != names[0])}-of-00002.safetensors" for name in names}
    return index(folder, homes)


def index(folder, homes, **more):
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"metadata": {"total_size": 128}, "weight_map": homes, **more}))
    return path


def test_files_with_an_index_are_one(tmp_path, net):
    tensors = drawn()
    path = sharded(tmp_path, tensors)
    net.load(path)
    same(values(net), tensors)
    with pytest.raises(WeightsError, match=rf"the file is one shard of several: load their index, {path}"):
        net.load(tmp_path / "model-00001-of-00002.safetensors")


A, B = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


@pytest.mark.parametrize(
    ("homes", "message"),
    [
        ({"fc1.weight": "../secret.safetensors"}, "not the name of a safetensors file next to the index"),
        ({"fc1.weight": "/etc/passwd"}, "not the name of a safetensors file next to the index"),
        ({"fc1.weight": "a\\b.safetensors"}, "not the name of a safetensors file next to the index"),
        ({"fc1.weight": ".hidden.safetensors"}, "not the name of a safetensors file next to the index"),
        ({"fc1.weight": "weights.pth"}, "not the name of a safetensors file next to the index"),
        ({"fc1.weight": 3}, "'3' is not the name of a safetensors file next to the index"),
        ({"fc1.weight": "absent.safetensors"}, "file not found: .*absent.safetensors"),
        ({"fc1.weight": A, "fc1.bias": A, "fc2.weight": B}, "`fc1.bias` is not in "),
        ({"fc1.weight": A, "fc2.weight": B}, "`fc1.bias` in .* is not in the index"),
        ({}, "it has no `weight_map`"),
    ],
)
def test_an_index_names_files_beside_it_and_all_that_is_in_them(tmp_path, net, homes, message):
    sharded(tmp_path, drawn())
    before = values(net)
    with pytest.raises(WeightsError, match=message) as caught:
        net.load(index(tmp_path, homes))
    assert "\n" not in str(caught.value)
    same(values(net), before)


@pytest.mark.parametrize("text", ["", "[", "[]", '{"weight_map": []}', "\xff", "[" * 100_000])
def test_what_is_no_index_is_said_to_be_none(tmp_path, net, text):
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(WeightsError, match="is not a weights index"):
        net.load(path)


# ---- layouts


def test_transposed_matrices_are_noticed_and_read_when_it_is_said(tmp_path, net):
    tensors = drawn()
    path = safetensors(tmp_path / "w.safetensors", turned(tensors))
    with pytest.raises(WeightsError) as caught:
        net.load(path)
    assert "`fc1.weight` is (3x4), but (4x3) in the file: transposed, as in PyTorch" in str(caught.value)
    assert 'set layout: "torch" in `weights { }` of the training file, or' in str(caught.value)
    net.load(path, layout="torch")
    same(values(net), tensors)
    with pytest.raises(WeightsError, match=r"`fc1.weight` is \(3x4\), but \(4x3\) in the file"):
        net.load(path, layout="paddle_layers")
    with pytest.raises(WeightsError, match="unknown `layout` 'keras'; available: `paddle_layers`, `torch`"):
        net.load(path, layout="keras")


def test_a_square_matrix_alone_is_refused_until_somebody_says_how_it_lies(tmp_path, net):
    shapes = {name: (4, 4) if "weight" in name else shape for name, shape in WEIGHTS.items()}
    tensors = drawn(shapes)
    path = safetensors(tmp_path / "w.safetensors", tensors)
    with pl.Net(pl.loads(SQUARE)) as squares:
        before = values(squares)
        with pytest.raises(WeightsError) as caught:
            squares.load(path)
        assert "`fc1.weight` is (4x4), and 1 more are square: a row is an input" in str(caught.value)
        assert 'Set layout: "paddle_layers" or layout: "torch"' in str(caught.value)
        same(values(squares), before)
        squares.load(path, layout="paddle_layers")
        same(values(squares), tensors)
        squares.load(path, layout="torch")
        same(values(squares), turned(tensors))
        squares.save(tmp_path / "ours.safetensors")
        squares.load(tmp_path / "ours.safetensors")  # which says that it is ours
        with pytest.raises(WeightsError, match=r"this file has the layout of this library.*remove layout: .torch."):
            squares.load(tmp_path / "ours.safetensors", layout="torch")
        same(values(squares), turned(tensors))
    safetensors(tmp_path / "mixed.safetensors", drawn())
    net.load(tmp_path / "mixed.safetensors")  # another matrix shows it


IMAGES = """
layer { name: "x" type: "data" data { shape: [2, 5, 5] } }
layer { name: "conv" type: "conv" input: "x" conv { num_filters: 6 filter_size: 3 } }
layer { name: "bn" type: "batch_norm" input: "conv" }
layer { name: "y" type: "fc" input: "bn" fc { size: 2 } }
"""
THEIRS = {
    **{"conv.weight": (6, 2, 3, 3), "conv.bias": (6,), "bn.weight": (6,), "bn.bias": (6,)},
    **{"bn.running_mean": (6,), "bn.running_var": (6,), "y.weight": (2, 54), "y.bias": (2,)},
}


def test_names_and_counters_of_pytorch_are_known_with_its_layout(tmp_path):
    tensors = drawn(THEIRS)
    path = safetensors(tmp_path / "w.safetensors", tensors | {"bn.num_batches_tracked": np.array(7)})
    with pl.Net(pl.loads(IMAGES)) as made:
        with pytest.raises(WeightsError, match="the weights seem to be PyTorch's"):
            made.load(path)
        report = made.load(path, layout="torch")
        assert report.unexpected == ("bn.num_batches_tracked",)
        assert report.sources["bn.gain"] == "bn.weight"
        np.testing.assert_array_equal(made.parameters["bn.gain"].value, tensors["bn.weight"])
        np.testing.assert_array_equal(made.states["bn.running_var"].value, tensors["bn.running_var"])
        np.testing.assert_array_equal(made.parameters["y.weight"].value, tensors["y.weight"].T)
        made.save(tmp_path / "out.safetensors", layout="torch", rename={"conv.*": "features.0.*"})
        found, facts = read_tensors(tmp_path / "out.safetensors")
        assert facts == {"format": "pt"}
        same(found, {name.replace("conv.", "features.0."): array for name, array in tensors.items()})


def test_filters_as_keras_writes_them_are_noticed(tmp_path):
    tensors = drawn(THEIRS)
    tensors["conv.weight"] = np.ascontiguousarray(tensors["conv.weight"].transpose(2, 3, 1, 0))
    path = safetensors(tmp_path / "w.safetensors", tensors)
    message = r"`conv.weight` is \(6x2x3x3\), but \(3x3x2x6\) in the file: height, width, channels, filters"
    with pl.Net(pl.loads(IMAGES)) as made, pytest.raises(WeightsError, match=message):
        made.load(path, layout="torch")


RECURRENT = """
layer { name: "x" type: "data" data { shape: 3 seq_nested_level: 1 } }
layer { name: "map" type: "fc" input: "x" fc { size: %d } }
layer { name: "unit" type: "%s" input: "map" %s }
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RECURRENT % (8, "lstmemory", ""), "PyTorch's LSTM has no peephole connections; set `peepholes: false`"),
        (RECURRENT % (6, "grumemory", ""), "set `reset_after: true`"),
    ],
)
def test_units_that_pytorch_lacks_have_no_form_there(tmp_path, text, message):
    with pl.Net(pl.loads(text)) as made, pytest.raises(WeightsError, match=message):
        made.save(tmp_path / "w.safetensors", layout="torch")
    assert not (tmp_path / "w.safetensors").exists()


# ---- files of PyTorch without PyTorch


def test_a_pickle_needs_pytorch(tmp_path, net, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "w.pth").write_bytes(b"PK")
    with pytest.raises(WeightsError, match=r"requires PyTorch: `pip install torch`, or convert it to safetensors"):
        net.load(tmp_path / "w.pth")


# ---- the command, and the training file


def run(*arguments, status=0):
    done = CliRunner().invoke(commands, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == status, done.output
    return done.output


def test_the_command_writes_ours_and_theirs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tensors = drawn()
    (tmp_path / "net.textproto").write_text(TWO)
    theirs = {name.replace("fc1", "a.0"): array for name, array in turned(tensors).items()}
    brief = {name: (array.view(np.uint32) >> 16).astype(np.uint16) for name, array in theirs.items()}
    safetensors(tmp_path / "theirs.safetensors", brief, dict.fromkeys(brief, "BF16"))
    given = ("weights", "net.textproto", "theirs.safetensors", "-o", "ours.safetensors", "--rename", "a.0.*=fc1.*")
    assert "transposed, as in PyTorch" in run(*given, status=1)
    shown = run(*given, "--from", "torch")
    assert "loaded 3 weights from theirs.safetensors, bfloat16 converted to float32 exactly\n" in shown
    assert "wrote ours.safetensors" in shown
    kept = {name: (array.view(np.uint32) & 0xFFFF0000).view(np.float32) for name, array in tensors.items()}
    same(read_tensors("ours.safetensors")[0], kept)
    run(
        "weights",
        "net.textproto",
        "ours.safetensors",
        "-o",
        "back.safetensors",
        "--to",
        "torch",
        "--rename",
        "fc1.*=a.0.*",
    )
    same(read_tensors("back.safetensors")[0], {name.replace("fc1", "a.0"): one for name, one in turned(kept).items()})
    assert "already exists" in run(*given, "--from", "torch", status=1)
    for wrong, message in [
        (("--rename", "a"), "expected OLD=NEW"),
        (("--rename", "a.0.*=fc2.*"), "--rename is given twice for a.0.*; remove one of them"),
        (("-o", "w.pth"), "unsupported extension; expected .safetensors"),
        (("--from", "torch", "--to", "torch"), "exclude each other"),
    ]:
        assert message in run(*given, *wrong, status=2)


TRAINING = """
net {
  layer { name: "x" type: "data" data { shape: 3 } }
  layer { name: "label" type: "data" data { data_type: INT size: 4 } }
  layer { name: "fc1" type: "fc" input: "x" fc { size: 4 } }
  layer { name: "fc2" type: "fc" input: "fc1" fc { size: 4 bias: false } }
  layer { name: "cost" type: "softmax_with_loss" input: "fc2" input: "label" }
}
steps: 1
optimizer { type: "sgd" learning_rate: 1e-9 }
weights { file: "w.safetensors" layout: "torch" }
"""


def test_a_training_says_the_layout_and_what_became_of_the_numbers(tmp_path, capsys):
    tensors = {name: array.astype(np.float16) for name, array in drawn().items()}
    safetensors(tmp_path / "w.safetensors", turned(tensors))
    path = tmp_path / "train.textproto"
    path.write_text(TRAINING)
    data = {"x": np.zeros((4, 3)), "label": np.zeros(4, int)}
    report = pl.train(path, output=tmp_path / "out", datasets={"train": data})
    assert "loaded 3 weights from" in (shown := capsys.readouterr().err)
    assert "w.safetensors, float16 converted to float32 exactly\n" in shown
    found, facts = read_tensors(report.weights)
    assert facts == {"format": "paddle_layers"}
    np.testing.assert_allclose(found["fc1.weight"], tensors["fc1.weight"], atol=1e-6)
    path.write_text(TRAINING.replace(' layout: "torch"', ""))
    with pytest.raises(pl.ConfigError, match="E308") as caught:
        pl.train(path, output=tmp_path / "again", datasets={"train": data})
    (fault,) = caught.value.diagnostics
    assert "transposed, as in PyTorch" in fault.notes[0].message
    assert fault.help.startswith('the weights seem to be PyTorch\'s: set layout: "torch"')


@pytest.mark.parametrize("kind", ["brief", "sharded"])
def test_all_commands_take_them(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    source = 'source { type: "npz" npz { file: "data.npz" } }'
    (tmp_path / "train.textproto").write_text(TRAINING[: TRAINING.index("weights {")] + source)
    tensors = drawn()
    if kind == "brief":
        brief = {name: (array.view(np.uint32) >> 16).astype(np.uint16) for name, array in tensors.items()}
        path = safetensors(tmp_path / "w.safetensors", brief, dict.fromkeys(brief, "BF16"))
        tensors = {name: (bits.astype(np.uint32) << 16).view(np.float32) for name, bits in brief.items()}
    else:
        path = sharded(tmp_path, tensors)
    note = f"note: {path}, bfloat16 converted to float32 exactly\n" if kind == "brief" else ""
    x = RNG.normal(size=(5, 3)).astype(np.float32)
    np.savez("data.npz", x=x, label=np.zeros(5, int))
    scores = (x @ tensors["fc1.weight"] + tensors["fc1.bias"]) @ tensors["fc2.weight"]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shown = run("predict", "train.textproto", "data.npz", "--weights", path, "--output", "out.npz")
    assert shown.startswith(note + "wrote out.npz")
    with np.load("out.npz") as arrays:
        np.testing.assert_allclose(arrays["fc2"], shares, rtol=1e-4)
    shown = run("evaluate", "train.textproto", "data.npz", "--weights", path, "--format", "json")
    assert shown.startswith(note + "{")
    assert json.loads(shown.removeprefix(note))["results"]["loss"] == pytest.approx(
        -np.log(shares[:, 0]).mean(), rel=1e-4
    )
    assert "wrote out.onnx" in run("export", "train.textproto", "--weights", path, "-o", "out.onnx")
    import onnx

    stored = {one.name: onnx.numpy_helper.to_array(one) for one in onnx.load("out.onnx").graph.initializer}
    np.testing.assert_array_equal(stored["fc1.bias"], tensors["fc1.bias"])
