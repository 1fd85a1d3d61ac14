"""Data from pipes: read once and whole, or refused."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from paddle_layers.data import DataError, Dataset
from paddle_layers.data.formats import files, text_lines
from paddle_layers.define import registries

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


def opened(source: str, base: Path, /, **attributes: object) -> Dataset:
    definition = registries["source"][source]
    found: Dataset = definition.create(definition.bind(attributes)).open(base)
    return found


@pytest.fixture
def piped(tmp_path: Path) -> Callable[[bytes], Path]:
    """A named pipe that a thread writes bytes to, once."""

    def make(content: bytes) -> Path:
        path = tmp_path / "pipe"
        os.mkfifo(path)
        threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
        return path

    return make


@pytest.mark.parametrize("limit", [2**28, 0])
def test_a_table_from_a_pipe_is_whole(tmp_path, piped, monkeypatch, limit):
    monkeypatch.setattr(text_lines, "IN_MEMORY", limit)
    text = "x,y\n" + "".join(f"{row},{row % 3}\n" for row in range(50_000))
    data = opened("csv", tmp_path, file=piped(text.encode()).name, label="y")
    assert len(data) == 50_000
    assert data.rows(np.array([0, 49_999]))["features"].tolist() == [[0], [49_999]]


def test_lists_and_lines_from_a_pipe(tmp_path, piped):
    data = opened("text", tmp_path, file=piped(b"a\tb c\n" * 9000).name, classes=["a"])
    assert len(data) == 9000
    (tmp_path / "pipe").unlink()
    Image.fromarray(np.zeros((2, 2), np.uint8)).save(tmp_path / "i.png")
    assert len(opened("image_list", tmp_path, file=piped(b"i.png 1\n" * 9000).name)) == 9000


def test_an_open_descriptor_is_read(tmp_path):
    """As of a process substitution, `<(...)`."""
    read, write = os.pipe()
    with os.fdopen(write, "wb") as file:
        file.write(b"x\n1\n2\n")
    try:
        assert len(opened("csv", tmp_path, file=f"/dev/fd/{read}")) == 2
        with pytest.raises(DataError, match=r"is an empty pipe; a pipe can only be read once"):
            opened("csv", tmp_path, file=f"/dev/fd/{read}")
    finally:
        os.close(read)


def test_a_pipe_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SPOOLED", 2**22)
    with pytest.raises(DataError, match="/dev/zero is a pipe of more than 4194304 bytes"):
        opened("csv", tmp_path, file="/dev/zero")


@pytest.mark.parametrize("source", ["npz", "npy", "hdf5", "parquet", "image_folder"])
def test_formats_of_several_positions_refuse_pipes_at_once(tmp_path, source):
    """Nobody writes to the pipe: opening it would wait forever."""
    folder = tmp_path / "p" / "class"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "a.png")
    name = "p/class/a.png"
    attributes = {"folder": "p"} if source == "image_folder" else {"file": name if source == "npz" else [name]}
    with pytest.raises(DataError, match=r"a\.png.* is a pipe or a device; this format requires random access"):
        opened(source, tmp_path, **attributes)
