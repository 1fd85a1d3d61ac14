"""CUDA kernels: the simulator matches the CPU, and every kernel compiles without implicit float64."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from functools import partial

from paddle_layers.define.errors import first_line
from paddle_layers.define.facts.devices import devices_of
from paddle_layers.kernels.tuned import point_functions_only, tuned_at_every_size

from ..cases.case import Case
from ..cases.trial import as_python, run
from .breadth import breadth
from .comparing import Verdicts, all_close
from .ptx import Ptx, drivers_of

FORMS = {point_functions_only: "point functions", tuned_at_every_size: "thread blocks and tuned kernels"}
"""The kernels that a function may become, in words."""
NEEDS_CUDA = "CUDA kernels were not checked; this requires numba-cuda, but no GPU: pip install 'paddle-layers[cuda]'"


def has_cuda() -> bool:
    """Check for numba-cuda, which requires no GPU.

    Returns:
        Whether kernels can be compiled for GPUs and simulated.

    Example::

        if not has_cuda():
            print(NEEDS_CUDA)
    """
    from paddle_layers.runtime.devices.cuda import can_compile

    return can_compile()


def check_cuda(case: Case) -> Verdicts:
    """Compile the case's kernels for the GPU architectures, and compare the results of the simulator with the CPU.

    The kernels of a composite layer are those of its parts, which are checked separately; here their composition is
    checked, on the examples. Layers for the CPU only have none.
    """
    if (
        not has_cuda()
        or "cuda" not in devices_of(case.definition)
        or (case.definition.is_composite and not case.is_example)
    ):
        return
    for form in () if case.definition.is_composite else FORMS:
        with form():
            problems = list(_problems(case))
        yield from problems
        if any(problem is not None for _, problem in problems):
            return
    yield from _simulated(case)


def _simulated(case: Case) -> Verdicts:
    from paddle_layers.runtime.devices.cuda import simulated_device

    expected, _ = as_python(partial(run, case, "float32"))
    for form, kernels in list(FORMS.items())[: 1 if case.definition.is_composite else None]:
        with form():
            found, _ = run(case, "float32", simulated_device())
        yield from all_close(expected, found, "float32", f"in the CUDA simulator by {kernels}")


def _problems(case: Case) -> Iterator[tuple[str, str | None]]:
    for driver in drivers_of(case):
        for architecture in breadth().architectures:
            yield driver.name, _problem(Ptx(driver, architecture))


@functools.cache
def _problem(kernel: Ptx) -> str | None:
    """Why a kernel is no good for an architecture, or None."""
    version = "sm_{}{}".format(*kernel.architecture)
    try:
        kernel.link()
    except Exception as error:  # numba, NVVM and nvJitLink share no error class; the report shows it
        return f"does not compile for {version}: {type(error).__name__}: {first_line(error)}"
    # Integers in an expression promote float32 to float64 in numba, and float64 is many times slower on most GPUs.
    if kernel.has_f64:
        return f"computes in float64 for {version}; wrap integers in `real(...)`, or use `double(...)` if intended"
    return None
