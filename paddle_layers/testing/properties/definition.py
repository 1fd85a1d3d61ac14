"""The LayerDef survives all serialization formats."""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf import json_format, text_format

from paddle_layers.define import LayerDefinition
from paddle_layers.schema import layer_def_pb2 as pb


def check_definition(layer: LayerDefinition) -> Iterator[tuple[str, str | None]]:
    """To binary, text and JSON, and back: the message must be the same."""
    message = layer.message
    ways = {
        "binary": pb.LayerDef.FromString(message.SerializeToString()),
        "text": text_format.Parse(text_format.MessageToString(message), pb.LayerDef()),
        "JSON": json_format.Parse(json_format.MessageToJson(message), pb.LayerDef()),
    }
    for form, read in ways.items():
        yield form, None if read == message else f"the LayerDef changes in a round trip through {form}"
