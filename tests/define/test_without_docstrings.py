"""`python -OO` leaves docstrings out; the descriptions that are made of them come from the sources then."""

import subprocess
import sys

DESCRIPTIONS = """
from paddle_layers.define.definitions.registry import registries

for kind, registry in sorted(registries.items()):
    for name in sorted(registry):
        print(kind, name, repr(registry[name].description))
"""


def test_descriptions_are_the_same():
    def descriptions(*options):
        command = [sys.executable, *options, "-c", DESCRIPTIONS]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    found = descriptions("-OO")
    assert found == descriptions()
    assert len(found) > 100
    assert not [line for line in found if line.endswith(" ''")]
