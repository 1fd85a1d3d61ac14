"""Every fact of every layer by another reading: off the text of its class, or off what is seen when it runs."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import LayerDefinition
from paddle_layers.runtime import Sequences
from paddle_layers.testing.cases.case import Case, in_phases, network_text
from paddle_layers.testing.cases.trial import Results, Trial, as_python, guarded
from paddle_layers.testing.cases.values import join_rows, take_rows
from tests.each import each
from tests.selection import compiled_layers

LAYERS = list(pl.registry)
BY_THEMSELVES = [name for name in LAYERS if pl.registry[name].inputs and not pl.registry[name].networks]
ENTRIES = ("start", "id", "value", "used_id", "used_start", "used_row", "used_value")
"""Parts of sparse rows and of the rows that they name."""
CONSTANT = {
    "compare",
    "threshold",
    "priorbox",
    "random_normal",
    "arg_max",
    "sign",
    "seq_arg_max",
    "crf_decoding",
    "kmax_seq_score",
}
"""Layers with outputs that are piecewise constant, or do not depend on the values of an input."""


# ---- off the text


class Text:
    """A layer's class and the functions that belong to it, as they stand in the file."""

    def __init__(self, layer: LayerDefinition) -> None:
        owner = layer.owner.__name__
        tree = ast.parse(Path(layer.file).read_text(encoding="utf-8"))
        (self.owner,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == owner)
        self.arguments: dict[str, list[list[str]]] = {}
        """What functions ask for, by the decorator that names the class."""
        for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
            for mark in (mark for mark in function.decorator_list if isinstance(mark, ast.Call)):
                if any(ast.unparse(argument).split(".")[0] == owner for argument in mark.args):
                    names = [argument.arg for argument in function.args.args]
                    self.arguments.setdefault(ast.unparse(mark.func), []).append(names)
        module = vars(sys.modules[layer.owner.__module__])
        for mark, function in self._borrowed(tree):
            if ast.unparse(mark.args[0]).split(".")[0] == owner:
                names = [*inspect.signature(eval(ast.unparse(function), module)).parameters]
                self.arguments.setdefault(ast.unparse(mark.func), []).append(names)

    @staticmethod
    def _borrowed(tree: ast.Module) -> list[tuple[ast.Call, ast.expr]]:
        """Decorators of functions that another layer has, too, and these: `gradient(Layer.x)(its_gradient)`."""
        calls = [node.value for node in tree.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
        return [(call.func, call.args[0]) for call in calls if isinstance(call.func, ast.Call) and call.func.args]

    def fields(self, *words: str) -> dict[str, dict[str, str]]:
        """Fields that these words declare, with the settings that are named."""
        return {
            ast.unparse(node.targets[0]): {str(k.arg): ast.unparse(k.value) for k in node.value.keywords}
            for node in self.owner.body
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value.func) in words
        }

    def axes(self, word: str) -> list[str]:
        """Axes of the fields that this word declares."""
        calls = [node.value for node in self.owner.body if isinstance(node, ast.Assign)]
        found = [call for call in calls if isinstance(call, ast.Call) and ast.unparse(call.func) == word]
        return [str(ast.literal_eval(call.args[0])) for call in found]

    def asked(self, *marks: str) -> set[str]:
        """What the functions with these decorators ask for."""
        return {name for mark in marks for names in self.arguments.get(mark, ()) for name in names}

    def common(self) -> str:
        """The groups of attributes that the layer takes."""
        (mark,) = self.owner.decorator_list
        assert isinstance(mark, ast.Call)
        return next((ast.unparse(k.value) for k in mark.keywords if k.arg == "common"), "()")


@each("name", LAYERS)
def test_what_the_class_declares(name: str) -> None:
    text, facts = Text(pl.registry[name]), pl.registry[name].definition.facts
    inputs, outputs = text.fields("Input").values(), text.fields("Output").values()
    assert facts.is_source == (not inputs)
    assert facts.has_loss == any("loss" in output for output in outputs)
    assert facts.is_sink == all("loss" in output for output in outputs)
    assert facts.has_neuron == ("'act'" in text.common())
    assert facts.is_composite == ("body" in text.arguments)
    assert facts.min_inputs == sum(int(field.get("minimum", "1")) for field in inputs if "optional" not in field)
    assert facts.min_outputs == sum("when" not in field for field in outputs)
    for fields, has_limit, limit in (
        (inputs, facts.HasField("max_inputs"), facts.max_inputs),
        (outputs, facts.HasField("max_outputs"), facts.max_outputs),
    ):
        assert has_limit == (not any("repeatable" in field for field in fields))
        assert limit == (len(fields) if has_limit else 0)


