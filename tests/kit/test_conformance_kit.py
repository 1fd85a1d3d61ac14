"""The conformance kit itself, and what it need not check because the framework derives or refuses it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.define import Example, Input, Output, Param, each, fill, gradient, layer
from paddle_layers.testing import NEEDS_HYPOTHESIS, check_layer, kit
from paddle_layers.testing.findings import all_close, close


def test_without_hypothesis_the_examples_are_checked_and_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = check_layer("relu", properties={"memory"}).checks
    find = kit.importlib.util.find_spec
    monkeypatch.setattr(kit.importlib.util, "find_spec", lambda name: None if name == "hypothesis" else find(name))
    assert 0 < check_layer("relu", properties={"memory"}).checks < whole
    result = CliRunner().invoke(commands, ["check", "linear", "--property", "types"])
    assert result.exit_code == 0
    assert result.stderr == f"{NEEDS_HYPOTHESIS}\n"


def test_an_unknown_property_is_refused_with_those_that_there_are() -> None:
    result = CliRunner().invoke(commands, ["check", "relu", "--property", "gradient"])
    assert result.exit_code == 2
    assert "unknown property 'gradient'; expected one of definition, documentation, inference, types" in result.stderr


def test_the_command_tells_counts_and_totals() -> None:
    result = CliRunner().invoke(commands, ["check", "relu", "linear", "--fast", "--property", "types"])
    first, second, last = result.stdout.splitlines()
    assert first.startswith("relu: passed (9 types; ")
    assert second.startswith("linear: passed (8 types; ")
    assert last.startswith("all 2 layers passed (17 checks; ")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zeros_may_be_off_by_the_rounding_of_one_and_no_more(dtype: str) -> None:
    rounding = np.finfo(dtype).eps
    assert close(np.zeros(3), np.full(3, rounding / 2), dtype, "") is None
    assert close(np.full(3, 1e-9), np.full(3, 1e-9 + rounding / 2), dtype, "") is None
    assert "expected 0, got" in (close(np.zeros(3), np.full(3, 2 * rounding), dtype, "") or "")


def test_a_sum_over_a_tensor_has_the_rounding_errors_of_its_terms() -> None:
    rounding = float(np.finfo(np.float32).eps)
    expected = {"y": np.zeros(25), "gradient of gain": np.zeros(1)}
    for of_y, of_gain, wrong in ((0.9, 4.9, []), (0.9, 5.1, ["gradient of gain"]), (1.1, 4.9, ["y"])):
        found = {"y": np.full(25, of_y * rounding), "gradient of gain": np.full(1, of_gain * rounding)}
        assert [name for name, problem in all_close(expected, found, "float32", "") if problem] == wrong


# ---- what point functions cannot get wrong: the framework derives or refuses it


def test_false_facts_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    relu, norm = pl.registry["relu"], pl.registry["batch_norm"]
    monkeypatch.setitem(vars(relu), "facts", replace(relu.facts, back_reads=()))
    monkeypatch.setitem(vars(norm), "facts", replace(norm.facts, rows_independent=True))
    (finding,) = check_layer("relu", raise_findings=False, properties={"facts"}, configs=0).findings
    assert "when `in0`, `out0` is set to NaN before the backward pass" in finding.message
    (finding,) = check_layer("batch_norm", raise_findings=False, properties={"rows"}, configs=0).findings
    assert "when the other samples change" in finding.message


def test_a_function_that_writes_what_is_not_its_own_is_refused() -> None:
    @layer("wrong_guest")
    class Guest:
        """Writes into its input."""

        x = Input("N C", "rows")
        y = Output("N C", "the same rows")
        examples = (Example(x="4"),)

    try:
        with pytest.raises(pl.DefinitionError, match="writes into `x`, which is not its target; it may only write y"):

            @fill(Guest.y, per="N")
            def guest_y(n, x, y, C):
                for c in range(C):
                    y[n, c] = x[n, c]
                    x[n, c] = 0.0

        with pytest.raises(
            pl.DefinitionError, match="writes into `y`, which is not its target; it returns the value of its"
        ):

            @each(Guest.y)
            def guest_element(n, c, x, y):
                y[n, c] = x[n, c]
                return 0.0
    finally:
        pl.registry.remove("wrong_guest")


def test_a_layer_without_a_description_or_an_example_is_refused() -> None:
    with pytest.raises(pl.DefinitionError, match="the class needs a docstring"):

        @layer("wrong_nameless")
        class Nameless:
            x = Input("N C", "rows")

    @layer("wrong_bare")
    class Bare:
        """It has no example."""

        x = Input("N C", "rows")
        gain = Param("C", "scale of a column")
        y = Output("N C", "rows")

    @each(Bare.y)
    def bare_y(n, c, x, gain, C):
        return gain[C - 1 - c] * x[n, c]

    @gradient(Bare.x)
    def bare_dx(n, c, dy, gain, C):
        return gain[C - 1 - c] * dy[n, c]

    try:
        with pytest.raises(pl.DefinitionError, match="has no example"):
            check_layer("wrong_bare")
        pl.registry["wrong_bare"].examples.append(Example(x="3"))
        with pytest.raises(pl.DefinitionError, match="parameter `gain` needs a gradient, which cannot be derived"):
            check_layer("wrong_bare")
    finally:
        pl.registry.remove("wrong_bare")
