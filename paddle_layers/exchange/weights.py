"""Output files of an import, and conversion of weight files: names, layouts, precision."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from paddle_layers.config import load, load_training
from paddle_layers.config.checking import is_training_file
from paddle_layers.define.output_folders import new_folder
from paddle_layers.runtime import Net
from paddle_layers.runtime.memory.tensorfiles import write_file
from paddle_layers.runtime.memory.weights import TORCH, converted, write_weights


def convert_weights(
    file: str,
    source: str,
    output: str,
    *,
    origin: str | None,
    target: str,
    rename: Mapping[str, str],
    leave_out: Sequence[str],
) -> Iterator[str]:
    """Read weights for the network of a file, and write them; returns lines of what was done.

    The names change on the side that is not ours: in the file that is read, or with the `target` "torch" in the one
    that is written. Raises `ConfigError`, `WeightsError`, `SaveError`.
    """
    outwards = target == TORCH
    with _net(file) as net:
        # Through a network: its parameters determine shapes, layouts and the set of names, so a file that does not fit
        # is rejected here and not at its first use.
        report = net.load(source, rename={} if outwards else rename, leave_out=leave_out, layout=origin)
        if report.missing:
            listed = ", ".join(f"`{name}`" for name in report.missing[:5])
            yield (
                f"note: {source} has no {listed}{', ...' if len(report.missing) > 5 else ''}: initialized from scratch"
            )
        yield f"loaded {len(report.loaded)} weights from {source}{converted(report, net.dtype)}"
        net.save(output, rename=rename if outwards else {}, layout=target)
        yield f"wrote {output}"


def _net(file: str) -> Net:
    if not is_training_file(file):
        return Net(load(file))
    training = load_training(file, sources_needed=False)
    return Net(training.network, dtype=training.dtype, level=training.level, stages=training.stage)


NETWORK, WEIGHTS, REPORT = "network.textproto", "weights.safetensors", "report.txt"


Content = str | bytes | dict[str, NDArray[Any]]
"""Contents of a file: text, bytes, or arrays by name (weights)."""


class ImportedFiles(ABC):
    """Files of an import."""

    @abstractmethod
    def files(self) -> dict[str, Content]:
        """The contents of each file, by name."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the files."""
        return tuple(self.files())

    def write(self, folder: str | Path) -> list[Path]:
        """Write the files into a folder, which is made; returns their paths. Raises `OSError`, `SaveError`."""
        target = Path(folder)
        paths = []
        # Claimed until all files are written, so that two imports cannot mix their files.
        with new_folder(target):
            for name, content in self.files().items():
                paths.append(target / name)
                if isinstance(content, (str, bytes)):
                    write_file(paths[-1], content.encode() if isinstance(content, str) else content)
                else:
                    write_weights(str(paths[-1]), content)
        return paths
