"""Throughput of the sources of data against reading their files raw: `python -m tests.benchmarks.bench_sources`.

Every source gives an epoch in random order, in batches, with 0, 1 and 2 threads that make them ahead; `raw` reads the
bytes of the same files one after the other. For pictures, a pool of two spawned processes that give arrays back is what
the threads are compared with. Files are made in a temporary folder and are in the cache of the system. Rounds are
interleaved; the best is shown, in rows and in MB of the files for each second.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import lmdb
import numpy as np
import pyarrow
import pyarrow.parquet
from PIL import Image

from paddle_layers.data import Batches
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.data.formats import text_lines
from paddle_layers.data.formats.image_columns import read_image
from paddle_layers.data.formats.image_decoder import Decoder, ImageSize
from paddle_layers.define import registries
from paddle_layers.schema.datum_pb2 import Datum

PICTURES, ROWS, SIDE, BATCH, ROUNDS = 200, 10_000, 256, 50, 5


class Settings:
    color, height, width, fit = "rgb", 224, 224, "stretch"


def make(folder: Path) -> None:
    rng = np.random.default_rng(0)
    (folder / "pictures" / "a").mkdir(parents=True)
    low = rng.integers(0, 256, (PICTURES, 16, 16, 3), np.uint8)
    for number, pixels in enumerate(low):
        image = Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        image.save(folder / "pictures" / "a" / f"{number:04d}.jpg", quality=90)
    (folder / "list.txt").write_text("".join(f"pictures/a/{n:04d}.jpg 0\n" for n in range(PICTURES)))
    x = rng.integers(0, 16, (ROWS, 3, 32, 32), np.uint8)
    with h5py.File(folder / "plain.h5", "w") as file:
        file["image"] = x
    with h5py.File(folder / "packed.h5", "w") as file:
        file.create_dataset("image", data=x, chunks=(64, 3, 32, 32), compression="gzip", compression_opts=1)
    with lmdb.open(str(folder / "db"), map_size=2**28) as environment, environment.begin(write=True) as transaction:
        for number, pixels in enumerate(x):
            datum = Datum(channels=3, height=32, width=32, data=pixels.tobytes(), label=1)
            transaction.put(b"%08d" % number, datum.SerializeToString())
    np.savez(folder / "x.npz", image=x)
    flat = pyarrow.FixedSizeListArray.from_arrays(x.reshape(-1), 3072)
    table = pyarrow.table({"image": flat})
    pyarrow.parquet.write_table(table, folder / "x.parquet", row_group_size=1000)
    numbers = rng.normal(size=(ROWS, 10))
    np.savetxt(folder / "x.csv", numbers, "%.6g", ",", header=",".join("abcdefghij"), comments="")
    words = rng.choice(["sun", "rain", "wind", "snow"], (ROWS, 10))
    (folder / "x.txt").write_text("\n".join(map(" ".join, words)) + "\n")


def raw(paths: list[Path]) -> int:
    for path in paths:
        with path.open("rb") as file:
            while file.read(2**20):
                pass
    return len(paths)


def epoch(base: Path, source: str, workers: int, /, **attributes: Any) -> int:
    definition = registries["source"][source]
    dataset = definition.create(definition.bind(attributes)).open(base)
    if source != "image_folder":  # its labels are in memory
        dataset = encoded(dataset, learn(dataset, np.arange(len(dataset))), "")
    batches = Batches(dataset, BATCH, workers=workers)
    count = sum(len(next(iter(batch.values()))) for batch in batches)
    batches.close()
    return count


def decoded(paths: list[str]) -> Any:
    decoder = Decoder("image_folder", Settings(), ImageSize(224, 224))
    return np.stack([decoder.array(path, lambda path=path: read_image(path)) for path in paths])


def in_processes(pool: Any, paths: list[Path]) -> int:
    names = list(map(str, paths))
    parts = [names[at : at + BATCH] for at in range(0, len(names), BATCH)]
    return sum(len(batch) for batch in pool.imap(decoded, parts))


def cases(folder: Path, pool: Any) -> dict[str, tuple[list[Path], int, list[tuple[str, Callable[[], int]]]]]:
    """For each source its files, its rows, and what is measured."""
    pictures = sorted((folder / "pictures").rglob("*.jpg"))
    sized = {"height": 224}
    found: dict[str, Any] = {}

    def add(name: str, files: list[Path], rows: int, source: str, /, **attributes: Any) -> None:
        runs = [
            (f"{workers} threads", lambda w=workers: epoch(folder, source, w, **attributes)) for workers in (0, 1, 2)
        ]
        found[name] = files, rows, [("raw", lambda: raw(files)), *runs]

    add("image_folder", pictures, PICTURES, "image_folder", folder="pictures", **sized)
    found["image_folder"][2].append(("2 processes", lambda: in_processes(pool, pictures)))
    add("image_list", [folder / "list.txt", *pictures], PICTURES, "image_list", file="list.txt", **sized)
    add("lmdb", [folder / "db" / "data.mdb"], ROWS, "lmdb", file="db")
    add("hdf5", [folder / "plain.h5"], ROWS, "hdf5", file=["plain.h5"])
    add("hdf5, gzip", [folder / "packed.h5"], ROWS, "hdf5", file=["packed.h5"])
    add("parquet", [folder / "x.parquet"], ROWS, "parquet", file=["x.parquet"])
    add("npz, mapped", [folder / "x.npz"], ROWS, "npz", file="x.npz")
    add("csv", [folder / "x.csv"], ROWS, "csv", file="x.csv")
    add("text", [folder / "x.txt"], ROWS, "text", file="x.txt")
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as name, multiprocessing.get_context("spawn").Pool(2) as pool:
        folder = Path(name)
        make(folder)
        text_lines.IN_MEMORY = 0  # tables and texts are read as large ones are, the search for their lines included
        print(f"{'source':14} {'how':12} {'rows/s':>10} {'MB/s':>8} {'of raw':>7}")
        for source, (files, rows, runs) in cases(folder, pool).items():
            size = sum(path.stat().st_size for path in files) / 1e6
            best = dict.fromkeys((how for how, _ in runs), float("inf"))
            for _ in range(ROUNDS):
                for how, run in runs:
                    began = time.perf_counter()
                    run()
                    best[how] = min(best[how], time.perf_counter() - began)
            for how, seconds in best.items():
                share = best["raw"] / seconds
                print(f"{source:14} {how:12} {rows / seconds:10,.0f} {size / seconds:8.1f} {share:7.1%}")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
