"""Server log: one line per event, on stderr."""

from __future__ import annotations

import logging

from paddle_layers.define.errors import first_line
from paddle_layers.define.escaping import message_line


class OneLine(logging.Formatter):
    """The event and its error on one line; pygls logs a traceback for an invalid message."""

    def format(self, record: logging.LogRecord) -> str:
        """The text of a record."""
        text, error = record.getMessage().partition("\n")[0], record.exc_info[1] if record.exc_info else None
        reason = f": {type(error).__name__}: {first_line(error)}" if error is not None else ""
        return message_line(f"{record.name}: {text}{reason}")


def log_in_lines() -> None:
    """Show warnings and errors of all modules on stderr, one per line."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine())
    logging.getLogger().addHandler(handler)
