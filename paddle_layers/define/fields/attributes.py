"""Attributes: settings of definitions with type, default and range."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar, overload

T = TypeVar("T")


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Any = _Required()
_LARGEST = (2**31 - 1, 2**63 - 1)
"""Limits of the type itself, which the text of a range leaves out."""


class Attribute(ABC, Generic[T]):
    """A setting of a layer, optimizer, source ... . Without `default` it is required, unless it is `optional`."""

    type: ClassVar[str]
    repeated: ClassVar[bool] = False

    def __init__(
        self,
        doc: str,
        *,
        default: Any = REQUIRED,
        optional: bool = False,
        default_from: str | None = None,
        aliases: tuple[str, ...] = (),
        deprecated: str = "",
    ) -> None:
        self.doc, self.default_from, self.aliases, self.deprecated = doc, default_from, aliases, deprecated
        self.default = None if optional and default is REQUIRED else default
        self.optional, self.name = optional, ""
        no_limit: Any = None
        self.min = self.max = self.above = self.below = no_limit
        self.options: tuple[str, ...] = ()
        self.option_docs: dict[str, str] = {}
        self.axis: str | None = None
        self.groups: str | None = None
        self.min_items = 0
        self.max_items: int | None = None

    @property
    def required(self) -> bool:
        """Whether a config must set it."""
        return self.default is REQUIRED and self.default_from is None

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: Any) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: Any) -> T: ...
    def __get__(self, instance: object | None, owner: Any) -> Self | T:
        if instance is None:
            return self
        value: T = instance.__dict__[self.name]
        return value

    @property
    def subject(self) -> str:
        """Subject of a message about one item."""
        return f"every value of `{self.name}`" if self.repeated else f"`{self.name}`"

    def check(self, value: object) -> str | None:
        """Check a value, or each item of a list.

        Args:
            value: Value from a config or a program.

        Returns:
            The error as a sentence; None for a legal value.
        """
        return self._check_items(value) if self.repeated else self.check_item(value)

    def _check_items(self, values: object) -> str | None:
        if not isinstance(values, (list, tuple)):
            return f"`{self.name}` must be a list, found {values!r}; write [{values!r}]"
        if len(values) < self.min_items:
            return f"`{self.name}` needs at least {self.min_items} values, found {len(values)}"
        if self.max_items is not None and len(values) > self.max_items:
            return f"`{self.name}` takes at most {self.max_items} values, found {len(values)}"
        return next((reason for value in values if (reason := self.check_item(value))), None)

    @abstractmethod
    def check_item(self, value: object) -> str | None:
        """Check one item.

        Args:
            value: An item of the list, or the value itself.

        Returns:
            The error as a sentence; None for a legal value.
        """

    def convert(self, value: Any) -> Any:
        """Convert a legal value to its stored form.

        Args:
            value: Value that `check` accepts.

        Returns:
            A tuple for a list, floats for the numbers of a floating-point attribute.
        """
        return tuple(map(self.convert_item, value)) if self.repeated else self.convert_item(value)

    def convert_item(self, value: Any) -> Any:
        """Convert one legal item to its stored form.

        Args:
            value: Item that `check_item` accepts.

        Returns:
            The item.
        """
        return value

    def range_text(self) -> str:
        """The legal range in words, such as `>= 1 and < 3`; empty when every value is legal."""
        most = None if self.max in _LARGEST else self.max
        limits = ((">=", self.min), (">", self.above), ("<=", most), ("<", self.below))
        return " and ".join(f"{sign} {limit}" for sign, limit in limits if limit is not None)

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest legal number: next to an exclusive limit, the adjacent integer or float."""
        whole, above, below = self.type == "INT", self.above, self.below
        above = None if above is None else math.floor(above) + 1 if whole else math.nextafter(above, math.inf)
        below = None if below is None else math.ceil(below) - 1 if whole else math.nextafter(below, -math.inf)
        least, most = (self.min, above, -math.inf), (self.max, below, math.inf)
        return max(one for one in least if one is not None), min(one for one in most if one is not None)

    def range_problem(self, value: float) -> str | None:
        """Compare a number with the limits.

        Args:
            value: Number of the right type.

        Returns:
            The error as a sentence; None within the range.
        """
        if self.limits[0] <= value <= self.limits[1]:  # never with NaN
            return None
        return f"`{self.name}` is {value}, must be {self.range_text() or 'a number'}"


