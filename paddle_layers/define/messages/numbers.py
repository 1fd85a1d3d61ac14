"""Field numbers of definitions and their attributes in the config messages, from lock files.

`numbers.json` is in the folder of a package, ours or a plugin's. Its numbers never change, and those of removed
definitions stay reserved, so a binary config keeps its meaning. Unlisted definitions, as in a plugin under development,
have numbers derived from their names.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from ..definitions.definition import Definition
from ..fields.attributes import Attribute

FILE = "numbers.json"
OURS = "paddle_layers"
FIRST_TYPE = 1000
"""Types of this package count from here; the header fields of a message are below."""
FIRST_HASHED, SPAN = 100_000, 500_000_000
"""Range of numbers derived from names; protobuf reserves 19000 to 19999 and ends at 2**29."""


class Entry(TypedDict):
    """Numbers of one definition: of its block in a message, of the block's fields, and those never used again.

    `choices` has the numbers of an attribute's choices, of removed ones too.
    """

    number: int
    fields: dict[str, int]
    reserved: list[int]
    choices: dict[str, dict[str, int]]


Lock = dict[str, dict[str, Entry]]
"""Entries by kind and name; what was removed stays, without fields."""


def type_number(definition: Definition) -> int:
    """Number of the definition's block in a message such as `Layer`."""
    entry = _entry(definition)
    return entry["number"] if entry else hashed_number(definition.name)


def field_numbers(definition: Definition) -> dict[str, int]:
    """Numbers of the attributes and their aliases."""
    entry = _entry(definition)
    locked = entry["fields"] if entry else {}
    return {name: locked.get(name) or hashed_number(name) for name in definition.attribute_by_name}


def choice_numbers(definition: Definition, attribute: Attribute[Any]) -> dict[str, int]:
    """Numbers of the choices of an attribute; where nothing is locked, their places."""
    entry = _entry(definition)
    return _numbered(attribute, entry["choices"] if entry else {})


def _numbered(attribute: Attribute[Any], locked: dict[str, dict[str, int]]) -> dict[str, int]:
    """Numbers of options: the locked ones, also under an old name, followed by new ones."""
    numbers = dict(next((locked[name] for name in (attribute.name, *attribute.aliases) if name in locked), {}))
    for option in attribute.options:
        numbers.setdefault(option, 1 + max([-1, *numbers.values()]))
    return numbers


def reserved_numbers(definition: Definition) -> list[int]:
    """Numbers of attributes that were removed."""
    entry = _entry(definition)
    return entry["reserved"] if entry else []


def removed_numbers(kind: str, present: Iterable[str]) -> list[int]:
    """Numbers of definitions of ours that were removed; those of a plugin follow from the names."""
    return sorted(entry["number"] for name, entry in read_lock(OURS).get(kind, {}).items() if name not in {*present})


def hashed_number(name: str) -> int:
    """A number that depends on the name only."""
    # The same on every machine, without a registry of plugins.
    return FIRST_HASHED + zlib.crc32(name.encode()) % SPAN


def lock_path(package: str) -> Path | None:
    """Path of the lock file of a package, whether or not it exists; None for a single-file module."""
    module = sys.modules.get(package)
    if module is None or not hasattr(module, "__path__") or module.__file__ is None:
        return None
    return Path(module.__file__).parent / FILE


@cache
def read_lock(package: str) -> Lock:
    """The lock of a package; empty without a file. Raises `ValueError` that names a malformed one."""
    path = lock_path(package)
    if path is None or not path.is_file():
        return {}
    try:
        lock: Any = json.loads(path.read_text(encoding="utf-8"))
        entries = {kind: {name: _read_entry(entry) for name, entry in own.items()} for kind, own in lock.items()}
        for own in entries.values():
            _check_unique(own)
        return entries
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a lock file of numbers: {error}") from error


def _check_unique(entries: dict[str, Entry]) -> None:
    """Raises `ValueError` for two definitions with the same number, as after a merge of two branches."""
    names: dict[int, str] = {}
    for name, entry in entries.items():
        other = names.setdefault(entry["number"], name)
        if other != name:
            problem = f"`{other}` and `{name}` have the same number {entry['number']}"
            raise ValueError(f"{problem}; remove the entry of the newer one and run `paddle-layers schema lock`")


def _read_entry(entry: Any) -> Entry:
    return Entry(
        number=int(entry["number"]),
        fields=dict(entry["fields"]),
        reserved=list(entry["reserved"]),
        choices=dict(entry["choices"]),
    )


def _entry(definition: Definition) -> Entry | None:
    return read_lock(definition.package).get(definition.kind, {}).get(definition.name)


def next_lock(package: str, definitions: list[Definition]) -> Lock:
    """The lock with what is new in a package; numbers of what is gone are reserved."""
    before = read_lock(package)
    lock: Lock = {}
    for kind in sorted({*before, *(definition.kind for definition in definitions)}):
        old = before.get(kind, {})
        entries = dict(old)
        for definition in (d for d in definitions if d.kind == kind):
            entries[definition.name] = _next_entry(definition, old.get(definition.name), _free(entries, package))
        present = {definition.name for definition in definitions if definition.kind == kind}
        for name in set(entries) - present:
            entries[name] = _removed(entries[name])
        lock[kind] = dict(sorted(entries.items()))
    return lock


def _free(entries: dict[str, Entry], package: str) -> int:
    """The next number of a type of ours; 0 for a plugin, whose numbers follow from the names."""
    return 1 + max([FIRST_TYPE - 1, *(entry["number"] for entry in entries.values())]) if package == OURS else 0


def _next_entry(definition: Definition, old: Entry | None, free: int) -> Entry:
    number = old["number"] if old else free or hashed_number(definition.name)
    fields = dict(old["fields"]) if old else {}
    names = list(definition.attribute_by_name)
    # Numbers are never reused: an old binary file would be read as another attribute.
    reserved = [*(old["reserved"] if old else []), *(fields.pop(name) for name in set(fields) - set(names))]
    for name in names:
        if name not in fields:
            fields[name] = 1 + max([0, *fields.values(), *reserved])
    choices = dict(old["choices"]) if old else {}
    for attribute in definition.attributes.values():
        if attribute.options:
            choices[attribute.name] = _numbered(attribute, choices)
    return Entry(number=number, fields=fields, reserved=sorted(reserved), choices=choices)


def _removed(entry: Entry) -> Entry:
    reserved = sorted([*entry["reserved"], *entry["fields"].values()])
    return Entry(number=entry["number"], fields={}, reserved=reserved, choices={})


def lock_changes(old: Lock, new: Lock) -> list[str]:
    """Additions to a lock file, and newly reserved numbers, in words."""
    before, after = _names(old), _names(new)
    return [f"{name}: new" for name in sorted(after - before)] + [f"{name}: removed" for name in sorted(before - after)]


def _names(lock: Lock) -> set[str]:
    """Everything with a number in use: definitions, fields, choices."""
    names = set()
    for kind, entries in lock.items():
        for name, entry in entries.items():
            names |= {f"{kind} `{name}`", *(f"{kind} `{name}`, attribute `{field}`" for field in entry["fields"])}
            names |= {
                f"{kind} `{name}`, choice `{choice}` of `{field}`"
                for field, choices in entry["choices"].items()
                for choice in choices
            }
    return names


def lock_text(lock: Lock) -> str:
    """The text of a lock file: a line for each definition."""
    kinds = []
    for kind, entries in lock.items():
        lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
        kinds.append(f"  {json.dumps(kind)}: {{\n{lines}\n  }}")
    return "{\n" + ",\n".join(kinds) + "\n}\n"
