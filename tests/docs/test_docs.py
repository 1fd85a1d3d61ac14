"""Every code block of the guides is executed, in the order of the page, in a folder of its own.

A block that starts with `# file: NAME` is written to that file. Python blocks of a page share their names; console
blocks run what follows `$ ` and compare what is shown (`...` stands for anything); textproto blocks are validated, with
the file that `# plugins: FILE` names.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import paddle_layers as pl
from paddle_layers.config import validate
from paddle_layers.define import registries
from tests.each import each
from tests.selection import changed_files, is_turn

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tutorials", "how-to", "explanations", "development")
PAGES = [ROOT / "README.md", *(page for name in FOLDERS for page in sorted((ROOT / "docs" / name).glob("*.md")))]
JAVASCRIPT = "other-languages.md"
SLOW = {
    *(
        "README.md",
        "compatibility.md",
        "conformance.md",
        "contributing.md",
        "evaluate-and-predict.md",
        "fine-tuning.md",
        "generate-text.md",
        "getting-started.md",
        "regression-and-recommendation.md",
        "measure-performance.md",
        "onnx.md",
        "image-data.md",
        "plugins.md",
        "recurrent-networks.md",
        "runs-and-sweeps.md",
        "tables.md",
        "training-recipes.md",
        "use-your-own-data.md",
        "write-a-layer.md",
        "write-a-loss.md",
    ),
    *("states-and-scans.md", "layers-from-messages.md", JAVASCRIPT),
    *("mutation-testing.md", "fuzzing.md", "fault-injection.md"),
}
"""Those that compile most, and the one that installs something."""
FIRST = ("README.md", "getting-started.md")
"""Slow pages that `.ci/run` always takes."""
WITHOUT_NODE = pytest.mark.skipif(
    shutil.which("npm") is None, reason="no npm: the JavaScript of the guide `Other languages` was not run"
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?:#|//) file: (\S+)\n")
PLUGIN = re.compile(r"^# plugins: (\S+)$", re.MULTILINE)
KNOWN = {"python", "console", "textproto", "json", "text", "javascript"} | {
    "lua",
    "toml",
    "elisp",
}  # these are for editors to run

BY_CI = re.compile(r"pip install -e .*|python -m pytest.*|bash \.ci/run|ruff .*|python -m codegen\.\w+ --check")
"""Commands about the checkout itself; they are steps of .ci/run."""

COMPILING = "compiling kernels"
INSTALL = "pip install . && "
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    language: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield Block(match[1], match[2], text.count("\n", 0, match.start()) + 1)


class Page:
    """Runs the blocks of one page."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self.folder = path, folder
        self.names: dict[str, Any] = {"__name__": "__page__"}
        if path.parent.name == "development":
            self.folder = ROOT
        else:
            shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")

    def run(self, block: Block) -> None:
        os.chdir(self.folder)
        name = NAME.match(block.text)
        if name:
            Path(name[1]).write_text(block.text, encoding="utf-8")
        if block.language == "console":
            self.console(block)
        elif block.language == "python" and not name:
            code = "\n" * block.line + block.text
            exec(compile(code, str(self.path), "exec"), self.names)
        elif block.language in ("textproto", "json"):
            file = Path(name[1] if name else f"block.{block.language}")
            file.write_text(block.text, encoding="utf-8")
            for plugin in PLUGIN.findall(block.text):
                pl.load_plugin(plugin)
            validate(file)

    def console(self, block: Block) -> None:
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            command = command.removeprefix(INSTALL)
            if BY_CI.fullmatch(command):
                continue
            if command.startswith("cd "):
                self.folder = self.folder / command[3:]
                os.chdir(self.folder)
                continue
            self.command(command, shown, f"{self.path.name}:{block.line}: $ {command}")

    def command(self, command: str, shown: str, place: str) -> None:
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            timeout=300,
            check=False,
        )
        assert "Traceback" not in done.stdout, f"{place}\n{done.stdout}"
        if shown.strip():
            found = shown_warm(done.stdout) if COMPILING not in shown else done.stdout
            same = doctest.OutputChecker().check_output(shown, found, FLAGS)
            assert same, f"{place}\nshown:\n{shown}\nfound:\n{found}"
        errors = ("error[", "breaking:", "does not match the network", ": unsupported operator")
        refused = any(word in shown for word in ("already exists", *errors)) or re.search(r"layers, \d+ errors", shown)
        assert done.returncode == int(bool(refused)), f"{place}\n{done.stdout}"


def test_the_readme_shows_its_first_file() -> None:
    shown = next(block.text for block in blocks(ROOT / "README.md") if block.language == "textproto")
    name = NAME.match(shown)
    assert name
    assert shown == (ROOT / name[1]).read_text(encoding="utf-8")


def shown_warm(output: str) -> str:
    """What a command prints when its kernels are there already."""
    return re.sub(r"^(compiling kernels|compiled \d+ of) .*\n", "", output, flags=re.MULTILINE)


def marks_of(page: Path) -> list[pytest.MarkDecorator]:
    """Slow pages; `.ci/run` takes the first ones, changed ones and one in eight of the others."""
    if page.name not in SLOW:
        return []
    at_once = page.name in FIRST or is_turn(sorted(SLOW).index(page.name)) or str(page) in changed_files()
    return [pytest.mark.slow] + [pytest.mark.later] * (not at_once) + [WITHOUT_NODE] * (page.name == JAVASCRIPT)


@pytest.mark.parametrize("path", [pytest.param(page, id=page.name, marks=marks_of(page)) for page in PAGES])
def test_page(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for registry in registries.values():  # what a page registers is forgotten behind it
        monkeypatch.setattr(registry, "_entries", {name: registry[name] for name in registry})
    page = Page(path, tmp_path)
    for block in blocks(path):
        page.run(block)


@each("path", PAGES, ids=lambda path: path.name)
def test_every_block_has_a_known_language(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert {block.language for block in blocks(path)} <= KNOWN
    assert text.count("```") == 2 * len(list(blocks(path))), "a block without a language, or not closed"


@each("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", BLOCK.sub("", path.read_text(encoding="utf-8"))):
        assert "://" in target or (path.parent / target).exists(), target
