"""Launches of Python functions of arrays."""

from __future__ import annotations

from paddle_layers.define.functions.point_functions import Function
from paddle_layers.runtime.generate.drivers import Kernel, PythonCall
from paddle_layers.runtime.graph.domains import Extent

from .arguments import spec_of, split_constants, uses
from .launch import Launch
from .scope import OperationScope


def python_launch(scope: OperationScope, function: Function, *, accumulate: bool) -> Launch:
    """One call of a Python function of arrays."""
    names = (*function.target_names, *function.args)
    constants, args = split_constants({name: scope.resolve(name, function, None) for name in names})
    outputs = scope.op.layer.outputs
    types = [scope.op.output(name)[0].type if name in outputs else None for name in function.target_names]
    ids = tuple(type_.size if type_ is not None and type_.kind == "INT" else 0 for type_ in types)
    kernel = Kernel(
        name=function.name,
        origin=f"{function.call.__module__}:{function.line}",
        program=function.program,
        helpers={},
        indices=(),
        targets=function.target_names,
        args={name: spec_of(value) for name, value in args.items()},
        accumulate=accumulate,
        procedure=True,
        python=PythonCall(function.call, scope.op.name, tuple(constants.items()), ids),
    )
    launch = Launch(kernel.name, scope.op.name, kernel, list(args.values()), Extent(1))
    for name, argument in args.items():
        if name in function.target_names:
            launch.writes += uses(argument)
        if name not in function.target_names or accumulate:
            launch.reads += uses(argument)
    return launch
