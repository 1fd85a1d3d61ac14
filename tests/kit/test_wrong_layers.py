"""The conformance kit, proven by layers that are wrong on purpose: each is caught by the property that it breaks."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import paddle_layers as pl
from paddle_layers.cli.app import commands
from paddle_layers.define.plugins import loading as plugins
from paddle_layers.kernels import tuned
from paddle_layers.testing import LAYER_PROPERTIES, PROPERTIES, Report, check_layer

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("wrong_layers*.py"))
OWN = {*LAYER_PROPERTIES, *PROPERTIES} - {"cuda"}
"""Properties that take no CUDA compiler."""

COMPILED = {"compiled kernels", "determinism", "tuned kernels", "batch sizes"}
"""Properties that only compiled kernels break."""

BY_EXAMPLES = {
    "wrong_factor": "gradients",
    "wrong_missed_row": "gradients",
    "wrong_bias": "gradients",
    "wrong_window": "gradients",
    "wrong_exchanged": "gradients",
    "wrong_infinite": "types",
    "wrong_id": "types",
    "wrong_level": "types",
    "wrong_shape": "types",
    "wrong_empty": "types",
    "wrong_first_row": "rows",
    "wrong_border": "memory",
    "wrong_outside": "memory",
    "wrong_last_column": "memory",
    "wrong_wrapped": "memory",
    "wrong_total": "memory",
    "wrong_race": "determinism",
    "wrong_order": "determinism",
    "wrong_without_rows": "empty batches",
    "wrong_deaf": "NaN",
    "wrong_mean": "sums",
    "wrong_rounded": "derived gradients",
    "wrong_digits": "precision",
    "wrong_tuned": "tuned kernels",
    "wrong_in_place": "tuned kernels",
    "wrong_tuned_border": "tuned kernels",
    "wrong_runs": "tuned kernels",
    "wrong_batch": "batch sizes",
    "wrong_impure": "inference",
    "wrong_undocumented": "documentation",
    "wrong_silent": "documentation",
}
"""Layers whose examples show what is wrong, and the property that says so."""

BY_GENERATED = {
    "wrong_crash": "inference",
    "wrong_negative": "inference",
    "wrong_greedy": "inference",
    "wrong_at_the_end": "gradients",
    "wrong_choice": "gradients",
    "wrong_three": "gradients",
    "wrong_weight": "gradients",
    "wrong_sparse": "gradients",
    "wrong_image": "gradients",
    "wrong_single_row": "types",
    "wrong_nested": "types",
}
"""Layers that are right on all their examples."""

BY_CUDA = {"wrong_precision": "cuda"}
"""Layers that are right on the CPU."""

CAUGHT = {**BY_EXAMPLES, **BY_GENERATED}


@pytest.fixture(scope="module", autouse=True)
def wrong_layers() -> Iterator[None]:
    """The wrong layers and their tuned kernels are registered for this module only."""
    for file in FILES:
        pl.load_plugin(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE.parent)
        importlib.import_module("wrong_kernels.kernels")
        yield
    for name in [name for name in pl.registry if name.startswith("wrong_")]:
        pl.registry.remove(name)
    plugins._FILES.difference_update(map(str, FILES))  # the tests of a module may be taken up again
    for key in [key for key in tuned._TUNED if key[0].startswith("wrong_")]:
        del tuned._TUNED[key]
    del sys.modules["wrong_kernels.kernels"]


def check(name: str, **options: int) -> Report:
    compiled = CAUGHT.get(name) in COMPILED
    return check_layer(name, raise_findings=False, properties=OWN, compiled=compiled, **options)


@pytest.mark.parametrize("name", BY_EXAMPLES)
def test_its_examples_show_the_property_that_it_breaks_and_no_other(name: str) -> None:
    assert [finding.property for finding in check(name, configs=0).findings] == [CAUGHT[name]]


@pytest.mark.parametrize("name", BY_GENERATED)
def test_generated_configs_alone_show_it(name: str) -> None:
    assert check(name, configs=0).findings == []
    assert [finding.property for finding in check(name).findings] == [CAUGHT[name]]


@pytest.mark.parametrize("name", BY_CUDA)
def test_only_the_kernels_for_cards_show_it(name: str) -> None:
    assert check(name).findings == []
    report = check_layer(name, raise_findings=False, configs=0)
    assert [finding.property for finding in report.findings] == [BY_CUDA[name]]


def test_in_place_is_derived_so_that_point_functions_cannot_lie_about_it() -> None:
    assert pl.registry["wrong_factor"].facts.overwrites
    assert not pl.registry["wrong_in_place"].facts.overwrites


def test_every_wrong_layer_is_checked() -> None:
    assert {name for name in pl.registry if name.startswith("wrong_")} == {*CAUGHT, *BY_CUDA}


def test_the_guide_has_a_row_for_each() -> None:
    guide = (HERE.parents[1] / "docs" / "explanations" / "conformance.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in guide.splitlines() if line.startswith("| `wrong_")]
    shown = {name.strip(" `"): (about.strip(), property_.strip(" `")) for name, about, property_ in rows}
    assert shown == {name: (pl.registry[name].summary, property_) for name, property_ in {**CAUGHT, **BY_CUDA}.items()}


def test_a_finding_is_a_small_case_with_the_command_that_repeats_it() -> None:
    file = HERE / "wrong_layers_generated.py"
    with pytest.raises(AssertionError) as raised:
        check_layer("wrong_at_the_end", properties={"gradients"})
    assert str(raised.value) == (
        "wrong_at_the_end: gradients: `in0` at [0, 2] expected 2.60254893 by central differences, got 1.301274465\n"
        "  case: phase train, 1 row\n"
        '    layer { name: "in0" type: "data" data { shape: [3] } }\n'
        '    layer { name: "it" type: "wrong_at_the_end" input: "in0" output: "out0" propagate_down: true '
        "wrong_at_the_end { slope: 2 } }\n"
        f"  reproduce: paddle-layers check wrong_at_the_end --property gradients --plugins {file}"
    )
    command = str(raised.value).rpartition("reproduce: paddle-layers ")[2]
    repeated = CliRunner().invoke(commands, command.split())
    assert repeated.exit_code == 1
    assert str(raised.value) in repeated.stderr
