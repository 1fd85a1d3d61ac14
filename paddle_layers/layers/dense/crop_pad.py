"""Crop and padding along any axis."""

import math

from paddle_layers.define import (
    Choice,
    Example,
    Float,
    Input,
    Ints,
    Numbers,
    Output,
    Type,
    each,
    gradient,
    helper,
    infer,
    layer,
    onnx,
    output_types,
    require,
)
from paddle_layers.layers.axes import chosen_axes, for_each_axis, place_of, strides, walk

AXES = "axes to be %s, from 1 on or from -1 backwards; if absent, all"


@layer(
    "crop",
    elsewhere={"Paddle": "crop", "Caffe": "Crop", "ONNX": "Slice", "Keras": "Cropping2D"},
    terms=("crop", "slice"),
    since=1,
)
class Crop:
    """Crop (slice) along given axes: start index, size and step per axis.

    `y[i] = x[begin + i * steps]` along each axis. `begin`, `sizes` and `steps` have one value per axis of `axes`, or
    one for all of them; instead of `sizes` a second input may determine the size. Without either, the part extends to
    the end. Caffe's and Paddle's Crop crop all axes from `axis` on to the size of a second input, with `offset` for
    `begin`. To split into several parts see `slice`.
    """

    x = Input("N ...", "rows of any shape", seq=(0, 1, 2))
    like = Input(
        "N I...", "reference input of the same rank, whose sizes along `axes` are used", seq=(0, 1, 2), optional=True
    )
    y = Output("N J...", "the cropped part")
    axes = Ints(AXES % "cropped", min_items=1, optional=True)
    begin = Ints("start index along each axis; if absent, 0", min=0, min_items=1, optional=True)
    sizes = Ints(
        "number of elements along each axis; if absent, all from `begin` on", min=1, min_items=1, optional=True
    )
    steps = Ints("step along each axis", min=1, min_items=1, optional=True)
    start = Numbers("offset of the first element in `x`")
    y_sizes = Numbers("sizes of the axes of `y`, adjacent axes merged where possible")
    y_steps = Numbers("strides in `x` of each of them")
    x_sizes = Numbers("sizes of the axes of `x`")
    first = Numbers("start of `y` along each axis")
    apart = Numbers("step along each axis")
    left = Numbers("sizes of the axes of `y`")
    examples = (
        Example(x="2x5x4", axes=[2, 3], begin=[1, 0], sizes=[3, 2]),
        Example(x="3x6", begin=[0, 1], steps=[2]),
        Example(x="2x4x5", like="1x2x3", axes=[-2, -1], begin=[1]),
        Example(x="sequence of 7", begin=[2], sizes=[2], steps=[3]),
    )


