"""Conversion of layers that project, concatenate, slice and reshape rows, and of reductions along axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .conversion import MANY, Unresolved, Use, converts
from .layers import Fields
from .parameters import BlobLayout, set_vector, set_weight

MOST_PLACES = 1000
"""Largest supported `top_k` of an ArgMax."""


@converts("InnerProduct")
def inner_product(use: Use) -> None:
    p, outputs = use.settings, use.required("num_output")
    if outputs is None:
        return
    axis = _behind_rows(use, "axis")
    draft = use.add("fc", {"size": outputs, "axis": axis, "bias": p["bias_term"]})
    if draft is None:
        return
    inputs, name, turned = math.prod(use.dims()[axis - 1 :]), use.layer.name, not p["transpose"]
    # With `transpose`, Caffe's blob has the inputs first, but its fillers count as if they were the outputs.
    first = outputs if turned else inputs
    set_weight(use, draft, "weight", 0, "weight_filler", BlobLayout(first, inputs, turned, not turned))
    names = [f"{name}.weight", f"{name}.bias"][: 1 + p["bias_term"]]
    if p["bias_term"]:
        set_vector(use, draft, "bias", 1, "bias_filler", 0.0)

    def make(blobs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        weight = blobs[0].T if turned else blobs[0]  # ours has a column for each output
        return dict(zip(names, [weight, *blobs[1:]], strict=False))

    shape = (outputs, inputs) if turned else (inputs, outputs)
    use.store([shape, (outputs,)][: len(names)], make)


@converts("Embed")
def embed(use: Use) -> None:
    p, outputs, ids = use.settings, use.required("num_output"), use.required("input_dim")
    if outputs is None or ids is None:
        return
    if ids < 1:
        use.refuse("input_dim", f"`input_dim` is {ids}, expected at least 1", code="E103")
        return
    use.label(0, ids)
    if use.type().kind != "INT" or use.type().size != ids:
        text = f"expected one id below {ids} per sample for an Embed, got {use.type()}"
        use.refuse("bottom", text, f"give --shape {use.bottoms[0].name}='ids<{ids}'", of=use.message)
        return
    name, inner = use.layer.name, use.inner("rows") if p["bias_term"] else use.tops[0]
    # With a bias the last of the two layers has the name, since readers refer to it.
    table = f"{name}/rows" if p["bias_term"] else name
    draft = use.add("embedding", {"size": outputs}, outputs=[inner], name=table)
    set_weight(use, draft, "table", 0, "weight_filler", BlobLayout(ids, ids, swapped=True))
    names = [f"{table}.table", f"{name}.offset"]
    if p["bias_term"] and not use.refused:
        shift = use.add("shift", inputs=[inner])
        set_vector(use, shift, "offset", 1, "bias_filler", 0.0)
    use.store([(ids, outputs), (outputs,)][: 1 + p["bias_term"]], lambda blobs: dict(zip(names, blobs, strict=False)))


@converts("Concat", bottoms=(1, MANY))
def concat(use: Use) -> None:
    field = "concat_dim" if "concat_dim" in use.settings else "axis"
    use.add("concat", {"axis": _behind_rows(use, field)})


@converts("Slice", tops=(1, MANY))
def slice_(use: Use) -> None:
    p, parts = use.settings, len(use.tops)
    field = "slice_dim" if "slice_dim" in p else "axis"
    axis = _behind_rows(use, field)
    points = p["slice_point"]
    # Without points, Caffe cuts into equal parts.
    if not points:
        use.add("slice", {"parts": parts, "axis": axis})
        return
    if len(points) != parts - 1:
        text = f"{len(points)} slice points produce {len(points) + 1} blobs, but there are {parts} `top` blobs"
        use.refuse("slice_point", text, code="E205")
        return
    ends = [0, *points, use.dims()[axis - 1]]
    if any(end <= start for start, end in pairwise(ends)):
        text = f"slice points must increase, from 1 to {ends[-1] - 1}, got {', '.join(map(str, points))}"
        use.refuse("slice_point", text, code="E209")
        return
    use.add("slice", {"sizes": [end - start for start, end in pairwise(ends)], "axis": axis})


@converts("Crop", bottoms=(2, 2))
def crop(use: Use) -> None:
    """The axes from one on are cut to the sizes of the second blob; `offset` has one number, or one for each."""
    axis, offset = _behind_rows(use, "axis"), use.settings["offset"]
    axes = range(axis, 1 + len(use.dims()))
    if len(use.dims(1)) != len(use.dims()):
        use.refuse("bottom", "both blobs of a Crop must have the same number of axes", of=use.message, code="E209")
    elif len(offset) not in (0, 1, len(axes)):
        text = f"got {len(offset)} offsets for {len(axes)} cropped axes"
        use.refuse("offset", text, "give one offset, or one per axis", code="E205")
    else:
        use.add("crop", {"axes": list(axes), "begin": (list(offset) or [0]) * (len(axes) if len(offset) < 2 else 1)})


def _behind_rows(use: Use, field: str) -> int:
    """An axis of the settings. Raises `Unresolved` for that of the batch, after a report."""
    axis = use.axis(field)
    if axis == 0:
        use.refuse(field, f"axis 0, the batch, is not supported for {use.layer.type}", "use an axis >= 1")
        raise Unresolved
    return axis


@converts("Flatten")
def flatten(use: Use) -> None:
    first, last, dims = use.axis("axis"), use.axis("end_axis"), use.dims()
    if first == 0:
        use.refuse("axis", "the batch axis cannot be flattened with other axes")
    elif last < first:
        use.refuse("end_axis", "`end_axis` is before `axis`", code="E209")
    elif (first, last) == (1, len(dims)):
        use.add("flatten")
    else:
        merged = math.prod(dims[first - 1 : last])
        use.add("reshape", {"dims": [*dims[: first - 1], merged, *dims[last:]]})


@converts("Reshape")
def reshape(use: Use) -> None:
    """Caffe's dims count the batch where they begin with it; ours never do."""
    p, dims, shape = use.settings, use.dims(), use.settings["shape"]["dim"]
    rank = 1 + len(dims)
    # Caffe counts positions between axes here, so -1 is after the last one.
    start = p["axis"] if p["axis"] >= 0 else rank + p["axis"] + 1
    count = p["num_axes"] if p["num_axes"] != -1 else rank - start
    if not 0 <= start <= rank or count < 0 or start + count > rank or any(dim < -1 for dim in shape):
        use.refuse("axis", f"the reshaped axes are out of range: the blob has {rank} axes", code="E209")
        return
    # 0 copies the batch size and -1 infers it; any other number would fix or change the batch.
    if start == 0 and count > 0:
        # -1 is also allowed for the batch if nothing else in the shape is inferred: it then means the same as 0.
        if not shape or shape[0] not in (0, -1) or (shape[0] == -1 and -1 in shape[1:]):
            text = "the batch axis cannot be reshaped: the first `dim` must be 0 or -1"
            use.refuse("shape", text, "write `dim: 0` for the batch")
            return
        shape, start, count = list(shape[1:]), 1, count - 1
        shape = _copied(use, shape, dims)
        use.add("reshape", {"dims": [*shape, *dims[count:]]})
        return
    if start == 0:
        use.refuse("axis", "axes before the batch axis are not supported")
        return
    inside = _copied(use, shape, dims[start - 1 :])
    use.add("reshape", {"dims": [*dims[: start - 1], *inside, *dims[start - 1 + count :]]})


