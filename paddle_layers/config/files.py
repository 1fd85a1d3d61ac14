"""Reads config files and texts: which reader, which kind, all faults at once."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

from paddle_layers.define import DefinitionError, load_plugin

from .binder import Binder, Bound
from .diagnostics import ConfigError, Diagnostic, Report, Source, TooManyFaults
from .drafts import draft
from .fast import read_fast
from .fields import Fields
from .headers import spec
from .jsonreader import read_json
from .network import Network
from .reader import read_text
from .wiring import wire, wire_simple

R = TypeVar("R")


def load(path: str | Path, plugins: Iterable[str | Path] = ()) -> Network:
    """Read and check a network file in text format or JSON. Raises `ConfigError` with every fault.

    `plugins`: Python files that register definitions, imported first.
    """
    load_plugins(plugins)
    return loads(read_file(path), str(path))


def loads(text: str, name: str = "<text>") -> Network:
    """Check the text of a network file; `name` stands for it in messages. Raises `ConfigError` with every fault."""
    found = examine_network(text, name)
    if found.network is None or found.failed:
        raise ConfigError(found.faults)
    return found.network


class Examined(NamedTuple):
    """What a text holds in spite of its faults: the layers that are sound, if any were found, and every fault."""

    network: Network | None
    faults: list[Diagnostic]

    @property
    def failed(self) -> bool:
        """Whether there is an error; warnings do not count."""
        return any(fault.severity == "error" for fault in self.faults)


def examine_network(text: str, name: str = "<text>") -> Examined:
    """The sound part of a network file and all its faults, warnings too: for editors, where a text is unfinished."""
    source = Source(name, text)
    report = Report(source)
    network = None if is_json(text) else quietly(lambda: _fast(report))
    if network is None:
        report = Report(source)
        network = quietly(lambda: _thorough(report))
    return Examined(network, report.sorted())


def _fast(report: Report) -> Network | None:
    """The network, its layers' own faults in the report; None where it takes the thorough reader to tell the faults."""
    found = read_fast(report)
    if found is None:
        return None
    name, drafts = found
    told = len(report.diagnostics)
    nodes = None if told else wire_simple(drafts)
    if nodes is not None:
        return Network.checked(name, nodes, report.source)
    try:
        network = wire(drafts, report, name)
    except TooManyFaults:
        return None
    return network if len(report.diagnostics) == told else None


def _thorough(report: Report) -> Network | None:
    try:
        return bind_network(read(report), report)
    except TooManyFaults:
        return None


def bind_network(fields: Fields, report: Report, bound: Bound | None = None) -> Network:
    """The network that the fields of a file, or of a `net` block, describe. Faults go to the report."""
    binder = Binder(report)
    if bound is None:
        bound = binder.message(fields, spec("Network"), 0)
    drafts = [draft(layer, binder) for layer in bound.values.get("layer", ())]
    if bound.broken and not drafts:
        return Network.checked("", (), report.source)
    return wire(drafts, report, bound.values.get("name") or "")


def read(report: Report) -> Fields:
    """The fields of a text, whichever syntax it is in. Raises `TooManyFaults`."""
    text = report.source.text
    return read_json(text, report) if is_json(text) else read_text(text, report)


def is_json(text: str) -> bool:
    """Whether a config is JSON: the text format never starts with a brace."""
    return text.lstrip()[:1] in ("{", "[")


def quietly(call: Callable[[], R]) -> R:
    """Call without the garbage collector: nothing becomes garbage here, and it doubles the time of large files."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return call()
    finally:
        if was_enabled:
            gc.enable()


BINARY = frozenset({".binpb", ".pb"})
"""Ends of the names of binary configs."""


def read_file(path: str | Path) -> str:
    """The text of a config file; a binary one as text. Raises `ConfigError` when it cannot be read."""
    try:
        if Path(path).suffix in BINARY:
            from .binary import read_binary, text_of_message

            return text_of_message(read_binary(Path(path)))
        return Path(path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        message = f"there is no file `{path}`"
    except IsADirectoryError:
        message = f"`{path}` is a folder, not a config file"
    except UnicodeDecodeError as error:
        message = f"`{path}` is not UTF-8 text: byte {error.start} cannot be read"
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror}"
    raise ConfigError([Diagnostic("E007", message, Source(str(path), ""), 0)])


def load_plugins(paths: Iterable[str | Path]) -> None:
    """Import plugin files. Raises `ConfigError` that points into the plugin."""
    for path in paths:
        try:
            load_plugin(path)
        except DefinitionError as error:
            message, file, line = error.message, error.file or str(path), error.line
            text = Path(file).read_text(encoding="utf-8", errors="replace") if Path(file).is_file() else ""
            source = Source(file, text)
            start = sum(len(row) for row in text.splitlines(keepends=True)[: max(line - 1, 0)])
            start += len(source.line(line)) - len(source.line(line).lstrip())
            raise ConfigError([Diagnostic("E402", message, source, start)]) from error
