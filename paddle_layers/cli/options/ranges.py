"""Number parameters of the command line: decimal notation, as in configs and data, not that of Python."""

from __future__ import annotations

from typing import Any

import click

from paddle_layers.define.decimals import is_plain


class IntRange(click.IntRange):
    """An integer in a range; `1_000` and digits of other scripts are rejected."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The integer."""
        if isinstance(value, str) and not is_plain(value):
            self.fail(f"{value!r} is not a valid integer.", param, ctx)
        return super().convert(value, param, ctx)


class FloatRange(click.FloatRange):
    """A number in a range; `1_000` and digits of other scripts are rejected."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        if isinstance(value, str) and not is_plain(value):
            self.fail(f"{value!r} is not a valid float.", param, ctx)
        return super().convert(value, param, ctx)
