"""What pyproject.toml says agrees with the files that are there."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import paddle_layers as pl

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = {".ci", ".github", "codegen", "docs", "paddle_layers", "schema", "tests"}


def test_only_folders_of_the_project_are_committed() -> None:
    """An output folder of a training that was tried in the checkout is easily added with everything else."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    assert {name.partition("/")[0] for name in listed if "/" in name} == FOLDERS


def test_every_folder_is_a_package() -> None:
    folders = {path.parent for path in (ROOT / "paddle_layers").rglob("*.py")}
    assert not [folder for folder in folders if not (folder / "__init__.py").is_file()], "setup.py would leave it out"


def test_data_files_are_packaged() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    kept = {".py", ".pyc"}
    for folder in (ROOT / "paddle_layers", ROOT / "codegen"):
        for path in folder.rglob("*"):
            if path.is_file() and path.suffix not in kept and "__pycache__" not in path.parts:
                package = next(parent for parent in path.parents if (parent / "__init__.py").is_file())
                assert any(path.relative_to(package).match(pattern) for pattern in patterns), path


def test_the_schema_is_packaged() -> None:
    setuptools = PROJECT["tool"]["setuptools"]
    folder = ROOT / setuptools["package-dir"]["paddle_layers.schema.protos"]
    assert {path.name for path in folder.glob(*setuptools["package-data"]["paddle_layers.schema.protos"])} == {
        "datum.proto",
        "layer_def.proto",
        "network.proto",
        "training.proto",
    }


def test_version_has_a_changelog_entry() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## Unreleased" in text or f"## {pl.__version__}" in text


def test_changelog_entries_are_of_a_known_kind() -> None:
    settings = PROJECT["tool"]["towncrier"]
    kinds = "|".join(kind["directory"] for kind in settings["type"])
    names = {path.name for path in (ROOT / settings["directory"]).iterdir()} - {"README.md"}
    # An entry of another name would be left out of the changelog.
    assert not {name for name in names if not re.fullmatch(rf"(\d+|\+[a-z0-9-]+)\.({kinds})\.md", name)}
    assert "<!-- towncrier release notes start -->" in (ROOT / settings["filename"]).read_text(encoding="utf-8")


def test_the_bindings_generator_is_pinned_to_what_old_runtimes_read() -> None:
    tests = PROJECT["project"]["optional-dependencies"]["test"]
    assert set(PROJECT["dependency-groups"]["lint"]) <= set(tests)
    assert "grpcio-tools==1.74.*" in tests
    assert any(line.startswith("protobuf>=6.31.1") for line in PROJECT["project"]["dependencies"])
