"""Names of ids: every source against the training data, in every use of the weights."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.config import ConfigError
from paddle_layers.data import DataError, Dataset, DataWarning, StoredColumn
from paddle_layers.data.fitted_preprocessing import FittedPreprocessing, encoded, learn, parse_fitted, read_fitted
from paddle_layers.define import registries
from paddle_layers.runtime.memory.tensorfiles import read_header, read_tensors, write_tensors
from paddle_layers.runtime.memory.weightfiles import DATA, MARK
from paddle_layers.training import TrainingError
from paddle_layers.training.data_loading import learned_for
from paddle_layers.training.training_checks import training_faults

pytestmark = pytest.mark.usefixtures("as_python")

REFUSED = (ConfigError, DataError, TrainingError)
NAMES = ("tulip", "rose", "lily")
COLORS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255]], np.uint8)
NET = """
net {
  layer { name: "label" type: "data" data { data_type: INT size: 3 } }
  %s
  layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
  layer { name: "accuracy" type: "accuracy" input: "scores" input: "label" }
}
batch_size: 64
steps: %d
checkpoint { every: 1 keep: 9 }
optimizer { type: "sgd" learning_rate: 30 }
"""
LAYERS = {
    "features": """layer { name: "features" type: "data" data { shape: 3 } }
  layer { name: "scores" type: "fc" input: "features" fc { size: 3 } }""",
    "image": """layer { name: "image" type: "data" data { shape: [3, 1, 1] } }
  layer { name: "scores" type: "fc" input: "image" fc { size: 3 } }""",
    "words": """layer { name: "words" type: "data" data { data_type: INT size: 3 seq_nested_level: 1 } }
  layer { name: "table" type: "embedding" input: "words" embedding { size: 3 } }
  layer { name: "scores" type: "seq_avg_pool" input: "table" }""",
}
Rows = Sequence[str]
Maker = Callable[[Path, str, Rows, Sequence[str]], str]
"""Write data of these classes below a name, and list names in this order; gives the block of the source."""


def listed(names):
    return f"classes: [{', '.join(map(repr, names))}]".replace("'", '"')


def table(folder, name, rows, label=lambda row: row):
    lines = [",".join([*map(str, (COLORS[NAMES.index(row)] // 255).tolist()), str(label(row))]) for row in rows]
    (folder / f"{name}.csv").write_text("\n".join(["r,g,b,kind", *lines]) + "\n")
    return f'file: "{name}.csv" columns: "features = r, g, b"'


def csv_classes(folder, name, rows, names):
    return f'csv {{ {table(folder, name, rows)} label: "kind" {listed(names)} }}'


def csv_ids(folder, name, rows, names):
    return f'csv {{ {table(folder, name, rows)} ids: "label = kind" }}'


def csv_numbers(folder, name, rows, names):
    return f'csv {{ {table(folder, name, rows, names.index)} label: "kind" }}'


def text(folder, name, rows, names):
    (folder / f"{name}.txt").write_text("".join(f"{row}\t{row}word\n" for row in rows))
    return f'text {{ file: "{name}.txt" {listed(names)} }}'


def text_dictionary(folder, name, rows, names):
    (folder / f"{name}.dict").write_text("".join(f"{one}word\n" for one in names))
    return text(folder, name, rows, names).replace("text {", f'text {{ dictionary: "{name}.dict"')


def picture(path, row):
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(COLORS[NAMES.index(row)].reshape(1, 1, 3)).save(path)


def image_folder(folder, name, rows, names):
    for number, row in enumerate(rows):
        picture(folder / name / row / f"{number:02}.png", row)
    return f'image_folder {{ folder: "{name}" }}'


def image_folder_classes(folder, name, rows, names):
    return image_folder(folder, name, rows, names).replace(" }", f" {listed(names)} }}")


def image_list(folder, name, rows, names):
    for number, row in enumerate(rows):
        picture(folder / f"{name}{number:02}.png", row)
    (folder / f"{name}.list").write_text("".join(f"{name}{n:02}.png {row}\n" for n, row in enumerate(rows)))
    return f'image_list {{ file: "{name}.list" }}'


def image_list_classes(folder, name, rows, names):
    return image_list(folder, name, rows, names).replace(" }", f" {listed(names)} }}")


def parquet(folder, name, rows, names):
    arrow, files = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    features = arrow.FixedSizeListArray.from_arrays((colors(rows)).ravel(), 3)
    files.write_table(arrow.table({"features": features, "label": list(rows)}), folder / f"{name}.parquet")
    return f'parquet {{ file: "{name}.parquet" }}'


def npz(folder, name, rows, names):
    np.savez(folder / f"{name}.npz", features=colors(rows), label=np.array([names.index(row) for row in rows]))
    return f'npz {{ file: "{name}.npz" }}'


def colors(rows):
    return COLORS[[NAMES.index(row) for row in rows]].astype(np.float32) / 255


SOURCES: Mapping[str, Sequence[Maker]] = {
    "csv": [csv_classes, csv_ids, csv_numbers],
    "text": [text, text_dictionary],
    "image_folder": [image_folder, image_folder_classes],
    "image_list": [image_list, image_list_classes],
    "parquet": [parquet],
    "npz": [npz],
}
NUMBERS_ONLY = {"npy", "hdf5", "lmdb", "digits", "synthetic", "window_list"}
"""Sources of arrays, as npz is."""
LISTING = {csv_classes, text, text_dictionary, image_folder_classes, image_list_classes}
UNNAMED = {csv_numbers, npz}
MAKERS = [maker for several in SOURCES.values() for maker in several]


def test_no_source_is_forgotten():
    owners = {one.name: one.owner for one in registries["source"].values()}
    own = {name: owner for name, owner in owners.items() if owner.__module__.startswith("paddle_layers.")}
    assert set(own) == set(SOURCES) | NUMBERS_ONLY, "a new source belongs to one of these"
    for name, owner in own.items():
        lists = {"classes", "dictionary"} & set(registries["source"][name].attributes)
        assert bool(lists) == hasattr(owner, "names"), f"`validate` compares the names that `{name}` lists"


def kind_of(block):
    return block.partition(" ")[0]


def training(folder, train, test=None, *, steps=2):
    """A training file in the folder, for what the sources give."""
    kind = kind_of(train)
    field = "words" if kind == "text" else "image" if kind.startswith("image") else "features"
    blocks = [f'source {{ type: "{kind}" {train} }}']
    blocks += [f'source {{ type: "{kind_of(test)}" phase: "test" {test} }}'] if test is not None else []
    output = f'output: "{folder / "out"}"\n'
    (folder / "t.textproto").write_text(NET % (LAYERS[field], steps) + output + "\n".join(blocks))
    return folder / "t.textproto"


def run(path, **options):
    return pl.train(path, **options)


def refused():
    """One error that names the field, or the setting that lists its names."""
    return pytest.raises(REFUSED, match=r"`label`|`words`|`classes`|of the dictionary")


TEST = ["lily", "tulip", "rose", "lily", "rose", "tulip", "lily", "lily", "rose", "rose", "tulip", "lily"]
TWO = ["rose", "tulip", "rose", "rose"] * 3
OTHER = {
    "same": (TEST, NAMES),
    "permuted": (TEST, ("lily", "tulip", "rose")),
    "subset": (TWO, ("rose", "tulip")),
    "superset": (TEST, (*NAMES, "daisy")),
    "renamed": (TWO, ("rose", "tulip", "daisy")),
}
"""Rows of other data, and the names that these list."""


def is_refused(maker, variant):
    return maker in LISTING and variant in ("superset", "renamed")


def skip_alike(maker, variant):
    """Data of words alone list nothing, so that rows make the only difference; numbers have one order."""
    return maker in UNNAMED or (maker not in LISTING and variant not in ("same", "subset"))


QUICK = {(csv_classes, "permuted"), (csv_ids, "subset"), (text_dictionary, "permuted"), (csv_classes, "renamed")}


def cases(*, slow):
    """Makers with variants; trainings of all of them take a minute and more."""
    return [
        pytest.param(
            maker,
            variant,
            id=f"{maker.__name__}-{variant}",
            marks=[pytest.mark.slow] if slow and (maker, variant) not in QUICK else [],
        )
        for maker in MAKERS
        for variant in OTHER
        if not skip_alike(maker, variant)
    ]


def opened(folder, block):
    """The data set of a block of a source."""
    text = NET % (LAYERS["features"], 1) + f'source {{ type: "{kind_of(block)}" {block} }}'
    (source,) = pl.config.loads_training(text).source
    return source.definition.create(source.attributes).open(folder)


def labels_of(dataset):
    """The name of every row's class."""
    ids = dataset.fields["label"]
    ids = ids.whole() if isinstance(ids, StoredColumn) else ids
    return [dataset.words["label"][number] for number in ids.tolist()]


