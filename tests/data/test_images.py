"""Pictures on disk: what the sources `image_folder` and `image_list` give, and what they say about what is wrong."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from paddle_layers.data import Batches, DataError, make_feeds
from paddle_layers.data.fitted_preprocessing import encoded, learn
from paddle_layers.define import Type, registries


def opened(source, base, wanted=None, **attributes):
    definition = registries["source"][source]
    return definition.create(definition.bind(attributes)).open_fields(base, wanted)


def picture(height=4, width=6, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def write(path: Path, pixels=None, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture() if pixels is None else pixels).save(path, **options)


@pytest.fixture
def folder(tmp_path):
    for number, name in enumerate(("tulip/b.png", "tulip/deep/a.png", "rose/1.png", "rose/2.PNG", "rose/.hidden.png")):
        write(tmp_path / "flowers" / name, picture(seed=number))
    (tmp_path / "flowers" / "rose" / "notes.txt").write_text("no picture")
    return tmp_path


def test_a_folder_is_a_class(folder):
    dataset = opened("image_folder", folder, folder="flowers")
    assert len(dataset) == 4
    assert dataset.fields["image"].shape == (4, 3, 4, 6)
    numbers = encoded(dataset, learn(dataset, np.arange(4)), "")
    assert numbers.words["label"] == ("rose", "tulip")
    rows = numbers.rows(np.array([3, 0]))
    assert rows["label"].tolist() == [1, 0]
    assert rows["image"].dtype == np.uint8
    assert np.array_equal(rows["image"][0], picture(seed=1).transpose(2, 0, 1))
    assert numbers.place(3).endswith("flowers/tulip/deep/a.png")


def test_classes_have_the_order_that_is_given(folder):
    dataset = opened("image_folder", folder, folder="flowers", classes=["tulip", "rose"])
    assert dataset.rows(np.arange(4))["label"].tolist() == [0, 0, 1, 1]
    assert dataset.words["label"] == ("tulip", "rose")


def test_without_labels_any_folder_and_any_picture_will_do(folder):
    for path, count in (("flowers", 4), ("flowers/rose", 2), ("flowers/rose/1.png", 1)):
        dataset = opened("image_folder", folder, {"image"}, folder=path)
        assert (list(dataset.fields), len(dataset)) == (["image"], count)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"folder": "none"}, "folder .*none does not exist; paths are relative to the training file"),
        ({"folder": "flowers/rose/1.png"}, "is a file"),
        ({"folder": "flowers/rose"}, "has no folders; store the images of each class in a folder"),
        ({"folder": "flowers", "classes": ["rose", "tulips"]}, "has no folder `tulips`.*did you mean `tulip`"),
        ({"folder": "flowers", "classes": ["rose"]}, "folder `tulip` of .* is not in `classes`"),
        ({"folder": "flowers", "classes": ["rose", "rose", "tulip"]}, "duplicate name in `classes`"),
        ({"folder": "flowers", "width": 4}, "`width` requires `height`"),
        ({"folder": "flowers", "height": 10**5}, "exceeds the limit of 67,108,864 pixels"),
        ({"folder": "a\0b"}, "cannot read|does not exist"),
    ],
)
def test_what_is_wrong_with_a_folder(folder, attributes, message):
    with pytest.raises(DataError, match=message):
        opened("image_folder", folder, **attributes)


def test_a_class_without_pictures_and_a_picture_without_class(folder):
    (folder / "flowers" / "lily").mkdir()
    with pytest.raises(DataError, match=r"lily has no images .*; add some, or remove the folder"):
        opened("image_folder", folder, folder="flowers")
    (folder / "flowers" / "lily").rmdir()
    write(folder / "flowers" / "lost.png")
    with pytest.raises(
        DataError, match=r"lost\.png is not in the folder of a class; move it to one of `rose`, `tulip`"
    ):
        opened("image_folder", folder, folder="flowers")


@pytest.mark.parametrize(
    ("settings", "wanted", "message"),
    [
        ({}, (3, 4, 4), r"shape 3x4x6, .* write `height: 4 width: 4` in the source, or set `shape: \[3, 4, 6\]`"),
        ({}, (1, 4, 6), r'write `color: "grey"` in the source, or set `shape: \[3, 4, 6\]`'),
        ({"color": "grey"}, (3, 8, 8), r'write `color: "rgb"` `height: 8 width: 8` in the source'),
        ({}, (4, 4, 6), "images have 1 or 3 channels"),
        ({}, (5,), r"set `shape: \[3, 4, 6\]` in the data layer"),
    ],
)
def test_a_data_layer_of_another_shape_is_answered_with_what_to_write(folder, settings, wanted, message):
    dataset = opened("image_folder", folder, {"image"}, folder="flowers", **settings)
    with pytest.raises(DataError, match=message):
        make_feeds(dataset, {"image": Type.dense(*wanted)})


def test_the_window_that_is_cut_out_is_what_has_to_fit(folder):
    dataset = opened("image_folder", folder, {"image"}, folder="flowers")
    crop = [("image", registries["transform"]["crop"].create({"size": 2}))]
    with pytest.raises(
        DataError, match=r"3x2x2 after the transforms, .* expects 3x4x4; set `shape: \[3, 2, 2\]` in the data layer$"
    ):
        make_feeds(dataset, {"image": Type.dense(3, 4, 4)}, transforms=crop)
    with pytest.raises(
        DataError, match=r'write `color: "grey"` in the source, or set `shape: \[3, 2, 2\]` in the data layer$'
    ):
        make_feeds(dataset, {"image": Type.dense(1, 4, 4)}, transforms=crop)


def test_more_classes_than_the_data_layer_takes(folder):
    dataset = opened("image_folder", folder, folder="flowers", classes=["rose", "tulip"])
    with pytest.raises(
        DataError, match=r"has 2 words, but the data layer `label` expects ids<1; set `size: 2` in the data layer"
    ):
        make_feeds(dataset, {"label": Type.ids(1)})


def resized(tmp_path, pixels, **settings):
    write(tmp_path / "p" / "a.png", pixels)
    return opened("image_folder", tmp_path, {"image"}, folder="p", **settings).rows(np.array([0]))["image"][0]


def test_resizing(tmp_path):
    halves = np.zeros((4, 8, 3), np.uint8)
    halves[:, 4:] = 200
    stretched = resized(tmp_path, halves, height=4)
    assert stretched.shape == (3, 4, 4)
    assert stretched[0, :, 0].max() == 0
    assert stretched[0, :, 3].min() == 200
    marked = halves.copy()
    marked[:, :2] = marked[:, 6:] = 90
    cropped = resized(tmp_path, marked, height=4, fit="crop")
    assert np.array_equal(cropped, halves[:, 2:6].transpose(2, 0, 1))
    padded = resized(tmp_path, halves + 50, height=8, fit="pad")
    assert np.array_equal(padded[:, 2:6], (halves + 50).transpose(2, 0, 1))
    assert padded[:, :2].max() == padded[:, 6:].max() == 0


def test_channels(tmp_path):
    pixels = picture()
    assert np.array_equal(resized(tmp_path, pixels, color="bgr"), pixels.transpose(2, 0, 1)[::-1])
    grey = resized(tmp_path, pixels, color="grey")
    assert grey.shape == (1, 4, 6)
    assert np.abs(grey[0] - pixels @ [0.299, 0.587, 0.114]).max() <= 1


def test_a_picture_is_turned_as_the_camera_noted(tmp_path):
    (tmp_path / "p").mkdir()
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned by a quarter
    Image.fromarray(picture()).save(tmp_path / "p" / "a.png", exif=exif)
    image = opened("image_folder", tmp_path, {"image"}, folder="p").rows(np.array([0]))["image"][0]
    assert np.array_equal(image, np.rot90(picture(), -1).transpose(2, 0, 1))
    grey = picture()[:, :, 0]
    Image.fromarray(grey.astype(np.uint16) << 8).save(tmp_path / "p" / "a.png", exif=exif)
    image = opened("image_folder", tmp_path, {"image"}, folder="p", color="grey").rows(np.array([0]))["image"][0]
    assert np.array_equal(image[0], np.rot90(grey, -1))


def test_grey_of_sixteen_bits_becomes_eight(tmp_path):
    values = np.array([[0, 255, 256, 65535]], np.uint16)
    (tmp_path / "p").mkdir()
    Image.fromarray(values).save(tmp_path / "p" / "a.png")
    image = opened("image_folder", tmp_path, {"image"}, folder="p", color="grey").rows(np.array([0]))["image"][0]
    assert image.tolist() == [[[0, 0, 1, 255]]]


def bomb(side: int) -> bytes:
    """A picture of a few bytes that claims so many rows and columns."""
    found = b"\x89PNG\r\n\x1a\n"
    for kind, content in ((b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(b""))):
        found += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return found


BAD = {
    "empty": (b"", "not an image, or corrupt"),
    "tiff": (b"II*\0" + b"\0" * 50, "TIFF is not supported; save the image as PNG or JPEG"),
    "text": (b"<svg></svg>", "SVG is not supported"),
    "avif": (b"\0\0\0\x20ftypavif" + b"\0" * 50, "AVIF is not supported"),
    "jpeg 2000": (b"\0\0\0\x0cjP  \r\n" + b"\0" * 50, "JPEG 2000 is not supported"),
    "postscript": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 4 4\n", "PostScript is not supported"),
    "bomb": (bomb(9000), "has 9000x9000 pixels, the limit is 67,108,864; reduce its size"),
    "larger bomb": (bomb(60000), "Image size .* exceeds limit"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_picture_that_cannot_be_read_is_named(folder, case):
    content, message = BAD[case]
    (folder / "flowers" / "tulip" / "b.png").write_bytes(content)
    dataset = opened("image_folder", folder, {"image"}, folder="flowers")
    with pytest.raises(DataError, match=rf"flowers/tulip/b\.png: .*({message})"):
        dataset.rows(np.arange(4))


def test_a_truncated_picture_is_named(folder):
    path = folder / "flowers" / "tulip" / "b.png"
    write(path, picture(64, 64))
    path.write_bytes(path.read_bytes()[:3000])
    dataset = opened("image_folder", folder, {"image"}, folder="flowers", height=4)
    with pytest.raises(DataError, match=r"b\.png: cannot read the image: .*truncated"):
        dataset.rows(np.arange(4))


def test_pictures_of_several_sizes_ask_for_one(folder):
    write(folder / "flowers" / "tulip" / "b.png", picture(5, 5))
    dataset = opened("image_folder", folder, {"image"}, folder="flowers")
    with pytest.raises(
        DataError, match=r"b\.png: the image has 5x5 pixels, but the first one 4x6; write `height: 4 wid"
    ):
        Batches(dataset, 4, skip=True).take()


def test_pictures_that_cannot_be_read_are_left_out_and_noted(folder):
    (folder / "flowers" / "tulip" / "b.png").write_bytes(b"")
    dataset = opened("image_folder", folder, {"image"}, folder="flowers")
    for workers in (0, 2):
        batches = Batches(dataset, 3, shuffle=False, skip=True, workers=workers)
        assert [len(batches.take()["image"]) for _ in range(3)] == [2, 1, 2]
        batches.close()
        batches = Batches(dataset, 1, shuffle=False, skip=True, workers=workers)
        firsts = [batches.take()["image"][0, 0, 0, 0] for _ in range(4)]
        assert firsts == [picture(seed=seed)[0, 0, 0] for seed in (2, 3, 1, 2)], "a bad picture alone is passed over"
        assert list(batches.bad) == [2]
        batches.close()


def test_nothing_but_bad_pictures_is_an_error(tmp_path):
    write(tmp_path / "p" / "a.png")
    dataset = opened("image_folder", tmp_path, {"image"}, folder="p")
    (tmp_path / "p" / "a.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"none of the 1 records can be read; the first error: .*a\.png"):
        Batches(dataset, 3, skip=True).take()


# ---- lists


def listed(base, text, wanted=None, **attributes):
    (base / "list.txt").write_text(text)
    return opened("image_list", base, wanted, file="list.txt", **attributes)


def test_a_list_names_pictures_with_labels(folder):
    write(folder / "flowers" / "a b.png", picture(seed=9))
    dataset = listed(folder, "flowers/rose/1.png 7\n\nflowers/a b.png\t0\n")
    rows = dataset.rows(np.array([1, 0]))
    assert rows["label"].tolist() == [0, 7]
    assert np.array_equal(rows["image"][0], picture(seed=9).transpose(2, 0, 1))
    assert dataset.place(1).endswith("list.txt:3")
    inner = listed(folder, "rose/1.png red\nrose/2.PNG blue\n", folder="flowers")
    assert learn(inner, np.arange(2)).words["label"] == ["blue", "red"]
    named = listed(folder, "rose/1.png red\nrose/2.PNG blue\n", folder="flowers", classes=["red", "blue"])
    assert named.rows(np.arange(2))["label"].tolist() == [0, 1]
    bare = listed(folder, "flowers/rose/1.png\nflowers/a b.png\n", {"image"})
    assert len(bare.rows(np.arange(2))["image"]) == 2
    top = listed(folder, f"{folder}/flowers/rose/1.png 3\n", folder="/")
    assert top.rows(np.arange(1))["label"].tolist() == [3]


@pytest.mark.parametrize(
    ("text", "attributes", "message"),
    [
        ("", {}, "lists no images"),
        ("flowers/rose/1.png\n", {}, r"list\.txt:1: missing label; write it after the name"),
        ("flowers/../../x.png 1\n", {}, r"list\.txt:1: .*x\.png is outside of .*; to allow it, write `folder: \"/\"`"),
        ("/etc/x.png 1\n", {}, r"/etc/x\.png is outside of"),
        ("flowers/rose/1.png 1\nflowers/rose/2.PNG red\n", {}, r"list\.txt:2: the label .red. is a word, but others"),
        ("flowers/rose/1.png red\n", {"classes": ["blue"]}, "unknown label 'red', not in `classes`: `blue`"),
        ("a\0b 1\n", {}, "invalid file name"),
        ("flowers/rose/1.png 1\n", {"folder": "none"}, "folder .*none does not exist"),
    ],
)
def test_what_is_wrong_with_a_list(folder, text, attributes, message):
    with pytest.raises(DataError, match=message):
        listed(folder, text, **attributes)


def test_a_listed_picture_that_is_not_there_is_named_with_its_line(folder):
    dataset = listed(folder, "flowers/rose/1.png 1\nflowers/rose/9.png 2\n")
    with pytest.raises(DataError, match=r"list\.txt:2: .*9\.png: cannot read the image: No such file"):
        dataset.rows(np.arange(2))


def test_pillow_that_is_not_installed_is_asked_for(folder, monkeypatch):
    from paddle_layers.data.formats import image_decoder

    image_decoder.pillow.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    with pytest.raises(
        DataError, match=r"the source `image_folder` requires Pillow: pip install 'paddle-layers\[images\]'"
    ):
        opened("image_folder", folder, folder="flowers")
    image_decoder.pillow.cache_clear()


def test_every_format_is_read(tmp_path):
    for ending in ("jpg", "png", "bmp", "gif", "webp", "ppm", "pgm"):
        write(tmp_path / "p" / f"a.{ending}", np.full((4, 6, 3), 128, np.uint8))
    dataset = opened("image_folder", tmp_path, {"image"}, folder="p")
    images = dataset.rows(np.arange(7))["image"].astype(int)
    assert np.abs(images - 128).max() <= 2


def test_a_picture_read_from_bytes_is_the_same(tmp_path):
    from paddle_layers.data.formats.image_decoder import Decoder

    class Settings:
        color, height, width, fit, background_color = "rgb", None, None, "stretch", (255,)

    file = io.BytesIO()
    Image.fromarray(picture()).save(file, "png")
    pixels = Decoder("lmdb", Settings(), None).array("x", file.getvalue)
    assert np.array_equal(pixels, picture().transpose(2, 0, 1))


def listed_maps(base, maps, line=lambda row: f"{row}.png map{row}.png", **attributes):
    for row, ids in enumerate(maps):
        write(base / f"{row}.png", np.repeat(ids[..., None], 3, axis=2))
        image = Image.fromarray(ids).convert("P") if row else Image.fromarray(ids)
        image.putpalette(bytes(range(256)) * 3)
        image.save(base / f"map{row}.png")
    (base / "list.txt").write_text("".join(line(row) + "\n" for row in range(len(maps))))
    return opened("image_list", base, file="list.txt", labels="map", **attributes)


def test_label_maps_are_second_pictures(tmp_path):
    maps = [np.random.default_rng(row).integers(0, 9, (6, 8), np.uint8) for row in range(3)]
    dataset = listed_maps(tmp_path, maps)
    found = dataset.rows(np.array([2, 0]))
    assert np.array_equal(found["label"], [maps[2], maps[0]])
    assert np.array_equal(found["image"][:, 0], found["label"])
    large = listed_maps(tmp_path, maps, height=12, width=16).rows(np.array([1]))["label"][0]
    assert np.array_equal(large, maps[1].repeat(2, 0).repeat(2, 1))
    padded = listed_maps(tmp_path, maps, height=8, width=8, fit="pad", label_fill=255).rows(np.array([0]))["label"][0]
    assert np.array_equal(padded, np.pad(maps[0], ((1, 1), (0, 0)), constant_values=255))
    cut = listed_maps(tmp_path, maps, height=6, width=6, fit="crop").rows(np.array([0]))["label"][0]
    assert np.array_equal(cut, maps[0][:, 1:7])
    (feed,) = make_feeds(dataset, {"label": Type.ids(9, dims=(6, 8))})
    assert np.array_equal(feed.take(np.array([1]), None)[0], maps[1])


def test_label_maps_that_are_refused(tmp_path):
    maps = [np.zeros((6, 8), np.uint8)] * 5
    names = ["map0.png", "small.png", "0.png", "map.jpg", "none.png"]
    write(tmp_path / "small.png", np.zeros((3, 4), np.uint8))
    write(tmp_path / "map.jpg", np.zeros((6, 8), np.uint8))
    dataset = listed_maps(tmp_path, maps, lambda row: f"{row}.png {names[row]}")
    for row, message in (
        (1, r"list\.txt:2: .*small\.png: the label map has 3x4 pixels, but its image 6x8"),
        (2, r"list\.txt:3: .*0\.png: the label map is a PNG of mode RGB; use a lossless image"),
        (3, r"map\.jpg: the label map is a JPEG of mode L; use a lossless image"),
        (4, r"none\.png: cannot read the image: No such file"),
    ):
        with pytest.raises(DataError, match=message):
            dataset.rows(np.array([row]))
    assert Batches(dataset, 5, skip=True, shuffle=False).take()["label"].shape == (1, 6, 8)
    with pytest.raises(DataError, match=r"list\.txt:1: \.\./map0\.png is outside of"):
        listed_maps(tmp_path, maps[:1], lambda row: f"{row}.png ../map{row}.png")
    (tmp_path / "list.txt").write_text("0.png\n")
    with pytest.raises(DataError, match=r"list\.txt:1: missing label"):
        opened("image_list", tmp_path, file="list.txt", labels="map")
