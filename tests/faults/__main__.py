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
    """Run the cases, print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="What happens when things break.")
    parser.add_argument("--kills", type=int, default=5, metavar="N", help="kills of trainings (5)")
    parser.add_argument("--only", action="append", metavar="NAME", help="this case; may be given several times")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="another one chooses other moments (0)")
    options = parser.parse_args()
    known = {name_of(case): case for case in CASES}
    if unknown := set(options.only or ()) - set(known):
        parser.error(f"there is no case {sorted(unknown)[0]}; there are {', '.join(known)}")
    begin, failed = time.perf_counter(), 0
    with tempfile.TemporaryDirectory(prefix="paddle_layers_faults_") as folder:
        for name in options.only or known:
            place = Place(Path(folder).resolve() / name, options.kills, random.Random(options.seed))
            outcome = run_case(known[name], place)
            failed += outcome.failed
            print(f"{outcome.seconds:6.1f} s  {name}: {expectation(known[name])}\n          {outcome.text}", flush=True)
    print(f"{failed or 'no'} failures in {time.perf_counter() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
