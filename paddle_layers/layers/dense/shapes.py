"""Shape operations: concatenation, splitting, copying, reshaping."""

import math

from paddle_layers.define import (
    Bool,
    Example,
    Input,
    Int,
    Ints,
    Output,
    Type,
    each,
    gradient,
    infer,
    layer,
    onnx,
    output_types,
    require,
)
from paddle_layers.layers.axes import place_of_axis


@layer(
    "concat",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Paddle": "concat, concat2",
        "Caffe": "Concat",
        "Mocha": "ConcatLayer",
        "ONNX": "Concat",
        "Keras": "Concatenate",
        "PyTorch": "cat",
    },
    terms=("concatenation",),
    since=1,
)
class Concat:
    """Concatenation along an axis, by default the channels.

    The channels of the first input come first, then those of the second, and so on; all other axes must agree. Caffe
    (`axis`) and Mocha (`dim`) can concatenate along other axes as well; Paddle cannot. Their axis 0 is the batch axis.
    """

    x = Input("N... C_i@axis ...", "values to concatenate", repeatable=True, seq=(0, 1, 2))
    y = Output("N... C@axis ...", "all channels of the first input, then of the second, ...")
    axis = Int("concatenation axis: 1 is the first after the batch axis, -1 the last", default=1)
    examples = (
        Example(x=["3", "5"]),
        Example(x=["1x2x3", "4x2x3", "2x2x3"], act="tanh"),
        Example(x=["sequence of 4"]),
        Example(x=["2x1x3", "2x3x3"], axis=2),
        Example(x=["2x3", "2x1", "2x2"], axis=-1),
    )


@infer(Concat)
def concat_sizes(C_i):
    return {"C": sum(C_i)}


# Input by input, so that one kernel serves any number of them; with a kernel for 24 inputs, every element took 260 ns
# to find its own.
@each(Concat.y, over=Concat.x, along="C")
def concat_y(n, c, i, x):
    return x[n, c, i]


@gradient(Concat.x, over=Concat.x)
def concat_dx(n, c, i, dy, C_offset):
    return dy[n, C_offset + c, i]


@onnx(Concat)
def concat_onnx(graph, x, axis):
    return graph.Concat(*x, axis=place_of_axis(axis, x[0]))


@layer(
    "slice",
    elsewhere={"Caffe": "Slice", "ONNX": "Split"},
    terms=("split", "chunk"),
    since=1,
)
class Slice:
    """Splits the channels, or another axis, into several outputs: the inverse of `concat`.

    Either `sizes` gives the number of channels of each output, or `parts` the number of equal ones; `axis` selects
    another axis. Caffe gives the indices of the splits (`slice_point`) instead of sizes, and equal parts by the number
    of outputs.
    """

    x = Input("N... C@axis ...", "values to split", seq=(0, 1, 2))
    y = Output("N... K_i@axis ...", "consecutive channels of `x`", repeatable=True)
    axis = Int("split axis: 1 is the first after the batch axis, -1 the last", default=1)
    sizes = Ints("size of each output along the axis", min=1, min_items=1, optional=True)
    parts = Int("number of equal outputs", min=1, max=1024, optional=True)
    examples = (
        Example(x="7", sizes=[2, 4, 1]),
        Example(x="6x2x3", parts=3),
        Example(x="sequence of 4", sizes=[1, 3]),
        Example(x="3", parts=1),
        Example(x="2x4x2", axis=2, sizes=[3, 1]),
        Example(x="2x4", axis=-1, parts=2),
    )


