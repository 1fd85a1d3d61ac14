"""Examples of layers: shown on the page with the inferred types, and run by the tests."""

from __future__ import annotations

from typing import Any


class Example:
    """An example of a layer, shown on its page and run by the tests.

    Args:
        **settings: Types of the inputs by name (`"3x8x8"`, `"ids<10"`; a list for a repeatable input), and attributes
            by name.

    Example::

        examples = (Example(x="3x8x8", num_filters=4), Example(x="1x5x5", num_filters=2, padding=1))
    """

    def __init__(self, /, **settings: Any) -> None:
        self.settings = settings

    def __repr__(self) -> str:
        return f"Example({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"
