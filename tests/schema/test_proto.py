"""The exported .proto files: protoc compiles them to our descriptors and reads our configs, buf accepts them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from grpc_tools import protoc
from paddle_layers.codegen.proto import SCHEMA, proto_text, write_protos

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.config.conversion import read_message
from paddle_layers.config.writing.descriptors import TYPED, config_files, message_name
from paddle_layers.define import registries
from paddle_layers.schema import layer_def_pb2
from tests.config.test_mutations import EXAMPLES

LAYER_DEF = "paddle_layers/layer_def.proto"
BUF = Path(sys.executable).with_name("buf")


@pytest.fixture(scope="module")
def protos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("protos")
    with pytest.raises(SystemExit) as stop:
        commands(["schema", "proto", str(folder)])
    assert stop.value.code == 0
    return folder


def compiled(folder: Path) -> dict[str, Any]:
    names = [*(file.name for file in config_files()), LAYER_DEF]
    out = folder / "out.pb"
    assert protoc.main(["protoc", f"-I{folder}", f"--descriptor_set_out={out}", *names]) == 0
    files = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
    return {file.name: file for file in files.file}


def plain(file: Any) -> Any:
    """Without what protoc adds, and with dependencies in one order."""
    file = type(file).FromString(file.SerializeToString())
    file.ClearField("syntax")
    file.dependency.sort()

    def visit(message: Any) -> None:
        for field in message.field:
            field.ClearField("json_name")
            if field.type == field.TYPE_DOUBLE and field.default_value:
                field.default_value = repr(float(field.default_value))
            field.type_name = field.type_name if field.type_name.startswith(".") or not field.type_name else ""
        for nested in message.nested_type:
            visit(nested)

    for message in file.message_type:
        visit(message)
    return file


def test_protoc_makes_our_descriptors(protos: Path) -> None:
    found = compiled(protos)
    for ours in config_files():
        assert plain(found[ours.name]) == plain(ours), ours.name


def test_the_exported_registry_is_described(protos: Path) -> None:
    assert (protos / LAYER_DEF).read_text() == (SCHEMA / "layer_def.proto").read_text()
    ours = descriptor_pb2.FileDescriptorProto()
    layer_def_pb2.DESCRIPTOR.CopyToProto(ours)
    ours.name = LAYER_DEF
    assert plain(compiled(protos)[LAYER_DEF]) == plain(ours)


def test_every_definition_and_attribute_is_there(protos: Path) -> None:
    messages = {m.name: m for m in compiled(protos)["paddle_layers/registered.proto"].message_type}
    for definition in (d for kind in TYPED for d in registries[kind].values()):
        fields = {field.name for field in messages[message_name(definition)].field}
        assert fields == set(definition.attribute_by_name)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_protoc_reads_our_configs(protos: Path, path: Path) -> None:
    message, _ = read_message(path)
    name = message.DESCRIPTOR.name
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{protos}", f"--encode=paddle_layers.{name}"]
    command.append(f"paddle_layers/{name.lower()}.proto")
    done = subprocess.run(command, input=path.read_bytes(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert type(message).FromString(done.stdout) == message


@pytest.mark.parametrize(
    "arguments", [["lint"], ["build", "-o", "/dev/null"], ["format", "--exit-code", "-d"]], ids=str
)
def test_buf_accepts_them(protos: Path, arguments: list[str], tmp_path: Path) -> None:
    write_protos(tmp_path)
    done = subprocess.run([BUF, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_plugins_text_cannot_leave_its_comment() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="x.proto", package="paddle_layers")
    file.message_type.add(name="M").field.add(
        name="f", number=1, label=1, type=9, default_value='"];\n} message Evil { //'
    )
    text = proto_text(file, {"M": "line\n} message Evil {", "M.f": "*/ \r\n option x = 1;"})
    assert not [
        line for line in text.splitlines() if line.lstrip().startswith(("}", "message", "option x")) and "Evil" in line
    ]


def test_every_layer_has_a_comment(protos: Path) -> None:
    text = (protos / "paddle_layers" / "registered.proto").read_text()
    for layer in pl.registry.values():
        assert f"message {message_name(layer)} {{" in text
        assert f"// {layer.summary.split()[0]}" in text
