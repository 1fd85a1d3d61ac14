"""Timing of a step of a network on the CPU, with synthetic feeds: as a whole, and per layer."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddle_layers.define import Input
from paddle_layers.runtime.batch.values import Csr, Sequences
from paddle_layers.runtime.devices import Progress
from paddle_layers.runtime.devices.cpu.table import CpuTable
from paddle_layers.runtime.graph.building import build_graph
from paddle_layers.runtime.graph.domains import Value
from paddle_layers.runtime.graph.graph import Graph
from paddle_layers.runtime.launches.arguments import Ref
from paddle_layers.runtime.launches.buffers import FOREVER, Buffer
from paddle_layers.runtime.launches.launch import Launch
from paddle_layers.runtime.memory.parameters import ParameterSet
from paddle_layers.runtime.net import Net
from paddle_layers.runtime.plan.plan import Plan

from .counting import count

if TYPE_CHECKING:
    from paddle_layers.config.network import Network

DTYPE = "float32"
SECONDS = 2.0
"""Duration of timing whole steps, and again of timing launch by launch."""
LEAST, MOST = 3, 200
"""Minimum and maximum number of steps."""
PASSES = ("forward", "backward")
SEQUENCE_LENGTH = 20
"""Rows of a sequence, and of a sub-sequence; a sequence has `SUB_SEQUENCES` of these."""
SUB_SEQUENCES = 4
SPARSE_COLUMNS = 50
"""Maximum number of columns per sparse row."""


class Work(NamedTuple):
    """Time, and the operations and bytes according to the definitions."""

    seconds: float
    operations: float
    nbytes: float


class StepTimes(NamedTuple):
    """Medians over many steps."""

    layers: dict[tuple[str, str], Work]
    """By layer and pass, in the order of the network; each launch is timed separately."""
    whole: dict[str, Work]
    """By pass, all launches without a pause, as in a regular step."""


def time_step(network: Network, phase: str, batch_size: int, progress: Progress | None = None) -> StepTimes:
    """Runs a phase on synthetic feeds.

    The backward pass starts from the loss, or without one from all dense outputs.
    """
    graph = build_graph(network.select(phase), ParameterSet(DTYPE), {})
    feeds = synthetic_feeds(graph, batch_size)
    with Net(network, dtype=DTYPE, progress=progress) as net:
        outputs = net.forward(feeds, phase=phase)
        if phase == "train":
            rows = {name: v.data if isinstance(v, Sequences) else v for name, v in outputs.items()}
            given = {n: np.ones_like(v) for n, v in rows.items() if graph.values[n].type.kind == "DENSE"}
            net.backward(None if graph.losses else given)
        return _measured(net.plan(phase))


def total(works: Iterable[Work]) -> Work:
    """The sum."""
    return Work(*(float(sum(column)) for column in zip(Work(0, 0, 0), *works, strict=True)))


def _measured(plan: Plan) -> StepTimes:
    assert isinstance(plan.table, CpuTable)
    table, end = plan.table, len(plan.launches)
    # Passes as a whole besides single launches: launches that follow each other share the cache, so their times do not
    # add up.
    whole = _medians(lambda: np.array([_seconds(plan.forward), _seconds(plan.backward)]))
    alone = _medians(lambda: table.time(plan.constants, plan.boundary) + table.time(plan.boundary, end))
    parts: dict[tuple[str, str], list[Work]] = defaultdict(list)
    owners = _owners(plan.graph)
    for at, launch in enumerate(plan.launches):
        layer = owners.get(launch.op, launch.op)
        parts[layer, PASSES[at >= plan.boundary]].append(_counted(plan, launch, float(alone[at])))
    order = [(layer, direction) for layer in dict.fromkeys([*owners.values(), *(layer for layer, _ in parts)])
             for direction in PASSES]  # fmt: skip
    layers = {key: total(parts[key]) for key in order if key in parts}
    return StepTimes(
        layers,
        {
            direction: total(work for key, work in layers.items() if key[1] == direction)._replace(
                seconds=float(seconds)
            )
            for direction, seconds in zip(PASSES, whole, strict=True)
            if any(key[1] == direction for key in layers)
        },
    )


def _seconds(run: Callable[[], None]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def _medians(measure: Callable[[], NDArray[np.float64]]) -> list[float]:
    # The first run compiles, touches memory and fills caches.
    measure()
    found: list[NDArray[np.float64]] = []
    end = time.perf_counter() + SECONDS
    while len(found) < LEAST or (len(found) < MOST and time.perf_counter() < end):
        found.append(measure())
    return [statistics.median(column) for column in np.array(found).T.tolist()]


def _owners(graph: Graph) -> dict[str, str]:
    """The layer by the names of launches; operations appended to a layer, such as its activation, belong to it."""
    names = {op.name for op in graph.ops}
    owners: dict[str, str] = {}
    for op in graph.ops:
        before = op.name.rpartition(".")[0]
        owners[op.name] = before if before in names else op.name
    for op in graph.ops:
        parameters = [parameter.name for found in op.params.values() for parameter in found]
        for name in (*(value.name for value in op.outputs), *parameters):
            owners.setdefault(name, owners[op.name])
    return owners


def _counted(plan: Plan, launch: Launch, seconds: float) -> Work:
    itemsize = np.dtype(DTYPE).itemsize
    rows = plan.rows
    found = [
        count(one, rows.size, lambda ref: _whole_numbers(plan, ref), itemsize, rows.starts) for one in launch.computes
    ]
    return Work(seconds, sum(one.operations for one in found), sum(one.nbytes for one in found))


def _whole_numbers(plan: Plan, ref: Ref) -> NDArray[Any] | None:
    """Integers of an array that is not overwritten in a step."""
    owner = ref.owner
    if not isinstance(owner, Buffer) or owner.storage is None or owner.storage.last != FOREVER:
        return None
    return plan.read(owner)


def synthetic_feeds(graph: Graph, rows: int) -> dict[str, Any]:
    """Random values of every data layer for `rows` samples: ids in their range, sequences of equal length."""
    # A fixed seed: counts depend on ids, and two runs must be comparable.
    rng = np.random.default_rng(0)
    fields = {
        value.name: field for op in graph.ops for name, field in op.layer.inputs.items() for value in op.argument(name)
    }
    return {name: _feed(value, fields.get(name), rows, rng) for name, value in graph.feeds.items()}


def _feed(value: Value, field: Input | None, samples: int, rng: np.random.Generator) -> Any:
    level = value.type.level
    parts = samples * (SUB_SEQUENCES if level == 2 else 1)
    data = _rows(value, field, parts * (SEQUENCE_LENGTH if level else 1), rng)
    if level == 0:
        return data
    starts = np.arange(parts + 1) * SEQUENCE_LENGTH
    return Sequences(data, starts) if level == 1 else Sequences(data, np.arange(samples + 1) * SUB_SEQUENCES, starts)


def _rows(value: Value, field: Input | None, count: int, rng: np.random.Generator) -> Any:
    kind, size = value.type.kind, value.type.size
    shape = (count, *value.type.dims)
    if field is not None and field.places is not None:
        # Positions in a sequence: 0 is valid for every length.
        return np.zeros(shape, np.int64 if kind == "INT" else np.float32)
    if kind == "INT":
        return rng.integers(0, size, shape)
    if kind == "DENSE":
        low, high = field.within if field is not None and field.within is not None else (-1.0, 1.0)
        return rng.uniform(low, high, shape)
    entries = min(size, SPARSE_COLUMNS)
    apart = size // entries
    # Spread over the whole range, as accesses to neighboring rows would be in the cache.
    ids = (np.arange(entries) * apart + rng.integers(0, apart, (count, entries))).reshape(-1)
    start = np.arange(count + 1) * entries
    return Csr(start, ids, rng.standard_normal(len(ids)) if kind == "SPARSE" else None)