def _copied(use: Use, shape: Sequence[int], dims: Sequence[int]) -> list[int]:
    """Sizes with those that 0 copies; `dims` begin where `shape` does."""
    if any(dim == 0 and place >= len(dims) for place, dim in enumerate(shape)):
        use.refuse("shape", "`dim: 0` copies an axis that the blob does not have", code="E209")
        return list(shape)
    return [dims[place] if dim == 0 else dim for place, dim in enumerate(shape)]


@converts("Permute")
def permute(use: Use) -> None:
    """The order of the axes; those that are not listed follow in their own order."""
    rank, order = 1 + len(use.dims()), list(use.settings["order"])
    if any(not 0 <= axis < rank for axis in order) or len(set(order)) < len(order):
        use.refuse("order", f"`order` must list different axes from 0 to {rank - 1}", code="E209")
        return
    order += [axis for axis in range(rank) if axis not in order]
    if order[0] != 0:
        use.refuse("order", "axis 0, the batch, must stay the first one", "begin with `order: 0`")
        return
    use.add("permute", {"order": order[1:]})


@converts("ShuffleChannel")
def shuffle_channels(use: Use) -> None:
    """The transpose of groups and channels of a group, from ShuffleNet."""
    group, dims = use.required("group"), use.dims()
    if group is None:
        return
    if group < 1 or not dims or dims[0] % group:
        use.refuse("group", f"{group} groups do not divide the channels of {'x'.join(map(str, dims))}", code="E209")
        return
    split = use.step("reshape", {"dims": [group, dims[0] // group, *dims[1:]]}, [use.bottoms[0]], "groups")
    turned = use.step("permute", {"order": [2, 1, *range(3, 2 + len(dims))]}, [split])
    use.add("reshape", {"dims": list(dims)}, inputs=[turned])


@converts("Tile")
def tile(use: Use) -> None:
    tiles = use.required("tiles")
    if tiles is None:
        return
    use.add("repeat", {"num_repeats": tiles, "axis": _behind_rows(use, "axis")})


@converts("Filter", bottoms=(2, MANY), tops=(1, MANY))
def filter_(use: Use) -> None:
    """One layer for each blob; the last one says which rows stay."""
    last = len(use.bottoms) - 1
    if len(use.tops) != last:
        use.refuse(
            "top",
            f"expected {last} `top` blobs, one per filtered blob, got {len(use.tops)}",
            of=use.message,
            code="E205",
        )
        return
    # The selector is 0 or 1.
    use.label(last, 2)
    for place, top in enumerate(use.tops):
        type_ = "filter_ids" if use.type(place).kind == "INT" else "filter"
        name = use.layer.name if place == 0 else f"{use.layer.name}_{place + 1}"
        use.add(type_, inputs=[use.bottoms[place], use.bottoms[last]], outputs=[top], name=name)
    use.note("filtered samples become sequences of length 0 or 1; Caffe reduces the batch")


@converts("BatchReindex", bottoms=(2, 2))
def batch_reindex(use: Use) -> None:
    if use.type(1).kind != "INT" or use.type(1).level != 1:
        text = f"the indices of a BatchReindex must be a sequence of ids per sample, got {use.type(1)}"
        shape = f"give --shape {use.bottoms[1].name}='sequence of ids<256'"
        use.refuse("bottom", text, f"{shape}, where the size is the maximum batch size", of=use.message)
        return
    use.add("batch_reindex")


@converts("Silence", bottoms=(1, MANY), tops=(0, 0))
def silence(use: Use) -> None:
    use.whole.became[use.layer.name] = ["nothing: unused values need no layer"]


@converts("Split", tops=(1, MANY))
def split(use: Use) -> None:
    use.whole.became[use.layer.name] = ["nothing: any number of layers can read a value"]


@converts("HDF5Output", bottoms=(2, 2), tops=(0, 0))
def hdf5_output(use: Use) -> None:
    use.whole.became[use.layer.name] = ["nothing: use the callback `write_values` during training or `predict`"]


@converts("Reduction")
def reduction(use: Use) -> None:
    """All axes from one on become one number; `coeff` multiplies it."""
    p, axis = use.settings, use.axis("axis")
    if axis == 0:
        use.refuse(
            "axis", "a reduction over the batch (axis 0) is not supported", "write `axis: 1` for one value per sample"
        )
        return
    # Caffe reduces all axes from `axis` to the last one.
    attributes: Fields = {"operation": p["operation"], "axes": list(range(axis, 1 + len(use.dims())))}
    if p["coeff"] == 1:
        use.add("reduction", attributes)
        return
    use.add("slope_intercept", {"slope": p["coeff"]}, inputs=[use.step("reduction", attributes, [use.bottoms[0]])])


@converts("ArgMax")
def arg_max(use: Use) -> None:
    p, k = use.settings, use.settings["top_k"]
    if not 1 <= k <= MOST_PLACES:
        use.refuse("top_k", f"`top_k` is {k}, expected 1 to {MOST_PLACES:,}", code="E103")
        return
    # Without an axis Caffe's result has another shape: one row of indices, then one of values.
    if "axis" in p:
        _along(use, k)
    elif k == 1 and not p["out_max_val"]:
        # Caffe sorts pairs of value and index in descending order, so of equal values the larger index wins.
        use.note("ties: the first index is returned, in Caffe the last")
        use.add("maxid")
    else:
        _of_rows(use, k)


def _along(use: Use, k: int) -> None:
    """The axis has the places of the largest numbers, or these themselves."""
    axis, values = use.axis("axis"), use.settings["out_max_val"]
    if axis == 0:
        use.refuse("axis", "ArgMax over the batch (axis 0) is not supported", "write `axis: 1`")
    elif k > 1:
        # Our layer returns both, whichever is requested.
        both = [*use.tops, use.inner("places")] if values else [use.inner("values"), *use.tops]
        use.note(_TIES)
        use.add("top_k", {"k": k, "axis": axis}, outputs=both)
    elif values:
        use.add("reduction", {"operation": "MAX", "axes": [axis], "keep_dims": True})
    else:
        use.add("arg_max", {"axis": axis, "last": True, "keep_dims": True})


_TIES = "ties: the first index comes first, in Caffe the last"


def _of_rows(use: Use, k: int) -> None:
    """The indices of the largest values of whole rows, followed by these values if they are requested."""
    flat = use.step("flatten", {}, [use.bottoms[0]]) if len(use.dims()) != 1 else use.bottoms[0]
    values, places = use.inner("values"), use.inner("places")
    use.note(_TIES)
    use.add("top_k", {"k": k}, inputs=[flat], outputs=[values, places], name=f"{use.layer.name}/top_k")
    if use.settings["out_max_val"]:
        both = use.step("concat", {}, [places, values])
        # Caffe's layout without an axis: N x 2 x k with values, N x 1 x k without.
        use.add("reshape", {"dims": [2, k]}, inputs=[both])
    else:
        use.add("reshape", {"dims": [1, k]}, inputs=[places])
