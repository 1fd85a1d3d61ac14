"""The cost over a beam of several expansions ("beam_expansion"): against all paths, written down one by one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.runtime.devices.cuda import simulated_device
from paddle_layers.testing.cases.trial import as_python
from tests.selection import marks_of, with_marks

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "explanations" / "decoders-and-structured-losses.md"
NETWORK = re.findall(r"```textproto\n# file: over_beam\.textproto\n(.*?)```", GUIDE.read_text("utf-8"), re.S)[0]
SCORES = ("sentence_scores", "begin_scores", "end_scores")
SAMPLES = 40
RNG = np.random.default_rng(5)
TEXTS = [[RNG.normal(size=(RNG.integers(1, 6), 3)) for _ in range(RNG.integers(1, 5))] for _ in range(SAMPLES)]


def some_answer(text: list[Any]) -> tuple[int, int, int]:
    sentence = int(RNG.integers(len(text)))
    begin = int(RNG.integers(len(text[sentence])))
    return sentence, begin, int(RNG.integers(len(text[sentence]) - begin))


ANSWERS = [some_answer(text) for text in TEXTS]
WEIGHTS = {
    **{f"{name}.weight": RNG.normal(size=(3, 1)) for name in SCORES},
    **{f"{name}.bias": RNG.normal(size=1) for name in SCORES},
}


def best(scores: list[float], count: int) -> list[int]:
    return sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:count]


def cost_of(text: list[Any], answer: tuple[int, int, int], weights: dict[str, Any]) -> tuple[float, int]:
    """The cost of a sample, and the expansion that it comes from: all paths that were kept there, and the right one."""

    def score(name: str, row: Any) -> float:
        return float(row @ weights[f"{name}.weight"][:, 0] + weights[f"{name}.bias"][0])

    def steps(path: tuple[int, ...]) -> list[float]:
        """Scores of what may follow a path."""
        if not path:
            return [score(SCORES[0], sentence.mean(axis=0)) for sentence in text]
        words = text[path[0]][sum(path[1:]) :]
        return [score(SCORES[len(path)], word) for word in words]

    def whole(path: tuple[int, ...]) -> float:
        return sum(steps(path[:place])[step] for place, step in enumerate(path))

    paths: list[tuple[int, ...]] = [()]
    for depth, beam in enumerate((2, 2, 3)):
        paths = [(*path, step) for path in paths for step in best(steps(path), beam)]
        gold = answer[: depth + 1]
        if gold not in paths or depth == 2:
            break
    every = [whole(path) for path in {*paths, gold}]
    return float(np.log(np.sum(np.exp(every)))) - whole(gold), depth


def fed() -> dict[str, Any]:
    return {
        "words": TEXTS,
        **{
            name: np.array(one)
            for name, one in zip(("sentence", "begin", "end"), zip(*ANSWERS, strict=True), strict=True)
        },
    }


def found(**options: Any) -> tuple[Any, dict[str, Any]]:
    with pl.Net(pl.loads(NETWORK), dtype="float64", keep=["third.cost"], **options) as net:
        for name, value in WEIGHTS.items():
            net.parameters[name].value = value
        net.forward(fed())
        net.backward()
        return np.array(net.value("third.cost")), {name: np.array(net.parameters[name].gradient) for name in WEIGHTS}


def test_it_is_the_cost_of_all_paths_written_down() -> None:
    costs, gradients = as_python(found)
    wanted = [cost_of(text, answer, WEIGHTS) for text, answer in zip(TEXTS, ANSWERS, strict=True)]
    assert {depth for _, depth in wanted} == {0, 1, 2}, "right paths are lost in every expansion"
    np.testing.assert_allclose(costs, [cost for cost, _ in wanted], rtol=1e-12)

    def loss(name: str, place: tuple[int, ...], step: float) -> float:
        changed = WEIGHTS[name].copy()
        changed[place] += step
        weights = {**WEIGHTS, name: changed}
        return float(np.mean([cost_of(text, answer, weights)[0] for text, answer in zip(TEXTS, ANSWERS, strict=True)]))

    for name, gradient in gradients.items():
        for place in np.ndindex(gradient.shape):
            slope = (loss(name, place, 1e-6) - loss(name, place, -1e-6)) / 2e-6
            np.testing.assert_allclose(gradient[place], slope, atol=1e-8)


@with_marks(marks_of("cross_entropy_over_beam"))
def test_a_simulated_card_does_the_same() -> None:
    for one, two in zip(found(), found(device=simulated_device()), strict=True):
        if isinstance(one, dict):
            assert all(np.allclose(one[name], two[name], rtol=1e-12) for name in one)
        else:
            np.testing.assert_allclose(one, two, rtol=1e-12)


def test_what_the_expansion_before_gives_goes_together() -> None:
    text = NETWORK.replace('input: "first" input: "first.path" input: "first.cost"', 'input: "first"')
    with pytest.raises(pl.ConfigError, match="go together: give all three"):
        pl.loads(text)
