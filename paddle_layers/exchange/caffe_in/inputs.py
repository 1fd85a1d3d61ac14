"""Conversion of data layers: inputs of the network, and sources of the training file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from paddle_layers.define import Type

from .conversion import MANY, Use, converts
from .layers import BlobValue, Fields
from .reading import Message

Dims = tuple[int, ...]


@dataclass
class DataLayerSource:
    """The source of a data layer, in the phases in which it is present."""

    kind: str
    phases: tuple[str, ...]
    values: list[str]
    batch_size: int | None
    source: str = ""
    transforms: list[Fields] = field(default_factory=list)
    reader: tuple[str, Fields] | None = None
    """The equivalent source for the same files, with its settings."""
    fields: dict[str, str] = field(default_factory=dict)
    """The field of that source for each value, where the names differ."""
    foreground: float | None = None
    """Fraction of foreground windows in a batch, where it reads windows."""


@converts("Input", "DummyData", bottoms=(0, 0), tops=(1, MANY))
def shaped(use: Use) -> None:
    """Inputs whose shapes the layer gives, one for all or one for each."""
    shapes = [list(shape["dim"]) for shape in use.settings["shape"]] or _old_shapes(use.settings)
    if len(shapes) not in (1, len(use.tops)):
        text = f"expected one `shape`, or one per `top` ({len(use.tops)}), got {len(shapes)}"
        use.refuse("shape", text, code="E205")
        return
    for place, value in enumerate(use.tops):
        input_of_shape(use, value, shapes[place if len(shapes) > 1 else 0])
    batch = shapes[0][0] if shapes[0] and use.layer.type == "DummyData" else None
    _feed(use, batch)


def _old_shapes(p: Message) -> list[list[int]]:
    """The four lists of numbers that a DummyData had before it had shapes."""
    if p.kind != "DummyData":
        return []
    sizes = [p[name] for name in ("num", "channels", "height", "width")]
    return [list(map(int, shape)) for shape in zip(*sizes, strict=False)]


def input_of_shape(use: Use, value: BlobValue, shape: list[int]) -> None:
    """Give an input the type of a shape that begins with the batch; one number a row may also be an id."""
    if any(size < 1 for size in shape) or not shape:
        use.refuse("shape", "every `dim` of an input must be at least 1", code="E103")
        return
    # One number per row may be a target or a label: readers decide, and this is only the default.
    type_ = Type.dense(*shape[1:])
    if len(shape) == 1:
        value.usual = type_
    enter(use, value, None if len(shape) == 1 else type_)


def enter(use: Use, value: BlobValue, type_: Type | None) -> None:
    """A value of a data layer; the type that the user gives goes before the one of the file."""
    type_ = use.whole.given_type(value.name, type_)
    if value.type is not None and type_ is not None and value.type != type_:
        text = f"`{value.name}` has type {type_} here, but {value.type} in the other phase"
        use.refuse("top", text, f"give --shape {value.name}=...", of=use.message, code="E209")
        return
    value.type = value.type or type_
    use.whole.inputs[value.name] = value
    made = use.whole.became.setdefault(use.layer.name, [])
    if f"data {value.name}" not in made:
        made.append(f"data {value.name}")


@converts("Data", "ImageData", "MemoryData", "WindowData", bottoms=(0, 0), tops=(1, 2))
def images(use: Use) -> None:
    """Images, and a label for each."""
    if use.settings["crop_size" if "crop_size" in use.settings else "batch_size"] == 0:
        use.refuse("batch_size", "`batch_size` is 0, expected at least 1", code="E103")
    transform = ImagePreprocessing(use)
    dims = _image_dims(use, transform)
    enter(use, use.tops[0], Type.dense(*dims) if dims is not None else None)
    if len(use.tops) == 2:
        enter(use, use.tops[1], None)
    _feed(use, use.settings["batch_size"], transform)


@converts("HDF5Data", bottoms=(0, 0), tops=(1, MANY))
def hdf5_data(use: Use) -> None:
    """Arrays by name, whose sizes are in the files alone."""
    for value in use.tops:
        enter(use, value, None)
    _feed(use, use.settings["batch_size"])


class ImagePreprocessing:
    """Preprocessing of images."""

    def __init__(self, use: Use) -> None:
        self.use, old, new = use, use.settings, use.message["transform_param"]

        def setting(name: str) -> Any:
            # Scale, mean, crop and mirror were fields of the data layer before `transform_param` existed.
            return old[name] if name not in new and name in old else new[name]

        self.scale, self.mirror = setting("scale"), setting("mirror")
        self.crop, self.mean_file = setting("crop_size"), setting("mean_file")
        self.mean_value: list[float] = new["mean_value"]
        self.channels = 3 if new["force_color"] else 1 if new["force_gray"] else None
        if self.mean_file and self.mean_value:
            use.refuse("mean_value", "`mean_file` and `mean_value` are mutually exclusive", of=new, code="E102")
        if self.crop < 0:
            use.refuse("crop_size", f"`crop_size` is {self.crop}, expected at least 0", of=new, code="E103")

    def fields(self, value: str) -> list[Fields]:
        """The blocks `transform` of the training file, in Caffe's order: a file of means is as large as the images."""
        # A mean file is subtracted before the crop, since it has the size of the whole image; mean values come after
        # it, which is the same and less work.
        found: list[tuple[str, Fields]] = []
        if self.mean_file:
            found.append(("mean", {"file": "mean.npy"}))
        if self.crop:
            found.append(("crop", {"size": self.crop}))
        if self.mirror:
            found.append(("mirror", {}))
        if self.mean_value:
            found.append(("mean", {"value": self.mean_value}))
        if self.scale != 1:
            found.append(("scale", {"factor": self.scale}))
        return [{"type": name, "input": value, **({name: own} if own else {})} for name, own in found]


