"""The conformance kit, proven by layers that are wrong on purpose: each is caught by the property that it breaks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import Example, Input, Output, each, fill, layer, plugins
from paddle_layers.testing import check_layer

WRONG = Path(__file__).with_name("wrong_layers.py")


@pytest.fixture(scope="module", autouse=True)
def wrong_layers() -> Iterator[None]:
    """The wrong layers are registered for this module only."""
    pl.load_plugin(WRONG)
    yield
    for name in [name for name in pl.registry if name.startswith("wrong_")]:
        pl.registry.remove(name)
    plugins._FILES.discard(str(WRONG))  # the tests of a module may be taken up again


CAUGHT_BY = {
    "wrong_factor": "gradients",
    "wrong_rows": "gradients",
    "wrong_bias": "gradients",
    "wrong_window": "gradients",
    "wrong_infinite": "types",
    "wrong_ids": "types",
    "wrong_impure": "inference",
    "wrong_border": "memory",
    "wrong_race": "determinism",
}


@pytest.mark.parametrize("name", CAUGHT_BY)
def test_is_caught(name: str) -> None:
    with np.errstate(all="ignore"):
        report = check_layer(name, raise_findings=False)
    assert CAUGHT_BY[name] in {finding.property for finding in report.findings}, report.findings
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match=f"repeat: paddle-layers check {name}"):
        check_layer(name)


def test_a_function_that_writes_what_is_not_its_own_is_refused() -> None:
    @layer("wrong_guest")
    class Guest:
        """Writes into its input."""

        x = Input("N C", "rows")
        y = Output("N C", "the same rows")
        examples = (Example(x="4"),)

    with pytest.raises(pl.DefinitionError, match="writes into `x`, which is not its own; it may write y"):

        @fill(Guest.y, per="N")
        def guest_y(n, x, y, C):
            for c in range(C):
                y[n, c] = x[n, c]
                x[n, c] = 0.0

    with pytest.raises(pl.DefinitionError, match="writes into `y`, which is not its own; it returns what its element"):

        @each(Guest.y)
        def guest_element(n, c, x, y):
            y[n, c] = x[n, c]
            return 0.0
