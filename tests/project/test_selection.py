"""Selection of compiled layers and shards: by the commit, never by the date."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

import paddle_layers as pl
from tests import selection

COMPILER = str(selection.ROOT / "paddle_layers" / "runtime" / "devices" / "cpu" / "compiler.py")
GEMM = next(path for path in selection.files_of("fc") if path.endswith("gemm.py"))
HELPERS = str(selection.ROOT / "paddle_layers" / "layers" / "helpers.py")


def concerned(monkeypatch: pytest.MonkeyPatch, *files: str) -> tuple[frozenset[str], frozenset[str]]:
    """Layers that a change of files selects for the usual run, and for the slow one."""
    monkeypatch.setattr(selection, "changed_files", lambda: frozenset(files))
    return selection._concerned.__wrapped__()


def test_fixed_layers_exist() -> None:
    assert selection.COVERING.keys() <= set(pl.registry)


def test_a_changed_module_selects_its_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert concerned(monkeypatch) == (frozenset(), frozenset())
    assert concerned(monkeypatch, pl.registry["crf"].file)[0] == {"crf", "crf_decoding"}


def test_a_shared_file_selects_a_limited_number_of_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(HELPERS in selection.files_of(layer) for layer in pl.registry) > 5 * selection.CONCERNED
    own, shared = concerned(monkeypatch, HELPERS)
    assert not own
    assert selection.CONCERNED / 2 < len(shared) <= selection.CONCERNED
    assert concerned(monkeypatch, HELPERS, pl.registry["crf"].file)[0] == {"crf", "crf_decoding"}, "not dropped"


def test_every_layer_is_compiled_by_the_usual_run_or_by_the_slow_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but unchanged layers waits for the nightly run; fixed layers that changed are checked thoroughly."""
    changed = concerned(monkeypatch, HELPERS, pl.registry["fc"].file)
    monkeypatch.setattr(selection, "_concerned", lambda: changed)
    assert selection.is_compiled("fc")
    assert not any(selection.is_later(layer) for layers in changed for layer in layers)
    thorough = {str(one.values[0]): one.marks for one in selection.thoroughly_compiled_layers(pl.registry)}
    later = {layer for layer, marks in thorough.items() if pytest.mark.later in marks}
    assert later.isdisjoint(changed[0] | changed[1])
    assert selection.COVERING.keys() - changed[0] - changed[1] <= later


@pytest.mark.parametrize(
    ("last", "recent", "marks"),
    [
        (__file__, __file__, set()),
        (GEMM, GEMM, set()),
        (COMPILER, COMPILER, set()),
        ("", GEMM, {"slow"}),
        ("", pl.registry["relu"].file, {"slow", "later"}),
    ],
)
def test_tests_of_kernels_run_when_one_of_their_files_changed(
    monkeypatch: pytest.MonkeyPatch, last: str, recent: str, marks: set[str]
) -> None:
    monkeypatch.setattr(selection, "changed_files", lambda commits=1: frozenset([last if commits == 1 else recent]))
    found = selection.later_unless_changed(__file__, *selection.files_of("fc"), *selection.COMPILER)
    assert {mark.name for mark in found} == marks


def test_a_shallow_checkout_has_the_last_commit_only() -> None:
    assert selection.changed_files(10**6) == selection.changed_files()


ON_ANOTHER_DAY = """
import datetime, sys, time

LATER = datetime.timedelta(days=int(sys.argv.pop()))
clock, today = time.time, datetime.datetime.now


class Date(datetime.date):
    @classmethod
    def today(cls):
        return (today() + LATER).date()


class DateTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return today(tz) + LATER


time.time = lambda: clock() + LATER.total_seconds()
datetime.date, datetime.datetime = Date, DateTime
import pytest

sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.later  # collects all tests twice
def test_the_same_tests_are_selected_on_every_day() -> None:
    options = ["--collect-only", "-q", "-n0", "-p", "no:cacheprovider", "-m", "not later"]
    options += ["-W", "ignore:datetime.date:RuntimeWarning"]  # compiled modules see that the classes above are others
    lists = []
    for days in ("0", "108"):
        command = [sys.executable, "-c", ON_ANOTHER_DAY, *options, days]
        done = subprocess.run(command, cwd=selection.ROOT, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr
        lists.append([line for line in done.stdout.splitlines() if "::" in line])
    assert len(lists[0]) > 5_000
    assert lists[0] == lists[1]


def test_shards_partition_the_tests() -> None:
    items: list[Any] = [SimpleNamespace(nodeid=f"tests/test_x.py::test[{number}]") for number in range(100)]
    shards = [selection.shard(items, f"{number}/7") for number in range(1, 8)]
    assert all(shards)
    assert sorted(item.nodeid for part in shards for item in part) == sorted(item.nodeid for item in items)


@pytest.mark.parametrize("choice", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_a_shard_that_does_not_exist(choice: str) -> None:
    with pytest.raises(pytest.UsageError, match="must be K/N"):
        selection.shard([], choice)
