"""Few generated configs that show together what many show."""

from collections.abc import Iterator
from typing import Any

from paddle_layers.define import LayerDefinition
from paddle_layers.testing.cases.configs import Config, ConfigDraft, batches_of
from paddle_layers.testing.cases.strategies import random_configs
from paddle_layers.testing.cases.values import ABSENT, usual_values
from paddle_layers.testing.generated import is_legal

DRAWS = 80
SETTINGS = ("attribute", "kind", "given")
"""Features that have to be shown."""
LARGEST = 200
"""Most numbers that are fed: some references look at everything that may be."""


def chosen_configs(definition: LayerDefinition, most: int) -> list[Config]:
    """At most so many configs; of few, the next is always the one that shows most that is new, of settings first."""
    if not most:
        return []
    sampled = [config for config in random_configs(definition, DRAWS) if is_legal(config)]
    left = [config for config in (*sampled, *_one_by_one(definition)) if config.elements <= LARGEST]
    shown: set[Any] = set()
    taken: list[Config] = []
    while left and len(taken) < most:
        best = max(left, key=lambda config: [len(part) for part in _news(config, shown)])
        if best.features <= shown:
            break
        shown |= set().union(*_news(best, shown))
        left.remove(best)
        taken.append(best)
    return taken


def _news(config: Config, shown: set[Any]) -> tuple[set[Any], set[Any]]:
    """What has to be shown and was not: choices, kinds, inputs, attributes with any other value; then all the rest."""
    settings = {feature for feature in config.features if feature[0] in SETTINGS}
    known = config.definition.attribute_by_name
    needed = {
        feature if feature[0] != "attribute" or known[feature[1]].type == "CHOICE" else feature[:2]
        for feature in settings
        if feature[0] != "attribute" or feature[-1] not in (ABSENT, known[feature[1]].default)
    }
    return needed - shown, set(config.features) - shown


def other_choices(definition: LayerDefinition) -> Iterator[Config]:
    """Examples with one other choice or switch each: those that no example has."""
    for attribute in definition.attributes.values():
        if definition.attribute_by_name[attribute.name].type in ("CHOICE", "BOOL"):
            shown = [example.settings.get(attribute.name, attribute.default) for example in definition.examples]
            for value in usual_values(attribute, []):
                if value not in (*shown, ABSENT):
                    yield from _changed(definition, "attribute", attribute.name, value)


def _one_by_one(definition: LayerDefinition) -> Iterator[Config]:
    """Examples with one other value of an attribute or data type of an input: drawing does not come upon all."""
    for attribute in definition.attributes.values():
        given = [e.settings[attribute.name] for e in definition.examples if attribute.name in e.settings]
        for value in usual_values(attribute, given):
            yield from _changed(definition, "attribute", attribute.name, value)
    for name, field in definition.inputs.items():
        for kind in field.kinds if len(field.kinds) > 1 else ():
            yield from _changed(definition, "kind", name, kind)


def _changed(definition: LayerDefinition, what: str, name: str, value: Any) -> Iterator[Config]:
    """The first example that is legal with the change."""
    for example in definition.examples:
        draft = ConfigDraft(definition, example)
        if what == "attribute":
            draft.attributes[name] = value
        else:
            draft.kinds[name][:1] = [value]
        draft.features.add((what, name, tuple(value) if isinstance(value, list) else value))
        small = [c for c in map(draft.config, batches_of(draft.deepest)) if c.elements <= LARGEST]
        if small and is_legal(small[-1]):
            yield small[-1]
            return
