"""The intermediate representation of point functions: the constructs of Python that they consist of.

The representation is Python's own syntax tree: its nodes have the author's lines, `ast.unparse` prints what compilers
read, and tuned kernels, which may contain all of Python, are specialized by the same passes. What a construct means is
stated here: the names that it reads and binds, the range of a loop, the called function, an accumulation. Passes ask.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, MappingProxyType
from typing import Any, NamedTuple, TypeVar

Tree = ast.AST | Iterable[ast.AST]
T = TypeVar("T")
N = TypeVar("N", bound=ast.AST)
EXTREMES = ("max", "min")
SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
LOOPS = (ast.For, ast.While)
BINDINGS = (ast.Assign, ast.AugAssign)


# ---- reading


def nodes_of(tree: Tree) -> Iterator[ast.AST]:
    """All nodes of a tree, or of several."""
    for part in [tree] if isinstance(tree, ast.AST) else tree:
        yield from ast.walk(part)


def all_of(tree: Tree, *kinds: type[N]) -> Iterator[N]:
    """All nodes of one of these kinds."""
    return (node for node in nodes_of(tree) if isinstance(node, kinds))


def occurrences(tree: Tree, context: type[ast.expr_context] = ast.expr_context) -> list[str]:
    """Names, as often as they occur: where they are read (`ast.Load`), where they are bound (`ast.Store`), or both."""
    return [name.id for name in all_of(tree, ast.Name) if isinstance(name.ctx, context)]


def names_of(tree: Tree) -> set[str]:
    """All names."""
    return set(occurrences(tree))


def loads_of(tree: Tree) -> set[str]:
    """The names that are read."""
    return set(occurrences(tree, ast.Load))


def stores_of(tree: Tree) -> set[str]:
    """The names that are bound: by assignments and by loops."""
    return set(occurrences(tree, ast.Store))


def is_name(node: ast.AST | None, *names: str) -> bool:
    """Whether it is one of these names."""
    return isinstance(node, ast.Name) and node.id in names


def items_of(value: ast.expr) -> list[ast.expr]:
    """The items of a tuple; another value is the only one."""
    return value.elts if isinstance(value, ast.Tuple) else [value]


def indices_of(node: ast.Subscript) -> list[ast.expr]:
    """The indices of an element."""
    return items_of(node.slice)


def array_of(node: ast.AST) -> str:
    """The name of the array whose element it is; empty for other nodes."""
    return node.value.id if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) else ""


def array_at(node: ast.AST, indices: Sequence[str]) -> str:
    """The name of the array whose element at exactly these indices it is; empty for other nodes."""
    parts = indices_of(node) if isinstance(node, ast.Subscript) else []
    return array_of(node) if len(parts) == len(indices) and all(map(is_name, parts, indices)) else ""


def callee(node: ast.AST | None) -> str:
    """The called function: `range`, `math.exp`; empty for other nodes."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


class Range(NamedTuple):
    """First value, bound and step of a loop."""

    first: ast.expr
    last: ast.expr
    step: ast.expr


def range_of(loop: ast.AST) -> Range | None:
    """The range of a loop over integers; None for other loops."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call) or not is_name(loop.iter.func, "range"):
        return None
    given = loop.iter.args
    first, last = given[:2] if len(given) > 1 else (ast.Constant(0), given[0])
    return Range(first, last, given[2] if len(given) > 2 else ast.Constant(1))


def blocks_of(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks inside a statement."""
    return [statement.body, statement.orelse] if isinstance(statement, (ast.If, *LOOPS)) else []


def head_of(statement: ast.stmt) -> ast.expr | None:
    """The expression before the blocks: the condition, or the values of a loop."""
    if isinstance(statement, (ast.If, ast.While)):
        return statement.test
    return statement.iter if isinstance(statement, ast.For) else None


def targets_of(statement: ast.AST) -> list[ast.expr]:
    """What a statement itself binds, without the statements inside it."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, (ast.AugAssign, ast.For)) else []


class Binding(NamedTuple):
    """A target, and the value that it gets; of a loop, the values one by one."""

    target: ast.expr
    value: ast.expr
    statement: ast.Assign | ast.AugAssign | ast.For


def bindings_of(tree: Tree) -> Iterator[Binding]:
    """All bindings of a tree."""
    for node in nodes_of(tree):
        yield from own_bindings(node)


def own_bindings(node: ast.AST) -> Iterator[Binding]:
    """Those of a statement itself; `a += b` binds `a` to the sum, and tuples of equal length are bound by item."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            targets, values = items_of(target), items_of(node.value)
            if len(targets) != len(values):
                targets, values = [target], [node.value]
            yield from (Binding(*pair, node) for pair in zip(targets, values, strict=True))
    elif isinstance(node, ast.AugAssign):
        yield Binding(node.target, sum_of(node), node)
    elif isinstance(node, ast.For):
        yield Binding(node.target, node.iter, node)


