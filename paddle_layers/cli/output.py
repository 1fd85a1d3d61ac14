"""Files that commands write: whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Write a file at once: whoever reads it meanwhile sees the old or the new, never a part. Raises `OSError`."""
    real = path.resolve()
    if not real.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(real.stat().st_mode if real.exists() else 0o644)
        Path(name).replace(real)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