@each("name", [name for name in LAYERS if not pl.registry[name].is_composite])
def test_what_the_functions_ask_for(name: str) -> None:
    layer = pl.registry[name]
    text, facts = Text(layer), layer.definition.facts
    elements = text.asked("each", "fill", "gradient", "update")
    assert facts.has_param == bool(text.fields("Param", "Bias"))
    assert facts.has_state == bool(text.fields("State"))
    assert facts.has_stats == bool(text.fields("Stat"))
    assert facts.has_phase == ("training" in elements)
    assert facts.is_random == ("key" in elements | text.asked("entries"))
    dense = [field for field in text.fields("Input").values() if "DENSE" in field.get("kinds", "DENSE")]
    derivable = any(field.get("derivative") != "False" for field in dense) or bool(text.fields("Param"))
    outputs = [field for field in text.fields("Output").values() if "INT" not in field.get("kind", "DENSE")]
    written = "gradient" in text.arguments or bool(layer.networks)
    assert facts.can_do_bp == (written or (derivable and bool(outputs) and name not in CONSTANT))
    if not elements:
        assert not any((facts.overwrites, facts.is_inplace, facts.back_reads_x, facts.back_reads_y))
    backward = text.asked("gradient")
    for field in layer.inputs.values():
        if {"SPARSE", "SPARSE_INT"}.issuperset(field.kinds):  # that of ids and numbers is seen when it runs
            asked = any(f"{field.name}_{part}" in backward for part in ENTRIES)
            assert asked == (field.name in facts.back_reads_x), f"whether a gradient asks for `{field.name}`"


# ---- off what is seen


@dataclass(frozen=True, eq=False)
class Forced(Case):
    """A case that asks for the gradients of all dense inputs, whatever the facts say."""

    trains = True

    def text(self) -> str:
        dense = [type_.kind == "DENSE" for type_ in self.types]
        settings = self.example.settings
        return network_text(self.definition, self.types, settings, outputs=self.outputs, propagate=dense)


def examples(layer: LayerDefinition) -> list[Case]:
    """The examples in training, but for those in which the framework draws random numbers."""
    found = [next(in_phases(layer, example)) for example in layer.examples]
    return [case for case in found if not case.attributes.get("drop_rate") or "drop_rate" not in layer.common]


def seen(layer: LayerDefinition) -> dict[str, Any]:
    """Facts as they show when the examples run as Python."""
    found: dict[str, set[str]] = {name: set() for name in ("facts", "differentiable", "back_reads_x", "back_reads_y")}
    for case in examples(layer):
        found["facts"] |= set(what_there_is(case)) | set(what_changes(case))
        if any(type_.kind == "DENSE" for type_ in case.output_types):
            inputs, parameters = with_gradient(case)
            found["differentiable"] |= inputs
            found["facts"] |= {"can_do_bp"} if inputs or parameters else set()
            if inputs or parameters:
                with guarded(), Trial(case) as trial:
                    trial.forward()
                    gradients = trial.backward()
                    found["back_reads_x"] |= set(read_inputs(trial, gradients))
                    found["back_reads_y"] |= set(read_outputs(trial, gradients))
    return found


def what_there_is(case: Case) -> Iterator[str]:
    with Trial(case) as trial:
        trial.forward()
        net = trial.net
        there = {"param": net.parameters, "state": net.states, "stats": net.statistics(), "loss": net.loss_sums()}
    yield from (f"has_{name}" for name, values in there.items() if values)
    with Trial(replace(case, copied=True)) as trial:
        trial.step()
        if trial.in_place:
            yield from ("is_inplace", "overwrites")


def what_changes(case: Case) -> Iterator[str]:
    with Trial(case) as trial:
        trial.forward()
        usual = trial.raw
        trial.forward(phase="test")
        if differ(usual, trial.raw):
            yield "has_phase"
        trial.forward(step=1)
        if differ(usual, trial.raw):
            yield "is_random"
        trial.arrays = other_samples(case)
        trial.forward()
        if differ(first_sample(usual), first_sample(trial.raw)):
            yield "rows depend"


