"""Definitions: named classes of fields in a registry, for layers, sources, schedules and other kinds."""

from __future__ import annotations

import ast
import inspect
import keyword
import sys
import textwrap
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from ..concurrency import ForkSafeLock
from ..errors import DefinitionError, InvalidAttributes, suggestion
from ..fields.attribute_values import Attributes, plain
from ..fields.attributes import Attribute

C = TypeVar("C", bound=type)

LOADING = ForkSafeLock()
"""Held while definitions are imported and completed: another thread waits until they are all there."""

HEADER_NAMES = frozenset(
    {
        *("name", "type", "input", "output", "param", "activation", "include", "exclude", "loss_weight"),
        *(
            "propagate_down",
            "set",
            "times",
            "block",
            "settings",
            "layer",
            "of",
            "init",
            "phase",
            "transform",
            "source",
            "learning_rate",
        ),
    }
)
"""Words of the network and training files: no definition bears one of these names."""


class Definition:
    """Everything a class of attribute fields says about itself; messages and pages are made from this."""

    def __init__(
        self,
        kind: str,
        name: str,
        owner: type,
        *,
        elsewhere: Mapping[str, str] | None = None,
        terms: tuple[str, ...] = (),
        since: int = 1,
        version: int = 1,
        family: str = "",
        place: tuple[str, int] | None = None,
    ) -> None:
        self.kind, self.name, self.owner = kind, name, owner
        self.elsewhere, self.since, self.version = dict(elsewhere or {}), since, version
        self.terms = tuple(terms)
        """Established terms that people search for: `deconvolution` for `conv_trans`."""
        self.description = inspect.cleandoc(owner.__doc__ or _left_out(owner))
        self.file, self.line = place or _location(owner)
        self.module: str = owner.__module__
        self.family = family or self.module.split(".")[:3][-1]
        """The folder or the file in the package, or in its folder, in which it is written: `images` for `conv`."""
        self.attributes: dict[str, Attribute[Any]] = {
            key: value for base in reversed(owner.__mro__) for key, value in vars(base).items()
            if isinstance(value, Attribute)
        }  # fmt: skip
        self._check()
        self._defaults: Attributes | None = None

    @property
    def package(self) -> str:
        """The distribution's top-level package."""
        return self.module.partition(".")[0]

    @property
    def location(self) -> tuple[str, int]:
        """File and line of the definition."""
        return self.file, self.line

    @property
    def summary(self) -> str:
        """First line of the description."""
        return self.description.partition("\n")[0]

    @cached_property
    def attribute_by_name(self) -> dict[str, Attribute[Any]]:
        """Attributes by name and by alias."""
        return {name: a for a in self.attributes.values() for name in (a.name, *a.aliases)}

    def error(self, message: str) -> DefinitionError:
        """An error at the line of the class."""
        return DefinitionError(f"{self.kind} `{self.name}`: {message}", self.file, self.line)

    def bind(self, values: Mapping[str, Any]) -> Attributes:
        """Check values given by name and fill in the defaults. Raises `InvalidAttributes` with all problems."""
        # Most layers of a network have no attributes; attribute sets are immutable and shared.
        if not values and self._defaults is not None:
            return self._defaults
        known, given, problems = self.attribute_by_name, {}, {}
        for name, value in ((name, plain(value)) for name, value in values.items()):
            attribute = known.get(name)
            if attribute is None:
                problems[name] = f"{self.kind} `{self.name}` has no attribute `{name}`{suggestion(name, known)}"
            elif value is None and attribute.optional:
                continue
            elif reason := attribute.check(value):
                problems[attribute.name] = reason
            else:
                given[attribute.name] = attribute.convert(value)
        for attribute in self.attributes.values():
            if attribute.required and attribute.name not in given and attribute.name not in problems:
                problems[attribute.name] = f"{self.kind} `{self.name}` needs `{attribute.name}`: {attribute.doc}"
        if problems:
            raise InvalidAttributes(f"{self.kind} `{self.name}`", problems)
        bound = self.fill_defaults(given)
        if not values:
            self._defaults = bound
        return bound

    def fill_defaults(self, given: dict[str, Any]) -> Attributes:
        """Checked values, completed with the defaults in the order of declaration."""
        values = self._plain_defaults | given
        for name, origin in self._linked_defaults:
            if name not in given:
                values[name] = values[origin]
        return Attributes(values)

    def lacks(self, given: Mapping[str, Any]) -> bool:
        """Whether a required attribute is not given."""
        return not given.keys() >= self._required_names

    @cached_property
    def _required_names(self) -> frozenset[str]:
        return frozenset(name for name, attribute in self.attributes.items() if attribute.required)

    @cached_property
    def _plain_defaults(self) -> dict[str, Any]:
        return {name: attribute.default for name, attribute in self.attributes.items()}

    @cached_property
    def _linked_defaults(self) -> list[tuple[str, str]]:
        return [(name, a.default_from) for name, a in self.attributes.items() if a.default_from is not None]

    def create(self, attributes: Mapping[str, Any]) -> Any:
        """An instance of the class whose fields read as the given values; defaults fill the rest."""
        bound = attributes if isinstance(attributes, Attributes) else self.bind(attributes)
        # Attributes first, so that `__init__` of the author may read them and needs no arguments.
        instance: Any = object.__new__(self.owner)
        instance.__dict__.update(bound)
        instance.__init__()
        return instance

    def _check(self) -> None:
        if not is_word(self.name) or self.name != self.name.lower():
            raise self.error("a name must be lower-case words joined by `_`, and not a Python keyword")
        if self.name in HEADER_NAMES:
            raise self.error("this name is reserved in config files")
        if not self.description:
            raise self.error("the class needs a docstring, the description on its page")
        for term in self.terms:
            if not (isinstance(term, str) and term.strip() == term and 0 < len(term) <= 60 and term.isprintable()):
                raise self.error(f"search term {term!r} must be a few words on one line")
        seen: dict[str, str] = {}
        for name, attribute in self.attributes.items():
            for word in (name, *attribute.aliases):
                if not is_word(word):
                    raise self.error(
                        f"attribute `{word}`: a name must be an identifier, and not a keyword of Python or protobuf"
                    )
                # `a_b` and `aB` have one JSON name: a clash would break the descriptor pool for all definitions.
                key = word.replace("_", "").lower()
                if key in seen:
                    raise self.error(f"attributes `{seen[key]}` and `{word}` clash")
                seen[key] = word
            self._check_attribute(attribute, list(self.attributes)[: list(self.attributes).index(name)])

    def _check_attribute(self, attribute: Attribute[Any], earlier: list[str]) -> None:
        if not attribute.doc:
            raise self.error(f"attribute `{attribute.name}` needs a description")
        if attribute.name.endswith("_"):
            raise self.error(f"attribute `{attribute.name}`: names that end in `_` are reserved for generated code")
        limits = (attribute.min, attribute.above), (attribute.max, attribute.below)
        low, high = ((a if a is not None else b) for a, b in limits)
        if low is not None and high is not None and low > high:
            raise self.error(f"attribute `{attribute.name}`: the range {attribute.range_text()} is empty")
        if attribute.default_from is not None and attribute.default_from not in earlier:
            raise self.error(f"attribute `{attribute.name}`: `{attribute.default_from}` must be declared before it")
        if not attribute.required and attribute.default_from is None and attribute.default is not None:
            if reason := attribute.check(attribute.default):
                raise self.error(f"invalid default: {reason}")


