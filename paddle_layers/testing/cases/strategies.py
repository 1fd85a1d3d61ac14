"""Configs sampled from a definition, by Hypothesis or at random: they differ from an example in a few respects."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Protocol, TypeVar

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from paddle_layers.define import LayerDefinition

from .configs import Config, ConfigDraft, batches_of
from .values import far_values, usual_values

T = TypeVar("T")
# Few changes keep most configs legal, and errors are mostly interactions of few settings.
CHANGES = 4
"""Most respects in which a config differs from an example."""
SIZES = (1, 2, 3, 5, 7)
# Around the limits of 32 bits: inference must reject sizes by their product, before anything of that size exists.
FAR_SIZES = (1, 2, 2**20, 2**31, 2**40)
SHAPES = ((), (1,), (3,), (2, 3), (1, 2, 2))


class Draw(Protocol):
    """Chooses values, by Hypothesis or at random."""

    def one(self, values: Sequence[T]) -> T:
        """One of the values."""

    def some(self, values: Sequence[T], most: int) -> list[T]:
        """At most so many of the values, none of them twice."""


class _ByHypothesis:
    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def one(self, values: Sequence[T]) -> T:
        return self.draw(st.sampled_from(values))

    def some(self, values: Sequence[T], most: int) -> list[T]:
        return self.draw(st.lists(st.sampled_from(values), max_size=most, unique=True))


class _AtRandom:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def one(self, values: Sequence[T]) -> T:
        return self.random.choice(values)

    def some(self, values: Sequence[T], most: int) -> list[T]:
        return self.random.sample(values, self.random.randint(0, min(most, len(values))))


def _config(draw: Draw, definition: LayerDefinition, *, far: bool) -> Config:
    example = draw.one(definition.examples)
    draft = ConfigDraft(definition, example)
    knobs = list(draft.knobs())
    if knobs:
        for kind, about in draw.some(knobs, CHANGES):
            value = _CHANGES[kind](draw, draft, about, far)
            # Sizes count as equal within a class: otherwise every config would be new.
            draft.features.add((kind, about, value if kind != "size" else _class_of(value)))
    # The smallest batch comes first in each list, because Hypothesis shrinks a sampled value towards the beginning.
    return draft.config(draw.one(batches_of(draft.deepest)))


@st.composite
def configs(draw: st.DrawFn, definition: LayerDefinition, far: bool = False) -> Config:
    """An example with up to four changes; `far` ones have values that no computer has memory for."""
    return _config(_ByHypothesis(draw), definition, far=far)


def random_configs(definition: LayerDefinition, count: int) -> list[Config]:
    """So many configs or fewer, each once, the same in every run; in a tenth of the time that Hypothesis takes."""
    draw = _AtRandom(0)
    sampled = (_config(draw, definition, far=False) for _ in range(count))
    return list({_key(config): config for config in sampled}.values())


def _change_attribute(draw: Draw, draft: ConfigDraft, name: str, far: bool) -> Any:
    attribute = draft.definition.attributes[name]
    given = [example.settings[name] for example in draft.definition.examples if name in example.settings]
    values = far_values(attribute) if far else usual_values(attribute, given)
    if not values:
        return None
    value = draft.attributes[name] = draw.one(values)
    return tuple(value) if isinstance(value, list) else value


def _change_kind(draw: Draw, draft: ConfigDraft, name: str, _: bool) -> Any:
    kinds = draft.definition.inputs[name].kinds
    draft.kinds[name] = [draw.one(kinds) for _ in draft.kinds[name]]
    return tuple(draft.kinds[name])


def _change_count(draw: Draw, draft: ConfigDraft, name: str, _: bool) -> Any:
    least = max(draft.definition.inputs[name].minimum, 1)
    count = draw.one(sorted({least, least + 1, 3}))
    kinds = draft.kinds[name] or [draft.definition.inputs[name].kinds[0]]
    draft.kinds[name] = [kinds[item % len(kinds)] for item in range(count)]
    return count


def _change_given(draw: Draw, draft: ConfigDraft, name: str, _: bool) -> Any:
    given = draw.one((False, True))
    draft.kinds[name] = [draft.definition.inputs[name].kinds[0]] if given else []
    return given


def _change_ids(draw: Draw, draft: ConfigDraft, name: str, far: bool) -> Any:
    draft.ids[name] = draw.one(FAR_SIZES if far else SIZES)
    return draft.ids[name] == 1


def _change_size(draw: Draw, draft: ConfigDraft, axis: str, far: bool) -> Any:
    sizes = FAR_SIZES if far else SIZES
    for key in [key for key in draft.dims if key[0] == axis]:
        if draft.is_rest(axis):
            draft.dims[key] = draw.one(SHAPES if not far else (*SHAPES, (2**40, 2**40)))
        else:
            draft.dims[key] = (draw.one(sizes),)
    return tuple(size for key, dims in draft.dims.items() if key[0] == axis for size in dims)


def _change_level(draw: Draw, draft: ConfigDraft, axis: str, _: bool) -> Any:
    draft.levels[axis] = draw.one(draft.levels_of(axis))
    return draft.levels[axis]


_CHANGES: dict[str, Callable[[Draw, ConfigDraft, str, bool], Any]] = {
    "attribute": _change_attribute,
    "kind": _change_kind,
    "count": _change_count,
    "given": _change_given,
    "ids": _change_ids,
    "size": _change_size,
    "level": _change_level,
}


def _class_of(sizes: tuple[int, ...]) -> tuple[int, bool]:
    """The equivalence class of sizes: the number of axes, and whether one has a single element."""
    return len(sizes), 1 in sizes


# The checks of inference and of computation ask for the same configs.
@functools.lru_cache(maxsize=4)
def draw_configs(definition: LayerDefinition, count: int, *, far: bool) -> tuple[Config, ...]:
    """The first `count` configs, the same in every run."""
    found: list[Config] = []

    def take(config: Config) -> bool:
        found.append(config)
        return False

    _find(definition, far, count, take)
    return tuple(found)


def find_smallest(
    definition: LayerDefinition,
    count: int,
    known: Config | None,
    fails: Callable[[Config], bool],
    *,
    far: bool,
    tries: int,
) -> Config | None:
    """The smallest of so many tried configs for which `fails` holds; `known`, one of the first `count`, saves tries."""
    verdicts: dict[str, bool] = {}
    start = None if known is None else _key(known)
    smallest = None

    def judge(config: Config) -> bool:
        nonlocal smallest
        key = _key(config)
        # Hypothesis generates the same sequence again; configs before the known failure have passed and cost no try.
        if start is not None and not verdicts and key != start:
            return False
        if key not in verdicts:
            verdicts[key] = len(verdicts) < tries and fails(config)
        if verdicts[key]:
            smallest = config
        return verdicts[key]

    _find(definition, far, count, judge, shrink=True)
    return smallest


def _key(config: Config) -> str:
    return f"{config.batch} {config.text}"


def _find(
    definition: LayerDefinition, far: bool, count: int, condition: Callable[[Config], bool], *, shrink: bool = False
) -> None:
    quiet = settings(
        max_examples=count,
        # No database and a fixed seed: the same configs in every run and on every machine. The deadline would fail on
        # slow ones.
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    with contextlib.suppress(NoSuchExample):
        find(configs(definition, far), condition, settings=quiet, random=Random(0))