@infer(Slice)
def slice_sizes(C, sizes, parts):
    require((sizes is None) != (parts is None), "sizes", "set either `sizes` or `parts`")
    if sizes is None:
        require(C % parts == 0, "parts", f"{C} channels cannot be split into {parts} equal parts")
        return {"K_i": [C // parts] * parts}
    require(sum(sizes) == C, "sizes", f"`sizes` add up to {sum(sizes)}, but there are {C} channels")
    return {"K_i": list(sizes)}


@each(Slice.y)
def slice_y(which, n, k, i, x, K_offset):
    return x[n, K_offset + k, i]


@gradient(Slice.x, over=Slice.y, along="C")
def slice_dx(n, c, i, dy):
    return dy[n, c, i]


@onnx(Slice)
def slice_onnx(graph, x, K_i, axis):
    return graph.Split(x, list(K_i), axis=place_of_axis(axis, x), outputs=len(K_i))


@layer(
    "split",
    elsewhere={"Caffe": "Split", "Mocha": "SplitLayer"},
    terms=("copies", "copy"),
    since=1,
)
class Split:
    """Copies of the input as several outputs.

    The gradient is the sum of the outputs' gradients. Any number of layers may read an output without it, as in Paddle;
    Caffe inserts this layer automatically, Mocha requires it. To split a value into parts, see `slice` (ONNX's Split).
    """

    x = Input("...", "values to copy", seq=(0, 1, 2))
    y = Output("...", "copies of `x`", repeatable=True)
    copies = Int("number of outputs", default=2, min=1, max=1024)
    examples = (Example(x="5"), Example(x="sequence of 2x3", copies=3), Example(x="3", copies=1))


@output_types(Split)
def split_types(x, copies):
    return [x] * copies


@each(Split.y)
def split_y(which, i, x):
    return x[i]


@gradient(Split.x)
def split_dx(i, dy):
    return sum(dy[j][i] for j in range(len(dy)))


@onnx(Split)
def split_onnx(graph, x, copies):
    return [x] * copies


@layer(
    "reshape",
    elsewhere={
        "Caffe": "Reshape",
        "Mocha": "ReshapeLayer",
        "ONNX": "Reshape",
        "Keras": "Reshape",
        "PyTorch": "Unflatten",
    },
    terms=("reshape", "view"),
    since=1,
)
class Reshape:
    """Reshapes each sample; values and their order are unchanged.

    `dims` is the shape of a sample, without the batch axis. 0 keeps the size of that axis of `x`, one -1 is inferred,
    as in Caffe and ONNX, whose dims start with the batch axis. Mocha's start with the fastest axis. For Paddle's
    resize, which reshapes a batch into rows of another width, see `resize`.
    """

    x = Input("...", "rows of any shape", seq=(0, 1, 2))
    y = Output("...", "the same values")
    dims = Ints("shape of a sample; 0: as in `x`, -1: inferred", min=-1)
    examples = (
        Example(x="12", dims=[3, 2, 2]),
        Example(x="2x3x5", dims=[0, -1]),
        Example(x="sequence of 4x3", dims=[-1, 2, 2]),
        Example(x="1", dims=[]),
    )


@output_types(Reshape)
def reshape_types(x, dims):
    require(dims.count(-1) <= 1, "dims", "at most one of `dims` may be -1")
    sizes = []
    for place, size in enumerate(dims):
        known = size != 0 or place < len(x.dims)
        require(known, "dims", f"0 in place {place + 1} of `dims` keeps an axis, but a row has {len(x.dims)}")
        sizes.append(x.dims[place] if size == 0 else size)
    if -1 in sizes:
        # The -1 itself makes the product negative.
        others = -math.prod(sizes)
        require(x.size % others == 0, "dims", f"{x.size} values a row are no multiple of {others}")
        sizes[sizes.index(-1)] = x.size // others
    count = math.prod(sizes)
    require(count == x.size, "dims", f"`dims` hold {count} values a row, but the input has {x.size}")
    return [Type.dense(*sizes, level=x.level)]


@each(Reshape.y)
def reshape_y(i, x):
    return x[i]


@onnx(Reshape)
def reshape_onnx(graph, x, dims):
    known = [x.dims[place] if size == 0 else size for place, size in enumerate(dims)]
    # ONNX infers one axis at most, and here that is the batch.
    left = x.size // abs(math.prod(known))
    return graph.Reshape(x, [-1, *(left if size == -1 else size for size in known)])


@layer(
    "flatten",
    elsewhere={"Caffe": "Flatten", "ONNX": "Flatten", "Keras": "Flatten", "PyTorch": "Flatten"},
    terms=("flatten",),
    since=1,
)
class Flatten:
    """Flattens each sample to one axis; values and their order are unchanged.

    Caffe can merge a range of axes (`axis`, `end_axis`): see `reshape`. Paddle and Mocha need no such layer, since
    their layers for vectors accept images; so does `fc` here.
    """

    x = Input("...", "rows of any shape", seq=(0, 1, 2))
    y = Output("...", "the same values in one axis")
    examples = (Example(x="2x3x4"), Example(x="sequence of 3x2"), Example(x="5"), Example(x="scalar"))


@output_types(Flatten)
def flatten_types(x):
    return [Type.dense(x.size, level=x.level)]


@each(Flatten.y)
def flatten_y(i, x):
    return x[i]


@onnx(Flatten)
def flatten_onnx(graph, x):
    return graph.Flatten(x, axis=1) if x.dims else graph.Reshape(x, [-1, 1])


@layer(
    "repeat",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={"Paddle": "featmap_expand", "Caffe": "Tile", "ONNX": "Tile"},
    terms=("repeat", "tile", "interleave"),
    since=1,
)
class Repeat:
    """Repeats an axis of each sample: the whole axis (tile), or each element (interleave).

    With two repetitions, the row `[a, b]` becomes `[a, b, a, b]`, or `[a, a, b, b]` if `as_row_vector` is false. With
    `axis: 2` the rows of an image are repeated, and so on. Paddle's helper is `repeat_layer`, for columns; Caffe's Tile
    repeats any axis as a whole. To repeat samples see `expand`.
    """

    x = Input("N... C@axis ...", "feature vectors or images", seq=(0, 1, 2))
    y = Output("N... D@axis ...", "`num_repeats` copies along the axis")
    num_repeats = Int("number of repetitions", min=1, aliases=("num_filters",))
    as_row_vector = Bool("repeat the whole axis (true, tile) or each element (false, interleave)", default=True)
    axis = Int("repeated axis: 1 is the first after the batch axis, -1 the last", default=1)
    examples = (
        Example(x="3", num_repeats=2),
        Example(x="sequence of 2", num_repeats=3, as_row_vector=False, act="tanh"),
        Example(x="2x3", num_repeats=2, axis=-1),
        Example(x="2x2x3", num_repeats=2, axis=2, as_row_vector=False),
    )


@infer(Repeat)
def repeat_sizes(C, num_repeats):
    return {"D": C * num_repeats}


@each(Repeat.y)
def repeat_y(n, d, i, x, as_row_vector, num_repeats, C):
    return x[n, d % C, i] if as_row_vector else x[n, d // num_repeats, i]


@gradient(Repeat.x)
def repeat_dx(n, c, i, dy, as_row_vector, num_repeats, C):
    return sum(dy[n, j * C + c, i] if as_row_vector else dy[n, c * num_repeats + j, i] for j in range(num_repeats))


@onnx(Repeat)
def repeat_onnx(graph, x, num_repeats, as_row_vector, axis):
    place = place_of_axis(axis, x)
    before, size, behind = x.dims[: place - 1], x.dims[place - 1], x.dims[place:]
    ones = [1] * place
    if as_row_vector:
        return graph.Tile(x, [*ones, num_repeats, *([1] * len(behind))])
    # ONNX has no interleaving: a new axis after the repeated one is tiled and merged with it.
    apart = graph.shaped(x, *before, size, 1, *behind)
    repeated = graph.Tile(apart, [*ones, 1, num_repeats, *([1] * len(behind))])
    return graph.shaped(repeated, *before, size * num_repeats, *behind)
