"""Alpha compositing: transparent pixels of an image over a background color, before its alpha channel is dropped.

Without it the color below transparent pixels shows, which is invisible and arbitrary in most files: black text on a
transparent background becomes black on black.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_ALPHA = frozenset({"LA", "PA", "RGBA", "La", "RGBa"})
"""Modes of Pillow with an alpha channel; `a` is premultiplied."""
_KEYED = frozenset({"1", "L", "P", "RGB"})
"""Modes in which a color, or colors of the palette, may mean transparent pixels."""


def opaque(image: Any, color: Sequence[int], pillow: Any) -> Any:
    """An image of 8 bits over a background color, one value for gray or three; unchanged where it has no alpha."""
    key = image.info.get("transparency") if image.mode in _KEYED else None
    if image.mode not in _ALPHA and key is None:
        return image
    if image.mode in {"La", "RGBa"}:
        image = image.convert(image.mode.upper())
    elif key is not None and image.mode != "P":
        image = _with_key(image, key, pillow)
    layers = image.convert("RGBA")
    below = pillow.new("RGBA", layers.size, (*(color if len(color) == 3 else tuple(color) * 3), 255))
    return pillow.alpha_composite(below, layers).convert("RGB")


def grey_with_key(values: Any, key: object, pillow: Any) -> Any:
    """Grey values of 16 bits as 8, transparent where they are the key."""
    grey = pillow.fromarray((values >> 8).astype(np.uint8))
    if not isinstance(key, int):
        return grey
    return pillow.merge("LA", (grey, pillow.fromarray(np.where(values == key, 0, 255).astype(np.uint8))))


def _with_key(image: Any, key: Any, pillow: Any) -> Any:
    """An image with an alpha channel instead of the color that means transparent.

    The key of an image of 16 bits per channel has 16 bits, while Pillow has read the upper eight of each pixel.
    """
    values = np.asarray(image.convert("L") if image.mode == "1" else image)
    wanted = np.array(key if isinstance(key, tuple) else (key,))
    wanted = 255 * (wanted > 0) if image.mode == "1" else wanted >> 8 if wanted.max() > 255 else wanted
    clear = (values.reshape(*values.shape[:2], -1) == wanted).all(axis=2)
    layers = image.convert("RGBA")
    layers.putalpha(pillow.fromarray(np.where(clear, 0, 255).astype(np.uint8)))
    return layers
