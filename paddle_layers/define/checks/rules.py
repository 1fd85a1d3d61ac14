"""Rules of a layer: the conditions of `require`, derived from the source of its hooks and of their helpers."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

from paddle_layers.schema import layer_def_pb2 as pb

from ..errors import require
from ..functions.ir import all_of, copied, stores_of


def rules_of(hooks: Iterable[Callable[..., Any]]) -> list[pb.RuleDef]:
    """The `require(...)` calls of hooks and of the functions of their package that they call, each once, in order."""
    # By their bytes: a helper that several hooks call has one rule.
    found = {rule.SerializeToString(): rule for hook in hooks for rule in _rules(inspect.unwrap(hook), {}, ())}
    return list(found.values())


def _rules(
    function: Callable[..., Any], given: Mapping[str, ast.expr], callers: tuple[Callable[..., Any], ...]
) -> Iterator[pb.RuleDef]:
    """Rules of a function that is called with the arguments `given`, which replace its parameters."""
    tree = _tree(function)
    if tree is None:
        return
    # A parameter that is assigned in the function no longer has the caller's value.
    assigned = stores_of(tree)
    known = {name: value for name, value in given.items() if name not in assigned}
    scope = _scope(function)
    for call in sorted(all_of(tree, ast.Call), key=lambda node: (node.lineno, node.col_offset)):
        called = _resolved(call.func, scope)
        arguments = {name: copied(node, known) for name, node in _arguments(call, called).items()}
        if called is require and arguments:
            condition, subject, message = arguments.values()
            yield pb.RuleDef(subject=_text(subject), condition=ast.unparse(condition), message=_text(message))
        elif _is_followed(called, function) and called not in (function, *callers):
            yield from _rules(called, arguments, (*callers, function))


@lru_cache(maxsize=1 << 10)
def _tree(function: Callable[..., Any]) -> ast.Module | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):  # typed at a prompt, or a lambda in the middle of a line: there is no text to read
        return None


def _scope(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The scope of a function: the meaning of each name; local names have no value before it runs."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    own: dict[str, Any] = dict.fromkeys(function.__code__.co_varnames)
    return ChainMap(own, {name: cell.cell_contents for name, cell in cells}, function.__globals__)


def _resolved(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    """The object that a name or a name in a module refers to: `require`, `pl.require`; None before it is known."""
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(module := _resolved(node.value, scope), ModuleType):
        return getattr(module, node.attr, None)
    return None


def _is_followed(called: Any, caller: Callable[..., Any]) -> bool:
    """Whether it is a function of the same package: what libraries do inside is not the layer's condition."""
    if not isinstance(called, FunctionType):
        return False
    return called.__module__.partition(".")[0] == caller.__module__.partition(".")[0]


def _arguments(call: ast.Call, called: Any) -> dict[str, ast.expr]:
    """The value of each argument, in the order of declaration; empty if the source does not show it."""
    unpacked = any(isinstance(node, ast.Starred) for node in call.args) or any(k.arg is None for k in call.keywords)
    if unpacked or not isinstance(called, FunctionType):
        return {}
    try:
        bound = inspect.signature(called).bind(*call.args, **{str(k.arg): k.value for k in call.keywords})
    except TypeError:  # wrong, which its call will say
        return {}
    bound.apply_defaults()
    values = {name: ast.Constant(value) if _is_plain(value) else value for name, value in bound.arguments.items()}
    return {name: value for name, value in values.items() if isinstance(value, ast.expr)}


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _text(node: ast.expr) -> str:
    """The words of a string literal; computed parts of an f-string appear in braces."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _text(node.value) if isinstance(node.value, ast.Constant) else "{" + ast.unparse(node.value) + "}"
    return ast.unparse(node)