@infer(Crop)
def crop_numbers(x, like, axes, begin, sizes, steps):
    cut, far = chosen_axes(x, axes), strides(x.dims)
    require(like is None or sizes is None, "sizes", "a second input says how large the part is: leave out `sizes`")
    same = like is None or len(like.dims) == len(x.dims)
    require(same, "like", f"`like` is {like}, which has not as many axes as `x`, {x}")
    first = for_each_axis(begin, "begin", cut, [0] * len(far))
    apart = for_each_axis(steps, "steps", cut, [1] * len(far))
    # Division rounded up: the last step may be incomplete.
    left = [-(-(size - at) // step) for size, at, step in zip(x.dims, first, apart, strict=True)]
    if like is not None:
        sizes = [like.dims[axis] for axis in cut] or None
    left = for_each_axis(sizes, "sizes", cut, left)
    for axis in cut:
        end = first[axis] + (left[axis] - 1) * apart[axis]
        known = first[axis] < x.dims[axis] and end < x.dims[axis]
        require(known, "begin", f"the part reaches to element {end} of axis {axis + 1}, which has {x.dims[axis]}")
    # Strides in `x` times the steps: one walk over `y` visits the elements of the part.
    y_sizes, y_steps = walk(left, [step * size for step, size in zip(apart, far, strict=True)])
    return {
        "J": math.prod(left), "start": sum(at * step for at, step in zip(first, far, strict=True)),
        "y_sizes": y_sizes, "y_steps": y_steps, "x_sizes": list(x.dims) or [1],
        "first": first or [0], "apart": apart or [1], "left": left or [1],
    }  # fmt: skip


@output_types(Crop)
def crop_type(x, left):
    return [Type.dense(*(left if x.dims else ()), level=x.level)]


@each(Crop.y)
def crop_y(n, j, x, start, y_sizes, y_steps):
    return x[n, start + place_of(j, y_sizes, y_steps)]


@gradient(Crop.x)
def crop_dx(n, i, dy, x_sizes, first, apart, left):
    place, step = 0, 1
    # The digits of the index, from the last axis on, are the positions along the axes.
    for axis in range(len(x_sizes) - 1, -1, -1):
        at = i % x_sizes[axis] - first[axis]
        i = i // x_sizes[axis]
        # Elements before, between and after the steps were not read.
        if at < 0 or at % apart[axis] != 0 or at // apart[axis] >= left[axis]:
            return 0.0
        place += at // apart[axis] * step
        step *= left[axis]
    return dy[n, place]


@onnx(Crop)
def crop_onnx(graph, x, first, apart, left):
    if not x.dims:
        return graph.Identity(x)
    ends = [at + (size - 1) * step + 1 for at, size, step in zip(first, left, apart, strict=True)]
    return graph.Slice(x, first, ends, list(range(1, len(first) + 1)), apart)


@layer(
    "pad",
    elsewhere={"Paddle": "pad", "ONNX": "Pad", "Keras": "ZeroPadding2D", "PyTorch": "ConstantPad2d, ReflectionPad2d"},
    terms=("padding", "zero padding", "reflection padding"),
    since=1,
)
class Pad:
    """Padding along given axes: constant, edge or reflection.

    `begin` and `end` are the numbers of elements added, with one value per axis of `axes` or one for all of them;
    without `end` both are equal. `REFLECT` does not repeat the edge, so fewer elements than the axis has can be added.
    Paddle's `pad` has one pair each for channels, rows and columns, and pads with zeros. `conv` and `pool` include zero
    padding.
    """

    x = Input("N ...", "rows of any shape", seq=(0, 1, 2))
    y = Output("N J...", "the padded values")
    axes = Ints(AXES % "padded", min_items=1, optional=True)
    begin = Ints("number of elements before the first along each axis", min=0, min_items=1)
    end = Ints(
        "number of elements after the last along each axis; if absent, as `begin`", min=0, min_items=1, optional=True
    )
    mode = Choice(
        "padding mode",
        options={
            "CONSTANT": "constant `value`",
            "EDGE": "replicate the edge",
            "REFLECT": "reflect at the edge, without repeating it",
        },
        default="CONSTANT",
    )
    value = Float("padding value in the mode CONSTANT", default=0.0)
    x_sizes = Numbers("sizes of the axes of `x`")
    ahead = Numbers("padding before the first element along each axis")
    behind = Numbers("padding after the last element along each axis")
    examples = (
        Example(x="2x3x4", axes=[2, 3], begin=[1, 2], end=[0, 1], value=0.5),
        Example(x="2x3x4", axes=[-1, -2], begin=[2], mode="REFLECT"),
        Example(x="3x2", begin=[1, 0], end=[2], mode="EDGE"),
        Example(x="sequence of 4", begin=[1]),
    )


@infer(Pad)
def pad_numbers(x, axes, begin, end, mode):
    padded, none = chosen_axes(x, axes), [0] * len(x.dims)
    ahead = for_each_axis(begin, "begin", padded, none)
    behind = ahead if end is None else for_each_axis(end, "end", padded, none)
    for axis in padded:
        most = max(ahead[axis], behind[axis])
        mirrored = f"{most} elements of axis {axis + 1} are to be mirrored, which has {x.dims[axis]}"
        require(mode != "REFLECT" or most < x.dims[axis], "mode", mirrored)
    sizes = [sum(parts) for parts in zip(ahead, x.dims, behind, strict=True)]
    return {"J": math.prod(sizes), "x_sizes": list(x.dims) or [1], "ahead": ahead or [0], "behind": behind or [0]}


@output_types(Pad)
def pad_type(x, ahead, behind):
    sizes = [sum(parts) for parts in zip(ahead, x.dims, behind, strict=False)]
    return [Type.dense(*sizes, level=x.level)]


@each(Pad.y)
def pad_y(n, j, x, mode, value, x_sizes, ahead, behind):
    place, step = 0, 1
    for axis in range(len(x_sizes) - 1, -1, -1):
        size = x_sizes[axis]
        wide = ahead[axis] + size + behind[axis]
        at = j % wide - ahead[axis]
        j = j // wide
        if mode == "EDGE":
            at = min(max(at, 0), size - 1)
        # The edge itself is not repeated: -1 becomes 1, `size` becomes `size - 2`.
        elif mode == "REFLECT":
            at = abs(at) if at < size else 2 * (size - 1) - at
        elif at < 0 or at >= size:
            return value
        place += at * step
        step *= size
    return x[n, place]


@helper
def copies(at, size, ahead, behind, mode):
    """How many elements of a padded axis are element `at` of the axis."""
    if mode == "EDGE":
        return 1 + (ahead if at == 0 else 0) + (behind if at == size - 1 else 0)
    if mode == "REFLECT":
        return 1 + (1 if 0 < at <= ahead else 0) + (1 if 0 < size - 1 - at <= behind else 0)
    return 1


@helper
def copy_of(k, at, size, ahead, behind, mode):
    """Where copy `k` of element `at` is along a padded axis; the first one is the element itself."""
    if k == 0:
        return ahead + at
    if mode == "EDGE":
        return k - 1 if at == 0 and k <= ahead else ahead + size + k - 1 - (ahead if at == 0 else 0)
    return ahead - at if k == 1 and 0 < at <= ahead else ahead + 2 * (size - 1) - at


@gradient(Pad.x)
def pad_dx(n, i, dy, mode, x_sizes, ahead, behind):
    # Copies along several axes multiply: a corner has one for each pair of a row copy and a column copy.
    count, rest = 1, i
    for axis in range(len(x_sizes) - 1, -1, -1):
        count *= copies(rest % x_sizes[axis], x_sizes[axis], ahead[axis], behind[axis], mode)
        rest = rest // x_sizes[axis]
    # A sum over the copies instead of a scatter of `dy`: no concurrent additions.
    total = 0.0
    for k in range(count):
        # The digits of `k` select a copy along each axis.
        which, rest, place, step = k, i, 0, 1
        for axis in range(len(x_sizes) - 1, -1, -1):
            size, at = x_sizes[axis], rest % x_sizes[axis]
            many = copies(at, size, ahead[axis], behind[axis], mode)
            place += copy_of(which % many, at, size, ahead[axis], behind[axis], mode) * step
            step *= ahead[axis] + size + behind[axis]
            which, rest = which // many, rest // size
        total += dy[n, place]
    return total


@onnx(Pad)
def pad_onnx(graph, x, ahead, behind, mode, value):
    if not x.dims:
        return graph.Identity(x)
    pads = [0, *ahead, 0, *behind]
    return graph.Pad(x, pads, value if mode == "CONSTANT" else None, mode=mode.lower())