@pytest.mark.parametrize(("maker", "variant"), cases(slow=False))
def test_ids_get_those_of_their_names(tmp_path, maker, variant):
    if maker in UNNAMED:
        assert not opened(tmp_path, maker(tmp_path, "train", NAMES, NAMES)).words.get("label")
        return
    rows, names = OTHER[variant]
    train = opened(tmp_path, maker(tmp_path, "train", NAMES * 4, NAMES))
    learned = learn(train, np.arange(len(train)))
    raw = opened(tmp_path, maker(tmp_path, "other", rows, names)) if not missing_folder(maker, names) else None
    if raw is None or is_refused(maker, variant):
        with refused():
            encoded(raw or opened(tmp_path, image_folder_classes(tmp_path, "other", rows, names)), learned, "here")
        return
    found = encoded(raw, learned, "here")
    assert found.words["label"] == tuple(learned.words["label"])
    if maker is image_folder_classes:
        assert [Path(found.place(row)).parent.name for row in range(len(found))] == labels_of(found)
    else:
        assert labels_of(found) == sorted_as(maker, rows)
    if maker is text_dictionary:
        words = [found.words["words"][number] for number in found.fields["words"].data.tolist()]
        assert words == [f"{row}word" for row in rows]


def missing_folder(maker, names):
    return maker is image_folder_classes and "daisy" in names


