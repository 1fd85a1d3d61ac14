"""The command `paddle-layers`: thin commands over the rooms below, each imported when it is called."""

from .app import main

__all__ = ["main"]
