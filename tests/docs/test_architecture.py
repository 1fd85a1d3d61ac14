"""The page about the architecture: its files, folders and functions exist, and its table has the actual imports."""

from __future__ import annotations

import ast
import re
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

from tests.project.test_imports import imports, package_of, packages, sources

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "development" / "architecture.md").read_text(encoding="utf-8")
ITEM = re.compile(r"^(\d+)\. `([^`\s]+)`((?:, `[\w.]+`)*): ", re.MULTILINE)
FILE = re.compile(r"`([\w/]+/\w+\.(?:py|md\.j2|proto))`((?:, `[\w.]+`)*)")
ROW = re.compile(r"^\| `(\w+)/?` \| ([^|]+) \|((?: `\w+`,?)*) +\|$", re.MULTILINE)
AT_MOST = 10


def lists() -> list[list[str]]:
    """The files of every numbered list."""
    items = [(int(number), file) for number, file, _ in ITEM.findall(PAGE)]
    starts = [at for at, (number, _) in enumerate(items) if number == 1]
    return [[file for _, file in items[a:b]] for a, b in zip(starts, [*starts[1:], len(items)], strict=True)]


@cache
def names_in(path: Path) -> set[str]:
    """Functions, classes and methods, as `function`, `Class` and `Class.method`."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
            names |= {f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return names


def path_of(file: str) -> Path:
    return ROOT / file if file.startswith(("codegen/", "tests/")) else ROOT / "paddle_layers" / file


def test_there_are_lists_of_at_most_ten_files() -> None:
    assert len(lists()) >= 5
    assert max(map(len, lists())) <= AT_MOST
    assert len(ITEM.findall(PAGE)) == len(re.findall(r"^\d+\. ", PAGE, re.MULTILINE))


def test_the_items_of_a_list_are_numbered_in_order() -> None:
    numbers = [int(number) for number, _, _ in ITEM.findall(PAGE)]
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    assert all(run == list(range(1, len(run) + 1)) for run in runs)


@pytest.mark.parametrize(("file", "functions"), FILE.findall(PAGE))
def test_files_and_functions_exist(file: str, functions: str) -> None:
    path = path_of(file)
    assert path.is_file()
    named = set(re.findall(r"[\w.]+", functions))
    assert named <= (names_in(path) if path.suffix == ".py" else set())


def test_the_table_has_the_imports_of_every_package() -> None:
    table = {package: re.findall(r"\w+", targets) for package, _, targets in ROW.findall(PAGE)}
    assert list(table) == packages()[::-1]
    for package in packages():
        modules = {module for path in sources(package) for module, _ in imports(path)}
        targets = {package_of(module) for module in modules if module.split(".")[0] == "paddle_layers"} - {package, ""}
        assert table[package] == [other for other in packages()[::-1] if other in targets], package


@pytest.mark.parametrize(("package", "contents"), [(package, contents) for package, contents, _ in ROW.findall(PAGE)])
def test_the_folders_of_a_package_exist(package: str, contents: str) -> None:
    folders = set(re.findall(r"`(\w+)/`", contents)) - set(packages())
    assert all((ROOT / "paddle_layers" / package / folder).is_dir() for folder in folders), folders
