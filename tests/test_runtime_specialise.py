"""What is folded into a driver's text is what holds when a network is built."""

from __future__ import annotations

import sys

import pytest

from paddle_layers.define import helper
from paddle_layers.define.functions import Function
from paddle_layers.runtime.generate.specialise import helper_programs, specialise

SCALE = 3


@helper
def times_scale(value, unread):
    return SCALE * value


def scaled(i, x, unread):
    return times_scale(x[i], unread) + SCALE


def texts() -> tuple[str, str]:
    function = Function("builtin", (), scaled)
    program = specialise(function.program, {}, function.call)
    return program.text, helper_programs(function.call)["times_scale"].text


def test_numbers_of_the_module_are_those_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all("3" in text for text in texts())
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 7)
    assert all("7" in text and "3" not in text for text in texts())


def test_a_helper_keeps_arguments_that_it_does_not_read() -> None:
    assert texts()[1].startswith("def times_scale(value, unread):")


def test_what_is_known_is_gone_from_the_arguments() -> None:
    function = Function("builtin", (), scaled)
    assert specialise(function.program, {"unread": None}, function.call).arguments == ("i", "x")


def test_the_same_question_has_the_same_answer() -> None:
    function = Function("builtin", (), scaled)
    first = specialise(function.program, {"unread": True}, function.call)
    assert specialise(function.program, {"unread": True}, function.call) is first
    assert specialise(function.program, {"unread": False}, function.call) is not first
