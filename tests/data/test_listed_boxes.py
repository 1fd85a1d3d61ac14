"""Boxes in the lines of `image_list`: as they are drawn, through resizing and transforms, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from paddle_layers.data import Batches, DataError, make_feeds
from paddle_layers.define import Type, registries

HEIGHT, WIDTH = 40, 60
RECTANGLES = [[(4, 6, 20, 16), (30, 10, 50, 38)], [], [(25, 3, 35, 37)]]


def opened(base, text, wanted=None, **attributes):
    (base / "list.txt").write_text(text)
    definition = registries["source"]["image_list"]
    settings = {"file": "list.txt", "labels": "boxes", "color": "grey", **attributes}
    return definition.create(definition.bind(settings)).open_fields(base, wanted)


@pytest.fixture
def drawn(tmp_path):
    """The lines of pictures with white rectangles; the name of the last one has a space in it."""
    for name, rectangles in zip(("a.png", "b.png", "c d.png"), RECTANGLES, strict=True):
        pixels = np.zeros((HEIGHT, WIDTH), np.uint8)
        for left, top, right, bottom in rectangles:
            pixels[top:bottom, left:right] = 255
        Image.fromarray(pixels).save(tmp_path / name)
    return tmp_path, "a.png 4,6,20,16,1 30,10,50.0,38,2\nb.png\n\nc d.png\t25,3,35,37,1\n"


def seen(image, box):
    """The edges of what is white within a box and a pixel around it."""
    height, width = image.shape
    left, top, right, bottom = (box * [width, height, width, height]).round().astype(int)
    first, above = max(left - 1, 0), max(top - 1, 0)
    rows, columns = np.nonzero(image[above : bottom + 1, first : right + 1] > 127)
    return np.array([columns.min() + first, rows.min() + above, columns.max() + 1 + first, rows.max() + 1 + above])


@pytest.mark.parametrize(
    ("settings", "counts"),
    [
        ({}, [2, 0, 1]),
        ({"height": 80, "width": 90}, [2, 0, 1]),
        ({"height": 90, "width": 60, "fit": "pad"}, [2, 0, 1]),
        ({"height": 30, "width": 60, "fit": "pad"}, [2, 0, 1]),
        ({"height": 80, "width": 80, "fit": "crop"}, [2, 0, 1]),
        ({"height": 80, "width": 36, "fit": "crop"}, [0, 0, 1]),
    ],
)
def test_boxes_lie_around_what_they_lay_around(drawn, settings, counts):
    dataset = opened(*drawn, **settings)
    rows = dataset.rows(np.arange(3))
    box, label = rows["box"], rows["label"]
    assert np.diff(box.starts).tolist() == np.diff(label.starts).tolist() == counts
    owners = np.repeat(np.arange(3), counts)
    for corners, owner in zip(box.data, owners, strict=True):
        image = rows["image"][owner, 0]
        size = [image.shape[1], image.shape[0]] * 2
        assert np.abs(seen(image, corners) - corners * size).max() <= 1
    assert label.data.tolist() == ([1, 2, 1] if sum(counts) == 3 else [1])


def test_corners_are_shares_of_the_picture(drawn):
    found = opened(*drawn).rows(np.array([2, 0]))["box"]
    pixels = np.array([[25, 3, 35, 37], [4, 6, 20, 16], [30, 10, 50, 38]])
    np.testing.assert_allclose(found.data, pixels / [WIDTH, HEIGHT, WIDTH, HEIGHT], rtol=1e-6)
    assert found.data.dtype == np.float32
    assert found.starts.tolist() == [0, 1, 3]


def test_what_an_edge_cuts_is_cut_off(drawn):
    """Columns 15 to 45 are shown: the middle of the box at 30 to 50 is among them, that at 4 to 20 is not."""
    found = opened(*drawn, height=80, width=60, fit="crop").rows(np.array([0]))
    np.testing.assert_allclose(found["box"].data, [[0.5, 0.25, 1, 0.95]], rtol=1e-6)
    assert found["label"].data.tolist() == [2]


def test_words_are_classes_in_their_order(drawn):
    folder, _ = drawn
    dataset = opened(folder, "a.png 4,6,20,16,cat 30,10,50,38,dog\n", classes=["background", "dog", "cat"])
    assert dataset.rows(np.arange(1))["label"].data.tolist() == [2, 1]
    assert dataset.words["label"] == ("background", "dog", "cat")


def test_predictions_need_no_boxes(drawn):
    folder, text = drawn
    dataset = opened(folder, text, {"image"})
    assert list(dataset.fields) == ["image"]
    assert dataset.rows(np.arange(3))["image"].shape == (3, 1, HEIGHT, WIDTH)


def test_a_mirror_turns_boxes_and_their_pictures(drawn):
    mirror = registries["transform"]["mirror"].create({})
    dataset = opened(*drawn)
    feeds = make_feeds(
        dataset,
        {"image": Type.dense(1, HEIGHT, WIDTH), "box": Type.dense(4, level=1), "label": Type.ids(3, 1)},
        transforms=[("image", mirror, ("box", "label"))],
    )
    batches = Batches(dataset, 3, feeds=feeds, shuffle=False, seed=3)
    found = [batches.take() for _ in range(8)]
    mirrored = 0
    for batch in found:
        box, label = batch["box"], batch["label"]
        assert label.data.tolist() == [1, 2, 1]
        for item, owner in enumerate((0, 0, 2)):
            size = [WIDTH, HEIGHT] * 2
            np.testing.assert_allclose(seen(batch["image"][owner, 0], box.data[item]), box.data[item] * size, atol=1e-3)
        mirrored += bool(box.data[0, 0] > 0.5)
    assert 0 < mirrored < 8


@pytest.mark.parametrize(
    ("line", "settings", "message"),
    [
        ("a.png 1,2,3,4", {}, r"list\.txt:2: invalid box '1,2,3,4'; write x1,y1,x2,y2,class without spaces"),
        ("a.png 1,2,3,4,1,0", {}, "invalid box '1,2,3,4,1,0'"),
        ("a.png 1, 2, 3, 4, 1", {}, "invalid box '1,'"),
        ("a.png -1,2,3,4,1", {}, "invalid box '-1,2,3,4,1'.* corners in pixels from 0"),
        ("a.png 1,2,nan,4,1", {}, "invalid box"),
        ("a.png 1,2,1e9,4,1", {}, "invalid box"),
        ("a.png 1,2,\u0663,4,1", {}, "invalid box"),
        ("c d.png 1,2,3,4,1", {}, r"invalid box 'd\.png'.*if the file name contains spaces, separate it by a tab"),
        ("a.png 5,2,5,4,1", {}, "empty box 5,2,5,4,1; x1 must be less than x2, and y1 less than y2"),
        ("a.png 1,4,3,2,1", {}, "empty box"),
        ("a.png 1,2,3,4,cat", {}, "the class 'cat' is not an integer; list class names in `classes`"),
        ("a.png 1,2,3,4,-1", {}, "the class '-1' is not an integer"),
        (
            "a.png 1,2,3,4,cot",
            {"classes": ["none", "cat"]},
            "unknown class 'cot', not in `classes`.*did you mean `cat`",
        ),
        ("../a.png 1,2,3,4,1", {}, r"list\.txt:2: \.\./a\.png is outside of"),
    ],
)
def test_lines_that_are_refused(drawn, line, settings, message):
    folder, _ = drawn
    with pytest.raises(DataError, match=message):
        opened(folder, f"a.png\n{line}\n", **settings)


def test_a_box_beyond_its_picture_is_an_error_of_its_record(drawn):
    folder, _ = drawn
    dataset = opened(folder, "a.png 4,6,20,16,1\nb.png 4,6,60.5,40,1\nnone.png\n")
    with pytest.raises(DataError, match=r"list\.txt:2: the box 4,6,60\.5,40 exceeds its image of 60x40 pixels"):
        dataset.rows(np.array([0, 1]))
    with pytest.raises(DataError, match=r"list\.txt:3: .*none\.png: cannot read the image: No such file"):
        dataset.fields["box"].take(np.array([2]))
    assert len(Batches(dataset, 3, skip=True, shuffle=False).take()["image"]) == 1
