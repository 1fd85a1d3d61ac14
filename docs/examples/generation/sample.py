"""Generates digits with the trained decoder: `python sample.py output/generation/weights.safetensors samples.svg`.

Codes are sampled from a normal distribution; the decoder computes images from them. Needs Pillow.
"""

import argparse
import base64
import io
from pathlib import Path

import numpy as np
from PIL import Image

import paddle_layers as pl

ROWS, COLUMNS = 6, 16
LARGER = 5
"""Scale of a pixel."""


def samples(weights: str, count: int, seed: int) -> np.ndarray:
    """How black each pixel is, N x 8 x 8."""
    decoder = pl.load(Path(__file__).parent / "decoder.textproto")
    size = decoder["code"].outputs[0].size
    with pl.Net(decoder) as net:
        net.load(weights, leave_out=["encoder.*", "mean.*", "deviation.*"])
        code = np.random.default_rng(seed).standard_normal((count, size))
        return net.forward({"code": code}, phase="test")["pixels"].reshape(count, 8, 8)


def picture(images: np.ndarray) -> str:
    """A grid of images, separated by lines, as SVG."""
    framed = np.pad(1 - images, ((0, 0), (1, 0), (1, 0)), constant_values=1)
    sheet = framed.reshape(ROWS, COLUMNS, 9, 9).transpose(0, 2, 1, 3).reshape(ROWS * 9, COLUMNS * 9)
    stream = io.BytesIO()
    Image.fromarray(np.uint8(255 * sheet)).save(stream, "PNG", optimize=True)
    data = base64.b64encode(stream.getvalue()).decode()
    width, height = COLUMNS * 9 * LARGER, ROWS * 9 * LARGER
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="Digits">'
        f'<image width="{width}" height="{height}" style="image-rendering:pixelated" '
        f'href="data:image/png;base64,{data}"/></svg>\n'
    )


def main() -> None:
    """Write the SVG file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    given.picture.write_text(picture(samples(given.weights, ROWS * COLUMNS, given.seed)))


if __name__ == "__main__":
    main()
