"""Compiler options of kernel functions, and compiler pipelines of numba for driver bodies and their parts.

Parts are functions that are only called by compiled code and linked as LLVM IR. numba optimizes every function and
generates machine code before it links it into its callers, where it is optimized again. The machine code of a part is
never run, and what is known about its arguments is known in the callers only. So a body is optimized once, when all of
its parts are linked.

The options set NumPy error semantics and inlining, and leave out entry points for callers in Python and C, which took a
fifth of the compile time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from llvmlite import ir
from llvmlite.binding import Linkage
from numba import njit, types
from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.inline_closurecall import InlineWorker
from numba.core.ir import Scope
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.untyped_passes import InlineInlinables
from numba.extending import intrinsic, register_jitable


class PartLibrary(JITCodeLibrary):
    """LLVM IR of a function and its callees, to be linked into the callers."""

    def finalize(self) -> None:
        """Links the callees."""
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # does not exist in numba 0.62
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = Linkage.linkonce_odr  # as numba does in a copy for callers; there are no other users
        self._finalized = True


class BodyLibrary(JITCodeLibrary):
    """LLVM IR and machine code of a driver's body and all its callees."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Postponed to the end, when all callees are linked."""
        # To optimize the functions of a body before it is linked took 3.4 instead of 2.2 of 29 s for ResNet-50's
        # kernels.
        ll_module.data_layout = self._codegen._data_layout


@register_pass(mutates_CFG=True, analysis_only=False)
class BodyLowering(NativeLowering):
    """Compiler pass from typed IR to machine code."""

    _name = "body_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lowers and compiles the function."""
        state.library = BodyLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.type_annotation = ""  # never read
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """Compiler pass from typed IR to LLVM IR, without machine code."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lowers the function and registers it for its callers; it has no address."""
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        state.type_annotation = ""  # never read, and it would keep every statement in memory
        super().run_pass(state)
        lowered = state["cr"]
        lowered.fndesc.typemap = lowered.fndesc.calltypes = {}  # would also stay in memory; callers read neither
        name = lowered.fndesc.qualname.rpartition(".")[2]
        known_as = make_function(lowered.fndesc.lookup_module(), name, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(known_as, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=known_as)
        return True


class SharedScope(Scope):
    """The variable names of a function, shared when its IR is copied: those of the original are never read."""

    def __deepcopy__(self, memo: Any) -> SharedScope:
        """The same object."""
        return self


class Copier(InlineWorker):
    """Inlines a function into a caller before type inference.

    Without it numba copies the names of all variables once per block of statements: a twelfth of the compile time of
    the kernels of ResNet-50.
    """

    def run_untyped_passes(self, func: Any, enable_ssa: bool = False) -> Any:
        """The IR of a function."""
        self._compiler_pipeline = untyped_steps
        function = super().run_untyped_passes(func, enable_ssa)
        for block in function.blocks.values():
            block.scope.__class__ = SharedScope
        return function


@register_pass(mutates_CFG=True, analysis_only=False)
class PartInlining(InlineInlinables):
    """Compiler pass that inlines functions into their callers."""

    _name = "part_inlining"

    def _do_work(self, state: Any, work_list: Any, block: Any, i: int, expr: Any, inline_worker: Any) -> Any:
        """Inlines the callee in `expr`, if it is such a function."""
        inline_worker.__class__ = Copier  # created inside numba, which has no other extension point
        return super()._do_work(state, work_list, block, i, expr, inline_worker)


def with_own_steps(steps: PassManager, own: Mapping[type, type | None]) -> PassManager:
    """Passes of numba, some of them replaced by an `own` one or removed."""
    steps.passes = [(step, why) for each, why in steps.passes if (step := own.get(each, each)) is not None]
    steps._finalized = False
    steps.finalize()
    return steps


def untyped_steps(state: Any, name: Any = "untyped") -> PassManager:
    """The passes before type inference."""
    return with_own_steps(DefaultPassBuilder.define_untyped_pipeline(state, name), PartCompiler.own)


class PartCompiler(Compiler):
    """numba's compiler pipeline without unnecessary passes."""

    own: ClassVar[Mapping[type, type | None]] = {
        NativeLowering: PartLowering,
        InlineInlinables: PartInlining,
        # Takes 0.8 s for ResNet-50's kernels.
        NopythonRewrites: None,  # for arrays as a whole, lists and record fields: parts compute with scalars
    }

    def define_pipelines(self) -> list[PassManager]:
        """The passes."""
        return [with_own_steps(steps, self.own) for steps in super().define_pipelines()]


class BodyCompiler(PartCompiler):
    """The same, to machine code; a plugin's kernel, which is inlined into its body, may compute with whole arrays."""

    own: ClassVar[Mapping[type, type | None]] = {NativeLowering: BodyLowering, InlineInlinables: PartInlining}


INNER: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}
OUTER: Any = {"pipeline_class": BodyCompiler}
"""Options of the body of a driver."""

