"""Point functions: formulas of one tensor element, whose arguments are found by name; facts about those of a layer."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

from ..errors import DefinitionError, suggestion
from ..fields.tensors import Entries, Field, Input, Output
from .ir import all_of, global_names
from .program import Program

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])
HELPERS: dict[Callable[..., Any], str] = {}
"""Functions that point functions may call, on every device."""
_MATH = frozenset(vars(math))
_BUILTINS = frozenset({"range", "len", "min", "max", "sum", "abs", "int", "round"})


def real(value: float) -> float:
    """Cast to the precision of the tensors, for every integer that enters floating-point arithmetic.

    Args:
        value: An integer or a float.

    Returns:
        The value as float32 or float64, as the tensors of the launch.

    Example::

        mean = total / real(C)
    """
    return float(value)


def double(value: float) -> float:
    """Cast to float64 whatever the precision of the tensors, for sums that are declared to be exact.

    Args:
        value: A number.

    Returns:
        The value as float64.

    Example::

        total = double(0.0)  # of a `Stat` that sums over many rows
    """
    return float(value)


def helper(function: F) -> F:
    """Registers a function that point functions may call, on every device.

    Args:
        function: The function.

    Returns:
        The same function.

    Raises:
        DefinitionError: The function uses names that are not available on every device.

    Example::

        @helper
        def softplus(v):
            return max(v, 0.0) + math.log1p(math.exp(-abs(v)))
    """
    HELPERS[function] = function.__name__
    _check_globals(function, f"helper {function.__name__}")
    return function


class Function:
    """A point function of a definition: its role, the tensors it computes and the names it asks for."""

    def __init__(
        self,
        role: str,
        targets: tuple[Field, ...],
        call: Callable[..., Any],
        program: Program | None = None,
        **options: Any,
    ) -> None:
        self.role, self.targets, self.call, self.options = role, targets, call, options
        self._program = program
        self.name = call.__name__
        self.args: tuple[str, ...] = tuple(inspect.signature(call).parameters)
        code = call.__code__
        self.file, self.line = code.co_filename, code.co_firstlineno

    @cached_property
    def program(self) -> Program:
        """The function's text, parsed."""
        return self._program or Program.of(self.call)

    @property
    def derived(self) -> bool:
        """Whether it is a gradient that the library derived."""
        return bool(self.options.get("derived"))

    @property
    def over(self) -> Input | Output | None:
        """The repeatable input, or output, for whose items the function is called one by one."""
        return self.options.get("over")

    @property
    def along(self) -> str | None:
        """Axis of the target along which the results for the items are concatenated; None: they are summed."""
        return self.options.get("along")

    @property
    def along_item(self) -> str:
        """The axis of an item in the same place: its part of `along`."""
        place = [axis.name for axis in self.targets[0].axes].index(self.along or "")
        return self.over.axes[place].name if self.over is not None else ""

    @property
    def kind(self) -> str:
        """The data type of the items that this variant is for."""
        return str(self.options.get("kind", "DENSE"))

    @property
    def used(self) -> Input | Entries | None:
        """The input, or the entries, whose ids name the rows that this gradient has."""
        return self.options.get("used")

    @property
    def scan(self) -> str | None:
        """`forward` or `back` when the rows of a sequence are computed in order."""
        return self.options.get("scan")

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of the tensors computed; `dx` for the gradient of `x`."""
        prefix = "d" if self.role == "gradient" else ""
        return tuple(prefix + target.name for target in self.targets)

    @property
    def which(self) -> bool:
        """Whether the first argument is the number of the item."""
        return self.over is None and any(target.per_item for target in self.targets)

    @property
    def python(self) -> bool:
        """Whether it computes whole tensors as a Python function of arrays, which nothing compiles."""
        return bool(self.options.get("python"))

    @property
    def indices(self) -> tuple[str, ...]:
        """The index arguments, first `which` where there is one."""
        if self.python:
            return ()
        if self.role == "fill":
            return (str(self.options["per"]).lower(),)
        own = self.targets[0].indices
        if self.used is not None:
            own = ("u", *own[1:])
        return (("which",) if self.which else ()) + own

    @property
    def offsets(self) -> dict[str, str]:
        """Names that give how far the items before reach along an axis: `{"C_offset": "C_i"}`."""
        own = (self.over,) if self.over is not None else self.targets if self.which else ()
        names = (axis.name for field in own for axis in field.axes if axis.per_item)
        return {f"{name.removesuffix('_i')}_offset": name for name in names}

    def error(self, message: str) -> DefinitionError:
        """An error at the function's line."""
        return DefinitionError(f"{self.name}: {message}", self.file, self.line)

    def check(self, known: set[str]) -> None:
        """Compare the arguments with the names that the layer offers; refuse globals that no device has."""
        lead = self.indices
        if self.args[: len(lead)] != lead:
            wanted = ", ".join(lead) or "none"
            raise self.error(
                f"computes `{self.target_names[0]}`, whose axes are `{self.targets[0].text}`: "
                f"the first arguments must be {wanted}, not {', '.join(self.args[: len(lead)]) or 'none'}"
            )
        for name in self.args[len(lead) :]:
            if name in ("before", "after") and self.scan is None:
                raise self.error(
                    f"`{name}` is only available in a scan over sequences, axes `T:S`: "
                    'add `scan="forward"` or `scan="back"`'
                )
            if name not in known:
                raise self.error(f"unknown argument `{name}`{suggestion(name, known)}")
        if self.python:
            return
        self._check_along()
        _check_globals(self.call, self.name)

    def _check_along(self) -> None:
        if isinstance(self.over, Output) and (self.along is None or self.role != "gradient"):
            raise self.error("`over` with an output requires `along`")
        if self.along is None:
            return
        target = self.targets[0]
        if self.over is None or len(self.targets) > 1 or target.per_item or self.scan:
            raise self.error("`along` requires one target, `over` a repeatable input or output, and no scan")
        places = [at for at, axis in enumerate(target.axes) if axis.name == self.along]
        if not places or not all(0 < at < len(self.over.axes) and self.over.axes[at].per_item for at in places):
            raise self.error(
                f"`along` must name an axis after the rows that is separate per item of `{self.over.name}`"
            )

    def check_writes(self) -> None:
        """A procedure writes its targets, and every other function writes nothing: it gives its element."""
        if self.python:  # what it is given cannot be written
            return
        try:
            subscripts = all_of(self.program.tree, ast.Subscript)
            stores = [node for node in subscripts if isinstance(node.ctx, ast.Store)]
        except OSError:  # typed at a prompt: there is no text to read
            return
        own = self.target_names if self.role == "fill" else ()
        for store in stores:
            name = ast.unparse(store.value)
            if name not in own:
                what = f"it may only write {', '.join(own)}" if own else "it returns the value of its element"
                raise self.error(f"writes into `{name}`, which is not its target; {what}")