@pytest.mark.parametrize(("maker", "variant"), cases(slow=True))
def test_other_data_are_matched_by_name_or_refused(tmp_path, maker, variant):
    """A test in the training, `evaluate`, `predict`, a resumed training and one from these weights."""
    train = maker(tmp_path, "train", NAMES * 4, NAMES)
    rows, names = OTHER[variant]
    other = maker(tmp_path, "other", rows, names)
    if is_refused(maker, variant):
        with refused():
            run(training(tmp_path, train, other))
    else:
        assert run(training(tmp_path, train, other)).results["accuracy"] == 1
    report = run(training(tmp_path, train), overwrite=True)
    path = training(tmp_path, other)
    if is_refused(maker, variant):
        with refused():
            pl.evaluate(training(tmp_path, train, other))
    else:
        found = pl.evaluate(training(tmp_path, train, other))
        assert found.results["accuracy"] == 1
        own = found.confusions[0]
        assert {name: count for name, count in zip(own.names, own.wanted, strict=True) if count} == {
            name: rows.count(name) for name in {*rows}
        }
    path = training(tmp_path, train, other)
    if maker is text_dictionary and is_refused(maker, variant):
        with refused():
            pl.predict(path)
    else:  # `classes` that nobody reads are no obstacle
        assert pl.predict(path).texts["scores"] == sorted_as(maker, rows)
    check_goes_on(training(tmp_path, other, steps=3), maker, variant, rows)
    run(training(tmp_path, train), overwrite=True)
    again = training(tmp_path, other, steps=3)
    if maker is not text_dictionary or not is_refused(maker, variant):
        options = {"output": tmp_path / "second", "weights": report.weights}
        if len(names) > 3 or missing_folder(maker, names):
            with refused():
                pl.train(again, **options)
        else:
            made = pl.train(again, **options)
            assert pl.predict(again, source_file(tmp_path, other), weights=made.weights).texts["scores"] == sorted_as(
                maker, rows
            )


def check_goes_on(path, maker, variant, rows):
    """A resumed training has the classes of its checkpoint."""
    if is_refused(maker, variant):
        with refused():
            run(path, resume=True)
        return
    report = run(path, resume=True)
    assert pl.predict(path, source_file(path.parent, path.read_text())).texts["scores"] == sorted_as(maker, rows)
    assert report.steps == 3


def sorted_as(maker, rows):
    """Rows in the order in which the source has them."""
    return sorted(rows) if maker in (image_folder, image_folder_classes) else list(rows)


def source_file(folder, text):
    """The data that a source names."""
    return folder / re.search(r'(?:file|folder): "([^"]*)"', text)[1]


PAIRS = [
    pytest.param(
        one,
        other,
        id=f"{one.__name__}-{other.__name__}",
        marks=[] if one is csv_classes and other in (csv_numbers, parquet) else [pytest.mark.slow],
    )
    for several in ([csv_classes, csv_ids, csv_numbers, parquet, npz], SOURCES["image_folder"] + SOURCES["image_list"])
    for one in several
    for other in several
    if one is not other
]


