"""Properties of execution: memory, in-place buffers, determinism, compiled and tuned kernels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from paddle_layers.kernels.selection import tuned_functions
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size
from paddle_layers.runtime.devices.cpu.table import always_cut
from paddle_layers.testing.findings import Verdicts, all_close, same_bits

from ..cases.case import Case
from ..cases.trial import Trial, as_python, guarded, run
from ..cases.values import same_rows
from .cuda import breadth

UNWRITTEN = "with memory initialized to NaN: an element is not written, or read out of bounds"


def check_memory(case: Case, dtype: str = "float64") -> Verdicts:
    """Run a second time with all memory full of NaN that the pass has to write, and with guard zones around it."""
    with guarded(), Trial(case, dtype) as trial:
        clean = trial.step()
        trial.mark_guards()
        again = trial.step(before=trial.poison)
        yield from same_bits(clean, again, UNWRITTEN)
        buffer = trial.touched()
        yield "guard zones", None if buffer is None else f"are overwritten next to `{buffer}`: an index is out of range"
        for place, (before, after) in enumerate(zip(case.arrays(), trial.arrays, strict=True)):
            yield f"in{place}", None if same_rows(before, after) else "the input was modified"
        for name in trial.changed_parameters():
            yield name, "the parameter was modified"


def check_facts(case: Case, dtype: str = "float64") -> Verdicts:
    """Compare a plan with separate memory for every value with plans that share and reuse memory."""
    with guarded(), Trial(case, dtype) as trial:
        expected = trial.step()
        unread = list(_unread(case))
        found = trial.step(between=lambda: trial.poison_dead(unread))
        dead = ", ".join(f"`{name}`" for name in unread) or "unused memory"
        yield from same_bits(expected, found, f"when {dead} is set to NaN before the backward pass")
    with Trial(replace(case, copied=True), dtype) as trial:
        outputs = trial.forward()
        yield from same_bits(
            {name: expected[name] for name in outputs}, outputs, "when no backward pass follows, and buffers are reused"
        )
        found = trial.step()
        how = "the output overwrites the input" if trial.in_place else "buffers are reused"
        yield from same_bits(expected, found, f"when {how}")


def _unread(case: Case) -> Iterable[str]:
    """Dense inputs and outputs whose values the backward pass does not read, by the facts."""
    if not case.trains:
        return
    reads = case.definition.facts.back_reads
    for place, (type_, field) in enumerate(zip(case.types, case.inputs, strict=True)):
        if type_.kind == "DENSE" and field.name not in reads:
            yield f"in{place}"
    if not case.followed and not any(name in reads for name in case.definition.outputs):
        for name, type_ in zip(case.outputs, case.output_types, strict=True):
            if type_.kind == "DENSE":
                yield name


PIECES = "when its work is split across threads"
BACKWARDS = "when its parts run in reverse order"


def check_determinism(case: Case) -> Verdicts:
    """Run each launch as one tile, again, as concurrent tiles, and as tiles in reverse order.

    Tiles write their own elements only, so a difference is a race: two tiles write to one position, or one reads a
    result of another one. The reverse order shows it even if the concurrent run happens to succeed.
    """
    with Trial(case, "float32") as trial:
        expected = trial.step()
        # In the same net: a second run must not depend on what the first one left in memory.
        yield from same_bits(expected, trial.step(), "in a second run")
    with always_cut("pieces"):
        yield from same_bits(expected, run(case, "float32")[0], PIECES)
    with always_cut("backwards"):
        yield from same_bits(expected, run(case, "float32")[0], BACKWARDS)


def check_compiled(case: Case) -> Verdicts:
    """Compare outputs, statistics, states and gradients; ask of compiled kernels, too, what memory asks of functions.

    All else is asked of the functions as Python, which notices more and needs no compiler.
    """
    for dtype in breadth().precisions:
        expected, _ = as_python(partial(run, case, dtype))
        with point_functions_only():
            found, _ = run(case, dtype)
            yield from all_close(expected, found, dtype, f"compiled, in {dtype}")
            yield from check_memory(case, dtype)


def check_cuts(case: Case) -> Verdicts:
    """Compiled kernels give the same bits however their work is cut into pieces."""
    with point_functions_only():
        yield from check_determinism(case)


def check_tuned(case: Case) -> Verdicts:
    """Run the case with tuned kernels, however small it is, and without: outputs and gradients must agree.

    On examples, what memory, determinism and facts ask of point functions is asked of tuned kernels, too.
    """
    if not tuned_functions(case.definition.name):
        return
    for dtype in breadth().precisions:
        with tuned_at_every_size():
            found, used = run(case, dtype)
        if used:
            expected, _ = as_python(partial(run, case, dtype))
            why = f"in {dtype} with tuned {', '.join(sorted(used))}"
            yield from all_close(expected, found, dtype, why)
    if used and case.is_example:
        with tuned_at_every_size():
            yield from check_memory(case, dtype)
            yield from check_facts(case, dtype)
            yield from check_determinism(case)
            yield from check_runs(case, dtype)


def check_runs(case: Case, dtype: str) -> Verdicts:
    """Run kernels that declare `runs` item by item: none may write outside its tile."""
    with Trial(case, dtype) as trial:
        trial.step()
        for name, buffer in trial.outside_runs():
            yield name, None if buffer is None else f"a work item writes `{buffer}` outside its `runs`"
