"""`python -m tests.mutants`: its changes are what they say, they leave no trace, and known faults are caught."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers.define import registries
from paddle_layers.define.functions.program import Program
from tests.mutants import __main__ as program
from tests.mutants import running
from tests.mutants.changing import changed_at, sites
from tests.mutants.checks import Baseline, checks_of
from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.planting import planted, with_tree
from tests.mutants.report import share_killed, text
from tests.mutants.running import ENDLESS, Choice, Verdict, run, verdict_on
from tests.mutants.sources import Mutant, Source, sources
from tests.selection import later_unless_changed, with_marks

PROGRAM = later_unless_changed(__file__, *map(str, Path(program.__file__).parent.glob("*.py")))

LINES = {
    "operator": [
        ("a + b", ["a - b"]),
        ("a - b", ["a + b"]),
        ("a * b", ["a / b"]),
        ("a ** b", ["a * b"]),
        ("-a", ["a"]),
        ("not a", ["a"]),
        ("a and b", ["a or b"]),
        ("max(a, b)", ["min(a, b)"]),
        ("math.floor(a)", ["math.ceil(a)"]),
    ],
    "constant": [("1", ["2"]), ("0.0", ["1.0"]), ("0.5", ["1.0"]), ("True", ["False"]), ("'word'", []), ("x[0]", [])],
    "comparison": [
        ("a < b", ["a <= b", "a >= b"]),
        ("a >= b", ["a > b", "a < b"]),
        ("a == b", ["a != b"]),
        ("a in b", ["a not in b"]),
        ("a is None", []),
    ],
    "index": [
        ("x[n]", ["x[n + 1]", "x[n - 1]"]),
        ("x[n, 0]", ["x[n + 1, 0]", "x[n - 1, 0]", "x[n, 1]"]),
        ("range(1, n)", ["range(2, n)", "range(1, n + 1)", "range(1, n - 1)"]),
        ("x.shape[0]", []),
    ],
    "term": [
        ("a + b", ["a", "b"]),
        ("a - b", ["a", "-b"]),
        ("a / b", ["a"]),
        ("min(a, b)", ["a", "b"]),
        ("a and b", ["b", "a"]),
        ("a if c else b", ["a", "b"]),
    ],
    "exchange": [
        ("a - b", ["b - a"]),
        ("f(a, b, c)", ["f(b, a, c)", "f(a, c, b)"]),
        ("max(a, b)", []),
        ("x[n, c]", ["x[c, n]"]),
        ("a if c else b", ["b if c else a"]),
        ("(a, b)", ["(b, a)"]),
    ],
}
"""What a line may become, by kind."""
STATEMENTS = [
    ("term", "total += a", "pass"),
    ("operator", "total += a", "total -= a"),
    ("term", "if a:\n    total = b", "if False:\n    total = b"),
    ("exchange", "if a:\n    total = b\nelse:\n    total = c", "if a:\n    total = c\nelse:\n    total = b"),
]

CAUGHT = {
    "gradient_clip": ("gradient_clip_dx", "max(-threshold, min(threshold, dy[i]))", "dy[i]"),
    "tanh": ("tanh_dx", "1.0 - y[i]", "1.0 + y[i]"),
    "dropout": ("uniform", ">> 8", "<< 8"),
    "sgd": ("sgd_step", "momentum * velocity[i] +", "momentum * velocity[i] -"),
    "l1": ("l1_penalty", "value[i] < 0", "value[i] <= 0"),
    "auc": ("auc_place", "score <= 1.0", "score < 1.0"),
    "sigmoid_cross_entropy": ("sigmoid_cross_entropy_cost", "target[n, c] != real(ignore_label)", "True"),
    "maxid": ("exceeds", "v > best", "v >= best"),
    "cross_entropy": ("cross_entropy_cost", "max(x[n, label[n, i], i], floor)", "x[n, label[n, i], i]"),
    "pnpair": ("pnpair_pairs", "0.5 * counted", "0.0 * counted"),
}
"""Faults that the checks catch: the layer, its function, what is replaced and by what.

