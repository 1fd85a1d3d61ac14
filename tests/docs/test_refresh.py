"""Derived files that are committed are those that the definitions give now."""

from paddle_layers.codegen import refresh


def test_nothing_is_stale() -> None:
    assert refresh.main(["--check"]) == 0, "run `python -m codegen.refresh`"


def test_wrong_usage(capsys) -> None:
    assert refresh.main(["--chekc"]) == 2
    assert "usage" in capsys.readouterr().err
