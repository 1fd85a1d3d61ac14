"""Text fragments for the parts of a LayerDef."""

from __future__ import annotations

from paddle_layers.config.binding.steps import GROUP
from paddle_layers.config.building.builder import HEADERS
from paddle_layers.define.definitions.elementwise import Elementwise
from paddle_layers.define.messages.layer_def import read_value
from paddle_layers.schema import layer_def_pb2 as pb

from .markdown import Markdown, code
from .wrapping import WIDTH

KINDS = {"DENSE": "dense", "INT": "ids", "SPARSE_INT": "sparse ids", "SPARSE": "sparse"}
LEVELS = ("rows", "sequences", "nested sequences")

FAMILIES = {
    "inputs": "Inputs",
    "constants": "Constants and noise",
    "dense": "Dense: linear layers, products, normalization, shapes",
    "images": "Images: convolution, pooling, normalization",
    "detection": "Detection: boxes and regions of interest",
    "elementwise": "Elementwise: activations, dropout, arithmetic",
    "recurrences": "Recurrences: LSTM, GRU, recurrent groups",
    "sequences": "Sequences: embedding, attention, pooling, selection",
    "losses": "Losses",
    "metrics": "Metrics",
}
"""Titles of the families, in the order of the index; each begins with the name of its folder in `layers/`."""

FACTS = {
    "is_source": "It has no inputs; it feeds data into the network.",
    "is_sink": "No layer needs to read it: it has no outputs, or only losses.",
    "has_param": "It has trained parameters.",
    "has_neuron": "It applies an activation to its output (`act`).",
    "can_do_bp": "Gradients flow back through it.",
    "is_inplace": "Its output may be computed in place, in the memory of its input.",
    "has_loss": "It has a loss among its outputs; the network's loss is the weighted sum of the mean losses.",
    "has_stats": "It reports statistics, accumulated over batches.",
    "has_phase": "It behaves differently in the phases `train` and `test`.",
    "is_random": "It generates random numbers in training; they depend only on the seed and the step.",
    "has_state": "It has states: values that are saved with the weights, but not trained.",
    "rows_independent": "A sample's result does not depend on the other samples of its batch.",
    "is_composite": "It is composed of other layers.",
}
"""Descriptions of the facts of a layer."""


def family_title(family: str) -> str:
    """Titles of families; a plugin's family keeps its name."""
    return FAMILIES.get(family, family.replace("_", " ").capitalize())


def argument_types(argument: pb.ArgumentDef) -> str:
    """Data types and nesting, such as `dense; rows or sequences`."""
    kinds = " or ".join(KINDS[pb.DataType.Name(kind)] for kind in argument.data_type)
    levels = " or ".join(LEVELS[level] for level in argument.seq_nested_level)
    between = f", from {argument.low:g} to {argument.high:g}" if argument.HasField("low") else ""
    return f"{kinds}{between}; {levels}" if levels else kinds


def attribute_type(attribute: pb.AttributeDef) -> str:
    """Type in words: `int`, `list of float`, `one of a, b`."""
    names = [choice.name for choice in attribute.choices]
    name = f"one of {', '.join(names)}" if names else pb.AttributeDef.Type.Name(attribute.type).lower()
    return f"list of {name}" if attribute.repeated else name


def attribute_range(attribute: pb.AttributeDef) -> str:
    """Legal values: `>= 1 and < 3`; for a list the number of its values too."""
    parts = []
    if attribute.HasField("min_value"):
        parts.append(f"{'>' if attribute.min_exclusive else '>='} {value_text(attribute.min_value)}")
    if attribute.HasField("max_value"):
        parts.append(f"{'<' if attribute.max_exclusive else '<='} {value_text(attribute.max_value)}")
    text = " and ".join(parts)
    if not attribute.repeated or not (attribute.min_items or attribute.HasField("max_items")):
        return text
    count = f"{attribute.min_items} to {attribute.max_items}"
    if not attribute.HasField("max_items"):
        count = f"at least {attribute.min_items}"
    elif attribute.min_items == attribute.max_items:
        count = str(attribute.min_items)
    return f"{count} values{', each ' + text if text else ''}"


def default_text(attribute: pb.AttributeDef) -> str:
    """The default, or the placeholder for an absent one."""
    if attribute.required:
        return "required"
    if attribute.default_from:
        return Markdown(f"same as {code(attribute.default_from)}")
    if not attribute.HasField("default_value"):
        return "none"
    value = read_value(attribute.default_value)
    return code(value if attribute.type == pb.AttributeDef.CHOICE and not attribute.repeated else config_text(value))


def value_text(message: pb.Attribute) -> str:
    """A value in config syntax."""
    return config_text(read_value(message))


def config_text(value: object) -> str:
    """A Python value in config syntax."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(config_text, value))}]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    # `:g` writes 2.0 as 2, but has six digits only.
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else repr(value)


def facts_text(facts: pb.FactsDef) -> list[str]:
    """A sentence for each fact that holds."""
    sentences = [text for name, text in FACTS.items() if getattr(facts, name)]
    reads = [*facts.back_reads_x, *facts.back_reads_y]
    if facts.can_do_bp:
        names = ", ".join(f"`{name}`" for name in reads)
        sentences.append(f"The backward pass reads {names or 'no inputs or outputs'}.")
    if facts.devices:
        sentences.append(f"Devices: {', '.join(facts.devices)}.")
    else:
        sentences.append("It has no functions: its declarations are checked, but it does not run.")
    return sentences


def lazy_text(definition: Elementwise) -> str:
    """Description of the lazy update of an optimizer or a regularizer."""
    lazy = definition.lazy
    if definition.kind == "regularizer":
        supports = "linear and supports" if lazy else "not linear and prevents"
        return f"The penalty is {supports} lazy updates of embedding tables."
    if lazy is None:
        return "Each step updates a whole embedding table, even if a batch uses few of its rows."
    condition = "also with a linear regularizer" if "penalty" in lazy.args else "but only without a regularizer"
    return f"Lazy updates: unused rows of an embedding table are updated when they are next used, {condition}."


def signature(layer: pb.LayerDef) -> str:
    """The call of the Python helper, wrapped."""
    words = ["step"] if layer.type == GROUP else []
    words += [_input_word(argument) for argument in layer.inputs]
    words += ["*"] if not any(a.repeatable for a in layer.inputs) else []
    # Required ones first; the sort is stable, so the others keep the order of the definition.
    words += [f"{a.name}{_default_word(a)}" for a in sorted(layer.layer_attr, key=lambda a: not a.required)]
    taken = {*(argument.name for argument in layer.inputs), *(attribute.name for attribute in layer.layer_attr)}
    words += [f"{name}=None" for name in HEADERS if name not in taken]
    head = f"nn.{layer.type}("
    if len(head) + len(", ".join(words)) < WIDTH:
        return head + ", ".join(words) + ")"
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) + 2 > WIDTH:
            lines.append(line)
            line = ""
        line += f"{' ' if line else '    '}{word},"
    return "\n".join([head, *lines, line, ")"])


def _input_word(argument: pb.ArgumentDef) -> str:
    return f"*{argument.name}" if argument.repeatable else argument.name + ("=None" if argument.optional else "")


def _default_word(attribute: pb.AttributeDef) -> str:
    if attribute.required:
        return ""
    value = read_value(attribute.default_value) if attribute.HasField("default_value") else None
    return f"={attribute.default_from}" if attribute.default_from else f"={value!r}"
