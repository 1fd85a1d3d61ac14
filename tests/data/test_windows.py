"""Windows of pictures in a file of Caffe: what the source `window_list` gives, and what it says about what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import paddle_layers as pl
from paddle_layers.data import DataError
from paddle_layers.define import registries

PIXELS = np.random.default_rng(0).integers(0, 256, (10, 12, 3), np.uint8)
WINDOWS = """# 0
deep/a b.png
3
10
12
4
2 0.9 3 2 6 5
1 0.2 0 0 3 3
3 0.5 8 6 11 9
1 0.4 1 1 4 8
# 1
c.png
3
10
12
1
4 1 4 4 7 7
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep").mkdir()
    Image.fromarray(PIXELS).save(tmp_path / "deep" / "a b.png")
    Image.fromarray(255 - PIXELS).save(tmp_path / "c.png")
    (tmp_path / "windows.txt").write_text(WINDOWS)
    return tmp_path


def opened(base, wanted=None, **attributes):
    definition = registries["source"]["window_list"]
    return definition.create(definition.bind({"file": "windows.txt", "height": 4} | attributes)).open_fields(
        base, wanted
    )


def images(dataset):
    return dataset.rows(np.arange(len(dataset)))["image"].transpose(0, 2, 3, 1)


def test_windows_are_cut_out(folder):
    dataset = opened(folder)
    rows = dataset.rows(np.arange(len(dataset)))
    assert rows["label"].tolist() == [2, 0, 3, 0, 4]
    cut = images(dataset)
    np.testing.assert_array_equal(cut[0], PIXELS[2:6, 3:7])
    np.testing.assert_array_equal(cut[2], PIXELS[6:10, 8:12])
    np.testing.assert_array_equal(cut[4], 255 - PIXELS[4:8, 4:8])
    tall = Image.fromarray(PIXELS[1:9, 1:5]).resize((4, 4), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(cut[3], np.asarray(tall))
    assert dataset.place(2).endswith("windows.txt:9")
    assert list(opened(folder, {"image"}).fields) == ["image"]


@pytest.mark.parametrize(
    ("attributes", "labels"),
    [
        ({"windows": "foreground"}, [2, 3, 4]),
        ({"windows": "background"}, [0, 0]),
        ({"foreground": 0.6}, [2, 0, 0, 4]),
        ({"background": 0.3}, [2, 0, 3, 4]),
        ({"windows": "background", "background": 0.1, "foreground": 0.95}, None),
    ],
)
def test_overlaps_say_what_is_an_object(folder, attributes, labels):
    if labels is None:
        with pytest.raises(DataError, match="has no windows"):
            opened(folder, **attributes)
        return
    dataset = opened(folder, **attributes)
    assert dataset.rows(np.arange(len(dataset)))["label"].tolist() == labels


def test_context_is_shown_and_black_outside_of_the_picture(folder):
    """Windows of 4x4 in the middle of 8x8: no pixel is resized."""
    around = np.pad(PIXELS, ((4, 4), (4, 4), (0, 0)))
    cut = images(opened(folder, height=8, context=2))
    for row, (left, top) in enumerate([(3, 2), (0, 0), (8, 6)]):
        np.testing.assert_array_equal(cut[row], around[top + 2 : top + 10, left + 2 : left + 10])


def test_a_window_grows_to_a_square(folder):
    """4 columns and 8 rows from column 1 on: two columns more on each side, one of them outside."""
    cut = images(opened(folder, height=8, square=True))[3]
    np.testing.assert_array_equal(cut, np.pad(PIXELS, ((0, 0), (4, 4), (0, 0)))[1:9, 3:11])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# 0", "0", "windows.txt:1: expected `# number`, the start of an image, got '0'"),
        ("deep/a b.png", "../a.png", "a.png is outside of"),
        (
            "10\n12\n4\n",
            "ten\n12\n4\n",
            "windows.txt:4: expected the height of an image, an integer, got 'ten'",
        ),
        (
            "3 0.5 8 6 11 9",
            "3 0.5 8 6 12 9",
            "windows.txt:9: the window 8 6 12 9 exceeds its image of 10x12 pixels",
        ),
        ("3 0.5 8 6 11 9", "3 0.5 8 6 7 9", "windows.txt:9: the window 8 6 7 9 exceeds"),
        ("3 0.5 8 6 11 9", "3 nan 8 6 11 9", "windows.txt:9: invalid overlap 'nan', expected a number from 0 to 1"),
        ("3 0.5 8 6 11 9", "3 0.5 8 6 11", "windows.txt:9: expected `class overlap x1 y1 x2 y2`, got 5"),
        ("3 0.5 8 6 11 9", "0 0.5 8 6 11 9", "windows.txt:9: a foreground window has class 0, but 0 is the background"),
        ("4 1 4 4 7 7\n", "", "unexpected end of .*windows.txt, expected a window"),
    ],
)
def test_what_is_wrong_with_a_list(folder, old, new, message):
    (folder / "windows.txt").write_text(WINDOWS.replace(old, new, 1))
    with pytest.raises(DataError, match=message.replace("(", r"\(")):
        opened(folder)


def test_a_picture_of_another_size_and_too_much_context_are_refused(folder):
    with pytest.raises(DataError, match="`context: 2` on both sides exceeds half of the window; reduce it"):
        opened(folder, context=2)
    Image.fromarray(PIXELS[:9]).save(folder / "c.png")
    dataset = opened(folder)
    with pytest.raises(Exception, match="the image has 9x12 pixels, but 10x12 in the list"):
        dataset.rows(np.array([4]))


def test_two_kinds_of_windows_are_mixed(folder):
    """As Caffe's `fg_fraction`: three windows of objects for one of the background."""
    source = 'source {{ type: "window_list" ratio: {} window_list {{ file: "windows.txt" height: 4 windows: "{}" }} }}'
    (folder / "train.textproto").write_text(
        """
        net {
          layer { name: "image" type: "data" data { shape: [3, 4, 4] } }
          layer { name: "label" type: "data" data { data_type: INT size: 5 } }
          layer { name: "scores" type: "fc" input: "image" fc { size: 5 } }
          layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
        }
        optimizer { type: "sgd" learning_rate: 0.000001 } batch_size: 4 epochs: 1
        """
        + source.format(3, "foreground")
        + source.format(1, "background")
    )
    seen = []

    class Labels:
        keep = ("label",)

        def on_step(self, run):
            seen.extend(run.net.value("label"))

    pl.train(folder / "train.textproto", callbacks=[Labels()], output=folder / "out")
    assert sorted(map(bool, seen)) == [False, True, True, True]
