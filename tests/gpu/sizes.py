"""Networks and layers compared with PyTorch: sizes that occupy a GPU, and tiny ones for the simulator."""

from __future__ import annotations

from tests.benchmarks.networks import alexnet, lenet, mlp, residual
from tests.benchmarks.workloads import Workload, memory_bound

NETWORKS = {
    False: [mlp(128), mlp(4096), lenet(64), lenet(1024), alexnet(128), residual(32), residual(256)],
    True: [mlp(2, 4, 4)],
}
"""By whether they are tiny; the more telling ones first."""
LAYERS = {False: memory_bound(128, 64, 64), True: memory_bound(1, 2, 4)[:3]}
"""A tensor of 128 MiB is larger than the cache of a GPU."""


def find(name: str, tiny: bool) -> Workload:
    """By name."""
    return next(work for work in (*NETWORKS[tiny], *LAYERS[tiny]) if work.name == name)