class _Ranged(Attribute[T]):
    def __init__(
        self,
        doc: str,
        *,
        min: float | None = None,
        max: float | None = None,
        above: float | None = None,
        below: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__(doc, **options)
        self.min, self.max, self.above, self.below = min, max, above, below


class Int(_Ranged[int]):
    """An integer attribute.

    Args:
        doc: Description, for the reference and for messages.
        axis: Name of the axis whose size the attribute determines, such as `"K"`.
        **options: `min`, `max`, `above` and `below` limit the range; `default`, `optional`, `default_from` (an
            attribute whose value is the default), `aliases` (other names in configs) and `deprecated` as for every
            attribute.

    Example::

        num_filters = Int("number of filters", min=1, axis="K", aliases=("num_output",))
    """

    type = "INT"

    def __init__(self, doc: str, *, axis: str | None = None, **options: Any) -> None:
        super().__init__(doc, **options)
        self.axis = axis

    def check_item(self, value: object) -> str | None:
        """Check one item.

        Args:
            value: An item of the list, or the value itself.

        Returns:
            The error as a sentence; None for a legal value.
        """
        if isinstance(value, bool) or not isinstance(value, int):
            return f"{self.subject} must be an integer, found {value!r}"
        if not -(2**63) <= value < 2**63:
            return f"`{self.name}` is {value}, which exceeds 64 bits"
        return self.range_problem(value)


class Float(_Ranged[float]):
    """A floating-point attribute. Infinities are legal only within the range, NaN never is.

    Args:
        doc: Description, for the reference and for messages.
        **options: `min`, `max`, `above`, `below`, `default`, `optional`, `default_from`, `aliases`, `deprecated` as for
            `Int`.

    Example::

        momentum = Float("momentum coefficient", default=0.9, min=0, below=1)
    """

    type = "FLOAT"

    def check_item(self, value: object) -> str | None:
        """Check one item.

        Args:
            value: An item of the list, or the value itself.

        Returns:
            The error as a sentence; None for a legal value.
        """
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return f"{self.subject} must be a number, found {value!r}"
        return self.range_problem(value)

    def convert_item(self, value: Any) -> float:
        """Convert one legal item to its stored form.

        Args:
            value: Item that `check_item` accepts.

        Returns:
            A float.
        """
        return float(value)


class Bool(Attribute[bool]):
    """A Boolean attribute: true or false.

    Args:
        doc: Description, for the reference and for messages.
        **options: `default`, `optional`, `default_from`, `aliases`, `deprecated` as for `Int`.

    Example::

        global_pooling = Bool("whether the window is the whole image", default=False)
    """

    type = "BOOL"

    def check_item(self, value: object) -> str | None:
        """Check one item.

        Args:
            value: An item of the list, or the value itself.

        Returns:
            The error as a sentence; None for a legal value.
        """
        return None if isinstance(value, bool) else f"{self.subject} must be true or false, found {value!r}"


class String(Attribute[str]):
    """A string attribute.

    Args:
        doc: Description, for the reference and for messages.
        **options: `default`, `optional`, `default_from`, `aliases`, `deprecated` as for `Int`.

    Example::

        file = String("file with one word per line")
    """

    type = "STRING"

    def check_item(self, value: object) -> str | None:
        """Check one item.

        Args:
            value: An item of the list, or the value itself.

        Returns:
            The error as a sentence; None for a legal value.
        """
        return None if isinstance(value, str) else f"{self.subject} must be a quoted string, found {value!r}"


class Choice(Attribute[str]):
    """An enumerated attribute: one of several names.

    Args:
        doc: Description, for the reference and for messages.
        options: The names, or a description by name.
        groups: Axis of sequences, such as `"S"`, whose level the attribute selects.
        **settings: `default`, `optional`, `default_from`, `aliases`, `deprecated` as for `Int`.

    Example::

        mode = Choice("type of pooling", options={"MAX": "maximum", "AVERAGE": "mean"}, default="MAX")
    """

    type = "CHOICE"

    def __init__(
        self, doc: str, *, options: tuple[str, ...] | Mapping[str, str], groups: str | None = None, **settings: Any
    ) -> None:
        super().__init__(doc, **settings)
        self.options, self.groups = tuple(options), groups
        self.option_docs = dict(options) if isinstance(options, Mapping) else {}

    def check_item(self, value: object) -> str | None:
        """Check one item.

        Args:
            value: An item of the list, or the value itself.

        Returns:
            The error as a sentence; None for a legal value.
        """
        if value in self.options:
            return None
        return f"`{self.name}` is {value!r}, must be one of {', '.join(self.options)}"


class _Items(Attribute[tuple[T, ...]]):
    repeated = True

    def __init__(self, doc: str, *, min_items: int = 0, max_items: int | None = None, **options: Any) -> None:
        ranges = {name: options.pop(name, None) for name in ("min", "max", "above", "below")}
        super().__init__(doc, **options)
        vars(self).update(ranges)
        self.min_items, self.max_items = min_items, max_items


class Ints(_Items[int]):
    """A list of integers.

    Args:
        doc: Description, for the reference and for messages.
        min_items: Minimum length of the list.
        max_items: Maximum length of the list; None for no limit.
        **options: As for `Int`; ranges apply to each item.

    Example::

        stride = Ints("stride along each axis", default=(1,), min=1, min_items=1, max_items=3)
    """

    type = "INT"
    check_item = Int.check_item


class Floats(_Items[float]):
    """A list of numbers.

    Args:
        doc: Description, for the reference and for messages.
        min_items: Minimum length of the list.
        max_items: Maximum length of the list; None for no limit.
        **options: As for `Float`; ranges apply to each item.

    Example::

        value = Floats("mean of all values, or one per channel", default=())
    """

    type = "FLOAT"
    check_item = Float.check_item
    convert_item = Float.convert_item


class Strings(_Items[str]):
    """A list of strings.

    Args:
        doc: Description, for the reference and for messages.
        min_items: Minimum length of the list.
        max_items: Maximum length of the list; None for no limit.
        **options: As for `String`.

    Example::

        fields = Strings("name and type of each field", min_items=1)
    """

    type = "STRING"
    check_item = String.check_item
