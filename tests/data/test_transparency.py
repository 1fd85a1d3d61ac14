"""Transparent images over a background: against the formula of alpha compositing, in every mode that Pillow reads."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

from paddle_layers.data import DataError
from paddle_layers.data.formats.image_decoder import Decoder
from paddle_layers.define import registries


def decoded(content: bytes, color: str = "rgb", background: tuple[int, ...] = (255,)) -> np.ndarray:
    class Settings:
        height, width, fit, background_color = None, None, "stretch", background

    Settings.color = color
    return Decoder("image_folder", Settings(), None).array("x", lambda: content)


def encoded(image: Image.Image, kind: str = "png", **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def png(kind: int, depth: int, row: bytes, width: int, key: bytes) -> bytes:
    """A file of one row with a transparent color, which Pillow does not write for all modes."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, 1, depth, kind, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"\0" + row))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"tRNS", key) + pixels + chunk(b"IEND", b"")


@pytest.mark.parametrize("background", [(255,), (0,), (10, 200, 90)])
@pytest.mark.parametrize("kind", ["png", "webp"])
def test_alpha_is_composited(kind, background):
    rgba = np.random.default_rng(0).integers(0, 256, (5, 7, 4), np.uint8)
    below = np.broadcast_to(np.array(background, float), (3,))
    alpha = rgba[..., 3:] / 255
    wanted = (rgba[..., :3] * alpha + below * (1 - alpha)).transpose(2, 0, 1)
    content = encoded(Image.fromarray(rgba), kind, lossless=True)
    assert np.abs(decoded(content, background=background) - wanted).max() <= 1
    assert np.abs(decoded(content, "bgr", background) - wanted[::-1]).max() <= 1
    grey = np.tensordot([0.299, 0.587, 0.114], wanted, 1)
    assert np.abs(decoded(content, "grey", background)[0] - grey).max() <= 2


def palette(values: list[int]) -> Image.Image:
    image = Image.fromarray(np.array([values], np.uint8)).convert("L").copy()
    image = image.convert("P")
    image.putdata(values)
    image.putpalette([0, 0, 0, 10, 20, 30])
    return image


BLACK_THEN_CLEAR = {
    "LA": encoded(Image.fromarray(np.array([[[0, 255], [0, 0]]], np.uint8), "LA")),
    "palette": encoded(palette([0, 1]), transparency=1),
    "palette with alphas": encoded(palette([0, 1]), transparency=bytes([255, 0])),
    "gif": encoded(palette([0, 1]), "gif", transparency=1),
    "animated gif": encoded(palette([0, 1]), "gif", transparency=1, save_all=True, append_images=[palette([1, 0])]),
    "grey": encoded(Image.fromarray(np.array([[0, 7]], np.uint8)), transparency=7),
    "rgb": encoded(Image.fromarray(np.array([[[0, 0, 0], [1, 2, 3]]], np.uint8)), transparency=(1, 2, 3)),
    "bits": encoded(Image.fromarray(np.array([[False, True]])), transparency=1),
    "grey of 16 bits": encoded(Image.fromarray(np.array([[0, 5000]], np.uint16)), transparency=5000),
    "rgb of 16 bits": png(2, 16, struct.pack(">6H", 0, 0, 0, 65535, 0, 0), 2, struct.pack(">3H", 65535, 0, 0)),
}


@pytest.mark.parametrize("mode", BLACK_THEN_CLEAR)
def test_what_is_transparent_shows_the_background(mode):
    assert decoded(BLACK_THEN_CLEAR[mode]).transpose(1, 2, 0).tolist() == [[[0, 0, 0], [255, 255, 255]]]
    assert decoded(BLACK_THEN_CLEAR[mode], "grey", (0,)).tolist() == [[[0, 0]]]


@pytest.mark.parametrize("mode", ["La", "RGBa"])
def test_premultiplied_alpha(mode):
    from paddle_layers.data.formats.image_decoder import opaque

    whole = Image.fromarray(np.array([[[100, 100, 100, 51], [0, 0, 0, 255]]], np.uint8))
    image = whole.convert("LA" if mode == "La" else "RGBA").convert(mode)
    found = np.asarray(opaque(image, (255,), Image)).astype(int)
    assert np.abs(found - [[[224] * 3, [0] * 3]]).max() <= 2


@pytest.mark.parametrize("source", ["image_folder", "image_list", "lmdb", "window_list"])
def test_every_source_of_images_has_the_attribute(source):
    assert registries["source"][source].attributes["background_color"].default == (255,)


def test_two_values_are_no_color(tmp_path):
    (tmp_path / "a.png").write_bytes(BLACK_THEN_CLEAR["grey"])
    source = registries["source"]["image_folder"]
    settings = {"folder": ".", "background_color": [1, 2]}
    with pytest.raises(DataError, match=r"a\.png: `background_color` has 2 values, expected 1 \(gray\) or 3"):
        source.create(source.bind(settings)).open_fields(tmp_path, {"image"})
