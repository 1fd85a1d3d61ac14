"""Network files: loading, writing, error reports."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from paddle_layers.define import DefinitionError, load_plugin
from paddle_layers.define.errors import brief

from .diagnostics.diagnostic import Diagnostic, Source
from .diagnostics.report import ConfigError, warn
from .diagnostics.suggestions import nearest
from .network import Network
from .reading.syntax import other_file
from .wiring.network_builder import wire_text
from .writing.canonical import network_text


def load(path: str | Path, plugins: Iterable[str | Path] = ()) -> Network:
    """Load and check a network file in text format or JSON.

    Args:
        path: The file.
        plugins: Python files that register definitions; imported first.

    Returns:
        The checked network.

    Raises:
        ConfigError: The file cannot be read or has errors; all of them are reported.

    Example::

        network = pl.load("lenet.textproto")
    """
    load_plugins(plugins)
    return loads(read_file(path), str(path))


def loads(text: str, name: str = "<text>") -> Network:
    """Check a network given as text.

    Args:
        text: The contents of a network file, in text format or JSON.
        name: Name of the text in messages.

    Returns:
        The checked network.

    Raises:
        ConfigError: The text has errors; all of them are reported.
        TypeError: `text` is not a string.

    Example::

        network = pl.loads(Path("lenet.textproto").read_text())
    """
    if not isinstance(text, str):
        raise TypeError(f"loads expects the text of a network file, got {brief(text)}")
    # `loads("net.textproto")` is valid text format up to the missing colon; the error about that would not help.
    if _is_path(text):
        message, help_ = "this is a file name, not a network", f"write load({text!r}); `loads` expects the text"
        raise ConfigError([Diagnostic("E001", message, Source(name, text), 0, len(text), help=help_)])
    found = examine_network(text, name)
    if found.network is None or found.failed:
        raise ConfigError(found.faults)
    warn(found.faults)
    return found.network


def _is_path(text: str) -> bool:
    # The string may be megabytes long, and the constructor of a path would look through all of it.
    return len(text) < 300 and Path(text).suffix in TEXTS | BINARY and not any(mark in text for mark in ":{}\n")


def dumps(network: Network) -> str:
    """Canonical text of a network: only the values that differ from the defaults; `loads` restores the network.

    Args:
        network: The network.

    Returns:
        The text of a network file.

    Raises:
        TypeError: `network` is not a `Network`.

    Example::

        Path("copy.textproto").write_text(pl.dumps(network))
    """
    if not isinstance(network, Network):
        raise TypeError(f"dumps expects a Network, got {brief(network)}")
    return network_text(network.name, network.nodes)


class Examined(NamedTuple):
    """The valid part of a config: the valid layers, if any, and all errors."""

    network: Network | None
    faults: list[Diagnostic]

    @property
    def failed(self) -> bool:
        """Whether there is an error; warnings do not count."""
        return any(fault.severity == "error" for fault in self.faults)


def examine_network(text: str, name: str = "<text>", overrides: Sequence[str] = ()) -> Examined:
    """Check a network file for an editor, where the input is incomplete.

    Args:
        text: The contents of the file.
        name: Name of the text in messages.
        overrides: Overrides of the command line, such as "net.layer[fc1].fc.size=20".

    Returns:
        The valid part of the network, and all errors and warnings.
    """
    source = Source(name, text, overrides)
    wired, faults = wire_text(source)
    return Examined(Network.checked(*wired) if wired is not None else None, faults)


TEXTS = frozenset({".textproto", ".pbtxt", ".prototxt", ".json"})
"""File extensions of text configs."""
BINARY = frozenset({".binpb", ".pb"})
"""File extensions of binary configs."""


def read_file(path: str | Path) -> str:
    """The text of a config file; a binary one as text. Raises `ConfigError` when it cannot be read."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be a string or a Path, got {brief(path)}")
    try:
        if Path(path).suffix in BINARY:
            # Lazily: most configs are text.
            from .writing.binary import read_binary, text_of_message

            # converted to text and parsed again, so that errors have positions
            return text_of_message(read_binary(Path(path)))
        # Bytes first: the formats of other files are recognized before a decoding error could hide them.
        content = Path(path).read_bytes()
        # By content as well: a renamed image would otherwise give an error for each of its bytes.
        if other := other_file(Path(path), content):
            fault = Diagnostic(
                "E009", f"`{path}` is {other.what}, not a config", Source(str(path), ""), 0, help=other.help
            )
            raise ConfigError([fault])
        # Editors on Windows write a byte order mark and CRLF; both would shift columns.
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        message = f"file `{path}` not found{similar_file(Path(path))}"
    except IsADirectoryError:
        configs = sorted(one.name for one in Path(path).iterdir() if one.suffix in TEXTS | BINARY)
        message = f"`{path}` is a folder, not a config file" + (
            f"; it contains {', '.join(configs[:5])}" if configs else ""
        )
    except UnicodeDecodeError as error:
        message = f"`{path}` is not UTF-8 text: invalid byte at offset {error.start}"
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror}"
    except ValueError as error:  # a zero byte in the name
        # `UnicodeDecodeError` is a `ValueError`, so its branch comes earlier.
        message = f"{str(path)!r} cannot be read: {error}"
    name = str(path)
    if "{" in name:
        message = "a config, not the name of a file; `loads` and `loads_training` of paddle_layers.config parse it"
        name = "<string>"
    raise ConfigError([Diagnostic("E007", message, Source(name, ""), 0)])


def similar_file(path: Path) -> str:
    """A file in the folder of a missing one that may be meant."""
    with contextlib.suppress(OSError, ValueError), os.scandir(path.parent) as found:
        names = (Path(entry.name) for entry in itertools.islice(found, 1000))
        # By stems: with their extensions, all configs are similar.
        configs = {name.stem: name.name for name in names if name.suffix in TEXTS | BINARY}
        if near := nearest(path.stem, configs):
            return f"; did you mean `{configs[near]}`?"
    return ""


def load_plugins(paths: Iterable[str | Path]) -> None:
    """Import plugin files. Raises `ConfigError` that points into the plugin."""
    for path in paths:
        try:
            load_plugin(path)
        except DefinitionError as error:
            message, file, line = error.message, error.file or str(path), error.line
            # Code that is compiled at run time has a file name such as `<string>`.
            there = os.path.isfile(file)
            # The file of the plugin is invalid already; a second error, about its encoding, must not replace the first
            # one.
            text = Path(file).read_text(encoding="utf-8", errors="replace") if there else ""
            # Not `splitlines`: Python's line numbers do not count form feeds and other separators that it splits at.
            rows = text.split("\n")
            before, row = rows[: max(line - 1, 0)], rows[min(max(line, 1), len(rows)) - 1]
            start = sum(len(other) + 1 for other in before) + len(row) - len(row.lstrip())
            raise ConfigError([Diagnostic("E402", message, Source(file, text), min(start, len(text)))]) from error
