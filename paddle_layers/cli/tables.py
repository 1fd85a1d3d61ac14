"""Tables on a terminal, or in a file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def print_table(table: Table) -> None:
    """To a terminal in its width; to a file without folding."""
    from rich.console import Console

    Console(highlight=False, width=None if sys.stdout.isatty() else 200).print(table)
