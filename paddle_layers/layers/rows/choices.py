"""Rows of which a second input says what becomes of them: which of several it is, how far it is turned, which box."""

from paddle_layers.define import Example, Float, Input, Output, each, gradient, infer, layer, onnx, real, require


@layer("multiplex", elsewhere={"Paddle": "multiplex"}, since=1)
class Multiplex:
    """Takes every row from one of several inputs; `index` says from which, counted from 0.

    `y[n] = x_i[n]` with `i = index[n]`. The gradient goes to the input that was chosen. Paddle does the same.
    """

    index = Input("N", "number of the input that a row is taken from", kinds=("INT",), seq=(0, 1, 2))
    x = Input("N ...", "the inputs that rows are taken from", repeatable=True, seq=(0, 1, 2))
    y = Output("N ...", "the rows that were chosen")
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
    return dy[n, i] if index[n] == which else 0.0


@onnx(Multiplex)
def multiplex_onnx(graph, index, x):
    together = graph.Concat(*(graph.Unsqueeze(one, [1]) for one in x), axis=1)
    return graph.GatherND(together, graph.Unsqueeze(index, [1]), batch_dims=1)


@layer("conv_shift", elsewhere={"Paddle": "conv_shift"}, since=1)
class ConvShift:
    """Turns every row around by as much as the weights in a second one say: a circular convolution.

    `y[n, i] = sum over j of x[n, (i + j - (K - 1) / 2) mod C] * weights[n, j]`, with an odd number K of weights. A
    single 1 in the middle changes nothing, one behind it turns the row one place to the front. Neural Turing machines
    (Graves, Wayne and Danihelka 2014) move their attention so. Paddle does the same.
    """

    x = Input("N C", "rows that are turned", seq=(0, 1, 2))
    weights = Input("N K", "an odd number of weights, the middle one for no turn", seq=(0, 1, 2))
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
        total += x[n, (c + k + C * K - K // 2) % C] * weights[n, k]
    return total


@gradient(ConvShift.x)
def conv_shift_dx(n, c, dy, weights, C, K):
    total = 0.0
    for k in range(K):
        total += dy[n, (c - k + C * K + K // 2) % C] * weights[n, k]
    return total


@gradient(ConvShift.weights)
def conv_shift_dweights(n, k, dy, x, C, K):
    total = 0.0
    for c in range(C):
        total += x[n, (c + k + C * K - K // 2) % C] * dy[n, c]
    return total


@onnx(ConvShift)
def conv_shift_onnx(graph, x, weights, C, K):
    turned = [[(c + k - K // 2) % C for k in range(K)] for c in range(C)]
    return graph.Squeeze(graph.MatMul(graph.Gather(x, turned, axis=1), graph.Unsqueeze(weights, [2])), [2])


@layer("scale_sub_region", elsewhere={"Paddle": "scale_sub_region, mul_value"}, since=1)
class ScaleSubRegion:
    """Multiplies a box of every image by `value`; what is outside of the box stays.

    `indices` has six numbers a row: the first and the last channel of the box, the first and the last row, the first
    and the last column, counted from 1 as in Paddle, the last ones included. A box may reach beyond the image, and one
    whose last number is before its first is empty. The box gets no gradient.
    """

    x = Input("N C H W", "images: channels, rows, columns", seq=(0, 1, 2))
    indices = Input("N B", "six numbers a row", seq=(0, 1, 2), within=(1, 4))
    y = Output("N C H W", "same shape as `x`")
    value = Float("what the box is multiplied by")
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
    channel = indices[n, 0] <= real(c + 1) <= indices[n, 1]
    row = indices[n, 2] <= real(h + 1) <= indices[n, 3]
    if channel and row and indices[n, 4] <= real(w + 1) <= indices[n, 5]:
        return x[n, c, h, w] * value
    return x[n, c, h, w]


@gradient(ScaleSubRegion.x)
def scale_sub_region_dx(n, c, h, w, dy, indices, value):
    channel = indices[n, 0] <= real(c + 1) <= indices[n, 1]
    row = indices[n, 2] <= real(h + 1) <= indices[n, 3]
    if channel and row and indices[n, 4] <= real(w + 1) <= indices[n, 5]:
        return dy[n, c, h, w] * value
    return dy[n, c, h, w]


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
