"""`python -m tests.gpu` in the root of a checkout: needs no installation, no network and no pytest."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from .children import ROOT
from .parts import Setup
from .program import PARTS, run

RESULTS = ROOT / "output" / "gpu-tests.md"


def main() -> int:
    """Exit status 0 when nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.gpu", description="Tests and benchmarks on a GPU.")
    parser.add_argument("--only", metavar="PART", action="append", choices=PARTS, help=f"one of {', '.join(PARTS)}")
    parser.add_argument("--seconds", type=float, default=480, help="time for everything (480)")
    parser.add_argument(
        "--output",
        type=Path,
        default=RESULTS,
        help="the page; log and measurements have its name and .log, .csv",
    )
    parser.add_argument("--tiny", action="store_true", help="sizes for the simulator, whose times mean nothing")
    options = parser.parse_args()
    command = shlex.join(["python", "-m", "tests.gpu", *sys.argv[1:]])
    return 0 if run(Setup(tiny=options.tiny), options.only or [], options.seconds, options.output, command) else 1


if __name__ == "__main__":
    sys.exit(main())
