"""Transforms of images together with their label maps, their boxes and what belongs to each box."""

from __future__ import annotations

import numpy as np
import pytest

from paddle_layers.config.wiring.data_layers import IgnoredLabels
from paddle_layers.data import Batches, DataError, Dataset, make_feeds
from paddle_layers.data.layer_transforms import LayerTransform
from paddle_layers.define import Type, registries

COUNT, HEIGHT, WIDTH = 40, 20, 24
RNG = np.random.default_rng(0)
ALSO = ("map", "box", "class")
PIXELS = np.array([WIDTH, HEIGHT, WIDTH, HEIGHT])


def transform(kind, **attributes):
    definition = registries["transform"][kind]
    return definition.create(definition.bind(attributes))


def scenes():
    """Rectangles of one id each, which are the pixels, the map and the class; those of an image do not touch."""
    maps, boxes, counts = np.zeros((COUNT, HEIGHT, WIDTH), np.int64), [], []
    for scene in maps:
        counts.append(int(RNG.integers(0, 4)))
        for number in range(counts[-1]):
            left, top = 8 * number + RNG.integers(0, 3), RNG.integers(0, 12)
            right, bottom = left + RNG.integers(3, 6), top + RNG.integers(3, 8)
            scene[top:bottom, left:right] = number + 1
            boxes.append([left, top, right, bottom])
    classes = np.concatenate([np.arange(count) for count in counts]) + 1
    return maps, np.array(boxes) / PIXELS, classes, np.cumsum([0, *counts])


MAPS, BOXES, CLASSES, STARTS = scenes()


def dataset(**other):
    fields = {"image": MAPS[:, None].astype(np.uint8), "map": MAPS, "box": BOXES, "class": CLASSES}
    return Dataset(fields | {"box.starts": STARTS, "class.starts": STARTS} | other)


def types(height, width, **other):
    wanted = {
        "class": Type.ids(4, level=1),
        "image": Type.dense(1, height, width),
        "map": Type.ids(4, dims=(height, width)),
        "box": Type.dense(4, level=1),
    }
    return wanted | other


def batches(changes, height=HEIGHT, width=WIDTH, data=None, training=True, ignored=None, **other):
    data = dataset() if data is None else data
    feeds = make_feeds(data, types(height, width, **other), transforms=changes, ignored=ignored)
    return Batches(data, COUNT, seed=5, feeds=feeds, shuffle=False, training=training)


def centre_inside(window, box):
    centre = (box[:2] + box[2:]) / 2
    return (centre >= window[:2]).all() and (centre <= window[2:]).all()


@pytest.mark.parametrize("training", [True, False])
def test_crop_and_mirror_move_everything_alike(training):
    changes = [
        LayerTransform("image", transform("crop", size=12, width=14, padding=2), ALSO),
        LayerTransform("image", transform("mirror"), ALSO),
        LayerTransform("image", transform("mirror", axis="vertical", probability=0.3), ALSO),
        LayerTransform("image", transform("scale", factor=2)),
    ]
    made = batches(changes, 12, 14, training=training)
    batch = made.take()
    assert np.array_equal(batch["image"][:, 0], 2 * batch["map"])
    assert batch["box"].starts.tolist() == batch["class"].starts.tolist()
    left = 0
    for row, image in enumerate(batch["map"]):
        own = slice(*batch["box"].starts[row : row + 2])
        for box, number in zip(batch["box"].data[own], batch["class"].data[own], strict=True):
            rows, columns = np.nonzero(image == number)  # what is seen of the rectangle fills its box
            seen = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
            np.testing.assert_allclose(box * [14, 12, 14, 12], seen, atol=1e-5)
        left += (own.stop - own.start) != STARTS[row + 1] - STARTS[row]
    assert 5 < left < COUNT - 5  # some boxes have left, and others have not
    if not training:
        window = np.array([5, 4, 19, 16])
        stays = [centre_inside(window, box) for box in BOXES * PIXELS]
        assert batch["class"].data.tolist() == CLASSES[stays].tolist()
        assert np.array_equal(batch["map"], MAPS[:, 4:16, 5:19])
    else:
        again = made.take()
        assert np.array_equal(again["image"][:, 0], 2 * again["map"])
        assert not np.array_equal(again["map"], batch["map"])


