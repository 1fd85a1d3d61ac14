"""Networks and layers on the GPU, compared with PyTorch."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from .benchmark_page import measurements, page
from .parts import Facts, Part, Setup
from .sizes import LAYERS, NETWORKS, find

if TYPE_CHECKING:
    from tests.benchmarks.ours import Side
    from tests.benchmarks.workloads import Workload

RATES = "rates of the GPU"
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

    from tests.benchmarks import theirs

    torch.backends.cudnn.benchmark = True  # torch may choose its fastest convolution
    theirs.set_precision("ieee")
    if item == RATES:
        return rates(setup)
    work = find(item, setup.tiny)
    return network(work, setup) if work.classes else layer(work, setup)


def rates(setup: Setup) -> Facts:
    """Bytes a second of a copy, operations a second of a product of matrices, by torch."""
    import torch

    from tests.benchmarks import theirs
    from tests.benchmarks.timing import Timed, compare

    device, size, side = theirs.torch_device(), 1 << (12 if setup.tiny else 28), 64 if setup.tiny else 8192
    source, target = torch.randn(2, size, device=device)
    left, right = torch.randn(2, side, side, device=device)
    runs = {
        "copy": lambda: target.copy_(source),
        "float32": theirs.in_precision("ieee", lambda: left @ right),
        "tf32": theirs.in_precision("tf32", lambda: left @ right),
    }
    wait = theirs.waiting(device)
    seconds = compare({name: Timed(run, wait) for name, run in runs.items()}, **_effort(setup))
    return {
        "gpu": torch.cuda.get_device_name() if device == "cuda" else "CPU",
        "copy": 2 * source.nbytes / seconds["copy"],
        **{name: 2 * side**3 / seconds[name] for name in ("float32", "tf32")},
    }


def network(work: Workload, setup: Setup) -> Facts:
    """Outputs of a batch and a step of training: by what is on the device, and with NumPy arrays in and out."""
    from tests.benchmarks import ours, theirs

    found: Facts = {"kind": "network", "rows": {}}
    for what in ("outputs", "step"):
        mine = getattr(ours, what)(work, setup.device)
        its = getattr(theirs, what)(work, theirs.torch_device())
        if what == "outputs":
            found |= _agreement(theirs.distance(mine, its))
        found["rows"][what] = {
            "operations": operations(its),
            "alone": turns(mine, its, "alone", setup),
            "called": turns(mine, its, "called", setup),
        }
        mine.owner.close()
    return found


def layer(work: Workload, setup: Setup) -> Facts:
    """Forward alone, and forward and backward, by what is on the device."""
    from tests.benchmarks import ours, theirs

    found: Facts = {"kind": "layer", "rows": {}}
    for what, backward in (("forward", False), ("forward and backward", True)):
        mine = ours.layer(work, setup.device, backward)
        its = theirs.layer(work, theirs.torch_device(), backward)
        if not backward and not mine.owner.network["last"].definition.facts.is_random:
            found |= _agreement(theirs.distance(mine, its))
        found["rows"][what] = {
            "bytes": ours.least_bytes(work, backward),
            "alone": turns(mine, its, "alone", setup),
        }
        mine.owner.close()
    return found


def turns(mine: Side, its: Side, how: str, setup: Setup) -> dict[str, float]:
    """Seconds of each side. Without copies, PyTorch is also measured in TF32."""
    from tests.benchmarks.theirs import in_precision
    from tests.benchmarks.timing import Timed, compare

    run = getattr(its, how)
    pairs = {
        "ours": Timed(getattr(mine, how), mine.wait),
        "torch": Timed(in_precision("ieee", run), its.wait),
    }
    if how == "alone":
        pairs["tf32"] = Timed(in_precision("tf32", run), its.wait)
    return compare(pairs, **_effort(setup))


def operations(side: Side) -> int:
    """Floating-point operations of products and convolutions, as torch counts them."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        side.alone()
    return int(counter.get_total_flops())


def _agreement(distance: float) -> Facts:
    findings = [] if distance <= AGREE else [f"outputs differ by {distance:.1e} from torch's"]
    return {"distance": distance, "findings": findings}


def _effort(setup: Setup) -> dict[str, Any]:
    return TINY if setup.tiny else FULL


PART = Part("Against PyTorch", items, run, page, absent, share=0.85, measurements=measurements)
