"""The command `paddle-layers`: thin commands over the other packages, each imported on demand."""

from .app import main

__all__ = ["main"]
