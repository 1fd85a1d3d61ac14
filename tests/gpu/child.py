"""A child process: `python -m tests.gpu.child MODULE SETUP ITEM...` writes a line of JSON per finished item."""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings

from .parts import Facts, Setup, load, message


def main(module: str, setup: str, *items: str) -> int:
    """Run the items up to the first that fails: an error in a kernel makes the context of the GPU unusable."""
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what others print belongs to the log
    for item in items:
        try:
            line = {"item": item, "facts": facts_of(module, item, Setup(**json.loads(setup)))}
        except Exception as error:  # whatever goes wrong is the result of this item
            print(f"---- {item}", file=sys.stderr)
            traceback.print_exc()
            line = {"item": item, "error": message(error)}
        print(json.dumps(line), file=told, flush=True)
        if "error" in line:
            return 1
    return 0


def facts_of(module: str, item: str, setup: Setup) -> Facts:
    """What an item gives; that something did not run on the device is a finding."""
    mend_numpy()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        facts = load(module).run(item, setup)
    texts = list(dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in caught))
    print(*texts, sep="\n", file=sys.stderr)
    found = [*facts.get("findings", []), *(text for text in texts if text.startswith("DeviceWarning"))]
    return {**facts, "findings": found}


def mend_numpy() -> None:
    """Give NumPy 2.5 back the name that numba-cuda 0.30 asks for; a machine with a GPU may have both."""
    import numpy as np

    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
