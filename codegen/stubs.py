"""Type stubs of the helpers, with a type for every attribute, for type checkers and completion."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import indent
from typing import Any

import paddle_layers as pl
from paddle_layers.config.binding.steps import GROUP
from paddle_layers.config.building.builder import HEADERS
from paddle_layers.define import LayerDefinition, registries
from paddle_layers.define.fields.attributes import Attribute
from paddle_layers.define.output_folders import write_texts

from .words import attribute_range
from .words import default_text as _default_words

PACKAGE = Path(pl.__file__).parent
TYPES = {"INT": "int", "FLOAT": "float", "BOOL": "bool", "STRING": "str"}
HEADER_TYPES = {
    "name": "str",
    "output": "str | Sequence[str]",
    "param": "Block | Sequence[Block]",
    "activation": "Block",
    "include": "Block | Sequence[Block]",
    "exclude": "Block | Sequence[Block]",
    "loss_weight": "float | Sequence[float]",
    "propagate_down": "bool | Sequence[bool]",
}
HEAD = '''"""A helper for every registered layer. Made by `paddle-layers stubs`: do not edit."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from paddle_layers.config.building.calls import Sink as Sink
from paddle_layers.config.building.calls import Value as Value

Block: TypeAlias = Mapping[str, Any]
R = TypeVar("R")
'''


def write_stubs(folder: Path) -> list[Path]:
    """Write the stub of `paddle_layers.nn` below `folder`, with the helpers of plugins. Raises `OSError`.

    Type checkers need the whole package next to a part of it: its `__init__` is written beside the stub, unless the
    package itself is there.
    """
    texts = {"paddle_layers/nn.pyi": stub_text(registries["layer"].values())}
    if not (folder / "paddle_layers" / "__init__.py").exists():
        texts["paddle_layers/__init__.pyi"] = _package_stub()
    return write_texts(folder, texts)


def _package_stub() -> str:
    """The package's `__init__` with absolute imports: what is not beside the stub is found where it is installed."""
    text = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    text = re.sub(r"from \. import (?!nn\b)(\w+)", r"import paddle_layers.\1", text)
    return re.sub(r"from \.(\w)", r"from paddle_layers.\1", text)


def stub_text(layers: Iterable[LayerDefinition]) -> str:
    """The stub of helpers of these layers."""
    return "\n".join([HEAD, *(_helper(layer) for layer in layers)])


def _helper(layer: LayerDefinition) -> str:
    arguments = ",\n".join(f"    {argument}" for argument in _arguments(layer))
    fields = layer.outputs.values()
    single = len(layer.outputs) == 1 and not any(field.repeatable for field in fields)
    varies = any(field.when is not None for field in fields)  # a checker cannot know which
    returns = "Any" if varies else "Value" if single else "tuple[Value, ...]" if layer.outputs else "Sink"
    returns = "R" if layer.name == GROUP else returns
    return f"def {layer.name}(\n{arguments},\n) -> {returns}:\n{indent(_document(layer), '    ')}\n"


def _arguments(layer: LayerDefinition) -> Iterator[str]:
    repeatable = False
    if layer.name == GROUP:
        yield from ("step: Callable[..., R]", "/")
    for name, field in layer.inputs.items():
        repeatable = repeatable or field.repeatable
        if field.repeatable:
            yield f"*{name}: Value | Sequence[Value]"
        else:
            yield f"{name}: Value | None = None" if field.optional else f"{name}: Value"
    if not repeatable:
        yield "*"
    for name, attribute in layer.attributes.items():
        type_ = _type(attribute) if layer.name != GROUP or name != "static" else "Sequence[Value]"
        yield f"{name}: {type_}{_default(attribute)}"
    for name in HEADERS:
        if name not in layer.attributes and name not in layer.inputs:
            yield f"{name}: {HEADER_TYPES[name]} | None = None"


def _type(attribute: Attribute[Any]) -> str:
    name = TYPES.get(attribute.type) or f"Literal[{', '.join(map(json.dumps, attribute.options))}]"
    if attribute.repeated:
        name = f"Sequence[{name}]"
    return f"{name} | None" if not attribute.required and _may_be_absent(attribute) else name


def _may_be_absent(attribute: Attribute[Any]) -> bool:
    return attribute.default is None or attribute.default_from is not None


def _default(attribute: Attribute[Any]) -> str:
    if attribute.required:
        return ""
    if _may_be_absent(attribute):
        return " = None"
    if isinstance(attribute.default, str):
        return f" = {json.dumps(attribute.default)}"
    return f" = {attribute.default!r}" if isinstance(attribute.default, (bool, int, float)) else " = ..."


def _document(layer: LayerDefinition) -> str:
    """The description and a line for each argument; whatever a plugin's text says, it does not end the string."""
    lines = [layer.description, ""]
    lines += [f"{name}: {field.doc}" for name, field in layer.inputs.items()]
    for message in layer.message.layer_attr:
        limits = attribute_range(message)
        default = str(_default_words(message)).replace("`", "")
        lines.append(f"{message.name}: {message.description} ({', '.join(filter(None, [limits, default]))})")
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{text}\n"""'
