"""Functions that only other compiled functions call: compiled as a part of each caller, and never by themselves.

numba optimises every function and turns it into machine code before it links it into its callers, where it is optimised
again. Nobody runs the machine code of a part, and what is known of its arguments is known in the callers only.
"""

from __future__ import annotations

from typing import Any

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
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """The step from typed instructions to LLVM's, which numba ends with machine code."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower the function, and make it known to its callers; it has no address."""
        state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
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


OWN = {NativeLowering: PartLowering, InlineInlinables: PartInlining}
"""The steps in whose place there is another one."""
NEEDLESS = {NopythonRewrites}
"""Steps for whole arrays, lists and fields of records, of which kernels have none: they compute with numbers."""


def with_own_steps(steps: PassManager) -> PassManager:
    """numba's steps, but for those above."""
    steps.passes = [(OWN.get(each, each), why) for each, why in steps.passes if each not in NEEDLESS]
    steps._finalized = False
    steps.finalize()
    return steps


def untyped_steps(state: Any, name: Any = "untyped") -> PassManager:
    """Those that come before types are known."""
    return with_own_steps(DefaultPassBuilder.define_untyped_pipeline(state, name))


class PartCompiler(Compiler):
    """numba's steps in their order, but for some."""

    def define_pipelines(self) -> list[PassManager]:
        """The steps."""
        return [with_own_steps(steps) for steps in super().define_pipelines()]