def _image_dims(use: Use, transform: ImagePreprocessing) -> Dims | None:
    """Channels, rows and columns of the images after their transforms, as far as the prototxt determines them."""
    p, mean = use.settings, use.whole.mean_dims
    # Every source of information is used in turn, since the size of images in a database is not in the prototxt.
    channels, rows, columns = transform.channels, None, None
    if use.layer.type == "MemoryData":
        channels, rows, columns = p["channels"], p["height"], p["width"]
    elif use.layer.type == "ImageData":
        channels = 3 if p["is_color"] else 1
        rows, columns = p["new_height"] or None, p["new_width"] or None
    elif use.layer.type == "WindowData":
        channels = 3
    # One mean value applies to any number of channels.
    if len(transform.mean_value) > 1:
        channels = channels or len(transform.mean_value)
    if transform.mean_file and mean is not None and len(mean) == 3:
        channels, rows, columns = channels or mean[0], rows or mean[1], columns or mean[2]
    if transform.crop:
        rows = columns = transform.crop
    if None in (channels, rows, columns):
        return None
    dims = (int(channels or 0), int(rows or 0), int(columns or 0))
    if min(dims) < 1:
        use.refuse("channels", f"invalid image shape {'x'.join(map(str, dims))}", code="E103")
        return None
    return dims


def _feed(use: Use, batch: int | None, transform: ImagePreprocessing | None = None) -> None:
    p, value = use.settings, use.tops[0].name
    source = str(p["source"]) if "source" in p else ""
    transforms = transform.fields(value) if transform is not None else []
    names = [top.name for top in use.tops]
    if transform is not None and transform.mean_file and use.whole.mean_dims is None:
        use.note(
            f"`mean.npy`, converted from `{transform.mean_file}`, is required beside the training file: give "
            "--mean FILE, or run `paddle-layers import` on it"
        )
    reader = _reader(use.layer.type, p, source, transform) if source else None
    share = None
    if use.layer.type == "WindowData":
        transforms = [one for one in transforms if one["type"] != "crop"]  # windows have that size already
        share = p["fg_fraction"]
        if not 0 <= share <= 1:
            use.refuse("fg_fraction", f"`fg_fraction` is {share:g}, expected 0 to 1", code="E103")
    usual = names if use.layer.type == "HDF5Data" else ["image", "label"]
    fields = {name: own for name, own in zip(names, usual, strict=False) if name != own}
    use.whole.feeds.append(
        DataLayerSource(use.layer.type, use.layer.phases, names, batch, source, transforms, reader, fields, share)
    )


def _reader(type_: str, p: Message, source: str, transform: ImagePreprocessing | None) -> tuple[str, Fields] | None:
    """The source here for files of Caffe's: databases of LMDB, lists of images or windows, lists of HDF5 files."""
    own: Fields
    if type_ == "Data" and p["backend"] == "LMDB":
        # Caffe reads images by OpenCV: trained filters expect blue first.
        return "lmdb", {"file": source, "color": "bgr"}
    if type_ == "HDF5Data" and source.endswith(".txt"):
        return "hdf5", {"file": [source]}
    if type_ == "WindowData" and transform is not None and transform.crop > 0:
        own = {"file": source, "color": "bgr", "height": transform.crop, "context": p["context_pad"]}
        own |= {"folder": p["root_folder"]} if p["root_folder"] else {}
        own |= {"foreground": p["fg_threshold"], "background": p["bg_threshold"], "square": p["crop_mode"] == "square"}
        return "window_list", own
    if type_ != "ImageData":
        return None
    own = {"file": source, "color": "bgr" if p["is_color"] else "grey"}
    own |= {"folder": p["root_folder"]} if p["root_folder"] else {}
    # Caffe resizes only if both are set.
    own |= {"height": p["new_height"], "width": p["new_width"]} if p["new_height"] > 0 < p["new_width"] else {}
    return "image_list", own
