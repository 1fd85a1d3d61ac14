"""Optional dependencies of sources, imported on first use."""

from __future__ import annotations

import importlib
from typing import Any

from ..problems import DataError


def optional_module(name: str, package: str, extra: str, source: str) -> Any:
    """A module. Raises `DataError` that says what to install where it is not there."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        why = "" if isinstance(error, ModuleNotFoundError) else f", which cannot be imported ({error})"
        raise DataError(
            f"the source `{source}` requires {package}{why}: pip install 'paddle-layers[{extra}]'"
        ) from None
