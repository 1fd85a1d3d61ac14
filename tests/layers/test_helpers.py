"""The helpers that layers share: known answers of the random numbers, stable functions."""

import math

import pytest

from paddle_layers.layers.constants import cosine_of_turn
from paddle_layers.layers.helpers import philox, sigmoid, uniform


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ((0x00000000, 0x00000000), 0x00000000, 0xFF1DAE59),
        ((0xFFFFFFFF, 0xFFFFFFFF), 0xFFFFFFFF, 0x2C3F628B),
        ((0x243F6A88, 0x85A308D3), 0x13198A2E, 0xDD7CE038),
    ],
)
def test_philox_gives_the_known_answers_of_random123(counter, key, answer):
    assert philox(counter[1] << 32 | key, counter[0]) == answer
    assert philox(key, counter[1] << 32 | counter[0]) == answer
    assert uniform(counter[1] << 32 | key, counter[0]) == (answer >> 8) / 2**24


def test_philox_takes_negative_keys_as_their_64_bits():
    assert philox(-1, 5) == philox(2**64 - 1, 5)


def test_uniform_numbers_are_below_one_spread_evenly_and_differ_between_keys():
    first, second = ([uniform(key, i) for i in range(20000)] for key in (1, 2))
    assert all(0 <= u < 1 for u in first)
    assert abs(sum(first) / len(first) - 0.5) < 0.01
    assert abs(sum(a * b for a, b in zip(first, second, strict=True)) / len(first) - 0.25) < 0.01
    assert not set(first[:100]) & set(second[:100])


@pytest.mark.parametrize("v", [-1000.0, -30.0, -1e-3, 0.0, 2.0, 1000.0])
def test_sigmoid_never_overflows(v):
    expected = 0.0 if v < -700 else 1 / (1 + math.exp(-v))
    assert sigmoid(v) == pytest.approx(expected, rel=1e-14, abs=1e-300)


@pytest.mark.parametrize("u", [i / 64 for i in range(64)])
def test_cosine_of_a_turn(u):
    assert cosine_of_turn(u) == pytest.approx(math.cos(2 * math.pi * u), abs=3e-9)
