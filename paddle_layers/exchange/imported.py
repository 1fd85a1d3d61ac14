"""Output files of an import."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from paddle_layers.define.output_folders import new_folder
from paddle_layers.runtime.memory.tensorfiles import write_file
from paddle_layers.runtime.memory.weights import write_weights

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
