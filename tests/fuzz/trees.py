"""Configs as trees: changed by what the schema knows, then written in any syntax, in any of its spellings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

from paddle_layers.config.binding.headers import spec
from paddle_layers.config.diagnostics.diagnostic import Source
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.reading.fields import BLOCK, LIST, WORD, Fields
from paddle_layers.config.reading.syntax import read
from paddle_layers.define import registries

from .mutators import ODD_NUMBERS, ODD_TEXTS, TEXT_NUMBERS, several

MESSAGES = (
    *("Network", "Layer", "Step", "ParamSettings", "Initializer", "Activation", "StateRule", "Training", "Source"),
    *("Transform", "Optimizer", "Clip", "Test", "Checkpoint", "Log", "Feed"),
)
DEPTHS = (2, 5, 20)
"""Levels; deeper nesting is made of text, where it needs no recursion."""

LARGEST = 2000
"""Fields of a tree that is changed any further."""


class Field:
    """A name and its value: a `Block`, a `List`, a `Raw` or a text in quotes."""

    def __init__(self, name: str, value: Any) -> None:
        self.name, self.value = name, value


class Block(list[Field]):
    """Fields in braces."""


class List(list[Any]):
    """Values in brackets."""


class Raw(str):
    """A number or word, as it is written."""


@cache
def known_names() -> tuple[str, ...]:
    """Every name that the schema and the definitions know."""
    names = {name for message in MESSAGES for name in spec(message).fields}
    for registry in registries.values():
        names |= {name for definition in registry.values() for name in (definition.name, *definition.attributes)}
    return tuple(sorted(names))


def tree_of(text: str) -> Block:
    """The tree of a sound config."""
    return _block(read(DiagnosticReport(Source("", text))))


def _block(fields: Fields) -> Block:
    return Block(Field(name, _value(kind, value)) for name, kind, value, *_ in fields)


def _value(kind: int, value: Any) -> Any:
    if kind == BLOCK:
        return _block(value)
    if kind == LIST:
        return List(_value(item[1], item[2]) for item in value)
    return Raw(value) if kind == WORD else value if isinstance(value, str) else Raw(repr(value))


def copied(value: Any) -> Any:
    """The value, in which nothing is shared with the other one."""
    if isinstance(value, Block):
        return Block(Field(field.name, copied(field.value)) for field in value)
    return List(map(copied, value)) if isinstance(value, List) else value


# ---- changes


def changed_tree(tree: Block, rng: Random, donors: list[Block]) -> Block:
    """A copy with some fields left out, renamed, moved, nested, given other values, or taken from another config."""
    found = copied(tree)
    for _ in range(several(rng)):
        places = list(_places(found))
        if not 0 < len(places) < LARGEST:
            break
        rng.choice(_CHANGES)(*rng.choice(places), rng, rng.choice(donors))
    return found


def _places(block: Block) -> Iterator[tuple[Block, int]]:
    """Every field, with the block that it stands in."""
    for number, field in enumerate(block):
        yield block, number
        for inner in field.value if isinstance(field.value, List) else [field.value]:
            if isinstance(inner, Block):
                yield from _places(inner)


def _any_value(rng: Random, donor: Block) -> Any:
    """A value of any kind."""
    kind = rng.randrange(8)
    if kind < 2:
        return Raw(rng.choice(ODD_NUMBERS))
    if kind == 2:
        return Raw(rng.choice((*TEXT_NUMBERS, "true", "false", "null", "MAX", "t", *known_names())))
    if kind < 5:
        return rng.choice((*ODD_TEXTS, *known_names()[::7]))
    if kind == 5:
        return List([_any_value(rng, donor)] * rng.choice((0, 1, 2, 3, 40)))
    places = list(_places(donor))
    if kind == 6 or not places:
        return Block()
    block, number = rng.choice(places)
    return copied(block[number].value)


def _copy(field: Field) -> Field:
    return Field(field.name, copied(field.value))


def _drop(block: Block, at: int, rng: Random, donor: Block) -> None:
    del block[at]


def _double(block: Block, at: int, rng: Random, donor: Block) -> None:
    block[at:at] = [_copy(block[at]) for _ in range(rng.choice((1, 1, 1, 2, 30)))]


def _rename(block: Block, at: int, rng: Random, donor: Block) -> None:
    block[at].name = rng.choice((*known_names(), block[at].name + rng.choice(("s", "_", "x")), "zzz"))


def _replace(block: Block, at: int, rng: Random, donor: Block) -> None:
    block[at].value = _any_value(rng, donor)


def _same_kind(block: Block, at: int, rng: Random, donor: Block) -> None:
    """Another value of the kind that stands there, so that it passes the first checks."""
    value = block[at].value
    if isinstance(value, Raw) and value[-1:].isdigit():
        block[at].value = Raw(rng.choice((*ODD_NUMBERS[:19], str(rng.randrange(20)))))
    elif isinstance(value, Raw):
        block[at].value = Raw(rng.choice(("true", "false", "INT", "DENSE", "SPARSE", "SPARSE_INT", "MAX", "AVERAGE")))
    elif isinstance(value, str):
        texts = [field.value for field in _fields(block) if type(field.value) is str]
        block[at].value = rng.choice([*texts, *texts, *ODD_TEXTS, *registries["layer"]])
    elif isinstance(value, List):
        value[:] = [rng.choice(value or [Raw("1")]) for _ in range(rng.choice((0, 1, 2, 3, 4, 9)))]
        if value and rng.random() < 0.5:
            value[rng.randrange(len(value))] = Raw(rng.choice(ODD_NUMBERS[:19]))


def _fields(block: Block) -> Iterator[Field]:
    return (owner[number] for owner, number in _places(block))


def _insert(block: Block, at: int, rng: Random, donor: Block) -> None:
    block.insert(at, Field(rng.choice(known_names()), _any_value(rng, donor)))


def _graft(block: Block, at: int, rng: Random, donor: Block) -> None:
    """A field of another config, such as a layer, or a layer's `step`."""
    places = list(_places(donor))
    if places:
        owner, number = rng.choice(places)
        block.insert(at, _copy(owner[number]))


