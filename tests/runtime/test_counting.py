"""Operations that are counted in the text of a definition, against those of a run that numbers its values."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime import Sequences
from paddle_layers.runtime.generate.specialise import helper_programs
from paddle_layers.runtime.graph.domains import Extent
from paddle_layers.runtime.launches.arguments import Held, Key, Rate, Ref, Setting
from paddle_layers.runtime.launches.buffers import Buffer
from paddle_layers.runtime.plan.plan import Plan
from paddle_layers.runtime.profile.counting import count
from paddle_layers.runtime.profile.step import _counted
from paddle_layers.testing.cases.case import Case, cases
from paddle_layers.testing.cases.trial import Trial, as_python, guarded
from tests.references.counted_numbers import counted_operations
from tests.selection import is_later

# Every layer takes two minutes; these have all kinds of loops, conditions and indices.
LOOPS = (
    "multi_head_attention",
    "fc",
    "conv",
    "lstmemory",
    "grumemory",
    "seq_avg_pool",
    "softmax",
    "crf",
    "lrn",
    "seq_filter",
    "pad",
)


def _marks(name: str) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.slow, pytest.mark.later) if is_later(name) else (pytest.mark.slow,)


def value_of(plan: Plan, argument: Any) -> Any:
    """The value of an argument after a pass."""
    if isinstance(argument, Ref):
        shape = tuple(map(plan.rows.size, argument.shape))
        if isinstance(argument.owner, Held):
            return np.array(getattr(argument.owner.parameter, argument.owner.part)).reshape(shape)
        if isinstance(argument.owner, Buffer) and argument.owner.storage is None:
            return np.full(shape, 0.5)  # a part of a fused computation, which is not stored
        return np.array(plan.read(argument.owner)[: math.prod(shape)]).reshape(shape)
    if isinstance(argument, Extent):
        return plan.rows.size(argument)
    if isinstance(argument, Key):
        return 1 << 40
    if isinstance(argument, (Rate, Setting)):
        return 0.5
    return [value_of(plan, part) for part in argument] if isinstance(argument, tuple) else argument


def check_case(case: Case) -> None:
    with guarded(), Trial(case) as trial:
        trial.step()
        plan = trial.net.plan(case.phase)
        for launch in plan.launches:
            for one in launch.computes if launch.loop is None else ():
                if not one.function.targets:
                    continue  # of the framework itself

                def integers(ref: Ref) -> Any:
                    values = value_of(plan, ref)
                    return values.ravel() if values.dtype.kind == "i" else None

                lengths = {name: plan.rows.size(extent) for name, extent in one.sizes.items()}
                arguments = {name: value_of(plan, argument) for name, argument in one.args.items()}
                starts = plan.rows.starts.get(one.sequence[1:]) if one.sequence is not None else None
                programs = helper_programs(one.function.call).items()
                helpers = {name: program.named(name).text for name, program in programs}
                exact = counted_operations(one, helpers, lengths, arguments, starts)
                found = count(one, plan.rows.size, integers, 8, plan.rows.starts).operations
                if not exact.decided:  # else both ways count half
                    what = f"{launch.name}: {found}, right are {exact.count} to {exact.total}\n{case}"
                    assert exact.count * 0.97 - 1 <= found <= exact.total * 1.03 + 1, what


@pytest.mark.parametrize(
    "name", [*LOOPS, *(pytest.param(n, marks=_marks(n)) for n in sorted(pl.registry) if n not in LOOPS)]
)
def test_counts_are_between_the_distinct_operations_and_those_of_the_text(name: str) -> None:
    for case in cases(pl.registry[name]):
        as_python(functools.partial(check_case, case))


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal: bool) -> None:
    """Each pair of a query and a key takes a score and a share of the value, once for each head, in its sequence."""
    lengths, width, heads = [30, 20, 2], 64, 4
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: {width} seq_nested_level: 1 }} }}
    layer {{
      name: "y" type: "multi_head_attention" input: "x" input: "x" input: "x"
      multi_head_attention {{ num_heads: {heads} causal: {str(causal).lower()} }}
    }}
    """
    x = Sequences(np.random.default_rng(0).normal(size=(sum(lengths), width)), np.cumsum([0, *lengths]))
    with pl.Net(pl.loads(text)) as net:
        net.forward({"x": x}, phase="test")
        plan = net.plan("test")
        found = {launch.name: _counted(plan, launch, 0.0).operations for launch in plan.launches}
    pairs = sum(n * (n + 1) // 2 if causal else n * n for n in lengths)
    score = heads * 4  # factor, peak and norm, the exponential
    # One kernel computes the moments, too; operations are those of the functions, both of which take the scores.
    assert found["multi_head_attention_y"] == pytest.approx(pairs * (6 * width + 2 * score), rel=0.02)
