"""`python -m tests.mutants` in the root of a checkout.

Exit status 1 when fewer mutants are killed than wanted, 2 when a check fails without a mutant.
"""

from __future__ import annotations

import argparse
import sys
import time

from .checks import Baseline
from .kinds import KINDS
from .report import WANTED, share_killed, text
from .running import Choice, run


def main() -> int:
    """Plant, check, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Which faults no check notices.")
    parser.add_argument("--count", type=int, default=400, help="mutants, of every function in turn (400)")
    parser.add_argument("--seed", type=int, default=0, help="another one chooses other mutants (0)")
    parser.add_argument("--layer", metavar="NAME", help="a layer, an optimizer or a regularizer")
    parser.add_argument("--kind", choices=KINDS, help="one kind of change")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    options = parser.parse_args()
    choice = Choice(options.count, options.seed, options.layer, options.kind)
    mutants = choice.mutants()
    if not mutants:
        parser.error("there is nothing to change")
    begin, outcomes, interrupted = time.perf_counter(), {}, False
    try:
        for number, verdict in run(choice, options.jobs):
            outcomes[mutants[number]] = verdict
            if sys.stderr.isatty():
                print(f"{len(outcomes)} of {len(mutants)}", end="\r", file=sys.stderr, flush=True)
    except Baseline as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        interrupted = True
        print(f"interrupted: {len(mutants) - len(outcomes)} mutants were not tested", file=sys.stderr)
    print(f"{len(outcomes)} mutants in {time.perf_counter() - begin:.0f} s", file=sys.stderr)
    print(text(outcomes))
    if interrupted:
        return 130
    return 0 if share_killed(outcomes) >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