@pytest.mark.filterwarnings("ignore:.*has no names for the columns of `features`")
@pytest.mark.parametrize(("maker", "another"), PAIRS)
def test_another_source_is_matched_by_name_or_refused(tmp_path, maker, another):
    train, other = maker(tmp_path, "train", NAMES * 4, NAMES), another(tmp_path, "other", TEST, (*NAMES[1:], NAMES[0]))
    both = (maker in UNNAMED) == (another in UNNAMED)
    if not both:
        with refused():
            run(training(tmp_path, train, other))
    elif maker not in UNNAMED:
        assert run(training(tmp_path, train, other)).results["accuracy"] == 1
    if maker in UNNAMED:
        return
    run(training(tmp_path, train), overwrite=True)
    if another in UNNAMED:
        with pytest.raises(REFUSED, match="contains numbers, but its ids have names in"):
            pl.evaluate(training(tmp_path, train, other))
    else:
        assert pl.evaluate(training(tmp_path, train, other)).results["accuracy"] == 1
    assert pl.predict(training(tmp_path, train, other)).texts["scores"] == sorted_as(another, TEST)


# ---- weights without names, edited files, Python's data


@pytest.fixture
def trained(tmp_path):
    """A training file with classes, trained in the folder beside it."""
    path = training(tmp_path, csv_classes(tmp_path, "train", NAMES * 4, NAMES))
    return path, run(path)


def without_names(report):
    """Weights as others write them, without `data.json`."""
    write_tensors(report.weights, read_tensors(report.weights)[0], MARK)
    (report.folder / "data.json").unlink()


def test_the_header_of_weights_has_the_names(trained):
    _, report = trained
    files = [report.weights, *report.folder.glob("checkpoints/*/weights.safetensors")]
    assert len(files) == 3
    for file in files:
        assert learned_for(file)[0].words == {"label": list(NAMES)}
    assert len({read_header(file)[1][DATA] for file in files}) == 1
    assert report.weights.read_bytes()[8 : 8 + 16] == b'{"__metadata__":'


def test_a_net_keeps_the_names_of_the_weights_that_it_has_read(trained, tmp_path):
    path, report = trained
    with pl.Net(pl.load_training(path).network) as net:
        net.load(report.weights)
        net.save(tmp_path / "again.safetensors")
        net.load(report.weights, leave_out="scores.*")
        net.save(tmp_path / "anew.safetensors")
    assert learned_for(tmp_path / "again.safetensors")[0].words == {"label": list(NAMES)}
    assert (tmp_path / "again.safetensors").read_bytes() == report.weights.read_bytes()
    assert learned_for(tmp_path / "anew.safetensors")[0].words == {}, "its scores may be those of other classes"


def test_edited_classes_do_not_rename_predictions(trained):
    path, report = trained
    path.write_text(path.read_text().replace('["tulip", "rose", "lily"]', '["lily", "tulip", "rose"]'))
    rows = [*NAMES] * 4
    assert pl.predict(path).texts["scores"] == rows
    (report.folder / "data.json").unlink()
    assert pl.predict(path).texts["scores"] == rows


def test_weights_without_names_warn_once(trained):
    path, report = trained
    without_names(report)
    with pytest.warns(
        DataWarning, match="no names for `label`, the columns of `features`: the values of .* are matched by position"
    ) as all_:
        pl.predict(path)
    assert len(all_) == 1


def test_columns_without_data_json_go_by_name(trained, tmp_path):
    path, report = trained
    (report.folder / "data.json").unlink()
    (tmp_path / "turned.csv").write_text("b,g,r\n0,0,1\n1,0,0\n")
    assert pl.predict(path, tmp_path / "turned.csv").texts["scores"] == ["tulip", "lily"]


def test_strings_in_arrays_are_names(trained):
    path, _ = trained
    data = {"features": colors(TEST), "label": np.array(TEST)}
    assert pl.evaluate(path, data).results["accuracy"] == 1
    assert pl.evaluate(path, data | {"label": TEST}).results["accuracy"] == 1
    named = Dataset(data | {"label": np.array([NAMES[::-1].index(row) for row in TEST])}, words={"label": NAMES[::-1]})
    assert pl.evaluate(path, named).results["accuracy"] == 1
    with pytest.warns(
        DataWarning, match="no names for the ids of `label`, .* position: 0 is tulip, 1 is rose, 2 is lily"
    ):
        assert (
            pl.evaluate(path, data | {"label": np.array([NAMES.index(row) for row in TEST])}).results["accuracy"] == 1
        )
    made = pl.train(path, datasets={"train": data}, output=path.parent / "arrays")
    assert read_fitted(made.folder / "data.json").words == {"label": sorted(NAMES)}


