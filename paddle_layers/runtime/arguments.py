"""Validation of the arguments of `Net` before anything is allocated; errors state the correct form."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Collection, Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from paddle_layers.define import Type
from paddle_layers.define.errors import brief, suggestion
from paddle_layers.define.name_patterns import check_names, listed


def check_arguments(network: Any, device: Any, dtype: str, seed: Any, batch_size: Any, level: Any) -> None:
    """Raises `TypeError` for a wrong type of argument, `ValueError` for a value out of range."""
    if not hasattr(device, "compile") and not isinstance(device, str):
        raise TypeError(f'device must be "cpu", "cuda" or "auto", not {brief(device)}')
    if not hasattr(network, "select"):
        meant = f": write Net(load({network!r}))" if isinstance(network, str) else ""
        raise TypeError(f"network must be the result of `load` or `Network`, not {brief(network)}{meant}")
    if dtype not in ("float32", "float64"):
        raise ValueError(f'dtype must be "float32" or "float64", not {brief(dtype)}')
    check_count("seed", seed, 0)
    check_count("level", level, ANY)
    if batch_size is not None:
        check_count("batch_size", batch_size, 1)


def names_of(argument: str, given: Any) -> tuple[str, ...]:
    """The names in an argument. Raises `TypeError` if it is not a list of names."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        meant = f": write {argument}=[{given!r}]" if isinstance(given, str) else ""
        raise TypeError(f"{argument} must be a list of names, not {brief(given)}{meant}")
    return tuple(given)


def check_keep(names: Iterable[str], values: Collection[str]) -> None:
    """Raises `ValueError` for a name that is not a value of any phase."""
    for name in names:
        if name not in values:
            near = suggestion(name, values) if isinstance(name, str) else ""
            raise ValueError(f"keep: no layer has an output {brief(name)}{near}")


def check_feeds(feeds: Any, names: Iterable[str]) -> None:
    """Raises `TypeError` for feeds that are not a dict by the names of the data layers."""
    if not isinstance(feeds, Mapping):
        example = ", ".join(f'"{name}": ...' for name in names)
        raise TypeError(f"feeds must be a dict of arrays by data layer, {{{example}}}, not {brief(feeds)}")


def check_phase(phase: Any) -> None:
    """Raises `ValueError` for an unknown phase."""
    if not isinstance(phase, str) or phase not in ("train", "test"):
        others = ("validation", "eval", "predict")
        hint = '; layers compute as in "test" in it' if isinstance(phase, str) and phase in others else ""
        raise ValueError(f'phase must be "train" or "test", not {brief(phase)}{hint}')


def check_divisors(divisors: Any, losses: Collection[str]) -> Mapping[str, float]:
    """The divisors by loss, none for `None`. Raises `TypeError`, and `ValueError` for an unknown loss."""
    if divisors is None:
        return {}
    check_names("divisors", divisors, "of numbers by loss")
    for name, divisor in divisors.items():
        if name not in losses:
            known = suggestion(name, losses) or f"; available: {listed(losses) or 'none'}"
            raise ValueError(f"divisors: the network has no loss `{name}`{known}")
        if isinstance(divisor, str) or not hasattr(divisor, "__float__"):
            raise TypeError(f"the divisor of `{name}` must be a number, not {brief(divisor)}")
        if not 0 <= float(divisor) < math.inf:
            raise ValueError(f"the divisor of `{name}` is {divisor}, must be a finite number >= 0")
    found: Mapping[str, float] = divisors
    return found


def next_step(before: int, given: Any) -> int:
    """The number of a pass: the given one, or that after the last pass. Raises `TypeError`."""
    if given is None:
        return before + 1
    check_count("step", given, ANY)
    return operator.index(given)


def check_weights_path(path: Any) -> None:
    """Raises `TypeError` for a path of another type, `ValueError` for the extension of a file of another format."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be a string or a Path, not {brief(path)}")
    if Path(path).suffix.lower() in _OTHER_FORMATS:
        raise ValueError(f"{path}: weights are saved as safetensors; use the extension .safetensors")


ANY = -(2**63)
"""The smallest integer that kernels can have."""
_OTHER_FORMATS = {".pt", ".pth", ".bin", ".npz", ".npy", ".h5", ".hdf5", ".pkl", ".onnx", ".caffemodel", ".json"}
"""Extensions by which `load`, and other programs, would take a file of weights for another format."""


def check_count(name: str, value: Any, least: int) -> None:
    """Raises `TypeError` if the value is not an integer, `ValueError` if it is too small or too large."""
    try:
        number = operator.index(value)
    except TypeError:
        limit = f" >= {least}" if least > ANY else ""
        raise TypeError(f"{name} must be an integer{limit}, not {brief(value)}") from None
    if not least <= number < 2**63:
        raise ValueError(f"{name} must be an integer from {least} to 2**63 - 1, not {number}")


def no_value(name: object, values: Mapping[str, object]) -> KeyError:
    """The error for a value that cannot be read: it is not kept, or does not exist."""
    if isinstance(name, str) and name in values:
        return KeyError(f"`{name}` is not kept; write Net(network, keep=[{name!r}])")
    return KeyError(f"the network has no output `{name}`{suggestion(name, values)}")


def no_gradient(name: object, known: Iterable[str], parameters: Container[str], types: Mapping[str, Type]) -> KeyError:
    """The error for a gradient that does not exist."""
    if isinstance(name, str) and name in parameters:
        return KeyError(f"`{name}` is a parameter: write net.parameters[{name!r}].gradient")
    if isinstance(name, str) and name in types:
        if types[name].kind != "DENSE":
            return KeyError(f"`{name}` is {types[name]}, which has no gradient")
        return KeyError(
            f"no gradient is computed for `{name}`, which depends on no parameters: set `propagate_down: true` in the "
            "layer that reads it"
        )
    return KeyError(f"`{name}` has no gradient{suggestion(name, known)}")
