"""Bodies of drivers, and parts: functions that only other compiled functions call, which are compiled with each caller.

numba optimises every function and turns it into machine code before it links it into its callers, where it is optimised
again. Nobody runs the machine code of a part, and what is known of its arguments is known in the callers only. So a
body is optimised once, when all of its parts are in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from llvmlite.binding import Linkage
from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.inline_closurecall import InlineWorker
from numba.core.ir import Scope
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.untyped_passes import InlineInlinables


class Part(JITCodeLibrary):
    """What a function and those that it calls are in LLVM's language, to be linked into the callers."""

    def finalize(self) -> None:
        """Bring together what is called."""
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # numba 0.62 has none
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = Linkage.linkonce_odr  # as numba does in a copy for callers; there is nobody else
        self._finalized = True


class Body(JITCodeLibrary):
    """What a driver's body and all that it calls are in LLVM's language, and in the machine's."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave it to the end, when all that it calls is in it."""
        ll_module.data_layout = self._codegen._data_layout


@register_pass(mutates_CFG=True, analysis_only=False)
class BodyLowering(NativeLowering):
    """The step from typed instructions to machine code."""

    _name = "body_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower and compile the function."""
        state.library = Body(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.type_annotation = ""  # nobody reads it
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """The step from typed instructions to LLVM's, which numba ends with machine code."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower the function, and make it known to its callers; it has no address."""
        state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        state.type_annotation = ""  # nobody reads it, and it would keep every statement in memory
        super().run_pass(state)
        lowered = state["cr"]
        lowered.fndesc.typemap = lowered.fndesc.calltypes = {}  # so would these; callers read neither
        name = lowered.fndesc.qualname.rpartition(".")[2]
        known_as = make_function(lowered.fndesc.lookup_module(), name, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(known_as, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=known_as)
        return True


class SharedScope(Scope):
    """The names of a function's variables, kept when its statements are copied: nobody reads those of the original."""

    def __deepcopy__(self, memo: Any) -> SharedScope:
        """The same one."""
        return self


class Copier(InlineWorker):
    """Copies a function into a caller.

    Without it numba copies the names of all variables once for each block of statements: a twelfth of the time that the
    kernels of ResNet-50 take to compile.
    """

    def run_untyped_passes(self, func: Any, enable_ssa: bool = False) -> Any:
        """The statements of a function."""
        self._compiler_pipeline = untyped_steps
        function = super().run_untyped_passes(func, enable_ssa)
        for block in function.blocks.values():
            block.scope.__class__ = SharedScope
        return function


@register_pass(mutates_CFG=True, analysis_only=False)
class PartInlining(InlineInlinables):
    """The step that copies functions into their callers."""

    _name = "part_inlining"

    def _do_work(self, state: Any, work_list: Any, block: Any, i: int, expr: Any, inline_worker: Any) -> Any:
        """Copy what is called in `expr`, if it is such a function."""
        inline_worker.__class__ = Copier  # numba makes it, and leaves no other place for one's own
        return super()._do_work(state, work_list, block, i, expr, inline_worker)


def with_own_steps(steps: PassManager, own: Mapping[type, type | None]) -> PassManager:
    """numba's steps, but for those in whose place there is an `own` one, or none."""
    steps.passes = [(step, why) for each, why in steps.passes if (step := own.get(each, each)) is not None]
    steps._finalized = False
    steps.finalize()
    return steps


def untyped_steps(state: Any, name: Any = "untyped") -> PassManager:
    """Those that come before types are known."""
    return with_own_steps(DefaultPassBuilder.define_untyped_pipeline(state, name), PartCompiler.own)


class PartCompiler(Compiler):
    """numba's steps in their order, but for some."""

    own: ClassVar[Mapping[type, type | None]] = {
        NativeLowering: PartLowering,
        InlineInlinables: PartInlining,
        NopythonRewrites: None,  # for whole arrays, lists and fields of records: parts compute with numbers
    }

    def define_pipelines(self) -> list[PassManager]:
        """The steps."""
        return [with_own_steps(steps, self.own) for steps in super().define_pipelines()]


class BodyCompiler(PartCompiler):
    """The same, to machine code; a plugin's kernel, which is copied into its body, may compute with whole arrays."""

    own: ClassVar[Mapping[type, type | None]] = {NativeLowering: BodyLowering, InlineInlinables: PartInlining}
