"""Generates the Python bindings of `schema/*.proto`: `python -m codegen.bindings [--check]`.

The bindings are committed, so that users do not need protoc. With `--check` nothing is written and the exit status
reports whether a committed file is stale.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from google.protobuf import descriptor_pb2
from grpc_tools import protoc

from .comments import comments_module

ROOT = Path(__file__).resolve().parent.parent
PROTOS = ROOT / "schema"
BINDINGS = ROOT / "paddle_layers" / "schema"


def generate(folder: Path) -> list[Path]:
    """Writes bindings and comments of all schemas below `folder`; returns their paths. Raises RuntimeError."""
    # grpc_tools brings protoc as a wheel, at a version whose generated code imports on every supported protobuf
    # runtime.
    import grpc_tools

    names = sorted(path.name for path in PROTOS.glob("*.proto"))
    well_known = Path(grpc_tools.__file__).parent / "_proto"
    # The mapped path gives the modules their import path in the package, although the schemas are in a folder beside
    # it.
    arguments = ["protoc", f"-Ipaddle_layers/schema={PROTOS}", f"-I{well_known}"]
    arguments += [f"--python_out={folder}", f"--pyi_out={folder}"]
    arguments += [f"paddle_layers/schema/{name}" for name in names]
    with tempfile.NamedTemporaryFile() as described:
        # The comments are only in the descriptors with source info; the generated modules drop them.
        arguments += ["--include_source_info", f"--descriptor_set_out={described.name}"]
        if protoc.main(arguments) != 0:
            raise RuntimeError("protoc failed to compile the schemas; see the messages above")
        files = descriptor_pb2.FileDescriptorSet.FromString(Path(described.name).read_bytes())
    made = folder / "paddle_layers" / "schema"
    (made / "comments.py").write_text(comments_module(files), encoding="utf-8")
    return sorted(path for path in made.iterdir() if path.name == "comments.py" or "_pb2.py" in path.name)


def stale() -> list[str]:
    """Names of the committed bindings that differ from the output of protoc."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = {path.name: path.read_text(encoding="utf-8") for path in generate(Path(folder))}
    committed = {
        path.name: path.read_text(encoding="utf-8")
        for path in BINDINGS.iterdir()
        if path.is_file() and ("_pb2.py" in path.name or path.name == "comments.py")
    }
    return sorted(name for name in fresh.keys() | committed.keys() if fresh.get(name) != committed.get(name))


def main(arguments: list[str]) -> int:
    """Writes the bindings, or with `--check` compares them; returns the exit status."""
    if arguments == ["--check"]:
        names = stale()
        if names:
            print("stale bindings, run `python -m codegen.bindings`: " + ", ".join(names), file=sys.stderr)
        return 1 if names else 0
    if arguments:
        print("usage: python -m codegen.bindings [--check]", file=sys.stderr)
        return 2
    generate(ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
