"""Layers against their references: examples and generated configs, with odd values, as Python."""

import ast
import math
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.testing import PROPERTIES
from paddle_layers.testing.cases.case import in_phases
from paddle_layers.testing.cases.trial import as_python
from tests import references
from tests.references import load_references
from tests.references.comparing import compare, not_varied, without_effect
from tests.references.comparing.configs import other_choices
from tests.selection import thoroughly_compiled_layers

TESTS = Path(__file__).parents[1]
REFERENCES = load_references()
THOROUGH = 50
"""Generated configs of a layer in the slow test."""

ORACLES = {
    "data": {
        "shape": "layers/test_references.test_generated_configs",
        "data_type": "layers/test_references.test_generated_configs",
        "size": "layers/test_references.test_generated_configs",
        "seq_nested_level": "layers/test_references.test_generated_configs",
        "carry": "runtime/test_carried.test_windows_one_after_the_other_are_the_whole_sequence",
    },
    "memory": {
        "x": "runtime/test_recurrent_groups.test_a_group_is_a_loop_over_the_rows_of_each_sequence",
        "of": "runtime/test_recurrent_groups.test_a_group_is_a_loop_over_the_rows_of_each_sequence",
        "size": "runtime/test_recurrent_groups.test_a_group_is_a_loop_over_the_rows_of_each_sequence",
        "value": "runtime/test_recurrent_groups.test_a_group_is_a_loop_over_the_rows_of_each_sequence",
        "shape": "runtime/test_recurrent_groups.test_a_memory_of_images_starts_with_its_value",
        "id": "runtime/test_recurrent_groups.test_a_memory_of_ids_shifts_a_sequence_by_one",
    },
    "random_normal": {"x": "layers/test_random_layers.test_the_numbers_are_normal"},
    "recurrent_group": {
        "x": "runtime/test_recurrent_groups.test_sparse_rows_are_the_same_as_dense_ones",
        "static": "runtime/test_recurrent_groups.test_every_step_may_attend_to_a_whole_sequence",
        "reverse": "runtime/test_recurrent_groups.test_a_group_is_a_loop_over_the_rows_of_each_sequence",
    },
    "sampling_id": {"x": "layers/test_sampling.test_ids_are_drawn_with_the_probabilities_of_their_row"},
    "nce": {
        "x": "layers/test_vocabularies.test_nce_is_its_formula",
        "label": "layers/test_vocabularies.test_rows_with_several_labels_have_a_term_for_each",
        "importance": "layers/test_vocabularies.test_nce_is_its_formula",
        "num_neg_samples": "layers/test_vocabularies.test_the_number_of_drawn_classes_and_the_step_decide",
        "noise": "layers/test_vocabularies.test_classes_are_drawn_as_often_as_the_noise_says",
        "neg_distribution": "layers/test_vocabularies.test_classes_are_drawn_as_often_as_the_noise_says",
        "shared": "layers/test_vocabularies.test_shared_classes_are_drawn_once_for_all_rows",
        "odds": "layers/test_vocabularies.test_nce_is_its_formula",
    },
    "sampled_softmax": {
        "x": "layers/test_vocabularies.test_sampled_softmax_is_its_formula",
        "label": "layers/test_vocabularies.test_sampled_softmax_is_its_formula",
        "num_neg_samples": "layers/test_vocabularies.test_sampled_softmax_is_its_formula",
        "noise": "layers/test_vocabularies.test_sampled_softmax_is_its_formula",
        "neg_distribution": "layers/test_vocabularies.test_sampled_softmax_is_its_formula",
        "shared": "layers/test_vocabularies.test_shared_classes_are_drawn_once_for_all_rows",
    },
}
"""Layers that are checked inside a network, and the test for each of their attributes and inputs.

`data` computes nothing: all that is compared is fed through it, in all data types and levels. `memory` and
`recurrent_group` are nothing without the layers of a step; their references are loops for these. What `sampling_id`,
`nce` and `sampled_softmax` draw is looked at by tests of their own, and so is `random_normal`.
"""
NO_EFFECT = {
    "batch_norm": {"synchronised": "it counts in several processes; tests/processes/test_joined.py has that"},
    "gradient_clip": {"threshold": "it limits the gradient, which is compared, too"},
    "random_crop": {"mirror": "it counts while training; tests/layers/test_random_crop.py has that"},
    "transformer_block": {"hidden": "columns between two maps of a part: those of the parameters, which are given"},
}
"""Attributes that make no difference in what is compared, and why."""
COMPARED = sorted(name for name in pl.registry if name not in ORACLES)


def check_gradients_of_every_choice(definition):
    """The examples, whose gradients are checked with all other properties, do not have all choices."""
    for config in other_choices(definition):
        for case in in_phases(definition, config.example, config.batch):
            for place, problem in as_python(lambda case=case: list(PROPERTIES["gradients"].check(case))):
                assert problem is None, f"{case}\n{place} {problem}"


@pytest.mark.parametrize("name", COMPARED)
def test_generated_configs(name):
    """Nothing is left out: attributes have two values that make a difference, all choices and inputs are there."""
    definition = pl.registry[name].complete()
    compared = compare(definition)
    assert not not_varied(definition, compared)
    assert without_effect(definition, compared) == list(NO_EFFECT.get(name, ()))
    check_gradients_of_every_choice(definition)


@pytest.mark.slow
@pytest.mark.parametrize("name", thoroughly_compiled_layers(COMPARED))
def test_many_generated_configs(name):
    compare(pl.registry[name].complete(), most=THOROUGH)


def test_every_layer_has_a_reference():
    assert sorted([*REFERENCES, *ORACLES]) == sorted(pl.registry)
    limited = [layer for layer in map(pl.registry.__getitem__, pl.registry) if not_derivatives(layer)]
    assert {layer.name for layer in limited} == load_references("REFERENCES_OF_GRADIENTS").keys()


@pytest.mark.parametrize("name", load_references("REFERENCES_OF_GRADIENTS"))
def test_references_of_gradients_are_compared(name, monkeypatch):
    wrong = {"x": np.array(math.nan)}
    monkeypatch.setitem(load_references("REFERENCES_OF_GRADIENTS"), name, lambda *_: wrong)
    with pytest.raises(AssertionError, match="gradient of x"):
        compare(pl.registry[name].complete(), generated=False)


def not_derivatives(layer):
    """Inputs whose gradient is not meant to be the derivative, so that differences do not show it."""
    return [name for name in layer.facts.differentiable if not layer.inputs[name].derivative]


@pytest.mark.parametrize("name", ORACLES)
def test_layers_without_a_reference_have_a_test_for_every_attribute_and_input(name):
    layer = pl.registry[name]
    assert ORACLES[name].keys() == layer.attributes.keys() | layer.inputs.keys()
    for oracle in ORACLES[name].values():
        module, _, function = oracle.partition(".")
        tree = ast.parse((TESTS / f"{module}.py").read_text())
        assert function in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_references_share_nothing_with_the_package():
    for path in Path(references.__file__).parent.glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text()))
        found = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        nodes = ast.walk(ast.parse(path.read_text()))
        found += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        assert not [module for module in found if module.startswith("paddle_layers")], path.name
