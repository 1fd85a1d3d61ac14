"""Selection among inputs, circular convolution and scaling of sub-regions."""

from paddle_layers.define import Example, Float, Input, Output, each, gradient, infer, layer, onnx, real, require


@layer(
    "multiplex",
    elsewhere={"Paddle": "multiplex"},
    terms=("selects each row", "select among inputs", "multiplexer", "switch"),
    since=1,
)
class Multiplex:
    """Selects each row from one of several inputs by an index, counted from 0.

    `y[n] = x_i[n]` with `i = index[n]`. The gradient flows to the selected input. Paddle's layer is the same.
    """

    index = Input("N", "index of the input that each row is selected from", kinds=("INT",), seq=(0, 1, 2))
    x = Input("N ...", "the inputs to select from", repeatable=True, seq=(0, 1, 2))
    y = Output("N ...", "the selected rows")
    examples = (
        Example(index="ids<2", x=["3", "3"]),
        Example(index="ids<3", x=["2x2", "2x2", "2x2"]),
        Example(index="sequence of ids<2", x=["sequence of 2", "sequence of 2", "sequence of 2"]),
    )


@infer(Multiplex)
def multiplex_check(index, x):
    text = f"`index` has {index.size} numbers, but there are {len(x)} inputs to take rows from"
    require(index.size <= len(x), "index", text)
    return {}


@each(Multiplex.y)
def multiplex_y(n, i, index, x):
    return x[index[n]][n, i]


@gradient(Multiplex.x)
def multiplex_dx(which, n, i, dy, index):
    # Rows that were not selected get zeros, so that every element of each gradient is written.
    return dy[n, i] if index[n] == which else 0.0


@onnx(Multiplex)
def multiplex_onnx(graph, index, x):
    # A gather with one batch dimension reads row n of the index for row n of the inputs.
    together = graph.Concat(*(graph.Unsqueeze(one, [1]) for one in x), axis=1)
    return graph.GatherND(together, graph.Unsqueeze(index, [1]), batch_dims=1)


@layer(
    "conv_shift",
    elsewhere={"Paddle": "conv_shift"},
    terms=("circular convolution", "location-based attention"),
    since=1,
)
class ConvShift:
    """Circular convolution of each row with a kernel that is a second input.

    `y[n, i] = sum over j of x[n, (i + j - (K - 1) / 2) mod C] * weights[n, j]`, with an odd number K of weights. A
    single 1 at the center is the identity, a 1 right after it shifts the row by one column to the left. Used for
    location-based attention in neural Turing machines (Graves, Wayne and Danihelka 2014). Paddle's layer is the same.
    """

    x = Input("N C", "the signals", seq=(0, 1, 2))
    weights = Input("N K", "kernel: an odd number of weights, the center one for shift 0", seq=(0, 1, 2))
    y = Output("N C", "same shape as `x`")
    examples = (
        Example(x="5", weights="3"),
        Example(x="2", weights="5"),
        Example(x="sequence of 3", weights="sequence of 1"),
    )


@infer(ConvShift)
def conv_shift_check(K):
    require(K % 2 == 1, "weights", f"{K} weights have no middle: give an odd number")
    return {}


@each(ConvShift.y)
def conv_shift_y(n, c, x, weights, C, K):
    total = 0.0
    for k in range(K):
        # A multiple of C keeps the dividend from being negative.
        total += x[n, (c + k + C * K - K // 2) % C] * weights[n, k]
    return total


@gradient(ConvShift.x)
def conv_shift_dx(n, c, dy, weights, C, K):
    return sum(dy[n, (c - k + C * K + K // 2) % C] * weights[n, k] for k in range(K))


@gradient(ConvShift.weights)
def conv_shift_dweights(n, k, dy, x, C, K):
    return sum(x[n, (c + k + C * K - K // 2) % C] * dy[n, c] for c in range(C))


@onnx(ConvShift)
def conv_shift_onnx(graph, x, weights, C, K):
    # Python's remainder is never negative, so that this one needs no multiple of C.
    turned = [[(c + k - K // 2) % C for k in range(K)] for c in range(C)]
    return graph.Squeeze(graph.MatMul(graph.Gather(x, turned, axis=1), graph.Unsqueeze(weights, [2])), [2])


@layer(
    "scale_sub_region",
    elsewhere={"Paddle": "scale_sub_region, mul_value"},
    terms=("box-shaped region", "scale a region"),
    since=1,
)
class ScaleSubRegion:
    """Scales a box-shaped region of every image by `value`; values outside of it are unchanged.

    `indices` has six values per sample: first and last channel, first and last row, first and last column of the
    region, counted from 1 as in Paddle, inclusive. A region may exceed the image, and one whose last index is smaller
    than its first is empty. The indices have no gradient.
    """

    x = Input("N C H W", "images: channels, height, width", seq=(0, 1, 2))
    indices = Input("N B", "six values per sample", seq=(0, 1, 2), within=(1, 4))
    y = Output("N C H W", "same shape as `x`")
    value = Float("scale of the region")
    examples = (
        Example(x="2x4x5", indices="6", value=0.5),
        Example(x="3x2x2", indices="6", value=-2.0),
        Example(x="sequence of 1x2x3", indices="sequence of 6", value=0.0),
    )


@infer(ScaleSubRegion)
def scale_sub_region_check(B):
    require(B == 6, "indices", f"a box has six numbers, first and last of channels, rows, columns; there are {B}")
    return {}


@each(ScaleSubRegion.y)
def scale_sub_region_y(n, c, h, w, x, indices, value):
    # Positions are compared as floats and index nothing, so that a region may exceed the image.
    channel = indices[n, 0] <= real(c + 1) <= indices[n, 1]
    row = indices[n, 2] <= real(h + 1) <= indices[n, 3]
    if channel and row and indices[n, 4] <= real(w + 1) <= indices[n, 5]:
        return x[n, c, h, w] * value
    return x[n, c, h, w]


@onnx(ScaleSubRegion)
def scale_sub_region_onnx(graph, x, indices, C, H, W, value):
    inside = None
    for at, size in enumerate((C, H, W)):
        places = [float(place) for place in range(1, size + 1)]
        first, last = (graph.Slice(indices, [2 * at + end], [2 * at + end + 1], [1]) for end in (0, 1))
        own = graph.And(graph.GreaterOrEqual(places, first), graph.LessOrEqual(places, last))
        own = graph.Reshape(own, [0, *(size if at == axis else 1 for axis in range(3))])
        inside = own if inside is None else graph.And(inside, own)
    return graph.Where(inside, graph.Mul(x, value), x)
