"""Functions of one weight, turned into kernels over some rows of a parameter.

`ids_` holds the numbers of the rows. Values and states are whole tables; a gradient by rows has one row for each id.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from paddle_layers.define.functions import Function

from .arguments import Argument, Ref, spec_of
from .drivers import Kernel
from .launches import Launch
from .specialise import helper_trees, specialise

ORIGIN = "paddle_layers.runtime.rowforms"


def rows_launch(
    function: Function, name: str, targets: Sequence[str], args: Mapping[str, Argument], factor: str | None = None
) -> Launch:
    """The step or penalty of an optimizer or regularizer for the rows `ids_`; `args` begin with the targets.

    A target `gradient` is added to, as a penalty is.
    """
    known = {key: value for key, value in args.items() if value is None or isinstance(value, (bool, str))}
    live = {key: value for key, value in args.items() if key not in known}
    tables = {key for key, value in live.items() if isinstance(value, Ref) and key != "ids_"}
    tree = _Subscripts(dict.fromkeys(tables - {"gradient"}, "ids_[u], k") | {"gradient": "u, k"}).visit(
        specialise(function.tree, known, function.call)
    )
    tree.args.args = [*map(ast.arg, ("u", "k")), *tree.args.args[1:], ast.arg("ids_")]
    own = targets[0] != "gradient"
    kernel = Kernel(
        name=f"{function.name}_rows",
        origin=f"{function.call.__module__}:{function.line}",
        tree=ast.fix_missing_locations(tree),
        helpers=helper_trees(function.call),
        indices=("u", "k"),
        targets=tuple(targets),
        args={key: spec_of(value) for key, value in live.items()},
        accumulate=not own,
        used_rows="ids_" if own else None,
        factor=factor,
    )
    return _launch(kernel, name, live)


def spread_launch(name: str, args: Mapping[str, Argument]) -> Launch:
    """Put the rows of `gradient` into the table `dense`."""
    return _text_launch("spread_rows", ("u", "k"), "return gradient[u, k]", ["dense"], name, args)


def mix_launch(name: str, tables: Sequence[str], args: Mapping[str, Argument]) -> Launch:
    """Multiply value and states of each weight of row u by the matrix `maps[u]`, which lies flat."""
    size = len(tables)
    sums = [
        " + ".join(f"maps[u, {size * row + at}] * {table}[ids_[u], k]" for at, table in enumerate(tables))
        for row in range(size)
    ]
    return _text_launch("mix_rows", ("u", "k"), f"return {', '.join(sums)}", tables, name, args)


def replay_launch(function: Function, name: str, tables: Sequence[str], args: Mapping[str, Argument]) -> Launch:
    """The step of an optimizer with a gradient of zero, for row u in the turns `first[u]` to `last[u]` in order."""
    known = {key: value for key, value in args.items() if value is None or isinstance(value, (bool, str))}
    live = {key: value for key, value in args.items() if key not in known}
    step = _Subscripts(dict.fromkeys((*tables, "gradient"), "")).visit(specialise(function.tree, known, function.call))
    step.name, step.args.args = "step_", step.args.args[1:]
    cells = {table: f"{table}[ids_[u], k]" for table in tables}
    given = {**cells, "gradient": "real(0.0)", "rate": "rates[turn]", "count": "counts[turn]"}
    call = ", ".join(given.get(argument.arg, argument.arg) for argument in step.args.args)
    body = f"""
for turn in range(first[u], last[u]):
    for k in range(width):
        {", ".join(cells.values())} = step_({call})
"""
    helpers = {**helper_trees(function.call), "step_": ast.fix_missing_locations(step)}
    return _text_launch("replay_" + function.name, ("u",), body, tables, name, live, helpers=helpers)


def _text_launch(
    kernel_name: str,
    indices: tuple[str, ...],
    body: str,
    targets: Sequence[str],
    name: str,
    args: Mapping[str, Argument],
    *,
    helpers: Mapping[str, ast.FunctionDef] | None = None,
) -> Launch:
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    tree = ast.parse(f"def {kernel_name}({', '.join((*indices, *args))}):\n{lines}\n").body[0]
    assert isinstance(tree, ast.FunctionDef)
    kernel = Kernel(
        name=kernel_name,
        origin=ORIGIN,
        tree=tree,
        helpers=helpers or {},
        indices=indices,
        targets=tuple(targets),
        args={key: spec_of(value) for key, value in args.items()},
        procedure=helpers is not None,
        used_rows="ids_" if helpers is None else None,
    )
    return _launch(kernel, name, args)


def _launch(kernel: Kernel, name: str, args: Mapping[str, Argument]) -> Launch:
    ids, table = args["ids_"], args[kernel.targets[0]]
    assert isinstance(ids, Ref)
    assert isinstance(table, Ref)
    launch = Launch(kernel.name, name, kernel, list(args.values()), ids.shape[0])
    launch.weight = max(table.shape[-1].extra, 1)
    return launch


class _Subscripts(ast.NodeTransformer):
    """Replace the index of arrays: `x[i]` becomes `x[...]` with the new index, or `x` where there is none."""

    def __init__(self, index: Mapping[str, str]) -> None:
        self.index = index

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        if name not in self.index:
            return node
        new = self.index[name]
        return ast.parse(f"{name}[{new}]" if new else name, mode="eval").body
