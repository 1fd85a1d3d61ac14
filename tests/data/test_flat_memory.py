"""Sources whose rows are read when they are wanted take as much memory for ten times as much data."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

PEAKS = """
import json, sys
from pathlib import Path
from paddle_layers.data import Batches, make_feeds
from paddle_layers.data.formats import parquet, text_lines
from paddle_layers.define import Type, registries

source, small, large, field, wanted = json.loads(sys.argv[1])
text_lines.IN_MEMORY = 0
parquet.MOST_KEPT = 2**21

def run(attributes):
    definition = registries["source"][source]
    dataset = definition.create(definition.bind(attributes)).open(Path())
    assert dataset.is_stored
    batches = Batches(dataset, 64, feeds=make_feeds(dataset, {field: Type.parse(wanted)}), workers=2, memory=2**21)
    assert sum(len(batch[field]) for batch in batches) == len(dataset)
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) >> 10

run(small)
print(run(small), run(large))
"""
SMALL, LARGE, WIDTH = 1500, 15000, 2048
"""Rows, and bytes of each of them: 3 MB and 30."""


def hdf5(path, rows):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=np.zeros((rows, WIDTH), np.uint8), chunks=(100, WIDTH))
    return {"file": [path.name]}


def parquet(path, rows):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    bits = np.random.default_rng(0).integers(0, 256, rows * WIDTH, np.uint8)
    table = arrow.table({"x": arrow.FixedSizeListArray.from_arrays(arrow.array(bits), WIDTH)})
    parquet.write_table(table, path, row_group_size=100)
    return {"file": [path.name]}


def lmdb(path, rows):
    from paddle_layers.schema.datum_pb2 import Datum

    datum = Datum(channels=2, height=32, width=32, data=bytes(WIDTH), label=1).SerializeToString()
    library = pytest.importorskip("lmdb")
    with library.open(str(path), map_size=2**27) as environment, environment.begin(write=True) as transaction:
        for row in range(rows):
            transaction.put(b"%08d" % row, datum)
    return {"file": path.name}


def csv(path, rows):
    line = ",".join(["0.25"] * (WIDTH // 5)) + "\n"
    path.write_text(line * rows)
    return {"file": path.name, "columns": [f"x = 1-{WIDTH // 5}"]}


def text(path, rows):
    (path.parent / "words.txt").write_text("good\nwine\n")
    path.write_text(("good wine " * (WIDTH // 10) + "\n") * rows)
    return {"file": path.name, "dictionary": "words.txt"}


def image_list(path, rows):
    image = pytest.importorskip("PIL.Image")
    for number in range(50):
        pixels = np.random.default_rng(number).integers(0, 256, (32, 64), np.uint8)
        image.fromarray(pixels).save(path.parent / f"{number}.png")
    path.write_text("".join(f"{row % 50}.png {row % 3}\n" for row in range(rows)))
    return {"file": path.name, "color": "grey"}


FIELDS = {
    hdf5: ("x", f"{WIDTH}"),
    parquet: ("x", f"{WIDTH}"),
    lmdb: ("image", "2x32x32"),
    csv: ("x", f"{WIDTH // 5}"),
    text: ("words", "sequence of ids<2"),
    image_list: ("image", "1x32x64"),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc, which is Linux's")
@pytest.mark.parametrize("write", [hdf5, *(pytest.param(one, marks=pytest.mark.slow) for one in list(FIELDS)[1:])])
def test_memory_is_the_same_for_ten_times_as_much_data(tmp_path, write):
    attributes = [write(tmp_path / name, rows) for name, rows in (("small", SMALL), ("large", LARGE))]
    arguments = json.dumps([write.__name__, *attributes, *FIELDS[write]])
    command = [sys.executable, "-c", PEAKS, arguments]
    system = os.environ | {
        "ARROW_DEFAULT_MEMORY_POOL": "system"
    }  # Arrow's own pool keeps some tens of MiB that are free
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=system)
    assert not done.returncode, done.stderr
    small, large = map(int, done.stdout.split())
    assert large - small < 14, f"MiB at the most: {small} for 3 MB of data, {large} for 30"