def is_word(name: str) -> bool:
    """Whether a name is legal in Python, in protobuf and in a config."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def _left_out(owner: type) -> str:
    """The docstring that `python -OO` left out, from the source."""
    if sys.flags.optimize < 2:
        return ""
    try:
        (found,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    except (OSError, TypeError):  # made by a program
        return ""
    return ast.get_docstring(found) or "" if isinstance(found, ast.ClassDef) else ""


def _location(owner: type) -> tuple[str, int]:
    """File and line of a class, without the cost of `inspect.getsourcelines` at every import."""
    import sys

    file = getattr(sys.modules.get(owner.__module__), "__file__", None) or "<unknown>"
    lines = _lines_of_class(file, owner.__name__)
    if len(lines) == 1:
        return file, lines[0]
    running = _running_line(file)  # of the decorator: a file may have a name twice, which is to be seen
    return file, next((line for line in lines if line >= running), running)


_CLASS_LINES: dict[str, dict[str, list[int]]] = {}


def _lines_of_class(file: str, name: str) -> list[int]:
    """The lines on which a file defines classes of a name, outside of others."""
    if file not in _CLASS_LINES:
        lines = Path(file).read_text(encoding="utf-8").splitlines() if Path(file).is_file() else []
        found = _CLASS_LINES[file] = {}
        for number, line in enumerate(lines, 1):
            if line.startswith("class "):
                found.setdefault(line[6:].partition("(")[0].partition(":")[0].strip(), []).append(number)
    return _CLASS_LINES[file].get(name, [])


def _running_line(file: str) -> int:
    """The line of a file that is being run; 0 where none is."""
    import sys

    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    return frame.f_lineno if frame is not None else 0
