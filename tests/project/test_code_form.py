"""Form of the code: class names with one meaning, files of moderate size, functions with few parameters."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    path
    for folder in ("paddle_layers", "codegen")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "_pb2" not in path.name
]

MAX_SHARED_NAMES = 10
"""Names of more than one class: public ones, and those of classes that are named by what they register."""
MEDIAN_LINES = (120, 200)
MAX_PARAMETERS = 8
"""Positional parameters of a function. Those of point functions and commands are named by what they request, and
kernels have as many as there are sizes, since numba passes no dataclasses."""


def class_files() -> dict[str, list[str]]:
    """Files with a class of a name, once for each such class; nested classes too."""
    files: defaultdict[str, list[str]] = defaultdict(list)
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files[node.name].append(str(path.relative_to(ROOT)))
    return files


def test_few_class_names_have_several_meanings() -> None:
    shared = {name: files for name, files in class_files().items() if len(files) > 1}
    lines = "\n".join(f"{name}: {', '.join(files)}" for name, files in sorted(shared.items()))
    if len(shared) > MAX_SHARED_NAMES:
        pytest.fail(f"{len(shared)} names of more than one class, expected at most {MAX_SHARED_NAMES}:\n{lines}")


def test_median_file_is_of_moderate_size() -> None:
    low, high = MEDIAN_LINES
    lines = median(len(path.read_text(encoding="utf-8").splitlines()) for path in FILES)
    assert low <= lines <= high, f"the median file has {lines:.0f} lines, expected {low} to {high}"


def test_functions_have_few_parameters() -> None:
    many = []
    for path in FILES:
        if {"kernels", "layers"} & {*path.relative_to(ROOT).parts}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
                if len(names) - (names[:1] == ["self"]) > MAX_PARAMETERS:
                    many.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert not many, "use a frozen dataclass for the parameters"
