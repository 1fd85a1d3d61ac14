"""The error of a training that cannot start or continue."""

from paddle_layers.define.escaping import message_line


class TrainingError(Exception):
    """A training cannot start or go on; one line says why and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message_line(message))
