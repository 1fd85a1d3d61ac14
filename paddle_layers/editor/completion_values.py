"""Completion of field values with descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from paddle_layers.config.binding.steps import GROUP, MEMORY
from paddle_layers.config.reading.syntax_tree import SyntaxBlock
from paddle_layers.config.trainingfiles import UNKNOWN_SIZE
from paddle_layers.config.wiring.nodes import parameter_shapes
from paddle_layers.define import Attribute, Definition, LayerDefinition, registries, terms_of
from paddle_layers.define.bodies import activation_problem
from paddle_layers.define.fields.types import shape_text

from .block_schema import BlockSchema, attribute_facts, attribute_text, definition_text, header_facts, header_field
from .document import Document, net_of


class CompletionValue(NamedTuple):
    """One possible value; `text` is in quotes if `quoted` is true."""

    text: str
    kind: str
    quoted: bool = True
    detail: str = ""
    documentation: str = ""
    search: str = ""
    """Filter text besides the text itself."""


def values(document: Document, block: SyntaxBlock, name: str, found: BlockSchema) -> Iterable[CompletionValue]:
    """The values that the field `name` of a block may have, most likely first."""
    if found.header is None:
        if found.definition is not None and (found.definition.name, name) == (MEMORY, "of"):
            return _outputs(document, block.parent or block)
        if found.definition is not None and (found.definition.name, name) == (GROUP, "static"):
            return _inputs(document, block.parent)
        return _attribute_values(document, found.definition, name)
    message = found.header.name
    if name == "type" and message == "Layer":
        return [*_blocks(document), *types(found.registry)]
    if name == "type" and found.registry:
        return types(found.registry, activations=message == "Activation")
    if name == "input" and message == "Layer":
        return [*_outputs(document, block), *_inputs_around(document, block)]
    if name == "output" and message in ("Step", "Block"):
        return _outputs(document, block)
    if name == "set" and message == "Layer":
        return settings(document, block, after_equals=False)
    if name == "input" and message != "Block":
        return _data(document)
    if name == "of":
        return _parameters(document, block)
    field = header_field(found, name)
    if field is not None and field.attribute is not None:
        return _words(field.attribute, header_facts(field), quoted=True)
    return _attribute_values(document, found.definition, name)


def types(registry: str, *, activations: bool = False) -> Iterator[CompletionValue]:
    """The types of a registry, or only those that can be activations."""
    for definition in registries[registry].values():
        if not activations or not activation_problem(definition):
            search = " ".join(terms_of(definition))
            yield CompletionValue(
                definition.name, "type", True, definition.summary, definition_text(definition), search
            )


def settings(document: Document, block: SyntaxBlock, *, after_equals: bool) -> Iterator[CompletionValue]:
    """Completions for a `set`: attributes, or, after `=`, the settings of the enclosing block."""
    layer = document.layer_of.get(id(block))
    definition: Definition | None = layer.definition if layer is not None else None
    if after_equals:
        definition = document.blocks.get(net_of(block).word("name"))
    for attribute in definition.attributes.values() if definition is not None else ():
        text = attribute.name if after_equals else f"{attribute.name} = "
        yield CompletionValue(text, "field", True, attribute_facts(attribute), attribute_text(attribute))


def _blocks(document: Document) -> Iterator[CompletionValue]:
    for block in document.blocks.values():
        yield CompletionValue(block.name, "type", True, block.summary, definition_text(block))


def _attribute_values(document: Document, definition: Definition | None, name: str) -> Iterable[CompletionValue]:
    attribute = definition.attribute_by_name.get(name) if definition is not None else None
    if attribute is None:
        return ()
    if name == "act" and isinstance(definition, LayerDefinition) and "act" in definition.common:
        return types("layer", activations=True)
    return _words(attribute, attribute_facts(attribute), quoted=document.tree.json)


def _words(attribute: Attribute[Any], facts: str, *, quoted: bool) -> Iterator[CompletionValue]:
    if attribute.type == "BOOL":
        yield from (CompletionValue(word, "value", False, facts, attribute.doc) for word in ("true", "false"))
    for option in attribute.options:
        yield CompletionValue(option, "value", quoted, facts, attribute.option_docs.get(option, ""))


def _outputs(document: Document, block: SyntaxBlock) -> Iterator[CompletionValue]:
    """Outputs that a layer may read: those before it, nearest first, then those after it."""
    beside = document.beside(block)
    before = [layer for layer in beside if layer.block.start < block.start]
    after = [layer for layer in beside if layer.block.start > block.start]
    own = block.word("name")
    seen: set[str] = set()
    for layer in [*reversed(before), *after]:
        for name in document.output_names(layer):
            if name not in seen and layer.name != own:
                seen.add(name)
                yield CompletionValue(
                    name, "output", True, _made(document, name, block), f"Output of a layer of type `{layer.type}`."
                )


def _inputs_around(document: Document, block: SyntaxBlock) -> Iterator[CompletionValue]:
    """In a step, the inputs of the group; in a block of the file, its inputs."""
    for token in document.block_inputs(block):
        name = token.word
        yield CompletionValue(name, "output", True, _made(document, name, block), "Input of the block.")
    group = document.group_around(block)
    yield from _inputs(document, group.block if group is not None else None, block)


def _inputs(
    document: Document, layer: SyntaxBlock | None, reader: SyntaxBlock | None = None
) -> Iterator[CompletionValue]:
    """Inputs of a layer, with their types in the reader."""
    names = layer.words("input") if layer is not None else []
    for name in names:
        yield CompletionValue(name, "output", True, _made(document, name, reader or layer), "Input of the group.")


def _data(document: Document) -> Iterator[CompletionValue]:
    return (
        CompletionValue(name, "output", True, _made(document, name, document.tree.root))
        for name in document.data_layers()
    )


def _made(document: Document, name: str, block: SyntaxBlock | None) -> str:
    known = document.type_of(name, block) if block is not None else None
    return str(known[1]).replace(str(UNKNOWN_SIZE), "?") if known is not None else ""


def _parameters(document: Document, block: SyntaxBlock) -> Iterator[CompletionValue]:
    layer = document.layer_of.get(id(block.parent))
    if layer is None or layer.definition is None:
        return
    for name, param in layer.definition.params.items():
        yield CompletionValue(name, "parameter", True, param.text, param.doc)
    if layer.node is not None and layer.node.inside is not None:
        for name, shape in parameter_shapes(layer.node).items():
            yield CompletionValue(name, "parameter", True, shape_text(shape), "Parameter of a part.")