def _check_globals(call: Callable[..., Any], name: str) -> None:
    code, scope = call.__code__, call.__globals__
    for used in global_names(code):
        found = scope.get(used)
        if found is None and (used in _BUILTINS or used in _MATH or not hasattr(builtins, used)):
            continue  # an attribute such as `shape`, or a builtin that numba knows
        if found is math or found in (real, double) or found in HELPERS or isinstance(found, (int, float)):
            continue
        if isinstance(found, (FunctionType, ModuleType, type)) or hasattr(builtins, used):
            own = isinstance(found, FunctionType) and found.__module__ == call.__module__
            remedy = f", which is not a helper: add `@pl.helper` above `def {used}`"
            allowed = "; a point function may only use math, numbers, `real` and @helper functions"
            message = f"{name}: uses `{used}`{remedy if own else allowed}"
            raise DefinitionError(message, code.co_filename, code.co_firstlineno)


@dataclass(frozen=True)
class Facts:
    """The order of a layer's functions and its characterization, with the names of Mocha.jl and KUnet.jl."""

    forward: tuple[Function, ...]
    backward: tuple[Function, ...]
    back_reads: tuple[str, ...]
    """Inputs and outputs whose values the backward pass reads."""
    differentiable: tuple[str, ...]
    """Inputs that get a gradient."""
    overwrites: bool
    """Whether the output may take the memory of the input."""
    is_source: bool
    is_sink: bool
    has_param: bool
    has_neuron: bool
    can_do_bp: bool
    is_inplace: bool
    has_loss: bool
    has_stats: bool
    has_phase: bool
    is_random: bool
    has_state: bool
    is_composite: bool
    rows_independent: bool
    """Whether a sample's result does not depend on the other samples of its batch."""
