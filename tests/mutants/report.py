"""What became of the mutants: a table by kind, and every survivor with its place and its change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from .equivalent import EQUIVALENT
from .kinds import KINDS
from .running import ENDLESS, Verdict
from .sources import Mutant

WANTED = 0.98
"""Share of the mutants that has to be killed."""
Outcomes = Mapping[Mutant, Verdict]


def counted(outcomes: Outcomes) -> dict[Mutant, Verdict]:
    """Without the mutants that mean the same as the original."""
    return {mutant: verdict for mutant, verdict in outcomes.items() if mutant.key not in EQUIVALENT}


def share_killed(outcomes: Outcomes) -> float:
    """1 where there are no mutants."""
    verdicts = counted(outcomes).values()
    return sum(verdict.check is not None for verdict in verdicts) / len(verdicts) if verdicts else 1.0


def text(outcomes: Outcomes) -> str:
    """The report."""
    kept = counted(outcomes)
    survivors = [mutant for mutant, verdict in kept.items() if verdict.check is None]
    lines = [_row("kind", "planted", "killed", "seconds")]
    for kind in [*KINDS, "all"]:
        own = {mutant: verdict for mutant, verdict in kept.items() if kind in (mutant.change.kind, "all")}
        killed = sum(verdict.check is not None for verdict in own.values())
        lines.append(_row(kind, len(own), killed, round(sum(verdict.seconds for verdict in own.values()))))
    by_check = Counter(verdict.check for verdict in kept.values() if verdict.check is not None)
    lines += ["", "killed by " + ", ".join(f"{check} {count}" for check, count in by_check.most_common())]
    endless = [mutant.place for mutant, verdict in kept.items() if verdict.check == ENDLESS]
    lines += [f"stopped, since it does not end: {place}" for place in endless]
    lines += [f"not counted, since they mean the same: {len(outcomes) - len(kept)}"]
    lines += [f"survives: {describe(mutant)}" for mutant in sorted(survivors, key=lambda mutant: mutant.place)]
    return "\n".join([*lines, f"{share_killed(outcomes):.1%} killed, wanted are {WANTED:.0%}"])


def describe(mutant: Mutant) -> str:
    """Where a mutant is, and what it changes."""
    diff = "\n".join(f"    {line}" for line in mutant.change.diff.splitlines())
    return f"{mutant.place}: {mutant.source.name}, {mutant.change.kind}\n{diff}"


def _row(kind: str, *numbers: object) -> str:
    return f"{kind:<12}" + "".join(f"{number!s:>9}" for number in numbers)
