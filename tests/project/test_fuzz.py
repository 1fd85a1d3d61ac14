"""The fuzzer: cases that once failed and some new ones, and that it notices, names and repeats what it is to find."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from paddle_layers.config.diagnostics import rendering
from paddle_layers.config.diagnostics.diagnostic import Diagnostic
from paddle_layers.data.sources import arrays
from paddle_layers.editor import server
from paddle_layers.runtime.batch import dynamic_rows, feeding
from paddle_layers.runtime.memory import weights
from paddle_layers.runtime.passes import elision
from paddle_layers.training.results import records
from tests.fuzz import __main__ as program
from tests.fuzz import configs, corpus, judging, running
from tests.fuzz.judging import Fault, case_of, hunt, judge
from tests.fuzz.minimising import minimised
from tests.fuzz.running import Tally, opened, run
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS
from tests.selection import later_unless_changed

FUZZER = later_unless_changed(__file__, *map(str, Path(program.__file__).parent.glob("*.py")))
"""Marks of tests of the fuzzer itself, which `.ci/run` runs, too."""
NEW = {"passes": 3, "sizes": 20, "checkpoint": 30, "editor": 15, "training-text": 30, "training-json": 30}
"""New cases of targets that are slower than the others, of which there are 75."""


@pytest.fixture
def target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Target]:
    monkeypatch.setattr(server, "PAUSE", server.PAUSE)  # the target sets it
    with opened(TARGETS[request.param]) as found:
        yield found


@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_cases_that_once_failed(target: Target) -> None:
    for name, case in corpus.kept(target.name):
        assert judge(target, case) is None, name


@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_some_new_cases(target: Target) -> None:
    found: list[Fault] = []
    hunt(target, 0, seconds=600, cases=NEW.get(target.name, 75), note=ignore, found=found.append)
    assert not found, found[0]


@pytest.mark.parametrize("kind", [configs.Text, configs.TrainingText])
def test_what_configs_are_made_from_is_sound(kind: type[configs.Text], tmp_path: Path) -> None:
    for tree in kind.trees():
        assert not kind(tmp_path).examined(configs.as_text(tree, Random(0))).failed


def ignore(*_: object) -> None:
    """Nobody looks at the number of the case."""


def test_every_folder_of_the_corpus_is_that_of_a_target() -> None:
    assert {path.name for path in corpus.FOLDER.iterdir()} <= set(TARGETS)


# ---- planted faults


def broken(*arguments: Any, **options: Any) -> Any:
    raise KeyError("planted")


PLANTED: dict[str, tuple[str, Any, str, Any, str]] = {
    "an exception of a reader": ("npy", arrays, "read_npy", broken, "KeyError at arrays.py"),
    "control characters in what is shown": ("text", rendering, "printable_line", str, "Wrong at configs.py"),
    "control characters in JSON": ("json", rendering, "CONTROL", re.compile("$^"), "Wrong at configs.py"),
    "places behind the text": ("text", Diagnostic, "line", 10**6, "Wrong at configs.py"),
    "a layout that grows": ("json", configs, "format_text", lambda text, *_: text + " ", "Wrong at configs.py"),
    "ids that are not checked": ("feeds", feeding, "_checked_ids", lambda array, *_: array.reshape(-1), ""),
    "starts that are not checked": ("feeds", feeding, "checked_starts", lambda starts, _: np.asarray(starts), ""),
    "places that are not checked": ("computed-ids", dynamic_rows, "_checked", lambda *given: given[3].astype(int), ""),
    "copies of what is changed later": ("passes", elision, "_unnoticed", lambda *_: True, "Wrong at passes.py"),
    "an exception of the log": ("checkpoint", records, "_check", broken, "KeyError"),
    "a shape that is not checked": ("weights", weights, "too_large", broken, "KeyError"),
    "an answer that fails": ("editor", server, "symbols", broken, "Wrong at editor.py"),
}
"""The target, what is replaced by what, and how the failure is called."""
SLOW = ("passes", "computed-ids", "editor", "feeds")
"""Targets whose cases take seconds."""


@pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, marks=FUZZER if PLANTED[fault][0] in SLOW else []) for fault in PLANTED],
)
def test_planted_faults_are_found(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    name, module, attribute, replacement, kind = PLANTED[fault]
    monkeypatch.setattr(judging, "SHRINKING", 1.0)
    monkeypatch.setattr(server, "PAUSE", server.PAUSE)
    found: list[Fault] = []
    with opened(TARGETS[name]) as target:
        monkeypatch.setattr(module, attribute, replacement)
        hunt(target, 0, seconds=20, cases=400, note=ignore, found=found.append)
        assert found
        assert kind in found[0].kind
        first = found[0]
        assert judge(target, first.case)[0] == first.kind  # type: ignore[index]  # the smallest case fails, too
        assert judge(target, case_of(target, first.seed))[0] == first.kind  # type: ignore[index]
        monkeypatch.undo()
        assert judge(target, first.case) is None


class Dying(Target):
    """Dies of the third case, in one of several ways."""

    name = "dying"

    def make(self, rng: Random) -> bytes:
        return b"%d" % rng.randrange(10**9)

    def check(self, case: bytes) -> None:
        if case == case_of(self, 12):
            self.die()

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)


class Hanging(Dying):
    name = "hanging"

    def die(self) -> None:
        while True:
            pass


class Greedy(Dying):
    name = "greedy"

    def die(self) -> None:
        assert b"\1" * (judging.GROWTH + 2**27)


class Leaving(Dying):
    name = "leaving"

    def die(self) -> None:
        raise SystemExit(3)


@pytest.mark.parametrize(
    ("kind", "story"),
    [
        (Dying, "ended with -11"),
        pytest.param(Hanging, "ended with -6", marks=FUZZER),
        pytest.param(Greedy, "too much memory", marks=FUZZER),
        pytest.param(Leaving, "SystemExit", marks=FUZZER),
    ],
)
def test_a_case_that_kills_the_process_is_named(
    monkeypatch: pytest.MonkeyPatch, kind: type[Target], story: str, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(running, "HANGING", 1.0 if kind is Hanging else running.HANGING)
    monkeypatch.setattr(running, "SHRINKING", 0.0)
    monkeypatch.setattr(running, "WARMING", 0)
    tally = run(kind, 10, seconds=60, cases=5)
    (fault,) = tally.faults
    assert (tally.cases, tally.failures, fault.seed) == (5, 1, 12)
    assert story in fault.kind
    with opened(kind) as target:
        assert fault.case == case_of(target, 12)
    assert ("Fatal Python error" in capfd.readouterr().err) == (kind in (Dying, Hanging))


def test_what_takes_long_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Slow(Target):
        def check(self, case: bytes) -> None:
            sum(range(1_000_000 + len(case)))

    monkeypatch.setattr(judging, "SECONDS", 0.001)
    assert judge(Slow(tmp_path), b"")[0] == "too slow"  # type: ignore[index]


# ---- the rest of it


def cases(names: list[str], number: int) -> dict[str, bytes]:
    """A case of each of these targets."""
    made = {}
    for name in names:
        with opened(TARGETS[name]) as target:
            made[name] = case_of(target, number)
    return made


@pytest.mark.slow
def test_a_number_makes_the_same_case_in_every_process() -> None:
    here = cases(list(TARGETS), 3)
    assert cases(list(TARGETS), 4).items().isdisjoint(here.items())
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(cases, list(reversed(TARGETS)), 3).result()
    assert there == here


def test_a_case_is_that_of_a_process_in_which_nothing_has_happened() -> None:
    assert running.case_in_a_process(TARGETS["csv"], 3) == cases(["csv"], 3)["csv"]


def test_cases_are_made_smaller() -> None:
    case = b"".join(b'"word%d" { a: %d }\n' % (number, number) for number in range(100))
    assert minimised(case, lambda found: b"77" in found and b"{" in found, float("inf")) in (b"{77", b"77{")


def test_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--target", "csv", "--cases", "5", "--seed", "7"]) == 0
    assert capsys.readouterr().out.splitlines()[2].split()[:2] == ["csv", "5"]
    faults = [Fault("csv", 9, "KeyError at x.py:3", "story", b"case")]
    monkeypatch.setattr(program, "run", lambda *_, **__: Tally("csv", 5, 1.0, 2, faults))
    monkeypatch.setattr(corpus, "FOLDER", tmp_path)
    assert program.main(["--target", "csv"]) == 1
    told = capsys.readouterr().out
    assert "--target csv --seed 9 --cases 1" in told
    (path,) = (tmp_path / "csv").iterdir()
    assert path.name.startswith("keyerror-at-x-py-3-")
    assert str(path) in told
    assert path.read_bytes() == b"case"
    assert told.splitlines()[-1] == "failures in: csv"
