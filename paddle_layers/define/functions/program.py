"""Parsed source of a function: the names it reads, and their positions."""

from __future__ import annotations

import ast
import copy
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any

from . import ir
from .lowering import lowered


def with_names(call: Callable[..., Any], name: str, names: Mapping[str, str]) -> Callable[..., Any]:
    """The same function with other names of arguments and variables, for a layer that calls its tensors otherwise.

    Args:
        call: A point function.
        name: Name of the new function.
        names: Arguments and variables that have another name, and that name.

    Returns:
        The function, for `each` or `gradient`. Its errors point to the source of `call`.

    Example::

        each(ConvTrans.y)(with_names(conv_dx, "conv_trans_y", {"x": "dy", "dy": "x", ...}))
    """
    code = call.__code__
    variables = tuple(names.get(variable, variable) for variable in code.co_varnames)
    made = FunctionType(code.replace(co_name=name, co_varnames=variables), call.__globals__, name)
    vars(made)["__names__"] = {call.__name__: name, **names}
    return made


def source_of(call: Callable[..., Any]) -> str:
    """The source of a function, with its own names if `with_names` made it. Raises `OSError` where it is unknown."""
    text, names = inspect.getsource(call), getattr(call, "__names__", {})
    return re.sub(r"\b[^\W\d]\w*", lambda name: names.get(name[0], name[0]), text) if names else text


class Program:
    """A parsed function and what its text says. The tree is never changed: another tree is another program."""

    def __init__(self, tree: ast.FunctionDef, place: tuple[str, int] | None = None) -> None:
        self.tree, self.place = tree, place
        """`place`: the file and the line in which the text begins, from which the tree counts its lines."""
        self._own_element: dict[tuple[str, tuple[str, ...]], bool] = {}

    @classmethod
    def parse(cls, source: str, place: tuple[str, int] | None = None) -> Program:
        """Parse one function; its decorators, docstring and annotations are dropped, and reductions become loops."""
        node = ast.parse(textwrap.dedent(source)).body[0]
        assert isinstance(node, ast.FunctionDef)
        node.decorator_list, node.returns = [], None
        for argument in node.args.args:
            argument.annotation = None
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = node.body[1:]
        return cls(lowered(node, place), place)

    @classmethod
    def of(cls, call: Callable[..., Any]) -> Program:
        """The parsed source of a function. Raises `OSError` if there is no source."""
        return cls.parse(source_of(call), (call.__code__.co_filename, call.__code__.co_firstlineno))

    @classmethod
    def build(cls, name: str, arguments: Iterable[str], body: list[ast.stmt], origin: Program | None = None) -> Program:
        """A function of these statements; new ones are at the line of the function `origin`, from which it is made."""
        given = ast.arguments([], [ast.arg(argument) for argument in arguments], None, [], [], None, [])
        tree = ast.FunctionDef(name, given, body, [])
        if origin is not None:
            ast.copy_location(tree, origin.tree)
        return cls(ast.fix_missing_locations(tree), origin.place if origin is not None else None)

    def named(self, name: str) -> Program:
        """The same function by another name."""
        # Shallow: only the name differs, and trees are never changed.
        tree = copy.copy(self.tree)
        tree.name = name
        return Program(tree, self.place)

    def rewritten(self, body: list[ast.stmt], arguments: Iterable[str] | None = None) -> Program:
        """The same function with another body, and with other arguments if these are given."""
        tree = copy.copy(self.tree)
        tree.body = body
        if arguments is not None:
            tree.args = copy.copy(tree.args)
            tree.args.args = [ast.arg(argument) for argument in arguments]
        return Program(ast.fix_missing_locations(tree), self.place)

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
        return frozenset(ir.names_of(self.tree.body))

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
            own = {id(node.value) for node in self._subscripts if ir.array_at(node, indices)}
            uses = self.value_uses(name)
            self._own_element[key] = not self._assigned & set(indices) and all(id(node) in own for node in uses)
        return self._own_element[key]

    def copies(self, indices: Sequence[str]) -> str | None:
        """The tensor whose element at the function's own indices is all that it gives, or None."""
        match self.tree.body[0]:
            case ast.Return(ast.Subscript(ast.Name(name))) if self.reads_own_element(name, indices):
                return name
        return None

    def only_subscripts(self, indices: Sequence[str]) -> bool:
        """Whether the indices occur as bare subscripts only; then they may be unsigned, and loops vectorise."""
        bare = {id(part) for node in self._subscripts for part in ir.indices_of(node)}
        return all(id(node) in bare for node in ast.walk(self.tree) if ir.is_name(node, *indices))

    @cached_property
    def has_loops(self) -> bool:
        """Whether an element takes more than one pass through its text."""
        return any(ir.all_of(self.tree, *ir.LOOPS))

    @cached_property
    def _subscripts(self) -> list[ast.Subscript]:
        return list(ir.all_of(self.tree, ast.Subscript))

    @cached_property
    def _assigned(self) -> set[str]:
        return ir.stores_of(self.tree)

    @cached_property
    def _value_uses(self) -> dict[str, list[ast.Name]]:
        """Nodes that use values, by name."""
        shape_only: set[int] = set()
        names: list[ast.Name] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and node.attr == "shape":
                # The shape of a tensor is known without its values: such a use keeps no buffer alive.
                shape_only |= {id(inner) for inner in ast.walk(node.value)}
            elif isinstance(node, ast.Call) and ir.is_name(node.func, "len"):
                shape_only |= {id(argument) for argument in node.args}
            elif isinstance(node, ast.Name):
                names.append(node)
        found: dict[str, list[ast.Name]] = {}
        for node in names:
            if id(node) not in shape_only:
                found.setdefault(node.id, []).append(node)
        return found


def without_dead_code(body: list[ast.stmt]) -> list[ast.stmt]:
    """Without the assignments that nothing reads."""
    needed: set[str] = set()
    while (read := ir.loads_of(kept := _needed(body, needed))) - needed:
        needed |= read
    return kept


def _needed(body: list[ast.stmt], needed: set[str]) -> list[ast.stmt]:
    statements: list[ast.stmt] = []
    for statement in body:
        blocks = [_needed(part, needed) for part in ir.blocks_of(statement)]
        if isinstance(statement, ast.Return):
            return [*statements, statement]
        if isinstance(statement, ast.If) and any(blocks):
            new: ast.stmt = ast.If(statement.test, blocks[0] or [ast.Pass()], blocks[1])
            statements.append(ast.copy_location(new, statement))
        elif isinstance(statement, ast.For) and any(blocks):
            new = ast.For(statement.target, statement.iter, blocks[0], [])
            statements.append(ast.copy_location(new, statement))
        elif not blocks and any(ir.names_of(target) & needed for target in ir.targets_of(statement)):
            statements.append(statement)
    return statements
