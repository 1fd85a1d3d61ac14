"""The one error of this room."""


class DataError(ValueError):
    """Data that cannot be used: the text names file, field, row and value, and what to write instead."""
