"""Regenerates the derived files of the repository: `python -m codegen.refresh [--check]`.

They are committed so that they can be read without running anything: the stub of the helpers, the reference, the
images of the examples, and the page and charts of the benchmark results. With `--check` nothing is written and the
exit status reports whether one is stale. Plugins must not be installed meanwhile.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from paddle_layers.config.checking import network_of
from paddle_layers.define import registries
from paddle_layers.runtime.plan.dry_run import footprint

from .benchmark_page import benchmark_files
from .network_picture import picture
from .reference import write_reference
from .stubs import stub_text

ROOT = Path(__file__).resolve().parent.parent
STUB, REFERENCE = ROOT / "paddle_layers" / "nn.pyi", ROOT / "docs" / "reference"
EXAMPLES = ROOT / "docs" / "examples"


def example_pictures() -> Iterator[tuple[Path, str]]:
    """The images of the examples' networks on their pages, except for the plugin's, which is not registered here.

    The outputs of the networks have images, too: these exist already.
    """
    for page in sorted(EXAMPLES.glob("*/README.md")):
        for name in re.findall(r"\]\((\w+)\.svg\)", page.read_text(encoding="utf-8")):
            file = page.parent / f"{name}.textproto"
            if file.is_file() and not (page.parent / "pyproject.toml").is_file():
                network = network_of(file)
                yield page.parent / f"{name}.svg", picture(network, footprint(network, 64))


def stale() -> Iterator[Path]:
    """Files that differ from what the definitions give now, lack, or should not be there."""
    for path, text in (*example_pictures(), *benchmark_files()):
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            yield path
    if STUB.read_text(encoding="utf-8") != stub_text(registries["layer"].values()):
        yield STUB
    with tempfile.TemporaryDirectory(dir=REFERENCE.parent, prefix=".") as folder:  # as deep, since links are relative
        fresh = {path.relative_to(folder): path.read_bytes() for path in write_reference(Path(folder))}
    committed = {path.relative_to(REFERENCE): path.read_bytes() for path in REFERENCE.rglob("*") if path.is_file()}
    for name in sorted(fresh.keys() | committed.keys()):
        if fresh.get(name) != committed.get(name):
            yield REFERENCE / name


def refresh() -> None:
    """Write the files. Raises `OSError`."""
    STUB.write_text(stub_text(registries["layer"].values()), encoding="utf-8")
    # First, so that pages of removed definitions do not stay.
    shutil.rmtree(REFERENCE, ignore_errors=True)
    write_reference(REFERENCE)
    for path, text in (*example_pictures(), *benchmark_files()):
        path.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Writes the files, or with `--check` compares them; returns the exit status."""
    # The reference has all that is registered, and a committed page of a plugin would be stale everywhere else.
    foreign = {d.package for registry in registries.values() for d in registry.values()} - {"paddle_layers"}
    if foreign:
        print(f"installed plugins would be documented; uninstall {', '.join(sorted(foreign))}", file=sys.stderr)
        return 1
    if arguments == ["--check"]:
        names = [str(path.relative_to(ROOT)) for path in stale()]
        if names:
            print("stale, run `python -m codegen.refresh`: " + ", ".join(names), file=sys.stderr)
        return 1 if names else 0
    if arguments:
        print("usage: python -m codegen.refresh [--check]", file=sys.stderr)
        return 2
    refresh()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