Six of them went through all tests once: those of auc, sigmoid_cross_entropy, maxid, cross_entropy, pnpair and
gradient_clip.
"""


def function(body: str) -> ast.FunctionDef:
    return Program.parse("def f(a, b, c, n, x):\n" + "\n".join(f"    {line}" for line in body.splitlines())).tree


def bodies(kind: str, body: str) -> list[str]:
    tree = function(body)
    found = [changed_at(tree, site) for site in sites(tree) if site.kind == kind]
    return ["\n".join(ast.unparse(part) for part in one.tree.body) for one in found if one is not None]


def edited(name: str, own: str, old: str, new: str) -> Mutant:
    """A mutant by hand."""
    source = next(source for source in sources(name) if source.name == own)
    before = ast.unparse(source.tree)
    assert before.count(old) == 1, before
    return by_hand(source, before.replace(old, new))


def by_hand(source: Source, after: str) -> Mutant:
    site = next(sites(source.tree))
    change = changed_at(source.tree, site)
    assert change is not None
    return Mutant(source, change._replace(tree=Program.parse(after).tree))


@pytest.mark.parametrize(("kind", "line", "expected"), [(k, line, e) for k, rows in LINES.items() for line, e in rows])
def test_a_kind_changes_what_it_says(kind: str, line: str, expected: list[str]) -> None:
    assert bodies(kind, f"return {line}") == [f"return {one}" for one in expected]


@pytest.mark.parametrize(("kind", "before", "after"), STATEMENTS)
def test_statements_are_changed(kind: str, before: str, after: str) -> None:
    assert bodies(kind, before) == [after]


def test_the_original_stays_as_it_is_and_the_change_is_told_with_its_line() -> None:
    tree = function("total = a\nreturn total + b")
    before = ast.dump(tree)
    site = next(site for site in sites(tree) if site.kind == "operator")
    change = changed_at(tree, site)
    assert change is not None
    assert (change.line, change.diff) == (3, "- return total + b\n+ return total - b")
    assert ast.dump(tree) == before


def test_planting_changes_facts_and_removing_restores_them() -> None:
    definition = pl.registry["tanh"]
    facts, message = definition.facts, definition.message
    with planted(edited("tanh", "tanh_dx", "1.0 - y[i] * y[i]", "1.0")):
        assert definition.facts.back_reads == ()
        assert definition.message != message
    assert facts == definition.facts
    assert message == definition.message


def test_planting_a_helper_and_removing_it() -> None:
    mutant = edited("maxid", "exceeds", "v > best", "v < best")
    before = inspect.getsource(mutant.source.call)
    with planted(mutant):
        assert inspect.getsource(mutant.source.call) == ast.unparse(mutant.change.tree)
        assert inspect.getsource(Choice) != before
    assert inspect.getsource(mutant.source.call) == before


def test_a_fault_leaves_no_trace_when_something_is_raised() -> None:
    (source,) = (source for source in sources("tanh") if source.name == "tanh_dx")
    tree = source.tree
    with pytest.raises(KeyboardInterrupt), with_tree(source, function("return a")):
        raise KeyboardInterrupt
    assert source.tree is tree


@pytest.mark.parametrize("name", CAUGHT)
def test_known_faults_are_caught(name: str) -> None:
    assert verdict_on(edited(name, *CAUGHT[name])).check is not None


@with_marks(PROGRAM)
def test_what_changes_nothing_survives() -> None:
    source = sources("tanh")[0]
    assert verdict_on(by_hand(source, ast.unparse(source.tree))).check is None


def test_what_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LONGEST", 0.2)
    endless = by_hand(sources("tanh")[0], "def tanh_y(i, x):\n    while True:\n        pass")
    checks_of(registries["layer"]["tanh"])
    assert verdict_on(endless).check == ENDLESS


def test_a_check_that_fails_without_a_mutant_is_told() -> None:
    definition = registries["layer"]["tanh"]
    checks_of.cache_clear()
    with planted(edited("tanh", "tanh_dx", "1.0 - y[i]", "1.0 + y[i]")), pytest.raises(Baseline, match="tanh: gradi"):
        checks_of(definition)
    checks_of.cache_clear()


def test_the_choice_is_the_same_every_time_and_another_for_another_seed() -> None:
    def keys(choice: Choice) -> list[tuple[str, str, str]]:
        return [mutant.key for mutant in choice.mutants()]

    assert keys(Choice(12, layer="softmax")) == keys(Choice(12, layer="softmax"))
    assert keys(Choice(12, layer="softmax")) != keys(Choice(12, seed=1, layer="softmax"))
    assert {mutant.change.kind for mutant in Choice(5, layer="softmax", kind="index").mutants()} == {"index"}


def test_every_function_is_changed_before_one_is_changed_twice() -> None:
    found = sources("batch_norm")
    assert {mutant.source.name for mutant in Choice(len(found), layer="batch_norm").mutants()} == {
        source.name for source in found
    }


def test_equivalent_mutants_exist_and_have_a_reason() -> None:
    functions = {source.name: source for source in sources()}
    for (name, removed, added), reason in EQUIVALENT.items():
        lines = [line.strip() for line in ast.unparse(functions[name].tree).splitlines()]
        assert set(removed.splitlines()) <= set(lines), f"{name} has changed: does this still mean the same?"
        assert removed != added
        assert reason


def test_the_report_has_the_survivors_with_their_place() -> None:
    first, second = Choice(2, layer="tanh").mutants()
    outcomes = {first: Verdict("gradients", "differs", 0.1), second: Verdict(None, "", 0.1)}
    assert share_killed(outcomes) == 0.5
    report = text(outcomes)
    assert f"survives: {second.place}: {second.source.name}, {second.change.kind}\n    - " in report
    assert report.endswith("50.0% killed, wanted are 98%")


def test_the_program_tells_by_its_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check: str | None = "types"

    def outcomes(choice: Choice, jobs: int) -> list[tuple[int, Verdict]]:
        return [(number, Verdict(check, "", 0.0)) for number in range(len(choice.mutants()))]

    monkeypatch.setattr(program, "run", outcomes)
    monkeypatch.setattr(sys, "argv", ["mutants", "--count", "3", "--layer", "tanh"])
    assert program.main() == 0
    assert "100.0% killed" in capsys.readouterr().out
    check = None
    assert program.main() == 1


def test_the_program_says_which_check_fails_without_a_mutant(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def outcomes(choice: Choice, jobs: int) -> list[tuple[int, Verdict]]:
        raise Baseline("tanh: types fails without a mutant")

    monkeypatch.setattr(program, "run", outcomes)
    monkeypatch.setattr(sys, "argv", ["mutants", "--count", "3", "--layer", "tanh"])
    assert program.main() == 2
    assert "tanh: types fails without a mutant" in capsys.readouterr().err


def test_it_runs_in_processes() -> None:
    found = dict(run(Choice(4, layer="tanh"), jobs=2))
    assert sorted(found) == [0, 1, 2, 3]
