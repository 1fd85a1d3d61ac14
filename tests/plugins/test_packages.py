"""The wheels of the project and of the example plugin, in an environment of their own, away from the checkout.

`CHECKS` is the list of what a plugin's layers get; each is checked with the plugin installed, and after it was
uninstalled none of them knows it any more.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "plugin"
LAYERS = ("series_average", "series_filter", "series_pinball")

pytestmark = pytest.mark.slow


class Environment:
    """A virtual environment with both wheels; what they need comes from the environment of the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work = folder / "venv", folder / "work"
        venv.create(self.folder, with_pip=False)
        self.python = self.folder / "bin" / "python"
        self.site = Path(self.run(self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        (self.site / "needs.pth").write_text(sysconfig.get_path("purelib") + "\n")  # editable installs there stay out
        self.example = _wheel(folder / "example", Path(shutil.copytree(EXAMPLE, folder / "example_source")))
        self.install(_wheel(folder / "project", _copy_of_the_project(folder)), self.example)
        shutil.copytree(EXAMPLE, self.work)
        shutil.rmtree(self.work / "src")

    def run(self, *command: str | Path, fails: bool = False) -> str:
        """Output of a command in the folder of the example's network; it must end as expected."""
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(
            list(map(str, command)),
            cwd=self.work if self.work.exists() else self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == int(fails), done.stdout
        assert "Traceback" not in done.stdout, done.stdout
        return done.stdout

    def pip(self, *arguments: str) -> str:
        return self.run(sys.executable, "-m", "pip", "--python", self.python, *arguments)

    def cli(self, *arguments: str, fails: bool = False) -> str:
        return self.run(self.folder / "bin" / "paddle-layers", *arguments, fails=fails)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in a process of its own."""
        code = f"import json, paddle_layers as pl\nprint(json.dumps({expression}))"
        return json.loads(self.run(self.python, "-c", code).splitlines()[-1])

    def install(self, *wheels: Path) -> None:
        self.pip("install", "--no-index", "--no-deps", "--ignore-installed", *map(str, wheels))

    def put(self, prefix: str, text: str, requires: str = "paddle-layers") -> None:
        """Put a package there as pip leaves it."""
        (self.site / f"{prefix}_package").mkdir()
        (self.site / f"{prefix}_package" / "__init__.py").write_text(text, encoding="utf-8")
        info = self.site / f"{prefix}_package-1.0.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {prefix}-package\nVersion: 1.0\nRequires-Dist: {requires}\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[paddle_layers.plugins]\n{prefix} = {prefix}_package\n")


def _wheel(folder: Path, source: Path) -> Path:
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(source)]
    done = subprocess.run(build, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


def _copy_of_the_project(folder: Path) -> Path:
    """Building writes into the folder that is built, so it is done in a copy."""
    copy = folder / "project_source"
    skipped = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("paddle_layers", "codegen", "schema", "docs"):
        shutil.copytree(ROOT / name, copy / name, ignore=skipped)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    return copy


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("plugin"))


# ---- what a plugin's layers get: each function gives the names of the plugin's layers that it knows


def _registered(environment: Environment) -> set[str]:
    return set(environment.evaluate("list(pl.registry)"))


def _listed(environment: Environment) -> set[str]:
    return {line.split()[0] for line in environment.cli("layers").splitlines() if line.startswith("  ")}


def _plugins(environment: Environment) -> set[str]:
    return set(environment.cli("plugins").replace(",", "").split())


def _helpers(environment: Environment) -> set[str]:
    return set(environment.evaluate("dir(pl.nn)"))


def _pages(environment: Environment) -> set[str]:
    shutil.rmtree(environment.work / "pages", ignore_errors=True)
    environment.cli("docs", "pages")
    pages = (environment.work / "pages" / "layers").glob("*.md")
    return {page.stem for page in pages if f"# {page.stem}" in page.read_text(encoding="utf-8")}


def _stubs(environment: Environment) -> set[str]:
    environment.cli("stubs", "typings")
    text = (environment.work / "typings" / "paddle_layers" / "nn.pyi").read_text(encoding="utf-8")
    return set(re.findall(r"^def (\w+)\(", text, flags=re.MULTILINE))


def _json_schema(environment: Environment) -> set[str]:
    environment.cli("schema", "json", "schemas")
    schema = json.loads((environment.work / "schemas" / "network.schema.json").read_text(encoding="utf-8"))
    return {name.removeprefix("layer.") for name in schema["$defs"]}


def _protos(environment: Environment) -> set[str]:
    environment.cli("schema", "proto", "protos")
    text = (environment.work / "protos" / "paddle_layers" / "network.proto").read_text(encoding="utf-8")
    return set(re.findall(r"^  optional \w+Layer (\w+) = ", text, flags=re.MULTILINE))


def _completed(environment: Environment) -> set[str]:
    """Layer types that the language server offers behind `type: "`."""
    text = 'layer { name: "y" type: "'
    document = {"uri": "file:///net.textproto"}
    opened = {"textDocument": document | {"languageId": "textproto", "version": 1, "text": text}}
    place = {"textDocument": document, "position": {"line": 0, "character": len(text)}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": opened},
        {"id": 2, "method": "textDocument/completion", "params": place},
        {"id": 3, "method": "shutdown"},
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    asked = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)
    command = [str(environment.folder / "bin" / "paddle-layers"), "lsp"]
    done = subprocess.run(command, input=asked, capture_output=True, timeout=600, check=False, cwd=environment.work)
    assert done.returncode == 0, done.stderr.decode()
    lengths = re.finditer(rb"Content-Length: (\d+)(?:\r\n[^\r\n]+)*\r\n\r\n", done.stdout)
    answers = [json.loads(done.stdout[match.end() : match.end() + int(match[1])]) for match in lengths]
    found = next(answer["result"] for answer in answers if answer.get("id") == 2)
    return {item["label"] for item in (found["items"] if isinstance(found, dict) else found)}


CHECKS: dict[str, Callable[[Environment], set[str]]] = {
    "registry": _registered,
    "layers": _listed,
    "plugins": _plugins,
    "helpers": _helpers,
    "docs": _pages,
    "stubs": _stubs,
    "JSON Schema": _json_schema,
    ".proto": _protos,
    "language server": _completed,
}
"""Where the plugin's layers must appear while it is installed, and must not once it is not.

`.ci/run` looks for them in the site, which is made of the pages of `docs`.
"""


def test_the_wheels_are_what_is_imported(environment: Environment) -> None:
    assert environment.evaluate("pl.__file__") == str(environment.site / "paddle_layers" / "__init__.py")
    listed = environment.cli("plugins")
    assert "series  paddle-layers-series 0.1.0  paddle_layers_series  loaded\n" in listed


@pytest.mark.parametrize("check", CHECKS)
def test_appears_in(environment: Environment, check: str) -> None:
    assert set(LAYERS) <= CHECKS[check](environment)


def test_signatures(environment: Environment) -> None:
    signature = "__import__('inspect').signature(pl.nn.series_average)"
    found = environment.evaluate(f"[str(parameter) for parameter in {signature}.parameters.values()]")
    assert found[0].startswith("x: ")
    assert found[1] == "width: int = 25"


def test_validates(environment: Environment) -> None:
    assert environment.cli("validate", "network.textproto", "train.textproto").count(": valid, ") == 2
    wrong = (environment.work / "network.textproto").read_text().replace("width: 25", "width: 24")
    (environment.work / "wrong.textproto").write_text(wrong)
    told = environment.cli("validate", "wrong.textproto", fails=True)
    assert "a window of 24 values has no middle; write 25" in told


def test_infers(environment: Environment) -> None:
    text = "pl.registry['series_average'].output_types(list(pl.load('network.textproto')['past'].outputs))"
    assert environment.evaluate(f"[list(t.dims) for t in {text}]") == [[96]]


def test_trains(environment: Environment) -> None:
    told = environment.cli("train", "train.textproto")
    loss = float(told.split("Test: loss ")[1].split()[0])
    assert 1.436 < loss < 1.55, "the noise alone costs 12 * 0.5 * 0.3 * sqrt(2 / pi) = 1.436"


def test_conforms(environment: Environment) -> None:
    told = environment.cli("check", *LAYERS)
    for name in LAYERS:
        assert f"{name}: passed (" in told
    assert "tuned kernels" in told.partition("series_average: ")[2].partition("\n")[0]
    passed = environment.run(environment.python, "-m", "pytest", "-p", "no:cacheprovider", "-n", "0", "tests")
    assert "1 passed" in passed


LAYER = '''
import paddle_layers as pl
@pl.layer("{name}")
class Same:
    """Every value as it is."""
    x = pl.Input("...", "values")
    y = pl.Output("...", "same shape")
    examples = (pl.Example(x="3"),)
@pl.each(Same.y)
def same_y(i, x):
    return x[i]
@pl.gradient(Same.x)
def same_dx(i, dy):
    return dy[i]
'''
BROKEN = {
    "failing": ("import no_such_module", "paddle-layers", "ModuleNotFoundError"),
    "taken": (LAYER.format(name="relu"), "paddle-layers", "layer `relu`: the name is already registered at "),
    "unnamed": (LAYER.format(name="gate"), "paddle-layers", "rename it to `unnamed_gate`"),
    "future": (LAYER.format(name="future_gate"), "paddle-layers>=99", "it requires paddle-layers>=99, but "),
    "series": (
        LAYER.format(name="series_gate"),
        "paddle-layers",
        "its prefix is used by paddle-layers-series 0.1.0",
    ),
}


@pytest.fixture
def broken(environment: Environment) -> Iterator[None]:
    """All the broken plugins beside the good one."""
    for prefix, (text, requires, _) in BROKEN.items():
        environment.put(prefix, text, requires)
    yield
    for prefix in BROKEN:
        shutil.rmtree(environment.site / f"{prefix}_package")
        shutil.rmtree(environment.site / f"{prefix}_package-1.0.dist-info")


@pytest.mark.usefixtures("broken")
def test_broken_plugins_harm_nothing_but_themselves(environment: Environment) -> None:
    listed = environment.cli("plugins", fails=True).splitlines()
    for prefix, (_, _, reason) in BROKEN.items():
        line = next(line for line in listed if line.startswith(f"plugin `{prefix}` ({prefix}-package 1.0) "))
        assert reason in line
    assert ["series", "paddle-layers-series", "0.1.0", "paddle_layers_series", "loaded"] in [
        line.split() for line in listed
    ]
    for check, known in CHECKS.items():
        if check not in ("plugins", "docs"):  # pages take a third of a minute; they are made of the registry
            found = known(environment)
            assert {*LAYERS, "relu"} <= found, check
            assert not {"gate", "unnamed_gate", "future_gate", "series_gate"} & found, check
    told = environment.cli("validate", "network.textproto").splitlines()
    assert told[-1] == "network.textproto: valid, a network of 9 layers"
    assert [line.partition(" was refused")[0] for line in told[:-1]] == [
        "warning: plugin `series` (series-package 1.0)"
    ], "the plugins that the network does not need are not even loaded"
    assert "series_filter: passed" in environment.cli("check", "series_filter")


@pytest.fixture
def uninstalled(environment: Environment) -> Iterator[None]:
    """Without the plugin, by pip."""
    environment.pip("uninstall", "--yes", "paddle-layers-series")
    yield
    environment.install(environment.example)


@pytest.mark.usefixtures("uninstalled")
def test_uninstalling_removes_them_all(environment: Environment) -> None:
    for check, known in CHECKS.items():
        assert not set(LAYERS) & known(environment), check
    told = environment.cli("validate", "network.textproto", fails=True)
    assert "error[E111]: unknown layer type `series_filter`" in told
    assert environment.cli("plugins").startswith("no plugins installed")