# `error_model="numpy"` divides without a branch for zero, which would prevent vectorization. Fast math is enabled per
# function and flag, since `nnan` and `ninf` would break NaN propagation.
compiled: Any = njit(error_model="numpy", **INNER)
"""Strict IEEE rounding of every operation."""
contracted: Any = njit(error_model="numpy", fastmath={"contract"}, **INNER)
"""Permits fused multiply-add, which rounds once."""
reordered: Any = njit(error_model="numpy", fastmath={"reassoc"}, **INNER)
"""Permits reassociation of sums."""
inlined: Any = njit(error_model="numpy", forceinline=True, **INNER)
"""Inlined by LLVM."""
# numba makes a specialization of a called function for each constant among its arguments; inlined code has none.
copied: Any = njit(error_model="numpy", inline="always")
"""Inlined before type inference, which compiles faster than a call."""
# `register_jitable` types constants as plain integers: with `njit` there were four specializations of
# `gemm_microkernel`, and two or three of copies and transpositions.
once: Any = register_jitable(error_model="numpy", **INNER)
"""Compiled once for all callers; other functions are specialized for every constant that a caller passes."""
also_in_python: Any = register_jitable(**INNER)
"""Also callable by the host."""


def llvm_code(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of a function that emits the code of its calls in compiled functions, which have this signature.

    It is called as `emit(builder, *arguments)` and returns the value of the result, if there is one.
    """
    return lambda emit: _emitted(emit, 1, lambda _given: (signature, emit))


def llvm_memory_code(emit: Callable[..., Any]) -> Any:
    """As `llvm_code`, for calls with addresses and integers, and last a 1 in the precision of the elements.

    The function is called as `emit(builder, real, size, *integers)`, with the type of the elements and its bytes.
    """

    def of_precision(given: tuple[Any, ...]) -> tuple[Any, Callable[..., Any]]:
        real, size = (ir.FloatType(), 4) if given[-1] == types.float32 else (ir.DoubleType(), 8)
        signature = types.void(*[types.int64] * (len(given) - 1), given[-1])
        return signature, lambda builder, *arguments: emit(builder, real, size, *arguments[:-1])

    return _emitted(emit, 3, of_precision, "one")


def _emitted(emit: Callable[..., Any], own: int, choose: Callable[..., Any], *last: str) -> Any:
    """An intrinsic with the parameters of `emit` after its `own` ones."""

    def call(_context: Any, *given: Any) -> Any:
        signature, chosen = choose(given)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            result = chosen(builder, *args)
            return context.get_dummy_value() if result is None else result

        return signature, codegen

    call.__name__ = emit.__name__
    return intrinsic(with_parameters(call, [*[*inspect.signature(emit).parameters][own:], *last]))


def with_parameters(call: Callable[..., Any], names: Iterable[str]) -> Callable[..., Any]:
    """Names the parameters of an intrinsic after the first one: numba reads them from the signature."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    vars(call)["__signature__"] = inspect.Signature([inspect.Parameter(name, kind) for name in ("_context", *names)])
    return call
