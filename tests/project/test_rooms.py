"""The house: imports point downwards only, light rooms stay light, files have names that hide nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers.kernels.selection import kernels_module, load_all_kernels
from paddle_layers.kernels.tuned import replaced_functions, tuned_kernels

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
"""From the bottom to the top; a room may import from those before it."""

SAME_FLOOR = ({"kernels", "layers"},)
"""Rooms that stand side by side: neither imports the other."""

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
"""Rooms without a ring of imports: their folders (or files) from the bottom to the top; what is not named is above."""

HEAVY = {"numba", "scipy", "llvmlite", "jinja2", "onnx"}
LIGHT_ROOMS = ("schema", "define", "layers", "config")


def room_of(module: str) -> str:
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
    return {module_name(path): path for room in ORDER for path in sources(room)}


def arrows(room: str) -> dict[str, set[str]]:
    """The files of a room, each with those of the room that it imports; named without the room's own name."""
    own = {module: path for module, path in modules().items() if room_of(module) == room}
    short = {module: module.removeprefix(f"paddle_layers.{room}.") for module in own}
    return {short[file]: {short[m] for m, _ in imports(own[file]) if m in own and m != file} for file in own}


def home(name: str) -> str:
    """The room in which a name of the public surface lives; itself for a module."""
    return "define" if name == "registry" else pl._MODULE_OF.get(name, "" if name.startswith("__") else name)


def sources(room: str) -> list[Path]:
    if room == "codegen":
        return sorted((ROOT / "codegen").rglob("*.py"))
    files = sorted((PACKAGE / room).rglob("*.py"))
    return files or [path for path in [PACKAGE / f"{room}.py"] if path.is_file()]


def rooms() -> list[str]:
    return [room for room in ORDER if sources(room)]


def allowed(room: str, target: str) -> bool:
    if target in ("", "_version", room):
        return True
    if any({room, target} <= floor for floor in SAME_FLOOR):
        return False
    return ORDER.index(target) < ORDER.index(room)


@pytest.mark.parametrize("room", rooms())
def test_imports_point_downwards(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {room} imports {module}"
        for path in sources(room)
        for module, line in imports(path)
        if module.split(".")[0] == "paddle_layers" and not allowed(room, room_of(module))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", INSIDE)
def test_no_room_has_a_ring_of_imports(room: str) -> None:
    try:
        TopologicalSorter(arrows(room)).prepare()
    except CycleError as error:
        pytest.fail(f"{room}: " + " is imported by ".join(error.args[1]))


@pytest.mark.parametrize("room", INSIDE)
def test_imports_point_downwards_inside_a_room(room: str) -> None:
    def floor(file: str) -> int:
        first = file.split(".", maxsplit=1)[0]
        return INSIDE[room].index(first) if first in INSIDE[room] else len(INSIDE[room])

    pairs = [(file, target) for file, targets in arrows(room).items() for target in targets]
    wrong = [f"{room}: {file} imports {target}" for file, target in pairs if floor(target) > floor(file)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", LIGHT_ROOMS)
def test_light_rooms_import_nothing_heavy(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in sources(room)
        for module, line in imports(path)
        if module.split(".")[0] in HEAVY
    ]
    assert not wrong, "\n".join(wrong)


def test_every_folder_is_a_known_room() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert folders <= {*ORDER}


def test_tuned_kernels_lie_where_their_layer_lies() -> None:
    load_all_kernels()
    built_in = {definition.name: definition.module for definition in pl.registry.built_in()}
    homes = {
        (kernel.function.__module__, kernels_module(built_in[layer], device))
        for layer, function, device in replaced_functions()
        if layer in built_in
        for kernel in tuned_kernels(layer, function, device)
    }
    assert homes
    assert all(home == wanted for home, wanted in homes), homes


def test_no_file_is_too_long() -> None:
    files = [*PACKAGE.rglob("*.py"), *(ROOT / "codegen").rglob("*.py")]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files if "_pb2" not in path.name}
    long = [f"{path.relative_to(ROOT)}: {length} lines" for path, length in lengths.items() if length > 400]
    assert not long, "\n".join(long)
