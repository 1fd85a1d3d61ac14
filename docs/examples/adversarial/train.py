"""Trains a generator of digits against a discriminator: `python train.py [--seed 0] [--steps 6000]`.

It prints the distance of generated images from the held-out digits, and writes the weights of the generator and an
image of its digits to `--output`. The image needs Pillow.
"""

import argparse
import base64
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

import paddle_layers as pl

HERE = Path(__file__).parent
ROWS, COUNT = 64, 2000
RATE = 0.001
SURE = 0.9
"""What the discriminator is to say of written digits: less than 1 keeps it from being too sure."""


def digits(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Images, N x 64 from 0 to 1, and numbers of a part of the digits of the package."""
    source = pl.registries["source"]["digits"]
    fields = source.create(source.bind({"part": part})).open(Path()).fields
    return np.asarray(fields["pixels"], np.float32).reshape(-1, 64) / 16, np.asarray(fields["label"])


def distance(drawn: np.ndarray, written: np.ndarray) -> float:
    """The Frechet distance of two normal distributions with the means and covariances of the pixels."""
    first, second = np.cov(drawn.T), np.cov(written.T)
    both = np.sqrt(np.linalg.eigvals(first @ second).real.clip(0)).sum()
    return float(((drawn.mean(0) - written.mean(0)) ** 2).sum() + np.trace(first + second) - 2 * both)


def batches(images: np.ndarray, random: np.random.Generator) -> Iterator[np.ndarray]:
    """Batches without end, in another order in every pass over the images."""
    while True:
        order = random.permutation(len(images))
        for first in range(0, len(images) - ROWS + 1, ROWS):
            yield images[order[first : first + ROWS]]


def train(written: np.ndarray, held_out: np.ndarray, steps: int, seed: int) -> pl.Net:
    """The generator after so many steps, each one of both networks."""
    random = np.random.default_rng(seed)
    generator = pl.Net(pl.load(HERE / "generator.textproto"), seed=seed, keep=["pixels"])
    discriminator = pl.Net(pl.load(HERE / "discriminator.textproto"), seed=seed + 1, keep=["image"])
    draws = pl.Optimizer(generator, "adam", beta1=0.5)
    judges = pl.Optimizer(discriminator, "adam", beta1=0.5)
    schedule = pl.Schedule("poly", learning_rate=RATE, steps=steps)
    yes, no = np.ones((ROWS, 1), np.float32), np.zeros((ROWS, 1), np.float32)
    for step, real in zip(range(steps), batches(written, random), strict=False):
        rate = schedule.rate(step)
        drawn = generator.forward({"code": codes(random, ROWS)})["pixels"]

        # The discriminator learns to tell both kinds.
        discriminator.forward({"image": np.concatenate([real, drawn]), "written": np.concatenate([SURE * yes, no])})
        told = discriminator.loss
        discriminator.backward()
        judges.step(rate)

        # The generator learns what would have passed for written: the gradient of the image is that of its pixels.
        discriminator.forward({"image": drawn, "written": yes})
        discriminator.backward()
        generator.backward(gradients={"pixels": discriminator.gradient("image")})
        draws.step(rate)

        if step % 1000 == 999:
            passed = discriminator.loss
            far = distance(samples(generator, COUNT, seed), held_out)
            print(f"step {step + 1}: discriminator {told:.2f}, generator {passed:.2f}, distance {far:.3f}")
    discriminator.close()
    return generator


def codes(random: np.random.Generator, count: int) -> np.ndarray:
    """What the generator makes images of."""
    return random.standard_normal((count, 24), np.float32)


def samples(generator: pl.Net, count: int, seed: int) -> np.ndarray:
    """Images of random codes, in the phase test."""
    return generator.forward({"code": codes(np.random.default_rng(seed), count)}, phase="test")["pixels"]


def by_digit(images: np.ndarray, label: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Images of a baseline: a digit, and each pixel from a separate normal distribution."""
    means, spreads = (np.stack([of(images[label == one], 0) for one in range(10)]) for of in (np.mean, np.std))
    chosen = random.integers(10, size=COUNT)
    return random.normal(means[chosen], spreads[chosen]).clip(0, 1)


def picture(images: np.ndarray, rows: int = 6, larger: int = 5) -> str:
    """A grid of images, separated by lines, as SVG."""
    columns = len(images) // rows
    framed = np.pad(1 - images.reshape(-1, 8, 8), ((0, 0), (1, 0), (1, 0)), constant_values=1)
    sheet = framed.reshape(rows, columns, 9, 9).transpose(0, 2, 1, 3).reshape(rows * 9, columns * 9)
    stream = io.BytesIO()
    Image.fromarray(np.uint8(255 * sheet)).save(stream, "PNG", optimize=True)
    data = base64.b64encode(stream.getvalue()).decode()
    width, height = columns * 9 * larger, rows * 9 * larger
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="Digits">'
        f'<image width="{width}" height="{height}" style="image-rendering:pixelated" '
        f'href="data:image/png;base64,{data}"/></svg>\n'
    )


def main() -> None:
    """Train, and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--output", type=Path, default=Path("output/adversarial"))
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    (written, label), (held_out, _) = digits("train"), digits("test")
    plain = by_digit(written, label, np.random.default_rng(given.seed))
    print(f"other written digits: distance {distance(written, held_out):.3f}")
    print(f"a plain model of each digit: distance {distance(plain, held_out):.3f}")
    with train(written, held_out, given.steps, given.seed) as generator:
        print(f"the generator: distance {distance(samples(generator, COUNT, given.seed), held_out):.3f}")
        generator.save(given.output / "generator.safetensors")
        (given.output / "samples.svg").write_text(picture(samples(generator, 96, given.seed + 1)))


if __name__ == "__main__":
    main()
