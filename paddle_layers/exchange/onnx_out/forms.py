"""Export of one layer use, by the layer's own function; reasons for built-in layers without an `@onnx` function."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from paddle_layers.define import DefinitionError, LayerDefinition
from paddle_layers.define.errors import _Requirement
from paddle_layers.runtime.graph.domains import Value
from paddle_layers.runtime.graph.graph import Op
from paddle_layers.runtime.memory.parameters import Parameter

from .graph import OnnxGraph, OnnxTensor
from .layouts import Layouts

COST = "loss layers are only used in training"
STATISTIC = "metrics are accumulated over many batches and are not part of inference"
WITHOUT_FORM: dict[str, str] = {
    **dict.fromkeys(
        (
            *("beam_expansion", "contrastive_loss", "crf", "cross_entropy", "ctc", "gaussian_kl", "hinge_loss"),
            *("huber_classification",),
            *("hsigmoid", "huber_regression", "infogain_loss", "lambda_cost", "multi_binary_label_cross_entropy"),
            *("multibox_loss", "nce", "perceptron_loss", "rank_cost", "sampled_softmax", "wasserstein_loss"),
            *("sigmoid_cross_entropy", "smooth_l1", "soft_binary_cross_entropy", "soft_cross_entropy"),
            *("softlabel_softmax_cost", "softmax_with_loss", "square_error", "sum_cost"),
        ),
        COST,
    ),
    **dict.fromkeys(
        (
            *("accuracy", "auc", "binary_accuracy", "chunk", "classification_error", "column_sum", "confusion_matrix"),
            *("ctc_edit_distance", "detection_map", "mean_iou", "pnpair", "precision_recall", "rank_auc"),
            *("regression_error", "row_sum", "seq_classification_error"),
        ),
        STATISTIC,
    ),
    "attention_step": "it is a single step of `multi_head_attention`, which can be exported instead",
    "detection_output": "`NonMaxSuppression` does not return the detections of an image as a sequence",
    "mdlstmemory": "ONNX has no multi-dimensional LSTM",
    "random_normal": "its values depend on the seed and the step",
    "selected_scores": "the number of its scores and the weight rows it reads depend on the values of `selected`",
    "sampling_id": "the sampled ids depend on the seed and the step",
    "seq_slice": "the number of sub-sequences depends on the values of its inputs",
    "sub_nested_seq": "the selected sub-sequences depend on the values of its inputs",
}
BY_THE_EXPORT = {"memory": "a state of its group's `Scan`", "recurrent_group": "`Scan`"}
"""Layers that the export handles itself, and their ONNX equivalents."""


class NoForm(Exception):
    """A layer cannot be written as ONNX nodes; the message says why."""


def write_op(op: Op, graph: OnnxGraph, layouts: Layouts, named: Container[Value]) -> None:
    """Add the nodes of an operation; values that are not `named` are known to it alone.

    Raises `NoForm`, and `DefinitionError` where the layer's function fails.
    """
    layer = op.layer
    if layer.onnx is None:
        raise NoForm(no_form(layer))
    # Nodes from here on belong to this layer: a tensor made before it keeps its name.
    graph.scope, first = op.name, len(graph.nodes)
    call, code = layer.onnx.call, layer.onnx.call.__code__
    try:
        arguments = [_argument(op, name, graph, layouts) for name in layer.onnx.args]
        made = call(*arguments)
    except _Requirement as refusal:
        # `require` in an `@onnx` function says that these attributes have no ONNX form, which is no bug of the layer.
        raise NoForm(refusal.message) from None
    except Exception as error:  # a plugin's function may raise anything; it is the cause of an error at its line
        message = f"{call.__name__}: {type(error).__name__}: {error}"
        raise DefinitionError(message, code.co_filename, code.co_firstlineno) from error
    tensors = list(made) if isinstance(made, (tuple, list)) else [made]
    wanted = len(op.outputs) + bool(layer.dynamic_rows)
    if len(tensors) != wanted or not all(isinstance(one, OnnxTensor) for one in tensors):
        message = f"{call.__name__}: expected {wanted} tensors, one per output, got {tensors!r}"
        raise DefinitionError(message, code.co_filename, code.co_firstlineno)
    if layer.dynamic_rows:
        _put_dynamic_rows(op, tensors, layouts)
    passed = {_input(op, name, value, layouts).name: value for name in layer.inputs for value in op.argument(name)}
    for place, value in enumerate(op.outputs):
        tensor, start = tensors[place], first
        if tensor.name in passed:  # no node: the input takes the output's name, unless it has a name already
            tensor, start = (graph.Identity(tensor), first) if passed[tensor.name] in named else (tensor, 0)
        _put(op, place, value, graph.rename(tensor, _name(op, place, value), start), layouts)


def no_form(layer: LayerDefinition) -> str:
    """Why a layer has no nodes."""
    if layer.name in WITHOUT_FORM:
        return WITHOUT_FORM[layer.name]
    if layer.stats or layer.is_sink:
        return STATISTIC if layer.stats else COST
    return f"it has no @onnx({layer.owner.__name__}) function"


def _argument(op: Op, name: str, graph: OnnxGraph, layouts: Layouts) -> Any:
    layer, binding = op.layer, op.binding
    if name == "graph":
        return graph
    if name in layer.inputs:
        found = tuple(_input(op, name, value, layouts) for value in op.argument(name))
        return found if layer.inputs[name].repeatable else (found or (None,))[0]
    if name in layer.params:
        tensors = tuple(_parameter(one) for one in op.params.get(name, ()))
        return tensors if layer.params[name].per is not None else (tensors or (None,))[0]
    if name in layer.states:
        return _parameter(op.states[name])
    if name in op.attributes:
        return op.attributes[name]
    if name in binding.sizes:
        return binding.sizes[name]
    row, _, what = name.rpartition("_")
    domain, group = op.rows[row], op.group_of(row)
    return layouts.lengths(domain, group) if what == "lengths" else layouts.mask(domain, group)


def _input(op: Op, name: str, value: Value, layouts: Layouts) -> OnnxTensor:
    row = op.layer.inputs[name].axes[0]
    if row.group is None:
        return layouts.rows(value)
    return layouts.sequences(value, op.group_of(row.name))


def _parameter(parameter: Parameter) -> OnnxTensor:
    return OnnxTensor(parameter.name, parameter.shape, parameter.size, parameter.value)


def _field_row(op: Op, place: int) -> Any:
    fields = list(op.layer.outputs.values())
    axes = fields[min(place, len(fields) - 1)].axes
    return axes[0] if axes else None


def _name(op: Op, place: int, value: Value) -> str:
    """Padded tensors have the name of the value; rows of sequences and sub-sequences do not."""
    row = _field_row(op, place)
    grouped = row is not None and row.group is not None
    plain = value.domain.level == int(grouped)
    return value.name if plain else f"{value.name}/{'sequences' if grouped else 'rows'}"


def _put(op: Op, place: int, value: Value, tensor: OnnxTensor, layouts: Layouts) -> None:
    row = _field_row(op, place)
    if row is not None and row.group is not None:
        layouts.put_sequences(value, tensor)
    else:
        layouts.put_rows(value, tensor)


def _put_dynamic_rows(op: Op, tensors: list[OnnxTensor], layouts: Layouts) -> None:
    """The dynamic rows of a layer: their lengths come after the outputs."""
    (row,) = op.layer.dynamic_rows
    lengths = tensors.pop()
    layouts.put_own_domain(op.rows[row], tensors[0], lengths)
