"""Plots predicted bounding boxes on images: `python draw.py test.npz boxes.npz found.png`.

The first file has the `pixels` of the images, the second is the output of `predict --output boxes.npz`. Boxes with a
confidence below `--least` are left out. Needs Pillow: `pip install 'paddle-layers[images]'`.
"""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

TIMES = 4
COLUMNS = 4
COLOUR = "orange"


def drawn(pixels: np.ndarray, boxes: np.ndarray, classes: np.ndarray) -> Image.Image:
    """An enlarged image with its boxes and their classes."""
    side = pixels.shape[-1] * TIMES
    grey = Image.fromarray((pixels.reshape(pixels.shape[-2:]) * 255).astype(np.uint8))
    picture = grey.resize((side, side), Image.Resampling.NEAREST).convert("RGB")
    draw = ImageDraw.Draw(picture)
    for (x1, y1, x2, y2), number in zip(boxes * side, classes, strict=True):
        draw.rectangle((x1, y1, x2, y2), outline=COLOUR, width=2)
        draw.rectangle((x1, y1, x1 + 11, y1 + 15), fill=COLOUR)
        draw.text((x1 + 2, y1), str(number - 1), fill="black", font_size=15)
    draw.rectangle((0, 0, side - 1, side - 1), outline="white")
    return picture


def sheet(pictures: list[Image.Image]) -> Image.Image:
    """A grid of images."""
    width, height = pictures[0].size
    rows = -(-len(pictures) // COLUMNS)
    whole = Image.new("RGB", (width * min(COLUMNS, len(pictures)), height * rows))
    for place, picture in enumerate(pictures):
        whole.paste(picture, (place % COLUMNS * width, place // COLUMNS * height))
    return whole


def main() -> None:
    """Draw the first images as a grid."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("boxes", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--least", type=float, default=0.5)
    given = parser.parse_args()
    data, found, pictures = np.load(given.data), np.load(given.boxes), []
    starts = found["found.starts"]
    for number in range(min(given.count, len(starts) - 1)):
        own = slice(starts[number], starts[number + 1])
        sure = found["found.score"][own] >= given.least
        pictures.append(drawn(data["pixels"][number], found["found.box"][own][sure], found["found"][own][sure]))
    sheet(pictures).save(given.output)


if __name__ == "__main__":
    main()
