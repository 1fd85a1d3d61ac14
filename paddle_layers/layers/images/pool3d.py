"""3-D pooling. Attributes are lists in the order depth, height, width."""

from paddle_layers.define import (
    Choice,
    Example,
    Input,
    Ints,
    Numbers,
    Output,
    Temp,
    each,
    gradient,
    infer,
    layer,
    onnx,
    real,
)
from paddle_layers.layers.helpers import exceeds
from paddle_layers.layers.images.conv3d import UNITS, each_axis
from paddle_layers.layers.images.pooling import (
    DIVISORS,
    ROUNDINGS,
    first_window,
    inside,
    pixels,
    pool_nodes,
    windows,
)


@layer(
    "pool3d",
    common=("act", "drop_rate", "error_clip"),
    elsewhere={
        "Paddle": "pool3d",
        "ONNX": "MaxPool, AveragePool",
        "Keras": "MaxPooling3D, AveragePooling3D",
        "PyTorch": "MaxPool3d, AvgPool3d",
    },
    terms=("3-D pooling", "3-D max pooling", "3-D average pooling"),
    since=1,
)
class Pool3d:
    """3-D pooling: maximum or average of each window of a volume, per channel.

    `pool` with one more axis; windows, rounding, divisors, NaN and equal maxima are as described there. Attributes per
    axis are lists in the order depth, height, width, such as `pool_size: [1, 2, 2]`, or one value for all three. For
    global pooling see `reduction` with `axes: [2, 3, 4]`.

    Paddle's lists begin with the width; its helper of version 0.11 accepts pooling types that its layer rejects. ONNX,
    Keras and PyTorch round down: `rounding: FLOOR`.
    """

    x = Input("N C Z H W", "3-D volumes: channels, depth, height, width", seq=(0, 1, 2), kinks=("ties",))
    y = Output("N C R P Q", "one value per window")
    pool_type = Choice("type of pooling", options={"MAX": "its maximum", "AVERAGE": "its mean"}, default="MAX")
    pool_size = Ints("window size along each axis", min=1, min_items=1, max_items=3, aliases=("kernel_size",))
    stride = Ints("stride along each axis", default=(1,), min=1, min_items=1, max_items=3)
    padding = Ints("padding at both ends", default=(0,), min=0, min_items=1, max_items=3)
    padding_end = Ints(
        "padding at the end, if it differs from the start",
        min=0, min_items=1, max_items=3, default_from="padding",
    )  # fmt: skip
    rounding = Choice("treatment of a last window that exceeds the input", options=ROUNDINGS, default="CEIL")
    divisor = Choice("divisor of average pooling", options=DIVISORS, default="VALID")
    size = Numbers("window size along each axis")
    step = Numbers("stride along each axis")
    ahead = Numbers("padding at the start of each axis")
    behind = Numbers("padding at the end of each axis")
    where = Temp("N C R P Q", "index of the maximum, (z * H + h) * W + w, or -1", kind="INT")
    examples = (
        Example(x="2x4x4x4", pool_size=[2], stride=[2]),
        Example(x="1x3x5x4", pool_size=[1, 3, 2], stride=[1, 2, 2], padding=[0, 1, 1], rounding="FLOOR"),
        Example(x="1x4x3x4", pool_type="AVERAGE", pool_size=[3, 2, 2], stride=[2], padding=[1], divisor="PADDED"),
        Example(x="1x3x3x3", pool_type="AVERAGE", pool_size=[2], stride=[3, 2, 2], padding=[1], rounding="CEIL_ALL"),
        Example(x="sequence of 1x2x3x2", pool_type="AVERAGE", pool_size=[2], divisor="KERNEL", padding_end=[1]),
    )


@infer(Pool3d)
def pool3d_numbers(Z, H, W, pool_size, stride, padding, padding_end, rounding):
    size, step = each_axis(pool_size, "pool_size"), each_axis(stride, "stride")
    ahead, behind = each_axis(padding, "padding"), each_axis(padding_end, "padding_end")
    counts = [
        windows(extent, size[at], step[at], ahead[at], behind[at], rounding, "pool_size", UNITS[at])
        for at, extent in enumerate((Z, H, W))
    ]
    return {**dict(zip("RPQ", counts, strict=True)), "size": size, "step": step, "ahead": ahead, "behind": behind}