def test_new_scores_of_other_classes_have_their_names(trained, tmp_path):
    path, report = trained
    weights = f'weights {{ file: "{report.weights}" leave_out: "scores.*" }}'
    for names in (["daisy", "aster", "lily"], ["lily", "tulip", "rose"]):
        text = path.read_text().replace('["tulip", "rose", "lily"]', str(names).replace("'", '"'))
        (tmp_path / "other.csv").write_text(
            "r,g,b,kind\n" + "".join(f"{int(n == 0)},{int(n == 1)},{int(n == 2)},{names[n]}\n" for n in range(3)) * 4
        )
        other = tmp_path / "other.textproto"
        other.write_text(text.replace("train.csv", "other.csv").replace("/out", "/other") + weights)
        made = pl.train(other, overwrite=True)
        assert learned_for(made.weights)[0].words == {"label": names}
        assert pl.predict(other).texts["scores"] == names * 4


def test_a_dictionary_in_another_order_than_the_classes_is_refused(trained, tmp_path):
    path, _ = trained
    (tmp_path / "words.txt").write_text("rose\ntulip\nlily\n")
    with pytest.raises(TrainingError, match=r"words\.txt has 'rose' for class 0 instead of 'tulip'"):
        pl.predict(path, dictionary=tmp_path / "words.txt")
    (tmp_path / "words.txt").write_text("Tulpe\nRose\nLilie\n")
    assert pl.predict(path, dictionary=tmp_path / "words.txt").texts["scores"][:2] == ["Tulpe", "Rose"]


def test_validate_compares_the_names_that_sources_list(tmp_path):
    train = csv_classes(tmp_path, "train", NAMES, NAMES)
    for names, said in (
        (("rose", "daisy"), "unknown name 'daisy' of field `label`, expected tulip, rose, lily as in the training"),
        (("rose", "rose"), "duplicate name 'rose' of field `label`"),
        (("rose", "tulip", "lily", "daisy"), "unknown name 'daisy' of field `label`, expected tulip, rose, lily as"),
        ((), "contains numbers, but its ids have names in the training"),
    ):
        faults = training_faults(
            pl.load_training(training(tmp_path, train, csv_classes(tmp_path, "other", TEST, names)))
        )
        assert any(said in fault.message for fault in faults)
    assert not training_faults(
        pl.load_training(training(tmp_path, train, csv_classes(tmp_path, "other", TEST, NAMES[::-1])))
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"words": {"a": ["x"], "a": []}, "means": {}, "columns": {}}', "duplicate key"),
        ('{"words": {}, "means": {"a": [NaN]}, "columns": {}}', "NaN is not a number"),
        ('{"words": {"a": ["x", "x"]}, "means": {}, "columns": {}}', "not fitted preprocessing"),
        ('{"words": {"a": ["\\ud800"]}, "means": {}, "columns": {}}', "not fitted preprocessing"),
        ("[" * 100_000, "cannot read"),
        (f'{{"words": {{"a": ["{"x" * 2**25}"]}}}}', "the names exceed 33554432 bytes"),
    ],
)
def test_names_in_weights_are_not_trusted(trained, text, said):
    path, report = trained
    write_tensors(report.weights, read_tensors(report.weights)[0], {DATA: text})
    with pytest.raises(DataError, match=re.escape(f"{report.weights}") + f" .*{said}|{said}"):
        pl.predict(path)
    with pytest.raises(DataError, match="here"):
        parse_fitted(text, "here")


def test_too_many_names_are_an_error_at_the_start(monkeypatch):
    monkeypatch.setattr("paddle_layers.data.fitted_preprocessing.MOST_NAMES", 2)
    with pytest.raises(DataError, match="too many names to store with the weights; `label` has the most"):
        learn(Dataset({"label": np.zeros(3, np.int64)}, words={"label": NAMES}), np.arange(3))


def test_ids_without_a_name_stay_as_they_are():
    data = Dataset({"label": np.array([0, 1, 255, -1])}, words={"label": ["b", "a"]})
    assert encoded(data, FittedPreprocessing({"label": ["a", "b"]}), "here").fields["label"].tolist() == [1, 0, 255, -1]
    data = Dataset({"label": np.array([0, 2])}, words={"label": ["b", "a"]})
    with pytest.raises(DataError, match="field `label` contains the id 2, which has no name"):
        encoded(data, FittedPreprocessing({"label": ["a", "b", "c"]}), "here")
