"""`paddle-layers new-plugin`: a package that works at once, and nothing that is there is touched."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from paddle_layers.cli.app import commands
from paddle_layers.cli.commands import scaffolding

ROOT = Path(__file__).resolve().parents[2]
FILES = (
    *(".github/workflows/test.yml", ".gitignore", "README.md", "docs/README.md", "network.textproto", "pyproject.toml"),
    *("src/paddle_layers_my_own/__init__.py", "tests/test_layers.py"),
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(commands, ["new-plugin", "my_own"])
    assert result.exit_code == 0, result.output
    assert "next: cd paddle-layers-my-own && pip install -e '.[test]' && python -m pytest" in result.stdout
    return tmp_path / "paddle-layers-my-own"


def test_files(package: Path) -> None:
    found = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
    assert found == set(FILES)
    for name in FILES:
        text = (package / name).read_text(encoding="utf-8")
        assert "$prefix" not in text, name
        assert "${prefix}" not in text, name


def test_the_project_file(package: Path) -> None:
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "paddle-layers-my-own"
    assert project["entry-points"] == {"paddle_layers.plugins": {"my_own": "paddle_layers_my_own"}}
    assert project["dependencies"] == ["paddle-layers>=0.1,<0.2"]


@pytest.mark.parametrize(
    ("version", "versions"), [("0.1.0", ">=0.1,<0.2"), ("0.12.3", ">=0.12,<0.13"), ("2.3.0", ">=2.3,<3")]
)
def test_the_versions_it_works_with(version: str, versions: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddle_layers._version.__version__", version)
    assert scaffolding.versions() == versions


def run(package: Path, *arguments: str) -> str:
    """What a command prints where the package is installed; it must not fail."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(package / "src"), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=package,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def installed(package: Path) -> Path:
    info = package / "src" / "paddle_layers_my_own-0.1.0.dist-info"  # what an editable install leaves behind
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: paddle-layers-my-own\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[paddle_layers.plugins]\nmy_own = paddle_layers_my_own\n")
    return package


@pytest.mark.slow
def test_it_works_at_once(installed: Path) -> None:
    assert "1 passed" in run(installed, "-m", "pytest", "-p", "no:cacheprovider")
    cli = ("-m", "paddle_layers")
    assert "  layer: my_own_gate\n" in run(installed, *cli, "plugins")
    assert "valid, a network of 2 layers" in run(installed, *cli, "validate", "network.textproto")
    assert "my_own_gate: passed" in run(installed, *cli, "check", "my_own_gate")
    assert "Elementwise scale by one learned factor per feature" in run(installed, *cli, "layers", "my_own_gate")
    compiled = "pl.testing.compile_layer(pl.registry['my_own_gate'])"
    ptx = f"import paddle_layers as pl; print({{kernel.has_f64 for kernel in {compiled}}})"
    assert run(installed, "-c", ptx) == "{False}\n"


@pytest.mark.slow
def test_the_kernel_of_the_guide(installed: Path) -> None:
    guide = (ROOT / "docs" / "how-to" / "plugins.md").read_text(encoding="utf-8")
    text = guide.partition("# file: src/paddle_layers_ours/kernels.py\n")[2].partition("```")[0]
    kernels = installed / "src" / "paddle_layers_my_own" / "kernels.py"
    kernels.write_text(text.replace("ours_gate", "my_own_gate"), encoding="utf-8")
    code = "import paddle_layers as pl; print(pl.testing.check_plugin('my_own')[0].checked['tuned kernels'])"
    assert int(run(installed, "-c", code)) > 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Ours", "invalid prefix `Ours`: expected lowercase words joined by `_`, such as `ours`"),
        ("my-layers", "invalid prefix `my-layers`: expected lowercase words joined by `_`, such as `my_layers`"),
        ("class", "invalid prefix `class`"),
        ("3", "invalid prefix `3`"),
        ("../up", "invalid prefix `../up`: expected lowercase words joined by `_`, such as `up`"),
        ("batch", "the built-in layer `batch_reindex` uses the prefix `batch`; choose another"),
        ("relu", "the built-in layer `relu` uses the prefix `relu`; choose another"),
    ],
)
def test_names_that_are_refused(name: str, message: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(commands, ["new-plugin", name, str(tmp_path / "new")])
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "new").exists()


def test_an_existing_folder_is_left_alone(package: Path) -> None:
    (package / "README.md").write_text("mine")
    result = CliRunner().invoke(commands, ["new-plugin", "my_own"])
    assert result.exit_code == 1
    assert "already exists and is not an empty folder" in result.stderr
    assert (package / "README.md").read_text() == "mine"


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    result = CliRunner().invoke(commands, ["new-plugin", "ours", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "pyproject.toml").is_file()
