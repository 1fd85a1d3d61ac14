"""`python -m tests.bounds [LAYER...]` in the root of a checkout: tuned kernels with every index checked.

Point functions run as Python, which refuses wrong indices, in all other tests. Tuned kernels are machine code: here
numba compiles them anew, so that an index behind the end, or a negative one, which would wrap, is an error.
Exit status 1 when one is found, 2 when the kernel that is wrong on purpose passes.
"""

from __future__ import annotations

import sys
import time

from .checking import check_indices  # first: it tells numba how to compile
from .kernels import WRONG


def main() -> int:
    """Check the wrong kernel, then those of the layers that are named, or of all."""
    from paddle_layers.kernels.selection import load_all_kernels
    from paddle_layers.kernels.tuned import replaced_functions

    load_all_kernels()
    if not check_indices(WRONG):
        print(f"the kernel of `{WRONG}` reads outside of its arrays, and nothing notices", file=sys.stderr)
        return 2
    found = []
    layers = {layer for layer, _, device in replaced_functions() if device == "cpu"} - {WRONG}
    for layer in sorted(layers.intersection(sys.argv[1:] or layers)):
        begin = time.perf_counter()
        problems = check_indices(layer)
        print(f"{layer}: {len(problems) or 'no'} wrong indices, {time.perf_counter() - begin:.0f} s", flush=True)
        found += problems
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
