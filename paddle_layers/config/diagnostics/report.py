"""Collection of the diagnostics of a config; the error that carries them.

Code in messages about JSON files is converted: fields in text format become object members.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Sequence

from .diagnostic import Diagnostic, Fix, Note, Source
from .rendering import render_text

# Messages are written once, in text format, and converted here: two versions of each would drift apart.
_SPAN = re.compile(r"`([^`]*)`")
_CONFIG = re.compile(r"\w \{|\w: ")
_BLOCK = re.compile(r"(?<![\w\"])([A-Za-z_]\w*) \{")
_NAME = re.compile(r"(?<![\w\"])([A-Za-z_]\w*): ")
_WORD = re.compile(r"(\": |\[|, )(?!true\b|false\b|null\b)([A-Za-z_]\w*)(?=[\s,\]}]|$)")
_NEXT = re.compile(r"(?<=[^\s{\[,:])\s+(?=\"\w+\":)")
_AGAIN = re.compile(r"(\"\w+\": )([^,\s]+), \1([^,\s]+)")
_JSON = re.compile(r"\s*\{")
# In a prototype without a limit, a megabyte of hostile text gave a million errors.
KEPT = 1000
"""Maximum number of errors: a file with more is not a config file."""


def in_json(message: str) -> str:
    """The message with `fc { size: 3 }` as `"fc": { "size": 3 }`."""
    return _SPAN.sub(lambda span: f"`{_members(span[1])}`" if _CONFIG.search(span[1]) else span[0], message)


def _members(text: str) -> str:
    text = _NAME.sub(r'"\1": ', _BLOCK.sub(r'"\1": {', text))
    text = _NEXT.sub(", ", _WORD.sub(r'\1"\2"', text))
    return _AGAIN.sub(r"\1[\2, \3]", text)


class ConfigError(Exception):
    """A config with errors. `diagnostics` has all errors in the order of the text."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = list(diagnostics)
        assert self.diagnostics, "without diagnostics, a command would fail without a message"
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return render_text(self.diagnostics)


class ConfigWarning(UserWarning):
    """Warnings about a valid config. `diagnostics` has all of them."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = list(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return render_text(self.diagnostics)


def warn(diagnostics: Sequence[Diagnostic]) -> None:
    """Warn at the line of the program that loaded the config, if there are diagnostics."""
    if diagnostics:
        # The number of frames differs between the callers, so `stacklevel` is counted up to the first one outside of
        # the package.
        depth, frame = 1, sys._getframe()
        while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("paddle_layers."):
            depth, frame = depth + 1, frame.f_back
        warnings.warn(ConfigWarning(diagnostics), stacklevel=depth)


class TooManyFaults(Exception):
    """Parsing stops: the maximum number of errors is reached."""


class DiagnosticReport:
    """Collects diagnostics of one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self._json = _JSON.match(source.text) is not None

    def add(
        self,
        code: str,
        message: str,
        start: int,
        end: int = 0,
        *,
        help: str = "",
        notes: tuple[Note, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        """Add a diagnostic; raises `TooManyFaults` at the maximum number."""
        said, advice = (in_json(message), in_json(help)) if self._json else (message, help)
        self.diagnostics.append(Diagnostic(code, said, self.source, start, end, help=advice, notes=notes, fix=fix))
        # By exception, because it ends parsing from any depth: binder, wiring and checks all report here.
        if len(self.diagnostics) >= KEPT:
            raise TooManyFaults

    def note(self, message: str, start: int) -> Note:
        """A note at an offset of this source."""
        return Note(message, self.source, start)

    @property
    def errors(self) -> int:
        """The number of errors, without warnings."""
        return sum(diagnostic.severity == "error" for diagnostic in self.diagnostics)

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return self.errors > 0

    def sorted(self) -> list[Diagnostic]:
        """All diagnostics in the order of the text."""
        # The order in which errors are found is that of the phases, not of the file; users work through a file from the
        # top. The sort is stable, so a cause that was found first stays before others at its position.
        return sorted(self.diagnostics, key=lambda diagnostic: diagnostic.start)
