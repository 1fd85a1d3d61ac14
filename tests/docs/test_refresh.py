"""Derived files that are committed are those that the definitions give now."""

import pytest
from paddle_layers.codegen import refresh


@pytest.mark.slow
@pytest.mark.later  # `.ci/run` and the hook for commits begin with it; it takes 14 s
def test_nothing_is_stale() -> None:
    assert refresh.main(["--check"]) == 0, "run `python -m codegen.refresh`"


def test_wrong_usage(capsys) -> None:
    assert refresh.main(["--chekc"]) == 2
    assert "usage" in capsys.readouterr().err
