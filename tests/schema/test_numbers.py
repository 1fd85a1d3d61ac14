"""Field numbers: locked, never reused, and complete."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from paddle_layers.codegen.proto import proto_text

from paddle_layers.cli.app import commands
from paddle_layers.config.writing.descriptors import TYPED, config_files
from paddle_layers.define import Definition, registries
from paddle_layers.define.fields.attributes import Choice, Int
from paddle_layers.define.messages import numbers as room
from paddle_layers.define.messages.numbers import (
    FIRST_HASHED,
    choice_numbers,
    field_numbers,
    hashed_number,
    lock_changes,
    lock_path,
    lock_text,
    next_lock,
    read_lock,
    type_number,
)

PACKAGE = "paddle_layers"
OURS = [d for kind in TYPED for d in registries[kind].values() if d.package == PACKAGE]


def test_the_lock_file_is_not_stale() -> None:
    path = lock_path(PACKAGE)
    assert path is not None
    assert path.read_text(encoding="utf-8") == lock_text(next_lock(PACKAGE, OURS)), "run `paddle-layers schema lock`"


def test_numbers_are_unique_and_legal() -> None:
    for file in config_files():
        for message in file.message_type:
            used = [field.number for field in message.field]
            reserved = {span.start for span in message.reserved_range}
            assert len(used) == len(set(used)), message.name
            assert not reserved & set(used)
            assert all(0 < number < 2**29 and not 19000 <= number < 20000 for number in used)


def definition(**attributes: Any) -> Definition:
    owner = type("Owner", (), {"__doc__": "A thing.", **attributes})
    for name, attribute in attributes.items():
        attribute.name = name
    return Definition("layer", "thing", owner)


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Locks a definition as the next release would; gives the entry."""
    kept: dict[str, Any] = {}
    monkeypatch.setattr(room, "read_lock", lambda _: kept)

    def step(*definitions: Definition) -> Any:
        new = next_lock(PACKAGE, list(definitions))
        kept.clear()
        kept.update(json.loads(lock_text(new)))
        return kept["layer"].get("thing")

    return step


def test_numbers_stay_and_are_never_used_again(lock: Any) -> None:
    first = lock(definition(a=Int("a"), b=Int("b")))
    assert (first["number"], first["fields"]) == (1000, {"a": 1, "b": 2})
    moved = lock(definition(new=Int("n"), b=Int("b"), a=Int("a")))
    assert moved["fields"] == {"a": 1, "b": 2, "new": 3}
    removed = lock(definition(a=Int("a")))
    assert (removed["fields"], removed["reserved"]) == ({"a": 1}, [2, 3])
    back = lock(definition(a=Int("a"), b=Int("b")))
    assert back["fields"] == {"a": 1, "b": 4}
    gone = lock()
    assert (gone["number"], gone["fields"], gone["reserved"]) == (1000, {}, [1, 2, 3, 4])
    assert lock(definition(c=Int("c")))["fields"] == {"c": 5}


def test_choices_keep_their_numbers(lock: Any) -> None:
    lock(definition(how=Choice("how", options=("A", "C"))))
    entry = lock(definition(how=Choice("how", options=("A", "B", "C"))))
    assert entry["choices"]["how"] == {"A": 0, "C": 1, "B": 2}
    entry = lock(definition(how=Choice("how", options=("B", "D"))))
    assert entry["choices"]["how"] == {"A": 0, "C": 1, "B": 2, "D": 3}


def test_a_renamed_attribute_keeps_the_numbers_of_its_choices(lock: Any) -> None:
    lock(definition(how=Choice("how", options=("A", "C"))))
    entry = lock(definition(way=Choice("how", options=("B", "C", "A"), aliases=("how",))))
    assert entry["choices"]["way"] == {"A": 0, "C": 1, "B": 2}
    assert entry["fields"] == {"how": 1, "way": 2}


def test_changes_are_told_in_words(lock: Any) -> None:
    lock(definition(a=Int("a")))
    before = dict(room.read_lock(PACKAGE))
    after = next_lock(PACKAGE, [definition(b=Int("b"), how=Choice("how", options=("X",)))])
    assert lock_changes(before, after) == [
        "layer `thing`, attribute `b`: new",
        "layer `thing`, attribute `how`: new",
        "layer `thing`, choice `X` of `how`: new",
        "layer `thing`, attribute `a`: removed",
    ]


def test_the_exported_schema_reserves_what_was_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    locked = copy.deepcopy(read_lock(PACKAGE))
    locked["layer"]["gone"] = {"number": 1999, "fields": {}, "reserved": [1], "choices": {}}
    locked["layer"]["pool"]["choices"]["divisor"]["OLD"] = 77
    monkeypatch.setattr(room, "read_lock", lambda _: locked)
    registered, network, _ = config_files()
    layer = next(message for message in network.message_type if message.name == "Layer")
    assert [(span.start, span.end) for span in layer.reserved_range] == [(1999, 2000)]
    text = proto_text(registered, {}) + proto_text(network, {})
    assert "  reserved 1999;" in text
    assert "reserved 77;" in text


def test_what_is_not_locked_has_numbers_from_its_names() -> None:
    free = definition(a=Int("a"), how=Choice("how", options=("A", "B")))
    assert type_number(free) == hashed_number("thing") >= FIRST_HASHED
    assert field_numbers(free) == {"a": hashed_number("a"), "how": hashed_number("how")}
    assert choice_numbers(free, free.attributes["how"]) == {"A": 0, "B": 1}


def test_equal_numbers_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = '{"number": 1201, "fields": {}, "reserved": [], "choices": {}}'
    (tmp_path / "numbers.json").write_text(f'{{"layer": {{"first": {entry}, "second": {entry}}}}}')
    monkeypatch.setattr(room, "lock_path", lambda _: tmp_path / "numbers.json")
    with pytest.raises(ValueError, match="`first` and `second` have the same number 1201; remove the entry"):
        read_lock("another_package")


def test_a_malformed_lock_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "numbers.json").write_text('{"layer": {"fc": 3}}')
    monkeypatch.setattr(room, "lock_path", lambda _: tmp_path / "numbers.json")
    with pytest.raises(ValueError, match=r"numbers\.json is not a lock file"):
        read_lock("some_package")


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        commands(["schema", "lock", "--check"])
    assert stop.value.code == 0
    with pytest.raises(SystemExit) as stop:
        commands(["schema", "lock", "--package", "nobody"])
    assert stop.value.code == 2
    assert "no installed package `nobody`" in capsys.readouterr().err
