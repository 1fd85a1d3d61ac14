"""Parsed source of a function: the names it reads, and their positions."""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any


class Program:
    """A parsed function and what its text says. The tree is never changed: another tree is another program."""

    def __init__(self, tree: ast.FunctionDef, place: tuple[str, int] | None = None) -> None:
        self.tree, self.place = tree, place
        """`place`: the file and the line in which the text begins, from which the tree counts its lines."""
        self._own_element: dict[tuple[str, tuple[str, ...]], bool] = {}

    @classmethod
    def parse(cls, source: str) -> Program:
        """Parse one function; its decorators, docstring and annotations are dropped."""
        node = ast.parse(textwrap.dedent(source)).body[0]
        assert isinstance(node, ast.FunctionDef)
        node.decorator_list, node.returns = [], None
        for argument in node.args.args:
            argument.annotation = None
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = node.body[1:]
        return cls(node)

    @classmethod
    def of(cls, call: Callable[..., Any]) -> Program:
        """The parsed source of a function. Raises `OSError` if there is no source."""
        program = cls.parse(inspect.getsource(call))
        program.place = call.__code__.co_filename, call.__code__.co_firstlineno
        return program

    def named(self, name: str) -> Program:
        """The same function by another name."""
        # Shallow: only the name differs, and trees are never changed.
        tree = copy.copy(self.tree)
        tree.name = name
        return Program(tree, self.place)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments, in order."""
        return tuple(argument.arg for argument in self.tree.args.args)

    @cached_property
    def text(self) -> str:
        """The function as Python text."""
        return ast.unparse(self.tree)

    @cached_property
    def names(self) -> frozenset[str]:
        """Names that occur outside the argument list."""
        return frozenset(node.id for part in self.tree.body for node in ast.walk(part) if isinstance(node, ast.Name))

    def reads(self, name: str) -> bool:
        """Whether values of the tensor `name` are read: `x.shape` and `len(x)` read none."""
        return name in self._value_uses

    def value_uses(self, name: str) -> Sequence[ast.Name]:
        """The nodes that read values of the tensor `name`."""
        return self._value_uses.get(name, ())

    def reads_own_element(self, name: str, indices: Sequence[str]) -> bool:
        """Whether `name` is read at the element's own indices only, so that the result may take its place."""
        key = (name, tuple(indices))
        if key not in self._own_element:
            own = {id(node.value) for node, parts in self._subscripts if _is_name(node.value, name) and parts == key[1]}
            uses = self.value_uses(name)
            self._own_element[key] = not self._assigned & set(indices) and all(id(node) in own for node in uses)
        return self._own_element[key]

    def copies(self, indices: Sequence[str]) -> str | None:
        """The tensor whose element at the function's own indices is all that it gives, or None."""
        value = self.tree.body[0].value if isinstance(self.tree.body[0], ast.Return) else None
        if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
            return value.value.id if self.reads_own_element(value.value.id, indices) else None
        return None

    def only_subscripts(self, indices: Sequence[str]) -> bool:
        """Whether the indices occur as bare subscripts only; then they may be unsigned, and loops vectorise."""
        bare = {id(part) for node, _ in self._subscripts for part in parts_of(node)}
        return all(id(node) in bare for node in ast.walk(self.tree) if _is_name(node, *indices))

    @cached_property
    def has_loops(self) -> bool:
        """Whether an element takes more than one pass through its text."""
        return any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(self.tree))

    @cached_property
    def _subscripts(self) -> list[tuple[ast.Subscript, tuple[str | None, ...]]]:
        """Subscripts, each with its parts as far as they are names."""
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, ast.Subscript)]
        return [(node, tuple(p.id if isinstance(p, ast.Name) else None for p in parts_of(node))) for node in nodes]

    @cached_property
    def _assigned(self) -> set[str]:
        return {n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}

    @cached_property
    def _value_uses(self) -> dict[str, list[ast.Name]]:
        """Nodes that use values, by name."""
        shape_only: set[int] = set()
        names: list[ast.Name] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and node.attr == "shape":
                # The shape of a tensor is known without its values: such a use keeps no buffer alive.
                shape_only |= {id(inner) for inner in ast.walk(node.value)}
            elif isinstance(node, ast.Call) and _is_name(node.func, "len"):
                shape_only |= {id(argument) for argument in node.args}
            elif isinstance(node, ast.Name):
                names.append(node)
        found: dict[str, list[ast.Name]] = {}
        for node in names:
            if id(node) not in shape_only:
                found.setdefault(node.id, []).append(node)
        return found


def _is_name(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def parts_of(node: ast.Subscript) -> list[ast.expr]:
    """The indices of a subscript."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def names_of(node: ast.AST) -> set[str]:
    """All names in a tree."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def loads_of(body: list[ast.stmt]) -> set[str]:
    """The names that statements read."""
    nodes = (node for part in body for node in ast.walk(part))
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def without_dead_code(body: list[ast.stmt]) -> list[ast.stmt]:
    """Without the assignments that nothing reads."""
    needed: set[str] = set()
    while _add_needed(body, needed):
        pass
    return _needed(body, needed)


def _add_needed(body: list[ast.stmt], needed: set[str]) -> bool:
    """Add the names that the needed statements read; whether there are new ones."""
    before = len(needed)
    for statement in body:
        if isinstance(statement, (ast.If, ast.For)):
            for part in _blocks(statement):
                _add_needed(part, needed)
            if any(_needed(part, needed) for part in _blocks(statement)):
                needed |= names_of(statement.test if isinstance(statement, ast.If) else statement.iter)
        elif _needed([statement], needed):
            needed |= loads_of([statement])
    return len(needed) > before


def _needed(body: list[ast.stmt], needed: set[str]) -> list[ast.stmt]:
    statements: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, (ast.If, ast.For)):
            blocks = [_needed(part, needed) for part in _blocks(statement)]
            if isinstance(statement, ast.If) and any(blocks):
                new: ast.stmt = ast.If(statement.test, blocks[0] or [ast.Pass()], blocks[1])
                statements.append(ast.copy_location(new, statement))
            elif isinstance(statement, ast.For) and any(blocks):
                statements.append(
                    ast.copy_location(ast.For(statement.target, statement.iter, blocks[0], []), statement)
                )
        elif isinstance(statement, ast.Return):
            return [*statements, statement]
        elif any(names_of(target) & needed for target in _targets(statement)):
            statements.append(statement)
    return statements


def _targets(statement: ast.stmt) -> list[ast.expr]:
    """The targets of an assignment; none of another statement."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AugAssign) else []


def _blocks(statement: ast.If | ast.For) -> list[list[ast.stmt]]:
    return [statement.body, statement.orelse]


def copied(node: Any, names: Mapping[str, str] = MappingProxyType({})) -> Any:
    """A copy with other names, in which no node occurs twice, in half the time of `copy.deepcopy`."""
    if isinstance(node, list):
        return [copied(one, names) for one in node]
    if not isinstance(node, ast.AST):
        return node
    new = type(node)()
    vars(new).update((name, copied(value, names)) for name, value in vars(node).items())
    if isinstance(new, ast.Name):
        new.id = names.get(new.id, new.id)
    return new