def test_rotate_turns_everything_alike():
    change = LayerTransform("image", transform("rotate", degrees=40, label_fill=7), ALSO)
    batch = batches([change], ignored={"map": IgnoredLabels(frozenset({7}))}).take()
    turned = whole = 0
    for row, (image, ids) in enumerate(zip(batch["image"][:, 0], batch["map"], strict=True)):
        own = slice(*batch["box"].starts[row : row + 2])
        for box, number in zip(batch["box"].data[own] * PIXELS, batch["class"].data[own], strict=True):
            rows, columns = np.nonzero(ids == number)
            seen = np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
            assert (box[:2] < seen[:2] + 1).all()
            assert (box[2:] > seen[2:] - 1).all()
            if (box > 0).all() and (box < PIXELS).all():  # nothing is cut off
                whole += 1
                np.testing.assert_allclose(box, seen, atol=1.3)
        turned += (ids == 7).any()
        inner = ids[1:-1, 1:-1]
        alike = (ids[:-2, 1:-1] == inner) & (ids[2:, 1:-1] == inner) & (ids[1:-1, :-2] == inner)
        alike &= (ids[1:-1, 2:] == inner) & (inner != 7)
        assert (abs(image[1:-1, 1:-1] - inner)[alike] < 0.5).mean() > 0.95  # the same turn, but at the edges
    assert turned > COUNT // 2
    assert whole > 10


def test_fill_of_maps_around_a_crop():
    change = LayerTransform("image", transform("crop", size=24, width=28, padding=2, label_fill=7), ("map",))
    batch = batches([change], 24, 28, ignored={"map": IgnoredLabels(frozenset({7}))}).take()
    assert np.array_equal(batch["map"], np.pad(MAPS, ((0, 0), (2, 2), (2, 2)), constant_values=7))
    assert np.array_equal(batch["image"][:, 0], np.pad(MAPS, ((0, 0), (2, 2), (2, 2))))


CROP, MIRROR = transform("crop", size=12), transform("mirror")
WRONG = {
    "no pixels": (
        [LayerTransform("image", transform("scale", factor=2), ("map",))],
        {},
        "does not move pixels.*remove `also`",
    ),
    "boxes missing": ([LayerTransform("image", MIRROR, ("class",))], {}, "exactly one layer of boxes in `also`, got 0"),
    "one id": (
        [LayerTransform("image", MIRROR, ("one",))],
        {"one": Type.ids(4)},
        "of type ids<4; allowed are label maps",
    ),
    "itself": ([LayerTransform("image", MIRROR, ("image",))], {}, "`also` must not include the layer itself"),
    "of boxes": ([LayerTransform("box", MIRROR, ("map",))], {}, "the images must not be sequences"),
    "fill": ([LayerTransform("image", transform("crop", size=12, label_fill=9), ("map",))], {}, "`label_fill` is 9"),
    "before": (
        [LayerTransform("image", CROP), LayerTransform("image", MIRROR, ("map",))],
        {"map": Type.ids(4, dims=(HEIGHT, WIDTH))},
        "`map` has samples of shape 20x24, but its images `image` have shape 1x12x12",
    ),
    "class left out": ([LayerTransform("image", CROP, ("map", "box"))], {}, 'field `class` has .* write also: "class"'),
    "their own": (
        [LayerTransform("image", CROP, ALSO), LayerTransform("box", transform("scale", factor=2))],
        {},
        "the boxes `box` .* cannot have another transform",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_go_with_images(case):
    changes, other, message = WRONG[case]
    with pytest.raises(DataError, match=message) as error:
        batches(changes, 12, 12, data=dataset(one=np.zeros(COUNT, int)), **other)
    assert "\n" not in str(error.value)


def test_boxes_that_cannot_be_moved():
    change = LayerTransform("image", MIRROR, ("box", "class"))
    with pytest.raises(DataError, match=r"row \d+: field `box` has the corner \d+; .* divide x by"):
        batches([change], data=dataset(box=BOXES * PIXELS)).take()
    starts = STARTS.copy()
    starts[3:-1] = STARTS[4:]
    with pytest.raises(DataError, match=r"row \d+: the data layer `class` has \d rows for \d boxes of field `box`"):
        batches([change], data=dataset(**{"class.starts": starts})).take()
