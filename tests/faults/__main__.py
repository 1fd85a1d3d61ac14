"""`python -m tests.faults` in the root of a checkout: what real processes do when things break.

Exit status 1 when a case fails, 2 for a name that no case has. What the machine does not allow is said, and no failure.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from . import caches, endings, folders, processors, threads
from .cases import Place, expectation, name_of, run_case

CASES = (*endings.CASES, *folders.CASES, *caches.CASES, *processors.CASES, *threads.CASES)


def main() -> int:
    """Run the cases, print a line for each; the last line names those that failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="What happens when things break.")
    parser.add_argument("--kills", type=int, default=5, metavar="N", help="kills of trainings (5)")
    parser.add_argument("--only", action="append", metavar="NAME", help="this case; may be given several times")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="another one chooses other moments (0)")
    options = parser.parse_args()
    known = {name_of(case): case for case in CASES}
    if unknown := set(options.only or ()) - set(known):
        parser.error(f"there is no case {sorted(unknown)[0]}; there are {', '.join(known)}")
    begin, failed = time.perf_counter(), []
    with tempfile.TemporaryDirectory(prefix="paddle_layers_faults_") as folder:
        for name in options.only or known:
            place = Place(Path(folder).resolve() / name, options.kills, random.Random(options.seed))
            outcome = run_case(known[name], place)
            failed += [name] if outcome.failed else []
            print(f"{outcome.seconds:6.1f} s  {name}: {expectation(known[name])}\n          {outcome.text}", flush=True)
    print(last_line(failed, time.perf_counter() - begin))
    return 1 if failed else 0


def last_line(failed: list[str], seconds: float) -> str:
    """How many cases failed, and which: of a long log only the end is read."""
    count = "1 failure" if len(failed) == 1 else f"{len(failed) or 'no'} failures"
    return ": ".join([f"{count} in {seconds:.0f} s", *([", ".join(failed)] if failed else [])])


if __name__ == "__main__":
    sys.exit(main())
