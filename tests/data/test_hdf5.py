"""HDF5 files: rows of several files and of chunks, and what is refused before it is read."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.data import Batches, DataError, Dataset
from paddle_layers.data.formats.hdf5 import Hdf5Files
from paddle_layers.define import registries

h5py = pytest.importorskip("h5py")

X = np.arange(60, dtype=np.float32).reshape(20, 3)
LABEL = np.arange(20) % 4


def write(path, x=X, label=LABEL, **options):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=x, **options)
        if label is not None:
            file.create_dataset("label", data=label)
    return path


def opened(base, *files, wanted=None):
    definition = registries["source"]["hdf5"]
    return definition.create(definition.bind({"file": list(files)})).open_fields(base, wanted)


@pytest.mark.parametrize("options", [{}, {"chunks": (4, 3)}, {"chunks": (7, 2), "compression": "gzip"}])
def test_rows_of_several_files_come_one_behind_the_other(tmp_path, options):
    write(tmp_path / "a.h5", X[:8], LABEL[:8], **options)
    write(tmp_path / "b.h5", X[8:], LABEL[8:], **options)
    dataset = opened(tmp_path, "a.h5", "b.h5")
    assert len(dataset) == 20
    for rows in (np.arange(20), np.array([19, 0, 7, 8, 8, 3]), np.array([], np.int64)):
        found = dataset.rows(rows)
        assert np.array_equal(found["x"], X[rows])
        assert np.array_equal(found["label"], LABEL[rows])
    assert dataset.place(8) == f"{tmp_path}/b.h5, row 0"
    assert (dataset.blocks is None) == (not options)
    seen = np.concatenate([batch["x"] for batch in Batches(dataset, 6, workers=2)])
    assert sorted(seen[:, 0]) == X[:, 0].tolist()


COUNTS = np.array([2, 0, 3, 1, 0, 0, 4, 2])
BOXES = np.arange(4 * COUNTS.sum(), dtype=np.float32).reshape(-1, 4)


def write_boxes(path, first, last, **options):
    """Pictures `first` to `last`, with their boxes."""
    starts = np.cumsum([0, *COUNTS])
    with h5py.File(path, "w") as file:
        file["label"] = np.arange(first, last)
        file.create_dataset("box", data=BOXES[starts[first] : starts[last]], **options)
        file["box.starts"] = starts[first : last + 1] - starts[first]
    return path


@pytest.mark.parametrize("options", [{}, {"chunks": (5, 4), "compression": "gzip"}])
def test_rows_of_varying_number(tmp_path, options):
    write_boxes(tmp_path / "a.h5", 0, 3, **options)
    write_boxes(tmp_path / "b.h5", 3, 8, **options)
    dataset = opened(tmp_path, "a.h5", "b.h5", wanted={"box", "label"})
    assert list(dataset.fields) == ["box", "label"]
    whole = Dataset({"box": BOXES, "box.starts": np.cumsum([0, *COUNTS])})
    for rows in (np.arange(8), np.array([6, 0, 2, 3, 2, 1]), np.array([1, 5]), np.array([], np.int64)):
        found, wanted = dataset.rows(rows), whole.rows(rows)["box"]
        assert found["label"].tolist() == rows.tolist()
        assert np.array_equal(found["box"].data, wanted.data)
        assert np.array_equal(found["box"].starts, wanted.starts)
    assert (dataset.blocks is None) == (not options)
    seen = list(Batches(dataset, 3, workers=2))
    assert sorted(np.concatenate([batch["box"].data[:, 0] for batch in seen])) == BOXES[:, 0].tolist()


def test_sequences_that_do_not_fit(tmp_path):
    for change, message in (
        (lambda file: file.__delitem__("box"), "`box.starts` requires `box`"),
        (lambda file: file["box.starts"].__setitem__(1, 9), "`box.starts` decreases after index 1"),
        (lambda file: file["box.starts"].__setitem__(8, 9), "`box.starts` decreases after index 7"),
    ):
        with h5py.File(write_boxes(tmp_path / "a.h5", 0, 8), "a") as file:
            change(file)
        with pytest.raises(DataError, match=rf"a\.h5: {message}"):
            opened(tmp_path, "a.h5")
    path = write_boxes(tmp_path / "a.h5", 0, 8, chunks=(5, 4), compression="gzip", fletcher32=True)
    with h5py.File(path) as file:
        where = file["box"].id.get_chunk_info(1).byte_offset
    content = bytearray(path.read_bytes())
    content[where + 10] ^= 255
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.h5, row 3: cannot read `box`"):
        opened(tmp_path, "a.h5").rows(np.arange(8))
    batches = Batches(opened(tmp_path, "a.h5"), 8, skip=True, shuffle=False)
    assert batches.take()["label"].tolist() == [0, 1, 2, 4, 5, 7]


def test_a_list_names_files_below_its_folder(tmp_path):
    (tmp_path / "parts").mkdir()
    write(tmp_path / "parts" / "a.h5")
    (tmp_path / "parts" / "files.txt").write_text("a.h5\n\na.h5\n")
    assert len(opened(tmp_path, "parts/files.txt")) == 40
    (tmp_path / "parts" / "files.txt").write_text("a.h5\n../x.h5\n")
    with pytest.raises(DataError, match=r"files\.txt:2: \.\./x\.h5 is outside of"):
        opened(tmp_path, "parts/files.txt")


def test_only_wanted_datasets_are_looked_at(tmp_path):
    with h5py.File(write(tmp_path / "a.h5"), "a") as file:
        file["words"] = ["a", "b"]
    assert list(opened(tmp_path, "a.h5", wanted={"x"}).fields) == ["x"]
    with pytest.raises(DataError, match="dataset `words` contains object, expected numbers"):
        opened(tmp_path, "a.h5")


def soft_link(file):
    file["y"] = h5py.SoftLink("/x")


def external_link(file):
    file["y"] = h5py.ExternalLink("b.h5", "/x")


def virtual(file):
    layout = h5py.VirtualLayout((20, 3), np.float32)
    layout[:] = h5py.VirtualSource("b.h5", "x", (20, 3))
    file.create_virtual_dataset("y", layout)


def external(file):
    file.create_dataset("y", (20,), np.uint8, external=[("/etc/passwd", 0, 20)])


CHANGES = {
    "a soft link": (soft_link, "`y` is a soft or external link"),
    "an external link": (external_link, "`y` is a soft or external link"),
    "another file": (virtual, "dataset `y` is virtual or stored externally"),
    "bytes of another file": (external, "dataset `y` is virtual or stored externally"),
    "a group": (lambda file: file.create_group("y"), "`y` is not a dataset"),
    "a single number": (lambda file: file.create_dataset("y", data=1.0), "`y` is a scalar"),
    "another number of rows": (
        lambda file: file.create_dataset("y", data=X[:5]),
        "`label` has 20, `x` has 20, `y` has 5",
    ),
    "no end": (lambda file: file.create_dataset("y", (10**13,), np.uint8, chunks=(1000,)), "declares the shape"),
    "a huge chunk": (
        lambda file: file.create_dataset("y", (2**20,), np.uint8, maxshape=(None,), chunks=(2**29,)),
        "has chunks of more than",
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_is_refused(tmp_path, case):
    change, message = CHANGES[case]
    write(tmp_path / "b.h5")
    with h5py.File(write(tmp_path / "a.h5"), "a") as file:
        change(file)
    with pytest.raises(DataError, match=rf"a\.h5.*{message}"):
        opened(tmp_path, "a.h5")


def test_files_that_do_not_go_together(tmp_path):
    write(tmp_path / "a.h5")
    write(tmp_path / "b.h5", label=None)
    write(tmp_path / "c.h5", X.reshape(20, 1, 3))
    with pytest.raises(DataError, match=r"b\.h5 has the datasets `x`, .*a\.h5 has `label`, `x`"):
        opened(tmp_path, "a.h5", "b.h5")
    with pytest.raises(DataError, match=r"c\.h5: samples of `x` have shape 1x3, but 3 in .*a\.h5"):
        opened(tmp_path, "a.h5", "c.h5")
    with pytest.raises(DataError, match=r"file not found: .*none\.h5"):
        opened(tmp_path, "none.h5")
    (tmp_path / "d.h5").write_bytes(b"x" * 3000)
    with pytest.raises(DataError, match=r"d\.h5 is corrupt or not an HDF5 file"):
        opened(tmp_path, "d.h5")


def test_a_damaged_chunk_is_told_and_left_out(tmp_path):
    path = write(tmp_path / "a.h5", chunks=(5, 3), compression="gzip", fletcher32=True)
    with h5py.File(path) as file:
        where = file["x"].id.get_chunk_info(1).byte_offset
    content = bytearray(path.read_bytes())
    content[where + 10] ^= 255
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.h5, row 5: cannot read `x`"):
        opened(tmp_path, "a.h5").rows(np.arange(20))
    batches = Batches(opened(tmp_path, "a.h5"), 20, skip=True, shuffle=False)
    assert batches.take()["label"].tolist() == LABEL[[*range(5), *range(10, 20)]].tolist()
    assert sorted(batches.bad) == [5, 6, 7, 8, 9]


def test_a_file_that_is_refused_is_closed(tmp_path):
    write(tmp_path / "a.h5")
    others = h5py.h5f.get_obj_count()
    with pytest.raises(DataError, match="no datasets of the required fields") as caught:
        Hdf5Files([tmp_path / "a.h5"], {"y"})
    assert h5py.h5f.get_obj_count() == others, caught
    write(tmp_path / "a.h5")


def test_the_files_are_closed_at_the_end_of_a_training(tmp_path):
    write(tmp_path / "a.h5")
    text = """
    net {
      layer { name: "x" type: "data" data { shape: 3 } }
      layer { name: "label" type: "data" data { data_type: INT size: 4 } }
      layer { name: "scores" type: "fc" input: "x" fc { size: 4 } }
      layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
    }
    steps: 2
    test { every: 1 }
    source { type: "hdf5" hdf5 { file: "FOLDER/a.h5" } split { validation: 0.2 } }
    optimizer { type: "sgd" learning_rate: 0.1 }
    callback { type: "save_best" }
    """
    gc.disable()  # a reference cycle would close them at some time
    others = h5py.h5f.get_obj_count()
    try:
        pl.train(text.replace("FOLDER", str(tmp_path)), output=tmp_path / "out")
        assert h5py.h5f.get_obj_count() == others
    finally:
        gc.enable()
