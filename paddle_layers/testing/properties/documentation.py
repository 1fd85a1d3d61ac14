"""Documentation completeness beyond the checks at registration."""

from __future__ import annotations

from collections.abc import Iterator

from paddle_layers.define import Bias, LayerDefinition

from .comparing import Verdicts


def check_documentation(layer: LayerDefinition) -> Verdicts:
    """Checks the one-sentence summary, descriptions of choices, messages of rules, and names in other systems."""
    summary = layer.summary
    yield "description", None if summary.endswith(".") else f"the first line is not a sentence: {summary!r}"
    for place, text in _texts(layer):
        words = text.replace("_", " ").strip(" .").lower()
        yield (
            place,
            None if words not in ("", place.replace("_", " ")) else "the description only repeats the name",
        )
    for attribute in layer.attributes.values():
        for option in attribute.options:
            described = attribute.option_docs.get(option)
            yield f"{attribute.name}: {option}", None if described else "the choice has no description"
    for rule in layer.message.rules:
        yield f"rule {rule.condition}", None if rule.message.strip() else "has no message"
    for system, name in layer.elsewhere.items():
        yield f"name in {system}", None if system.strip() and name.strip() else "is empty"


def _texts(layer: LayerDefinition) -> Iterator[tuple[str, str]]:
    fields = [field for field in layer.fields.values() if not isinstance(field, Bias)]
    yield from ((field.name, field.doc) for field in fields)
    yield from ((attribute.name, attribute.doc) for attribute in layer.attributes.values())