def _swap(block: Block, at: int, rng: Random, donor: Block) -> None:
    other = rng.randrange(len(block))
    block[at], block[other] = block[other], block[at]


def _nest(block: Block, at: int, rng: Random, donor: Block) -> None:
    """The value inside of itself, or of brackets, some levels deep."""
    field = block[at]
    name = rng.choice((field.name, "step", "layer", "net", "param"))
    in_list, value = rng.random() < 0.3, field.value
    for _ in range(rng.choice(DEPTHS)):
        value = List([value]) if in_list else Block([Field(name, value)])
    field.value = value


def _groups(block: Block, at: int, rng: Random, donor: Block) -> None:
    """A layer inside of recurrent groups."""
    layer = Block(Field(field.name, field.value) for field in block)
    for number in range(rng.choice((1, 2, 3, 12))):
        inside = Block([Field("layer", layer), Field("output", f"g{number}")])
        layer = Block(
            [Field("name", f"g{number}"), Field("type", "recurrent_group"), Field("input", "x"), Field("step", inside)]
        )
    block[:] = [*layer, *(block[at : at + 1] if rng.random() < 0.2 else [])]


_CHANGES: tuple[Callable[[Block, int, Random, Block], None], ...] = (
    *(_drop, _double, _rename, _replace, _replace, _same_kind, _same_kind, _same_kind, _same_kind),
    *(_insert, _insert, _graft, _graft, _swap, _nest, _groups),
)


# ---- spellings


def as_text(block: Block, rng: Random) -> str:
    """In text format: in any layout, with other brackets, quotes, separators, lists and comments."""
    plain = rng.random() < 0.5
    parts: list[str] = []
    _write_block(block, rng, plain, parts)
    return "".join(parts)


def _write_block(block: Block, rng: Random, plain: bool, out: list[str]) -> None:
    for field in block:
        value = field.value
        out.append(field.name)
        if not isinstance(value, Block) or (not plain and rng.random() < 0.1):
            out.append(":")
        out.append(" ")
        _write_value(value, rng, plain, out)
        out.append("\n" if plain else rng.choice((" ", " ", "\n", ", ", ";", " # a comment\n", "\r\n", "\n\n\n")))


def _write_value(value: Any, rng: Random, plain: bool, out: list[str]) -> None:
    if isinstance(value, Block):
        opening, closing = ("{ ", "}") if plain or rng.random() < 0.95 else ("< ", ">")
        out.append(opening)
        _write_block(value, rng, plain, out)
        out.append(closing)
    elif isinstance(value, List):
        out.append("[")
        for number, item in enumerate(value):
            out.append(", " if number else "")
            _write_value(item, rng, plain, out)
        out.append("]")
    elif isinstance(value, Raw):
        out.append(value)
    else:
        quoted = _quoted(value)
        out.append(quoted if plain or rng.random() < 0.9 else "'" + quoted[1:-1].replace("'", "\\'") + "'")


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def _quoted(text: str) -> str:
    """The string in double quotes; other control characters in octal, as protobuf prints them."""
    other = {chr(code): f"\\{code:03o}" for code in (*range(32), 127)} | _ESCAPES
    return '"' + "".join(other.get(character, character) for character in text) + '"'


def as_json(block: Block, rng: Random) -> str:
    """As JSON: what stands there several times is a list, or once in a while a name that is given twice."""
    return _json(block, rng)


def _json(value: Any, rng: Random) -> str:
    if isinstance(value, Block):
        members: dict[str, list[Any]] = {}
        for field in value:
            members.setdefault(field.name, []).append(field.value)
        written = []
        for name, values in members.items():
            key = json.dumps(name)
            if len(values) > 1 and rng.random() < 0.97:
                written.append(f"{key}: [{', '.join(_json(item, rng) for item in _flat(values))}]")
            else:
                written += [f"{key}: {_json(item, rng)}" for item in values]
        return "{" + ", ".join(written) + "}"
    if isinstance(value, List):
        return f"[{', '.join(_json(item, rng) for item in value)}]"
    if isinstance(value, Raw):
        words = not value.lstrip("-")[:1].isdigit() and value not in ("true", "false", "null")
        return json.dumps(value) if words else value
    return json.dumps(value, ensure_ascii=rng.random() < 0.5)


def _flat(values: list[Any]) -> list[Any]:
    return [item for value in values for item in (value if isinstance(value, List) else [value])]
