"""Functions that only other compiled functions call: compiled as a part of each caller, and never by themselves.

numba optimises every function and turns it into machine code before it links it into its callers, where it is optimised
again. Nobody runs the machine code of a part, and what is known of its arguments is known in the callers only.
"""

from __future__ import annotations

from typing import Any

from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering


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


class PartCompiler(Compiler):
    """numba's steps, but for the last but one."""

    def define_pipelines(self) -> list[PassManager]:
        """The steps in their order."""
        pipelines: list[PassManager] = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [(PartLowering if each is NativeLowering else each, why) for each, why in pipeline.passes]
            pipeline._finalized = False
            pipeline.finalize()
        return pipelines
