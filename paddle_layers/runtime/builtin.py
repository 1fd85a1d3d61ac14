"""Point functions of the framework itself, and launches of functions over flat ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paddle_layers.define.functions import Function

from .arguments import Argument, Ref, spec_of, uses
from .compiler import cpu_driver
from .drivers import Kernel
from .launches import Launch
from .specialise import helper_trees, specialise


def fill_value(i, y, value):
    """The same number everywhere."""
    return value


def add_value(i, y, x):
    """A copy; the driver may add it instead."""
    return x[i]


FILL = Function("builtin", (), fill_value)
ADD = Function("builtin", (), add_value)


def simple_launch(
    function: Function, op: str, args: Sequence[Argument], dtype: str, *, accumulate: bool = False
) -> Launch:
    """A launch of one of the functions above: the first argument is the target."""
    named = dict(zip(function.args[1:], args, strict=True))
    return flat_launch(function, op, [next(iter(named))], named, dtype, accumulate=accumulate)


def flat_launch(
    function: Function,
    op: str,
    targets: Sequence[str],
    args: Mapping[str, Argument],
    dtype: str,
    *,
    accumulate: bool = False,
    factor: str | None = None,
) -> Launch:
    """A launch of a function of `i` over flat arrays; `args` holds the targets and what the function asks for."""
    known = {name: value for name, value in args.items() if value is None or isinstance(value, (bool, str))}
    live = {name: value for name, value in args.items() if name not in known}
    kernel = Kernel(
        name=function.name,
        origin=f"{function.call.__module__}:{function.line}",
        tree=specialise(function.tree, known, function.call),
        helpers=helper_trees(function.call),
        indices=("i",),
        targets=tuple(targets),
        args={name: spec_of(value) for name, value in live.items()},
        accumulate=accumulate,
        factor=factor,
    )
    target = live[targets[0]]
    assert isinstance(target, Ref)
    launch = Launch(function.name, op, cpu_driver(kernel, dtype), list(live.values()), target.shape[0], kernel)
    launch.writes = [buffer for name in targets for buffer in uses(live[name])]
    launch.reads = [b for name, value in live.items() if accumulate or name not in targets for b in uses(value)]
    return launch
