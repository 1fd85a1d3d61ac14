"""Config text of the small network in which a layer is tested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from paddle_layers.config.writing.text import Word, fields_text
from paddle_layers.define import LayerDefinition, Type

LAYER = "it"
"""Name of the layer under test in its network."""


def network_text(
    definition: LayerDefinition,
    types: Sequence[Type],
    settings: Mapping[str, Any],
    *,
    outputs: Iterable[str] = (),
    propagate: Sequence[bool] = (),
    copied: bool = False,
) -> str:
    """Data layers `in0`, `in1` ... and the layer; with `propagate`, the gradients of these inputs are forced.

    `copied`: the data are copied before the layer, so that it may work in-place on its inputs.
    """
    lines = [_data_layer(f"in{place}", type_) for place, type_ in enumerate(types)]
    names = [f"in{place}" for place in range(len(types))]
    for place, type_ in enumerate(types):
        if copied and type_.kind == "DENSE":
            force = f" propagate_down: {str(propagate[place]).lower()}" if propagate else ""
            lines.append(f'layer {{ name: "copy{place}" type: "linear" input: "in{place}"{force} }}')
            names[place] = f"copy{place}"
    parts = [f'input: "{name}"' for name in names]
    parts += [f'output: "{name}"' for name in outputs]
    parts += [f"propagate_down: {str(force).lower()}" for force in propagate]
    lines.append(
        f'layer {{ name: "{LAYER}" type: "{definition.name}" {" ".join(parts)} {_block(definition, settings)}}}'
    )
    return "\n".join(lines) + "\n"


def _block(definition: LayerDefinition, settings: Mapping[str, Any]) -> str:
    known = definition.attribute_by_name
    plain = {
        name: Word(value)
        if name in known and known[name].type == "CHOICE" and isinstance(value, str) and value.isidentifier()
        else value
        for name, value in settings.items()
        if name not in definition.inputs
    }
    return f"{definition.name} {{ {fields_text(plain)} }} " if plain else ""


def _data_layer(name: str, type_: Type) -> str:
    shape = f" shape: {list(type_.dims)}" if not type_.kind.startswith("SPARSE") and type_.dims else ""
    size = "" if type_.kind == "DENSE" else f" size: {type_.size}"
    level = f" seq_nested_level: {type_.level}" if type_.level else ""
    kind = "" if type_.kind == "DENSE" else f" data_type: {type_.kind}"
    block = f"{kind}{level}{shape}{size} "
    return f'layer {{ name: "{name}" type: "data"{f" data {{{block}}}" if block.strip() else ""} }}'