def differ(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return any(not np.array_equal(values_of(one[name]), values_of(other[name]), equal_nan=True) for name in one)


def values_of(value: Any) -> Any:
    return np.asarray(value.data if isinstance(value, Sequences) else value)


def other_samples(case: Case) -> list[Any]:
    """The rows of the first sample, and other ones for the others."""
    mixed = []
    for type_, own, others in zip(case.types, case.arrays(), case.arrays(1), strict=True):
        first, count = case.batch.rows_of(0, 1, type_.level).stop, case.batch.rows_at(type_.level)
        mixed.append(join_rows([take_rows(own, np.arange(first)), take_rows(others, np.arange(first, count))]))
    return mixed


def first_sample(outputs: dict[str, Any]) -> dict[str, Any]:
    """Rows of the first sample, which come first in every output."""
    found = {}
    for name, value in outputs.items():
        stop = 1
        for starts in (value.starts, value.sub_starts) if isinstance(value, Sequences) else ():
            stop = stop if starts is None else int(starts[stop])
        found[name] = values_of(value)[:stop]
    return found


def with_gradient(case: Case) -> tuple[set[str], set[str]]:
    """Inputs and parameters that get a gradient which is not zero."""
    with Trial(Forced(case.definition, case.example, case.types, case.attributes, "train")) as trial:
        trial.forward()
        net = trial.net
        net.backward(gradients=trial.directions())
        inputs = set()
        for place, (type_, field) in enumerate(zip(case.types, case.inputs, strict=True)):
            if (
                type_.kind == "DENSE"
                and f"in{place}" in net.plan("train").gradients
                and net.gradient(f"in{place}").any()
            ):
                inputs.add(field.name)
        return inputs, {p.name for p in net.parameters.values() if p.gradient is not None and p.gradient.any()}


def read_inputs(trial: Trial, expected: Results) -> Iterator[str]:
    """Inputs without whose numbers or ids the backward pass gives something else."""
    for place, (type_, field) in enumerate(zip(trial.case.types, trial.case.inputs, strict=True)):
        if type_.kind == "INT" and reads(trial, expected, f"in{place}", (trial.arrays[place] + 1) % type_.size):
            yield field.name
        if type_.kind == "DENSE" and reads(trial, expected, f"in{place}", np.nan):
            yield field.name


def read_outputs(trial: Trial, expected: Results) -> Iterator[str]:
    """Outputs without whose numbers the backward pass gives something else; what the framework adds may read them."""
    case = trial.case
    for place, type_ in enumerate(case.output_types if not case.followed else ()):
        lost = {"DENSE": np.nan, "INT": 0}.get(type_.kind)
        if lost is not None and reads(trial, expected, case.outputs[place], lost):
            names = list(case.definition.outputs)
            yield names[min(place, len(names) - 1)]  # a repeatable one is the last


def reads(trial: Trial, expected: Results, name: str, values: Any) -> bool:
    """Whether gradients change when a value of the forward pass has been lost."""
    trial.forward()
    plan = trial.net.plan("train")
    buffer = plan.values[name]
    plan.write(buffer, np.broadcast_to(np.ravel(values), plan.rows.size(buffer.extent)))
    return differ(expected, trial.backward())


HIDDEN = {
    "recurrent": {"is_inplace", "overwrites"},  # plans give the rows of a scan memory of their own
    "split": {"is_inplace", "overwrites"},  # one of its copies may be the input, which is no fact of the function
    "eos_id": {"is_inplace", "overwrites"},  # nothing stands before fed ids in a case
    "where": {"other", "condition"},  # no condition of a case is 0
    "mod": {"is_inplace", "overwrites"},  # in place without `other`, whose gradient reads `x`
    "target_norm": {"target"},  # its gradient reads only whether there is one
    "maxout": {"y"},  # its `reduction` reads the output for other operations than the maximum
    "random_normal": {"is_inplace", "overwrites"},  # it reads nothing of its input, so that nothing makes a copy of it
}
"""What the run does not show, or shows of something else."""


@pytest.mark.parametrize("name", compiled_layers(BY_THEMSELVES))
def test_what_is_seen(name: str) -> None:
    layer = pl.registry[name]
    message = layer.definition
    found = as_python(lambda: seen(layer))
    flags = {field.name for field, value in message.facts.ListFields() if value is True}
    told = flags - {"is_source", "is_sink", "is_composite", "has_neuron", "rows_independent"} - HIDDEN.get(name, set())
    if layer.outputs and "rows_independent" not in flags:
        told.add("rows depend")
    assert found["facts"] - HIDDEN.get(name, set()) == told
    differentiable = {field.name for field in message.inputs if field.differentiable}
    assert found["differentiable"] - HIDDEN.get(name, set()) == differentiable - HIDDEN.get(name, set())
    sparse = {field.name for field in layer.inputs.values() if not {"DENSE", "INT"} & set(field.kinds)}
    assert found["back_reads_x"] == set(message.facts.back_reads_x) - sparse - HIDDEN.get(name, set())
    assert found["back_reads_y"] == set(message.facts.back_reads_y) - HIDDEN.get(name, set())


@pytest.mark.parametrize("name", [name for name in BY_THEMSELVES if not pl.registry[name].outputs])
def test_statistics_of_whole_batches_depend_on_all_rows(name: str) -> None:
    text, facts = Text(pl.registry[name]), pl.registry[name].definition.facts
    rows = {axis for axes in text.axes("Input") for axis in axes.split()[0].split(":")}
    assert facts.rows_independent == all(axes.split()[0].split(":")[0] in rows for axes in text.axes("Stat"))
