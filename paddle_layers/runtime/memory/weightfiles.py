"""Weights files of any origin: safetensors, sharded safetensors with an index, and PyTorch's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from .tensorfiles import TensorInfo, Tensors, WeightsError, read_header, read_tensors
from .torchfiles import ENDINGS, read_state

INDEX = ".index.json"
"""File name suffix of an index, which assigns tensors to several files next to it."""
_LONGEST_INDEX = 1 << 26
"""Maximum size of an index in bytes, enough for a million tensors."""
MARK = {"format": "paddle_layers"}
"""Metadata of a file with our names and layouts."""
DATA = "paddle_layers.data"
"""Metadata key of the names of ids and columns of the training data."""


@dataclass(frozen=True)
class WeightsFile:
    """Contents of a file, or of those in an index; `read` returns arrays by name, and raises `WeightsError`."""

    path: str
    tensors: Mapping[str, TensorInfo]
    read: Callable[[Iterable[str]], Tensors]
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor."""
        return {name: one.shape for name, one in self.tensors.items()}

    @property
    def data(self) -> str:
        """The file's description of its training data, unmodified and untrusted."""
        return self.facts.get(DATA, "")

    @property
    def ours(self) -> bool:
        """Whether this library wrote it, so that the layout of matrices is known."""
        return MARK.items() <= self.facts.items()


def open_weights(path: str | Path) -> WeightsFile:
    """Reads the tensor metadata of a file; tensors are only read for PyTorch files. Raises `WeightsError`."""
    name = str(path)
    if name.lower().endswith(INDEX):
        return _sharded(Path(path))
    if Path(path).suffix.lower() in ENDINGS:
        stored, tensors = read_state(Path(path))
        return WeightsFile(name, stored, lambda names: {one: tensors[one] for one in names})
    stored, facts = read_header(path)
    return WeightsFile(name, stored, lambda names: read_tensors(path, names)[0], facts)


# ---- sharded files


def _sharded(path: Path) -> WeightsFile:
    homes = _read_index(path)
    # Headers only: whether everything fits is decided before gigabytes are read.
    headers = {home: read_header(home)[0] for home in dict.fromkeys(homes.values())}
    for name, home in homes.items():
        if name not in headers[home]:
            raise WeightsError(f"{path}: `{name}` is not in {home.name}")
    for home, stored in headers.items():
        if extra := next((name for name in stored if homes.get(name) != home), None):
            raise WeightsError(
                f"{path}: `{extra}` in {home.name} is not in the index; the index belongs to other files"
            )
    stored = {name: headers[home][name] for name, home in homes.items()}
    return WeightsFile(str(path), stored, partial(_read_shards, homes))


def _read_shards(homes: Mapping[str, Path], names: Iterable[str]) -> Tensors:
    wanted: dict[Path, list[str]] = {}
    for name in names:
        wanted.setdefault(homes[name], []).append(name)
    return {name: array for home, own in wanted.items() for name, array in read_tensors(home, own)[0].items()}


def _read_index(path: Path) -> dict[str, Path]:
    """The file of each tensor. Raises `WeightsError` for an invalid index, and for files that are not next to it."""
    try:
        if path.stat().st_size > _LONGEST_INDEX:
            raise WeightsError(f"{path} is too large for a weights index")
        index: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise WeightsError(f"file not found: {path}") from None
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, WeightsError):
            raise
        raise WeightsError(f"{path} is not a weights index: {error}") from None
    homes = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(homes, dict) or not homes:
        raise WeightsError(f"{path} is not a weights index: it has no `weight_map` from tensors to files")
    return {name: path.parent / _plain(path, home) for name, home in homes.items()}


def _plain(path: Path, home: Any) -> str:
    """The name of a file next to the index: an index cannot refer to other folders."""
    # An index comes from outside and must not make the loader open arbitrary paths.
    good = isinstance(home, str) and home.endswith(".safetensors") and home.isprintable()
    if not good or any(one in home for one in "/\\:") or home.startswith("."):
        raise WeightsError(f"{path}: {str(home)[:80]!r} is not the name of a safetensors file next to the index")
    return str(home)
