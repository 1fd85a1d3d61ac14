"""A child process: `python -m tests.gpu.child MODULE SETUP ITEM...` tells a line of JSON for each item that is done."""

from __future__ import annotations

import json
import os
import sys
import traceback

from .parts import Setup, load, message


def main(module: str, setup: str, *items: str) -> int:
    """Run the items up to the first that fails: after a fault of a kernel, the card's context is of no use."""
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what others print belongs to the log
    for item in items:
        try:
            line = {"item": item, "facts": load(module).run(item, Setup(**json.loads(setup)))}
        except Exception as error:
            print(f"---- {item}", file=sys.stderr)
            traceback.print_exc()
            line = {"item": item, "error": message(error)}
        print(json.dumps(line), file=told, flush=True)
        if "error" in line:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
