"""Discovery of installed plugins by the metadata of distributions alone."""

from __future__ import annotations

import contextlib
import re
import textwrap
import warnings
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal

from ..escaping import printable_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "paddle_layers.plugins"
"""Group of the entry points: the name is the plugin's prefix, the value a module that registers on import."""

LIBRARY = "paddle-layers"
PREFIX = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(?=\s*(:|\[|$))")
"""The name of a module, at the beginning of an entry point's value."""
LONGEST = 400
"""Letters of a plugin's message that are shown."""


class PluginWarning(UserWarning):
    """A plugin could not be loaded; everything else goes on working."""


@dataclass(eq=False)
class Plugin:
    """An installed plugin: where it comes from, what it registered, and why not if it did not."""

    prefix: str
    module: str
    distribution: str
    version: str
    requires: tuple[str, ...] = ()
    state: Literal["not loaded yet", "loaded", "failed", "refused"] = "not loaded yet"
    reason: str = ""
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the definitions by kind, in alphabetical order."""
    started: bool = False
    """Whether its turn to be loaded has come: one that looks up names meanwhile does not load itself again."""

    @property
    def package(self) -> str:
        """The top-level package of its module."""
        return self.module.partition(".")[0]

    @property
    def origin(self) -> str:
        """Distribution and version."""
        return f"{self.distribution} {self.version}"

    @property
    def broken(self) -> bool:
        """Whether it failed or was refused."""
        return self.state in ("failed", "refused")

    @property
    def fate(self) -> str:
        """The failure of a broken plugin: a verb, the reason, the fix."""
        return f"{'failed' if self.state == 'failed' else 'was refused'}: {self.reason}"

    @property
    def report(self) -> str:
        """The failure of a broken plugin: a sentence."""
        return f"plugin `{self.prefix}` ({self.origin}) {self.fate}"

    def fits(self, name: str) -> bool:
        """Whether a definition of this name may be the plugin's."""
        return name.startswith(f"{self.prefix}_")


@cache
def installed_plugins() -> list[Plugin]:
    """The records of all installed plugins, sorted by prefix and distribution. Imports none of them."""
    import importlib.metadata  # slow to import, and for who names built-in layers only, it is not needed

    try:
        points = list(importlib.metadata.entry_points(group=ENTRY_POINTS))
    except Exception as error:  # one damaged package stops the listing of all, by any error; the user is warned
        warnings.warn(f"cannot list plugins, because an installed package is damaged: {plain(error)}", PluginWarning, 2)
        points = []
    return sorted(map(_record, points), key=lambda plugin: (plugin.prefix, plugin.distribution))


def _record(point: EntryPoint) -> Plugin:
    name, version, requires = "unknown distribution", "?", []
    with contextlib.suppress(Exception):  # metadata may be damaged in any way, and the plugin be well
        if point.dist is not None:
            name, version, requires = point.dist.name, point.dist.version, point.dist.requires or []
    match = MODULE.match(point.value)  # `EntryPoint.module` raises AttributeError if there is no module
    return Plugin(
        plain(point.name), plain(match[0] if match else point.value), plain(name), plain(version), tuple(requires)
    )


def plain(text: object) -> str:
    """A plugin's text on one line, without what a terminal would obey, cut where it gets long."""
    line = textwrap.shorten(str(text), LONGEST, placeholder=" ...")
    return printable_line(line)


def refusal(plugin: Plugin) -> str:
    """Why a plugin is not even imported, and what to do; nothing when it may be."""
    if not PREFIX.fullmatch(plugin.prefix):
        return (
            "the name of its entry point, the prefix of its layers, must be lower-case words joined by `_`; rename it"
        )
    if not MODULE.fullmatch(plugin.module):
        return f"its entry point `{plugin.module}` is not a module; repair or uninstall `{plugin.distribution}`"
    first = next(other for other in installed_plugins() if other.prefix == plugin.prefix)
    if first is not plugin:
        return f"its prefix is used by {first.origin} and {plugin.origin}; uninstall one of them"
    return _wrong_version(plugin)


def _wrong_version(plugin: Plugin) -> str:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    from paddle_layers._version import __version__

    for text in plugin.requires:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            return f"its requirement `{plain(text)}` is invalid; repair or uninstall `{plugin.distribution}`"
        try:
            applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        except ValueError:  # a comparison that is not defined; pip has let it pass
            applies = False
        if applies and canonicalize_name(requirement.name) == LIBRARY:
            if not requirement.specifier.contains(__version__, prereleases=True):
                return (
                    f"it requires {LIBRARY}{requirement.specifier}, but {__version__} is installed; upgrade one of them"
                )
    return ""