@each(Pool3d.where)
def pool3d_where(n, c, r, p, q, x, Z, H, W, size, step, ahead):
    # -1 marks that no element was read: a value such as minus infinity may itself be the maximum.
    where, largest = -1, 0.0
    for z in range(max(0, r * step[0] - ahead[0]), min(Z, r * step[0] - ahead[0] + size[0])):
        for h in range(max(0, p * step[1] - ahead[1]), min(H, p * step[1] - ahead[1] + size[1])):
            for w in range(max(0, q * step[2] - ahead[2]), min(W, q * step[2] - ahead[2] + size[2])):
                if where < 0 or exceeds(x[n, c, z, h, w], largest):
                    where, largest = (z * H + h) * W + w, x[n, c, z, h, w]
    return where


@each(Pool3d.y)
def pool3d_y(n, c, r, p, q, x, where, Z, H, W, pool_type, divisor, size, step, ahead, behind):
    if pool_type == "MAX":
        at = where[n, c, r, p, q]
        return x[n, c, at // (H * W), at // W % H, at % W] if at >= 0 else 0.0
    total = 0.0
    for z in range(max(0, r * step[0] - ahead[0]), min(Z, r * step[0] - ahead[0] + size[0])):
        for h in range(max(0, p * step[1] - ahead[1]), min(H, p * step[1] - ahead[1] + size[1])):
            for w in range(max(0, q * step[2] - ahead[2]), min(W, q * step[2] - ahead[2] + size[2])):
                total += x[n, c, z, h, w]
    if divisor == "KERNEL":
        return total / real(size[0] * size[1] * size[2])
    if divisor == "PADDED":
        planes = inside(r, size[0], step[0], ahead[0], Z + behind[0])
        rows = inside(p, size[1], step[1], ahead[1], H + behind[1])
        return total / real(planes * rows * inside(q, size[2], step[2], ahead[2], W + behind[2]))
    planes, rows = pixels(r, size[0], step[0], ahead[0], Z), pixels(p, size[1], step[1], ahead[1], H)
    return total / real(planes * rows * pixels(q, size[2], step[2], ahead[2], W))


@gradient(Pool3d.x)
def pool3d_dx(n, c, z, h, w, dy, where, Z, H, W, R, P, Q, pool_type, divisor, size, step, ahead, behind):
    total = 0.0
    # Only the windows that contain the element, instead of a scatter.
    for r in range(first_window(z, size[0], step[0], ahead[0]), min(R, (z + ahead[0]) // step[0] + 1)):
        for p in range(first_window(h, size[1], step[1], ahead[1]), min(P, (h + ahead[1]) // step[1] + 1)):
            for q in range(first_window(w, size[2], step[2], ahead[2]), min(Q, (w + ahead[2]) // step[2] + 1)):
                if pool_type == "MAX":
                    if where[n, c, r, p, q] == (z * H + h) * W + w:
                        total += dy[n, c, r, p, q]
                elif divisor == "KERNEL":
                    total += dy[n, c, r, p, q] / real(size[0] * size[1] * size[2])
                elif divisor == "PADDED":
                    planes = inside(r, size[0], step[0], ahead[0], Z + behind[0])
                    rows = inside(p, size[1], step[1], ahead[1], H + behind[1])
                    columns = inside(q, size[2], step[2], ahead[2], W + behind[2])
                    total += dy[n, c, r, p, q] / real(planes * rows * columns)
                else:
                    planes, rows = pixels(r, size[0], step[0], ahead[0], Z), pixels(p, size[1], step[1], ahead[1], H)
                    total += dy[n, c, r, p, q] / real(planes * rows * pixels(q, size[2], step[2], ahead[2], W))
    return total


@onnx(Pool3d)
def pool3d_onnx(graph, x, Z, H, W, R, P, Q, pool_type, divisor, size, step, ahead, behind):
    return pool_nodes(graph, x, pool_type, divisor, [Z, H, W], [R, P, Q], size, step, ahead, behind)
