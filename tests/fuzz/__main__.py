"""`python -m tests.fuzz` in the root of a checkout. Exit status 1 when a case fails, 2 for wrong usage."""

from __future__ import annotations

import argparse
import math
import sys
import time

from . import corpus
from .running import Tally, run
from .targets import TARGETS

DESCRIPTION = """\
Gives hostile input to everything that reads files, feeds or messages, and tells what fails: an exception
that is not documented, a crash, a case that takes too long or too much memory, a place outside of the
text, a result that differs. A failing case is made smaller, printed and saved in tests/fuzz/corpus, which
the usual tests replay.

targets:
"""


def main(arguments: list[str] | None = None) -> int:
    """Run, print a line for each target, save what failed; the last line names the targets that did."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=DESCRIPTION + "\n".join(f"  {name:14} {kind.__doc__}" for name, kind in TARGETS.items()),
        epilog="Case number N of a target is the same in every run: `--target T --seed N --cases 1` repeats it.",
    )
    parser.add_argument("--seconds", type=float, help="seconds, shared among the targets (60)")
    parser.add_argument("--target", action="append", choices=list(TARGETS), help="one target; may be given again")
    parser.add_argument("--seed", type=int, help="number of the first case (the seconds since 1970, times 1,000)")
    parser.add_argument("--cases", type=int, help="cases of each target, in place of seconds")
    options = parser.parse_args(arguments)
    if options.seconds is not None and options.cases is not None:
        parser.error("give --seconds or --cases")
    chosen = list(dict.fromkeys(options.target or TARGETS))
    seed = int(time.time()) * 1000 if options.seed is None else options.seed
    seconds = math.inf if options.cases is not None else (options.seconds or 60.0) / len(chosen)
    cases = math.inf if options.cases is None else options.cases
    print(f"from case {seed} on", flush=True)
    print(f"{'target':14} {'cases':>9} {'seconds':>8} {'cases/s':>8} {'failures':>8}", flush=True)
    failed = []
    for name in chosen:
        tally = run(TARGETS[name], seed, seconds=seconds, cases=cases)
        failed += [name] if tally.failures else []
        _report(tally)
    if failed:
        print(f"failures in: {', '.join(failed)}")
    return 1 if failed else 0


def _report(tally: Tally) -> None:
    speed = tally.cases / max(tally.seconds, 1e-9)
    line = f"{tally.target:14} {tally.cases:9,} {tally.seconds:8.1f} {speed:8,.0f} {tally.failures:8,}"
    print(line, flush=True)
    for fault in tally.faults:
        print(f"\n{fault.target}: {fault.kind}\n{fault.story.rstrip()}")
        print(f"smallest case, {len(fault.case)} bytes: {fault.case[:400]!r}")
        print(f"saved as {corpus.keep(fault)}")
        print(f"repeat it: python -m tests.fuzz --target {fault.target} --seed {fault.seed} --cases 1\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
