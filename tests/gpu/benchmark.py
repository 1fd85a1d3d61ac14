"""Networks and layers against PyTorch on the card."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from .benchmark_page import page
from .parts import Facts, Part, Setup
from .sizes import LAYERS, NETWORKS, find

if TYPE_CHECKING:
    from tests.benchmarks.sides import Side
    from tests.benchmarks.workloads import Workload

RATES = "rates of the card"
FULL, TINY = {"rounds": 7, "seconds": 0.05}, {"rounds": 1, "seconds": 0.0}
"""Blocks of a side, and their length."""
AGREE = 1e-3
"""Largest difference of the outputs, as a share of the largest: it shows that both do the same, not how they round."""


def absent() -> str:
    """PyTorch is never needed for anything else."""
    return "" if importlib.util.find_spec("torch") else "PyTorch is not installed"


def items(setup: Setup) -> list[str]:
    """The rates first: everything else is compared with them."""
    return [RATES, *(work.name for work in (*NETWORKS[setup.tiny], *LAYERS[setup.tiny]))]


def run(item: str, setup: Setup) -> Facts:
    """In a child process."""
    import torch

    from tests.benchmarks.sides import set_precision

    torch.backends.cudnn.benchmark = True  # torch may choose its fastest convolution
    set_precision("ieee")
    if item == RATES:
        return rates(setup)
    work = find(item, setup.tiny)
    return network(work, setup) if work.classes else layer(work, setup)


def rates(setup: Setup) -> Facts:
    """Bytes a second of a copy, operations a second of a product of matrices, by torch."""
    import torch

    from tests.benchmarks.sides import in_precision, their_device, waiting
    from tests.benchmarks.timing import Timed, compare

    device, size, side = their_device(), 1 << (12 if setup.tiny else 28), 64 if setup.tiny else 8192
    source, target = torch.randn(2, size, device=device)
    left, right = torch.randn(2, side, side, device=device)
    wait = waiting(device)
    runs = {
        "copy": lambda: target.copy_(source),
        "float32": in_precision("ieee", lambda: left @ right),
        "tf32": in_precision("tf32", lambda: left @ right),
    }
    seconds = compare({name: Timed(run, wait) for name, run in runs.items()}, **_effort(setup))
    return {
        "copy": 2 * source.nbytes / seconds["copy"],
        **{name: 2 * side**3 / seconds[name] for name in ("float32", "tf32")},
    }


def network(work: Workload, setup: Setup) -> Facts:
    """Outputs of a batch and a step of training: by what is on the device, and with NumPy arrays in and out."""
    from tests.benchmarks import sides

    found: Facts = {"kind": "network", "rows": {}}
    for what, ours_of, theirs_of in (
        ("outputs", sides.our_outputs, sides.their_outputs),
        ("training", sides.our_step, sides.their_step),
    ):
        ours, theirs = ours_of(work, setup.device), theirs_of(work, sides.their_device())
        if what == "outputs":
            found |= _agreement(sides.distance(ours, theirs))
        found["rows"][what] = {
            "operations": operations(theirs),
            "alone": turns(ours, theirs, "alone", setup),
            "called": turns(ours, theirs, "called", setup),
        }
        ours.owner.close()
    return found


def layer(work: Workload, setup: Setup) -> Facts:
    """Forward alone, and forward and backward, by what is on the device."""
    from tests.benchmarks import sides

    found: Facts = {"kind": "layer", "rows": {}}
    for what, backward in (("forward", False), ("forward and backward", True)):
        ours = sides.our_layer(work, setup.device, backward)
        theirs = sides.their_layer(work, sides.their_device(), backward)
        if not backward and not ours.owner.network["last"].definition.facts.is_random:
            found |= _agreement(sides.distance(ours, theirs))
        found["rows"][what] = {
            "bytes": sides.least_bytes(work, backward),
            "alone": turns(ours, theirs, "alone", setup),
        }
        ours.owner.close()
    return found


def turns(ours: Side, theirs: Side, how: str, setup: Setup) -> dict[str, float]:
    """Seconds of each side; with products in TF32, which ours never are, for information."""
    from tests.benchmarks.sides import in_precision
    from tests.benchmarks.timing import Timed, compare

    run = getattr(theirs, how)
    pairs = {
        "ours": Timed(getattr(ours, how), ours.wait),
        "torch": Timed(in_precision("ieee", run), theirs.wait),
        "tf32": Timed(in_precision("tf32", run), theirs.wait),
    }
    return compare(pairs, **_effort(setup))


def operations(theirs: Side) -> int:
    """Floating-point operations of products and convolutions, as torch counts them."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        theirs.alone()
    return int(counter.get_total_flops())


def _agreement(distance: float) -> Facts:
    findings = [] if distance <= AGREE else [f"outputs differ by {distance:.1e} from torch's"]
    return {"distance": distance, "findings": findings}


def _effort(setup: Setup) -> dict[str, Any]:
    return TINY if setup.tiny else FULL


PART = Part("Against PyTorch", items, run, page, absent, share=0.85)
