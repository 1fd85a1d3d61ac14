"""Plots predicted label maps: `python draw.py found.npz found.svg`.

Top: images of `test.npz`; middle: predictions; bottom: ground truth, one color per digit. Needs Pillow.
"""

import argparse
import base64
import io
from pathlib import Path

import numpy as np
from PIL import Image

SHOWN = 8
"""Number of images."""
LARGER = 3
"""Scale of a pixel."""
COLOURS = np.array(
    [
        (0, 0, 0), (230, 25, 75), (60, 180, 75), (255, 225, 25), (0, 130, 200), (245, 130, 48),
        (145, 30, 180), (70, 240, 240), (240, 50, 230), (210, 245, 60), (250, 190, 212),
    ],
    np.uint8,
)  # fmt: skip
"""Of the canvas, and of the digits 0 to 9."""


def picture(images: np.ndarray, found: np.ndarray, label: np.ndarray) -> str:
    """Three rows of images, as SVG."""
    grey = np.repeat(images[:, 0, :, :, None], 3, axis=3)
    rows = (grey, COLOURS[found], COLOURS[label])
    framed = [np.pad(row, ((0, 0), (0, 2), (0, 2), (0, 0)), constant_values=255) for row in rows]
    sheet = np.concatenate([np.concatenate(list(row), axis=1) for row in framed])
    stream = io.BytesIO()
    Image.fromarray(sheet).save(stream, "PNG", optimize=True)
    data = base64.b64encode(stream.getvalue()).decode()
    height, width = (LARGER * size for size in sheet.shape[:2])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="Digits">'
        f'<image width="{width}" height="{height}" style="image-rendering:pixelated" '
        f'href="data:image/png;base64,{data}"/></svg>\n'
    )


def main() -> None:
    """Write the SVG file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("found", type=Path)
    parser.add_argument("picture", type=Path)
    given = parser.parse_args()
    with np.load(Path(__file__).parent / "test.npz") as data, np.load(given.found) as found:
        parts = data["image"], found["scores.class"], data["label"]
        given.picture.write_text(picture(*(part[:SHOWN] for part in parts)))


if __name__ == "__main__":
    main()
