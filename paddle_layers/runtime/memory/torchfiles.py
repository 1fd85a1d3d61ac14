"""Weights in PyTorch's pickle files, read by its loader with `weights_only`."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

from paddle_layers.define.errors import first_line

from .tensorfiles import TensorInfo, Tensors, WeightsError

ENDINGS = (".pt", ".pth", ".bin")
_ZIP = b"PK\x03\x04"
# A decompression bomb: a small archive may announce members of any size. `torch.save` stores members uncompressed, so
# that legitimate files are far below the limit.
LARGEST_RATIO = 16
"""Maximum ratio of the announced bytes of the members to the file size, and half of that for its tensors."""
_LOWEST = (2, 6)
"""The first version whose weights-only loader is not known to run code (CVE-2025-32434)."""
_TYPES = {
    **{"float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64", "bool": "BOOL", "uint8": "U8"},
    **{"int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64"},
}


def read_state(path: Path) -> tuple[dict[str, TensorInfo], Tensors]:
    """The tensors of a state_dict as arrays, and their types in the file. Raises `WeightsError`."""
    torch = _import_torch(path)
    # A bare pickle is read from memory, where no string can request more bytes than the file has.
    source = path if _is_checked_archive(path) else io.BytesIO(path.read_bytes())
    try:
        found = torch.load(source, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise WeightsError(
            f"{path} contains more than weights, or is corrupt; not loaded, as it may run code. If you trust "
            f"it, save only its state_dict: torch.save(model.state_dict(), ...)"
        ) from None
    except Exception as error:  # torch.load raises many exceptions for damaged bytes, and documents none
        raise WeightsError(f"{path} is not a file that PyTorch can load: {first_line(error)[:200]}") from None
    state = _state_of(torch, path, found)
    arrays: Tensors = {}
    stored: dict[str, TensorInfo] = {}
    kinds = {name: _checked_kind(torch, f"{path}: `{name}`", tensor) for name, tensor in state.items()}
    _check_total(path, state)
    for name, tensor in state.items():
        whole = tensor.detach().resolve_neg()
        arrays[name] = (whole.float() if kinds[name] == "BF16" else whole).numpy()
        stored[name] = TensorInfo(tuple(tensor.shape), kinds[name])
    return stored, arrays


def _is_checked_archive(path: Path) -> bool:
    """Whether it is a zip archive, whose members announce no more than permitted. Raises `WeightsError`."""
    try:
        with path.open("rb") as file:
            if file.read(len(_ZIP)) != _ZIP:  # as PyTorch distinguishes archives from bare pickles
                return False
            with zipfile.ZipFile(file) as archive:
                claimed, held = sum(member.file_size for member in archive.infolist()), path.stat().st_size
    except FileNotFoundError:
        raise WeightsError(f"file not found: {path}") from None
    except Exception as error:  # zipfile raises several exceptions for damaged bytes
        raise WeightsError(f"{path} is not a file that PyTorch can load: {first_line(error)[:200]}") from None
    if claimed > LARGEST_RATIO * held:
        raise WeightsError(
            f"{path}: {held} bytes would decompress to {claimed}; the limit is {LARGEST_RATIO} times the file size: "
            "torch.save does not compress"
        )
    return True


def _checked_kind(torch: Any, name: str, tensor: Any) -> str:
    """The data type of a tensor whose elements are all present. Raises `WeightsError`."""
    kind = _TYPES.get(str(tensor.dtype).removeprefix("torch."), "")
    if tensor.is_nested:
        raise WeightsError(f"{name} is a nested tensor; save its parts separately, `tensor.unbind()`")
    if not kind or tensor.layout != torch.strided:
        raise WeightsError(f"{name} is {tensor.dtype}, {tensor.layout}; convert it with `.to_dense()` and `.float()`")
    if tensor.device.type != "cpu":
        raise WeightsError(f"{name} has no data (device `{tensor.device}`); load the model before saving it")
    # A damaged or hostile file may declare strides and sizes beyond the stored bytes.
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        shape = "x".join(map(str, tensor.shape))
        raise WeightsError(f"{name} has fewer stored values than its shape {shape}; save it with `.contiguous()`")
    return kind


def _check_total(path: Path, state: dict[str, Any]) -> None:
    """Checks the size of all tensors together: they may share storage in the file. Raises `WeightsError`."""
    held = path.stat().st_size
    total = sum(tensor.numel() * max(tensor.element_size(), 4) for tensor in state.values())
    if total > 2 * LARGEST_RATIO * held:
        raise WeightsError(f"{path}: its {len(state)} tensors would need {total} bytes, but the file has {held}")


def _import_torch(path: Path) -> Any:
    try:
        import torch
    except ImportError:
        raise WeightsError(
            f"{path} is a PyTorch pickle, which requires PyTorch: `pip install torch`, or convert it to safetensors "
            f"where it is installed: safetensors.torch.save_file(model.state_dict(), ...)"
        ) from None
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < _LOWEST:
        raise WeightsError(
            f"{path}: the loader of PyTorch {torch.__version__} may run code from the file; install 2.6 or newer"
        )
    return torch


def _state_of(torch: Any, path: Path, found: Any) -> dict[str, Any]:
    """The tensors by name: the whole file, or the one part of a checkpoint that consists of tensors only."""
    if _is_state(torch, found):
        return dict(found)
    parts = found if isinstance(found, dict) else {}
    states = [name for name, part in parts.items() if _is_state(torch, part)]
    if len(states) == 1:
        return dict(parts[states[0]])
    what = ", ".join(f"`{name}`" for name in states or list(parts)[:5])
    meant = f"several: {what}" if states else f"{what or type(found).__name__}"
    raise WeightsError(
        f"{path} must contain exactly one state_dict, but contains {meant}; save the state_dict alone: "
        "torch.save(model.state_dict(), ...)"
    )


def _is_state(torch: Any, found: Any) -> bool:
    """Whether it is a non-empty state_dict."""
    return (
        isinstance(found, dict)
        and bool(found)
        and all(isinstance(name, str) and isinstance(tensor, torch.Tensor) for name, tensor in found.items())
    )
