"""Files of other kinds where a config is wanted: one line that says what it is, and what takes it."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from paddle_layers.cli.app import commands
from paddle_layers.config.reading.syntax import other_text

CAFFE = 'layer {\n name: "c"\n type: "Convolution"\n bottom: "x"\n top: "c"\n convolution_param { num_output: 2 }\n}\n'
FILES = {
    "loop.py": (b"for i in range(3):\n    print(i)\n", "is a Python program", "`python loop.py`, or load"),
    "a.csv": (b"u,v\n1,2\n", "is a data file", 'csv { file: "a.csv" }'),
    "a.npy": (b"", "is a data file", "`paddle-layers predict TRAINING a.npy`"),
    "data": (b"\x93NUMPY\x01\x00", "is a data file", 'npy { file: "data" }'),
    "w.safetensors": (b"", "is a weights file", "`--weights w.safetensors`"),
    "weights": (b"\x10\0\0\0\0\0\0\0{}", "is a weights file", "`--weights weights`"),
    "m.onnx": (b"", "is an ONNX model", "`paddle-layers import m.onnx -o DIR`"),
    "x.pt": (b"PK\x03\x04", "is a PyTorch weights file", "`paddle-layers weights NETWORK x.pt -o"),
    "x.pkl": (b"", "is a file of another framework", "safetensors"),
    "x.caffemodel": (b"", "is a Caffe weights file", "`paddle-layers import NET.prototxt --weights x.caffemodel"),
    "a.png": (b"", "is an image", "image_folder"),
    "lenet.prototxt": (CAFFE.encode(), "this is a Caffe file", "`paddle-layers import lenet.prototxt -o DIR`"),
    "solver.prototxt": (
        b"base_lr: 0.1\nmax_iter: 5\n",
        "this is a Caffe file",
        "`paddle-layers import solver.prototxt -o DIR`",
    ),
    "notes.txt": (b"Dear reader,\nthis is no config.\n", "this is text in another format", "`paddle-layers new`"),
    "package.json": (b'{"version": 1, "scripts": {"a": "b"}, "files": {}}', "this is text in another format", "new"),
    "net.textproto": ("layer { }".encode("utf-16"), "is UTF-16 text", "save it as UTF-8"),
    "x.yaml": (b"layers:\n  - a\n", "is a YAML file", "text format"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["train", "validate", "show", "predict"])
def test_one_line_says_what_it_is_and_what_takes_it(tmp_path, monkeypatch, name, command):
    content, what, remedy = FILES[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(content)
    done = CliRunner().invoke(commands, [command, name])
    assert done.exit_code == 1
    code = "E010" if name.endswith(".prototxt") else "E009"
    assert (done.output.count("error["), done.output.count(f"error[{code}]")) == (1, 1), done.output
    assert what in done.output
    assert remedy in done.output


@pytest.mark.parametrize(
    "text",
    ["layer {\n name: }\n" * 3, "{'layers': [], 'a': 1}", "sorce { }\nepoch: 3\nfoo: 1\nbar: 2", "laye", "", "name: 3"],
)
def test_what_is_meant_as_a_config_gets_its_errors(text):
    assert other_text(text, 5 if len(text) > 10 else 1) is None