def dependents(tree: Tree, names: Iterable[str]) -> set[str]:
    """Names that get values made from these, by assignments or as loop variables, directly or not; and these."""
    bindings = [(names_of(target), names_of(value)) for target, value, _ in bindings_of(tree)]
    found, before = set(names), set[str]()
    # A fixed point: a loop may use a name before the line that assigns it.
    while found != before:
        before = set(found)
        found = found.union(*(targets for targets, sources in bindings if sources & before))
    return found


def sum_of(node: ast.AugAssign) -> ast.BinOp:
    """The value that an augmented assignment stores."""
    before = copied(node.target)
    before.ctx = ast.Load()
    return ast.copy_location(ast.BinOp(before, node.op, node.value), node)


class Accumulation(NamedTuple):
    """`name += term`, or `name = max(name, term)`."""

    name: str
    sign: str
    """`+`, `-`, `*`, `max` or `min`."""
    term: ast.expr


def accumulation_of(node: ast.AST) -> Accumulation | None:
    """The accumulation that a statement is; None for another one."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and type(node.op) in SIGNS:
        return Accumulation(node.target.id, SIGNS[type(node.op)], node.value)
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return None
    name, call = node.targets[0].id, node.value
    if isinstance(call, ast.Call) and is_name(call.func, *EXTREMES) and len(call.args) == 2:
        others = [argument for argument in call.args if not is_name(argument, name)]
        if len(others) == 1:
            return Accumulation(name, callee(call), others[0])
    return None


def reads_of_accumulators(loop: ast.AST, names: Iterable[str]) -> set[str]:
    """The accumulators among these names that a loop reads, other than in `max(best, term)`."""
    accumulations = filter(None, map(accumulation_of, all_of(loop, *BINDINGS)))
    own = Counter(one.name for one in accumulations if one.sign in EXTREMES)
    reads = Counter(occurrences(loop, ast.Load))
    return {name for name in names if reads[name] > own[name]}


def global_names(code: CodeType) -> Iterator[str]:
    """Names that a function may read from its module, also in the generators inside it."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from global_names(inner)


# ---- writing


def load(name: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(name, ast.Load())


def assign(name: str, value: ast.expr) -> ast.Assign:
    """The assignment of a value to a name."""
    return ast.Assign([ast.Name(name, ast.Store())], value)


def expression(text: str) -> ast.expr:
    """An expression, parsed."""
    return ast.parse(text, mode="eval").body


def statements(*lines: str) -> list[ast.stmt]:
    """Statements, parsed."""
    return ast.parse("\n".join(lines)).body


def loop_over(name: str, values: str, body: list[ast.stmt]) -> ast.For:
    """A loop over a range, which is given as text."""
    return ast.For(ast.Name(name, ast.Store()), expression(f"range({values})"), body, [])


def element(array: str, indices: Sequence[str]) -> ast.Subscript:
    """The element of an array."""
    names: list[ast.expr] = [load(index) for index in indices]
    return ast.Subscript(load(array), ast.Tuple(names, ast.Load()) if len(names) > 1 else names[0], ast.Load())


def free_name(name: str, taken: set[str]) -> str:
    """The name, or a similar unused one; it is then taken."""
    tried = itertools.chain([name], (f"{name}{number}" for number in itertools.count(2)))
    found = next(one for one in tried if one not in taken)
    taken.add(found)
    return found


def copied(node: T, names: Mapping[str, str | ast.expr] = MappingProxyType({})) -> T:
    """A copy in which no node occurs twice, with other names, or with expressions in their place."""

    def renamed(part: ast.AST) -> ast.AST | None:
        if not isinstance(part, ast.Name) or part.id not in names:
            return None
        name = names[part.id]
        return copied(name) if isinstance(name, ast.expr) else ast.copy_location(ast.Name(name, part.ctx), part)

    return rewritten(node, renamed if names else None)


def rewritten(node: T, rule: Callable[[ast.AST], ast.AST | None] | None) -> T:
    """A copy with what a rule gives for a node in its place; None for a node that is copied, part by part."""
    copy: T = _rewritten(node, rule)
    return copy


def _rewritten(node: Any, rule: Callable[[ast.AST], ast.AST | None] | None) -> Any:
    if isinstance(node, list):
        return [_rewritten(part, rule) for part in node]
    if not isinstance(node, ast.AST):
        return node
    if rule is not None and (new := rule(node)) is not None:
        return new
    # In a fifth of the time of `copy.deepcopy`.
    copy: Any = type(node).__new__(type(node))  # the constructor warns where required fields are missing
    vars(copy).update((field, _rewritten(value, rule)) for field, value in vars(node).items())
    return copy
