"""Errors of definitions and of shape inference."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable
from typing import Any


def suggestion(name: object, known: Iterable[str]) -> str:
    """`; did you mean ...?` when a known name is near, else nothing."""
    if not isinstance(name, str):
        return ""
    names = list(known)
    same = [known_name for known_name in names if known_name.lower() == name.lower()]  # `ReLU` is near to nothing else
    near = same or difflib.get_close_matches(name, names, 1)
    return f"; did you mean `{near[0]}`?" if near else ""


def brief(value: object) -> str:
    """A value of the wrong kind, short enough for a message: the text of strings, the type of other values."""
    if isinstance(value, (str, int, float)) or value is None:
        return repr(value)[:60]
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"


def first_line(error: BaseException) -> str:
    """The first line of an error of another library; its type if it has no message."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def has_masked(value: Any) -> bool:
    """Whether an array of NumPy, or one in a list, has masked elements: conversions use the numbers that masks hide."""
    parts = value if isinstance(value, (list, tuple)) else (value,)
    return any(hasattr(part, "filled") and bool(part.mask.any()) for part in parts)


class DefinitionError(Exception):
    """A definition is wrong: the message starts with the file and line of the author's text."""

    def __init__(self, message: str, file: str = "", line: int = 0) -> None:
        super().__init__(f"{file}:{line}: {message}" if file else message)
        self.message, self.file, self.line = message, file, line


class UnknownName(KeyError):
    """Nothing of this name is registered; `hint` says what is meant if another system calls something so."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        self.kind, self.name, self.known, self.hint = kind, name, sorted(known), hint
        super().__init__(name)

    def __str__(self) -> str:
        hint = f"; {self.hint}" if self.hint else suggestion(self.name, self.known)
        hint = hint or "; run `paddle-layers layers` for a list"
        return f"unknown {self.kind} `{self.name}`{hint}"


class InvalidAttributes(ValueError):
    """Attributes are missing, unknown or out of range; `problems` maps the attribute's name to the reason."""

    def __init__(self, owner: str, problems: dict[str, str]) -> None:
        self.owner, self.problems = owner, problems
        reasons = "; ".join(problems.values())
        super().__init__(reasons if reasons.startswith(owner) else f"{owner}: {reasons}")


class ShapeError(ValueError):
    """The inputs do not fit the layer.

    Attributes:
        input: Position of the wrong input.
        attribute: Name of the wrong attribute.
    """

    code = "shape"

    def __init__(self, message: str, *, attribute: str | None = None, input: int | None = None) -> None:
        super().__init__(message)
        self.message, self.attribute, self.input = message, attribute, input

    def restated(self, message: str, *, attribute: str | None, input: int | None) -> ShapeError:
        """The same error in terms of the composite layer that contains the part: its inputs and attributes."""
        found = copy.copy(self)
        found.args, found.message, found.attribute, found.input = (message,), message, attribute, input
        return found


class CountError(ShapeError):
    """Too few or too many inputs."""

    code = "count"


class KindError(ShapeError):
    """An input has a data type that the layer does not take; it takes `kinds`."""

    code = "kind"

    def __init__(self, message: str, *, input: int | None = None, kinds: Iterable[str] = ()) -> None:
        super().__init__(message, input=input)
        self.kinds = tuple(kinds)


class LevelError(ShapeError):
    """An input has a sequence level that the layer does not take; it takes `levels`."""

    code = "level"

    def __init__(self, message: str, *, input: int | None = None, levels: Iterable[int] = ()) -> None:
        super().__init__(message, input=input)
        self.levels = tuple(levels)


class RankError(ShapeError):
    """An input has another number of axes than the layer takes; it takes `axes`, by their names."""

    code = "rank"

    def __init__(self, message: str, *, input: int | None = None, axes: Iterable[str] = ()) -> None:
        super().__init__(message, input=input)
        self.axes = tuple(axes)


class _Requirement(Exception):
    """Exception of `require`: inference converts it to a `ShapeError` with the position of the input."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name, self.message = name, message


def require(condition: bool, name: str, message: str) -> None:
    """Reject sizes in an `@infer` function, with a message at an attribute or input.

    Args:
        condition: Whether the sizes are legal.
        name: Name of the attribute or input.
        message: Description of the error.

    Raises:
        ShapeError: The condition is false; inference adds the position in the config.

    Example::

        require(C % groups == 0, "groups", f"{groups} groups do not divide {C} channels")
    """
    if not condition:
        raise _Requirement(name, message)
