"""What is changed: the functions of layers, optimizers and regularizers, and the helpers that layers call."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path
from random import Random
from types import FunctionType
from typing import Any, TypeVar

from paddle_layers.define import Definition, LayerDefinition, registries
from paddle_layers.define.definitions.elementwise import Elementwise
from paddle_layers.define.functions.ir import global_names
from paddle_layers.define.functions.point_functions import HELPERS, Function
from paddle_layers.define.functions.program import Program

from .changing import Changed, Site, changed_at, sites

ROOT = Path(__file__).resolve().parents[2]
T = TypeVar("T")
REGISTRIES = ("layer", "optimizer", "regularizer")


@dataclass(frozen=True, eq=False)
class Source:
    """A function, and the definitions that it is a part of; `function` is None for a helper."""

    name: str
    call: FunctionType
    definitions: tuple[Definition, ...]
    function: Function | None

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """Its text, parsed, without a mutant."""
        program = self.function.program if self.function is not None else Program.parse(inspect.getsource(self.call))
        return program.tree

    def place(self, line: int) -> str:
        """File and line of a line of its text."""
        code = self.call.__code__
        file = Path(code.co_filename)
        shown = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
        return f"{shown}:{code.co_firstlineno + line - 1}"


@dataclass(frozen=True, eq=False)
class Mutant:
    """A source with one change."""

    source: Source
    change: Changed

    @property
    def place(self) -> str:
        """File and line of the change."""
        return self.source.place(self.change.line)

    @property
    def key(self) -> tuple[str, str, str]:
        """The function and its lines before and after; it holds where lines move."""
        return self.source.name, "\n".join(self.change.removed), "\n".join(self.change.added)


def sources(name: str | None = None) -> list[Source]:
    """Functions in the order of the registries, then helpers; those of one definition where a name is given."""
    definitions = [
        registries[kind][own] for kind in REGISTRIES for own in registries[kind] if name is None or own == name
    ]
    owned = [Source(function.name, function.call, (one,), function) for one in definitions for function in _own(one)]
    users: dict[FunctionType, dict[Definition, None]] = {}
    for one in definitions:
        for function in _own(one):
            for helper in _helpers(function.call):
                users.setdefault(helper, {})[one] = None
    return owned + [Source(HELPERS[helper], helper, tuple(found), None) for helper, found in users.items()]


def _own(definition: Definition) -> list[Function]:
    if isinstance(definition, LayerDefinition):
        # With the derived gradients: a wrong one has to be noticed like one that is written.
        return [function for function in definition.complete().functions if function.role != "bias"]
    assert isinstance(definition, Elementwise)
    return [function for function in (definition.direction, definition.function) if function is not None]


def _helpers(call: FunctionType) -> Iterator[FunctionType]:
    """Helpers that a function calls, and those that these call."""
    for name in global_names(call.__code__):
        callee = call.__globals__.get(name)
        if isinstance(callee, FunctionType) and callee in HELPERS and callee is not call:
            yield callee
            yield from _helpers(callee)


def choose(found: list[Source], count: int, seed: int, kind: str | None = None) -> list[Mutant]:
    """So many mutants, the same ones for the same seed: of each function in turn, of each kind in turn."""
    rng = Random(seed)
    rows = [_mutants(one, rng, kind) for one in found]
    rng.shuffle(rows)
    return list(islice(_in_turn(rows), count))


def _mutants(source: Source, rng: Random, kind: str | None) -> Iterator[Mutant]:
    """All mutants of a source, each text once; the order is drawn now, the trees are made as they are asked for."""
    tree, by_kind = source.tree, dict[str, list[Site]]()
    for site in sites(tree):
        if kind in (None, site.kind):
            by_kind.setdefault(site.kind, []).append(site)
    groups = list(by_kind.values())
    for group in (groups, *groups):
        rng.shuffle(group)

    def made() -> Iterator[Mutant]:
        seen = set()
        for site in _in_turn(groups):
            change = changed_at(tree, site)
            if change is not None and (text := ast.unparse(change.tree)) not in seen:
                seen.add(text)
                yield Mutant(source, change)

    return made()


def _in_turn(rows: Iterable[Iterable[T]]) -> Iterator[T]:
    """The first of every row, then the second of every row."""
    nothing: Any = object()
    for column in zip_longest(*rows, fillvalue=nothing):
        yield from (item for item in column if item is not nothing)
