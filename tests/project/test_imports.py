"""Architecture: imports point downwards only, light packages stay light, files of moderate size."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers.kernels.selection import kernels_module, load_all_kernels
from paddle_layers.kernels.tuned import replaced_functions

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "paddle_layers"

ORDER = (
    *(
        "schema",
        "define",
        "kernels",
        "layers",
        "config",
        "nn",
        "runtime",
        "generation",
        "data",
        "training",
        "exchange",
        "testing",
    ),
    *("codegen", "editor", "cli"),
)
"""From the bottom to the top; a package may import from those before it."""

SIDE_BY_SIDE = ({"kernels", "layers"},)
"""Packages on the same level: neither imports the other."""

INSIDE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            "schema",
            "kernels",
            "layers",
            "generation",
            "data",
            "training",
            "exchange",
            "codegen",
            "editor",
        ),
        (),
    ),
    "define": (
        *("concurrency", "escaping", "errors", "fields", "functions", "definitions", "checks"),
        *("decorators", "host_functions", "bodies", "inference", "facts", "messages", "derived", "from_message"),
        "plugins",
    ),
    "testing": ("findings", "cases", "properties", "generated", "kit"),
    "cli": (
        *("terminal", "files", "evaluation_report", "execution_tables", "options"),
        *("app", "commands"),
    ),
    "config": ("diagnostics", "reading", "binding", "wiring", "writing", "building"),
    "runtime": (
        *(
            "arguments",
            "memory",
            "generate",
            "graph",
            "launches",
            "passes",
            "schedule",
            "devices",
            "plan",
            "batch",
        ),
        *("net_state", "pass_results", "net", "optimise"),
    ),
}
"""Packages without import cycles: their folders (or files) from the bottom to the top; what is not named is above."""

HEAVY = {"numba", "scipy", "llvmlite", "jinja2", "markdown_it", "onnx"}
LIGHT_PACKAGES = ("schema", "define", "layers", "config")


def package_of(module: str) -> str:
    parts = module.split(".")
    if parts[0] == "paddle_layers":
        return parts[1] if len(parts) > 1 else ""
    return parts[0]


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Absolute names of the modules that a file imports, with the line; in functions and under `TYPE_CHECKING` too."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package.pop()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            if module == "paddle_layers":
                yield from ((f"paddle_layers.{home(alias.name)}".rstrip("."), node.lineno) for alias in node.names)
            else:
                inner = (f"{module}.{alias.name}" for alias in node.names)
                yield from ((name if name in modules() else module, node.lineno) for name in inner)


def module_name(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[0] == "codegen":
        parts.insert(0, "paddle_layers")
    return ".".join(parts).removesuffix(".__init__")


@cache
def modules() -> dict[str, Path]:
    """All files by the name that imports give them."""
    return {module_name(path): path for package in ORDER for path in sources(package)}


def imported_files(package: str) -> dict[str, set[str]]:
    """The files of a package, each with those of the package that it imports; named without the package's own name."""
    own = {module: path for module, path in modules().items() if package_of(module) == package}
    short = {module: module.removeprefix(f"paddle_layers.{package}.") for module in own}
    return {short[file]: {short[m] for m, _ in imports(own[file]) if m in own and m != file} for file in own}


def home(name: str) -> str:
    """The package in which a name of the public surface lives; itself for a module."""
    return "define" if name == "registry" else pl._MODULE_OF.get(name, "" if name.startswith("__") else name)


def sources(package: str) -> list[Path]:
    if package == "codegen":
        return sorted((ROOT / "codegen").rglob("*.py"))
    files = sorted((PACKAGE / package).rglob("*.py"))
    return files or [path for path in [PACKAGE / f"{package}.py"] if path.is_file()]


def packages() -> list[str]:
    return [package for package in ORDER if sources(package)]


def allowed(package: str, target: str) -> bool:
    if target in ("", "_version", package):
        return True
    if any({package, target} <= level for level in SIDE_BY_SIDE):
        return False
    return ORDER.index(target) < ORDER.index(package)


@pytest.mark.parametrize("package", packages())
def test_imports_point_downwards(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {package} imports {module}"
        for path in sources(package)
        for module, line in imports(path)
        if module.split(".")[0] == "paddle_layers" and not allowed(package, package_of(module))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", INSIDE)
def test_no_package_has_an_import_cycle(package: str) -> None:
    try:
        TopologicalSorter(imported_files(package)).prepare()
    except CycleError as error:
        pytest.fail(f"{package}: " + " is imported by ".join(error.args[1]))


@pytest.mark.parametrize("package", INSIDE)
def test_imports_point_downwards_inside_a_package(package: str) -> None:
    def level(file: str) -> int:
        first = file.split(".", maxsplit=1)[0]
        return INSIDE[package].index(first) if first in INSIDE[package] else len(INSIDE[package])

    pairs = [(file, target) for file, targets in imported_files(package).items() for target in targets]
    wrong = [f"{package}: {file} imports {target}" for file, target in pairs if level(target) > level(file)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", LIGHT_PACKAGES)
def test_light_packages_import_nothing_heavy(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in sources(package)
        for module, line in imports(path)
        if module.split(".")[0] in HEAVY
    ]
    assert not wrong, "\n".join(wrong)


def test_every_folder_is_a_known_package() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert folders <= {*ORDER}


def test_tuned_kernels_are_registered_where_their_layer_lies() -> None:
    load_all_kernels()
    built_in = {definition.name: definition.module for definition in pl.registry.built_in()}
    homes = {(layer, device) for layer, _, device in replaced_functions() if layer in built_in}
    assert homes
    # A first run imports the kernels of its layer by the name of this file.
    for layer, device in homes:
        home = importlib.util.find_spec(kernels_module(built_in[layer], device))
        assert home is not None, layer
        assert home.origin is not None
        assert f'"{layer}"' in Path(home.origin).read_text(encoding="utf-8"), (layer, home.name)


def test_no_file_is_too_long() -> None:
    files = [*PACKAGE.rglob("*.py"), *(ROOT / "codegen").rglob("*.py")]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files if "_pb2" not in path.name}
    long = [f"{path.relative_to(ROOT)}: {length} lines" for path, length in lengths.items() if length > 400]
    assert not long, "\n".join(long)
