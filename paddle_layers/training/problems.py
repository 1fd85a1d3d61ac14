"""The error of a training that cannot start or go on."""


class TrainingError(Exception):
    """A training cannot start or go on; the text says why and what to do."""
