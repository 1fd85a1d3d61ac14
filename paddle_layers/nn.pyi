"""A helper for every registered layer. Made by `paddle-layers stubs`: do not edit."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from paddle_layers.config.building.calls import Sink as Sink
from paddle_layers.config.building.calls import Value as Value

Block: TypeAlias = Mapping[str, Any]
R = TypeVar("R")

def abs(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Size of every value without its sign: `y = |x|`. The derivative at 0 is 0, as in Paddle and Caffe.

    x: values of any shape
    """

def accuracy(
    x: Value,
    label: Value,
    *,
    top_k: int = 1,
    ignore_label: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Share of the rows whose right class is among the `top_k` best scores.

    A row is right if fewer than `top_k` other classes score as much as the right one or more, so ties count against
    it, as in Caffe: a network that gives every class the same score is right nowhere. A score that is not a number
    counts against the row, too. Rows whose label is `ignore_label` or outside the classes are not counted; with no
    row counted there is no share (NaN), where Caffe gives 0. Counts run on over the batches until they are reset, as
    in Mocha. Paddle reports the error rate, one minus this: `classification_error`.

    x: score or probability of every class
    label: right class of every row
    top_k: how many best scores count as right (>= 1, 1)
    ignore_label: rows of this class are not counted (none)
    """

def add(
    x: Value,
    other: Value,
    *,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Sum of two inputs, of which the second may have one number for each channel, point or row.

    `y[n, c, i] = x[n, c, i] + other[n, c, i]`, and `other` may have 1 in place of axes, as in `mul`. Caffe's Bias with
    two inputs is this with one number for each channel. Learned summands are in `shift`, sums of any number of inputs
    of one shape in `addto`.

    x: rows or images
    other: the same shape, or 1 in place of the channels, of the other axes, or of both
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def addto(
    *x: Value | Sequence[Value],
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Sum of inputs of one shape, as at the end of a residual block.

    `y = sum_i x_i`. Paddle may add a bias to it, off by default: put a `shift` behind the layer for that. Caffe's
    coefficients are in `eltwise`, a summand of one number for each channel in `add`. Mocha and KUnet take exactly two
    inputs.

    x: terms
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def arg_max(
    x: Value,
    *,
    axis: int = 1,
    operation: Literal["MAX", "MIN"] = "MAX",
    last: bool = False,
    keep_dims: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Place of the largest value along an axis, or of the smallest, as a real number: 0 is the first place.

    An image of C channels becomes H x W places with `axis: 1`. Of equal values the first counts, or the last with
    `last`; where one is NaN, so is the place. Nothing learns through it. Ids of classes, which an embedding and
    statistics take, are in `maxid`, the largest values with their places in `top_k`, those alone in `reduction`.
    Caffe's ArgMax takes the whole row unless `axis` is set, and the last of equal values; its `top_k` and `out_max_val`
    are in `top_k`.

    x: rows of any shape
    axis: axis that is searched: 1 is the first behind the rows, -1 the last (1)
    operation: what is sought (MAX)
    last: of equal values the last counts (false)
    keep_dims: leave an axis of one element in the place of it (false)
    """

def auc(
    x: Value,
    label: Value,
    weight: Value | None = None,
    *,
    bins: int = 4096,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Area under the ROC curve: the share of the pairs of a row of class 1 and one of class 0 in the right order.

    In the right order, the row of class 1 has the higher score; pairs with equal scores count one half (Hanley and
    McNeil 1982), and with weights each pair counts as the product of both. The score is the last column, a probability.
    Scores are counted in `bins` of equal width, as in Paddle, so the pairs are those of all rows since the last reset.
    Rows in one bin count as equal: the area is off by at most half the share of the pairs that are in one bin, which is
    `1 / (2 * bins)` for scores that are spread evenly. If any score is outside of 0 to 1 there is no area (NaN):
    behind an `fc` without an activation, put a `softmax` or a `sigmoid` between.

    x: probabilities; the last column counts
    label: 0 or 1
    weight: importance of every row
    bins: bins of scores (>= 2, 4096)
    """

def batch_norm(
    x: Value,
    *,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    use_global_stats: bool | None = None,
    unbiased: bool = False,
    bias: bool = True,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Brings every channel to mean 0 and variance 1 over the batch, then scales by `gain` and adds `bias`.

    `y = (x - mean) / sqrt(var + epsilon) * gain + bias`

    (Ioffe and Szegedy 2015). In training, mean and variance of a channel are those of all rows and pixels of the batch,
    the variance divided by their number, and the running averages move with every step:

    `running = momentum * running + (1 - momentum) * batch`

    In the test phase they stand in place of the batch's. A batch without rows has no averages: it takes the running
    ones and leaves them as they are.

    Paddle: `momentum` is its `moving_average_fraction`, 0.9. Caffe: 0.999, the running variance is the unbiased one
    (`unbiased`), the averages do not start from 0 and 1 but are divided by the weights of the batches so far, and
    `gain` and `bias` are a Scale layer of their own. With `use_global_stats` true the running values
    are used in training too and stand still, with false the batch's values are used in the test phase too.

    x: rows or images
    momentum: share of the old average that stays (>= 0 and <= 1, 0.9)
    epsilon: added to the variance (> 0, 1e-05)
    use_global_stats: use the running averages; when absent: in the test phase (none)
    unbiased: the running variance averages the unbiased estimate (false)
    bias: add a bias to every output (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def bidirectional_gru(
    x: Value,
    *,
    size: int,
    return_seq: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Two `simple_gru`, one from the start of each sequence and one from its end, side by side.

    By default a sequence becomes one row: the last one of the way forward and the first one of the way back, which have
    seen all of it. Of nested sequences every sub-sequence becomes one.

    x: rows of sequences
    size: number of units of each way (>= 1, required)
    return_seq: a row for every row of `x`; else one for each sequence: where both ways end (false)
    """

def bidirectional_lstm(
    x: Value,
    *,
    size: int,
    return_seq: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Two `simple_lstm`, one from the start of each sequence and one from its end, side by side.

    By default a sequence becomes one row: the last one of the way forward and the first one of the way back, which have
    seen all of it. Of nested sequences every sub-sequence becomes one.

    x: rows of sequences
    size: number of units of each way (>= 1, required)
    return_seq: a row for every row of `x`; else one for each sequence: where both ways end (false)
    """

def bilinear_interp(
    x: Value,
    *,
    out_size: int | None = None,
    out_size_y: int | None = None,
    scale: int | None = None,
    scale_y: int | None = None,
    corners: Literal["ALIGNED", "HALF_PIXEL"] = "ALIGNED",
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Brings images to another size; a pixel is the mean of the four around its place, by how near they are.

    A pixel `(p, q)` of the result lies at a place `(u, v)` of the image, which `corners` says. With
    `h = floor(u)`, `w = floor(v)`, `s = u - h` and `t = v - w`

    `y[p, q] = (1 - s) * ((1 - t) * x[h, w] + t * x[h, w + 1]) + s * ((1 - t) * x[h + 1, w] + t * x[h + 1, w + 1])`

    A size is given in pixels or as a multiple of that of the image. `ALIGNED` is Paddle's rule and `align_corners=True`
    of PyTorch, `HALF_PIXEL` that of PyTorch's default, Keras and ONNX. A smaller image is not smoothed before.

    x: images: channels, rows, columns
    out_size: columns of the result (>= 1, none)
    out_size_y: rows of the result (>= 1, same as out_size)
    scale: how many times as many columns (>= 1, none)
    scale_y: how many times as many rows (>= 1, same as scale)
    corners: where a pixel of the result lies in the image (ALIGNED)
    """

def chunk(
    x: Value,
    label: Value,
    *,
    num_chunk_types: int,
    scheme: Literal["PLAIN", "IOB", "IOE", "IOBES"] = "IOB",
    excluded_chunk_types: Sequence[int] | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Precision, recall and F1 of chunks, such as names in a sentence: `F1 = 2 * correct / (found + wanted)`.

    A chunk is correct if it begins and ends at the same rows and is of the same type in both inputs. Rows are numbered
    `type * tags + tag`, with the tags of `scheme` in the order given there, and the number behind the last one is for
    rows outside of all chunks. A row goes on with the chunk of the row before if it has the same type, that row does
    not end a chunk and this one does not begin one (Tjong Kim Sang and Buchholz 2000). As in Paddle.

    x: numbers that were found
    label: right numbers
    num_chunk_types: types of chunks (>= 1, required)
    scheme: what tags say of the place in a chunk (IOB)
    excluded_chunk_types: types that are not counted (at least 1 values, each >= 0, none)
    """

def class_weight(
    label: Value,
    *,
    weights: Sequence[float],
    ignore_label: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """The weight of every row's class, for the input `weight` of a cost.

    `y[n] = weights[label[n]]`, and 0 for a label that is `ignore_label` or outside the classes. So rare classes, or
    those whose mistakes cost more, teach more. The losses of `softmax_with_loss` and `cross_entropy` are then sums of
    weighted costs divided by the number of rows, not by that of weights: a mean weight of 1 leaves their size alone, as
    `rows / (classes * rows of the class)` has. PyTorch and ONNX divide by the weights.

    label: class of every row
    weights: weight of each class, in the order of the ids (required)
    ignore_label: rows of this class weigh nothing (none)
    """

def classification_error(
    x: Value,
    label: Value,
    weight: Value | None = None,
    *,
    top_k: int = 1,
    threshold: float = 0.5,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Share of the rows whose right class is not among the `top_k` best scores.

    One minus `accuracy`, which has the same rules for ties, and two things more, as in Paddle: rows may have weights,
    and a single score says yes (class 1) where it is above `threshold`. Counts run on over the batches until they are
    reset; without any weight there is no share (NaN).

    x: score or probability of every class
    label: right class of every row
    weight: importance of every row
    top_k: how many best scores count as right (>= 1, 1)
    threshold: where a single score says yes (0.5)
    """

def clip(
    x: Value,
    *,
    min: float | None = None,
    max: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Keeps every value within limits: below `min` it becomes `min`, above `max` it becomes `max`.

    `y = min(max(x, min), max)`, without one of the limits if that is not set. Values at a limit pass the gradient on,
    those beyond it do not, as in Caffe and Paddle, which want both limits; PyTorch's Hardtanh has -1 and 1 unless told
    otherwise, and stops the gradient at the limits too. To limit gradients instead, see `gradient_clip`.

    x: values of any shape
    min: smallest output; without it there is no lower limit (none)
    max: largest output; without it there is no upper limit (none)
    """

def column_sum(
    x: Value,
    weight: Value | None = None,
    *,
    column: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Mean over the rows of one column, for instance of the probability of a class; the last column as in Paddle.

    x: rows of numbers
    weight: importance of every row
    column: which column, from 0; the last when absent (>= 0, none)
    """

def concat(
    *x: Value | Sequence[Value],
    axis: int = 1,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Joins rows side by side; images by their channels, or along another axis.

    The channels of the first input come first, then those of the second, and so on; all other axes must agree.
    Caffe (`axis`) and Mocha (`dim`) can join along other axes as well; Paddle cannot. Their axis 0 are the rows.

    x: parts
    axis: axis that is joined: 1 is the first behind the rows, -1 the last (1)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def confusion_matrix(
    x: Value,
    label: Value,
    weight: Value | None = None,
    *,
    threshold: float = 0.5,
    ignore_label: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """How often each class was taken for each other one.

    `counts[k, j]` are the rows of class `k` that were found to be of class `j`, weighted. A row is found to be of the
    class with the best score, the first of equal ones, and of none where a score is not a number; a single score says
    yes (class 1) where it is above `threshold`. Rows whose label is `ignore_label` or outside the classes are not
    counted. `accuracy` is the share of the diagonal, `balanced_accuracy` the plain mean of the recalls of the classes
    that have rows. `paddle-layers evaluate` prints and draws the counts, with precision, recall and F1 of every class,
    and adds this layer to costs of classes by itself.

    x: score or probability of every class
    label: right class of every row
    weight: importance of every row
    threshold: where a single score says yes (0.5)
    ignore_label: rows of this class are not counted (none)
    """

def context(
    x: Value,
    *,
    length: int,
    start: int | None = None,
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Puts the rows around a row side by side: a window that moves over the sequence.

    `y[t] = x[t + start], ..., x[t + start + length - 1]`, zeros beyond the ends of the sequence. In Paddle it is a
    projection of `mixed`, and the rows beyond the ends may be learned (`trainable_padding`), which is not offered.

    x: rows of sequences
    length: rows of the window (>= 1 and <= 1024, required)
    start: the first row of the window, counted from the row itself; when absent the window is around it (>= -1024 and <= 1024, none)
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def contrastive_loss(
    a: Value,
    b: Value,
    alike: Value,
    *,
    margin: float = 1.0,
    legacy_version: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Brings rows of alike things together and holds those of others apart by a margin.

    With the distance `d = |a - b|`, `cost = d ** 2 / 2` for alike rows and `max(margin - d, 0) ** 2 / 2` for others
    (Hadsell, Chopra and LeCun, "Dimensionality reduction by learning an invariant mapping", 2006). With
    `legacy_version` it is `max(margin - d ** 2, 0) / 2` for others, as in Caffe's first version. Other rows that are
    equal have no direction in which to part, and do not move.

    a: rows
    b: rows to compare with
    alike: 1 where both rows stand for alike things, else 0
    margin: distance that others shall have (> 0, 1)
    legacy_version: take the squared distance from the margin, and do not square what is missing (false)
    """

def conv(
    x: Value,
    *,
    num_filters: int,
    filter_size: int,
    filter_size_y: int | None = None,
    stride: int = 1,
    stride_y: int | None = None,
    padding: int = 0,
    padding_y: int | None = None,
    padding_end: int | None = None,
    padding_end_y: int | None = None,
    dilation: int = 1,
    dilation_y: int | None = None,
    groups: int = 1,
    bias: bool = True,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Slides `num_filters` filters over an image and sums the products under each.

    `y[n, k, p, q] = bias[k] + sum over d, a, b of weight[k, d, a, b] * x[n, first(k) + d, h, w]` with
    `h = p * stride_y - padding_y + a * dilation_y`, `w = q * stride - padding + b * dilation`; elements outside the
    image count as zero. `first(k)` is the first channel of the filter's group: filters and channels are cut into
    `groups` equal runs, and a filter sees the channels of its own run. With as many groups as channels this is the
    depthwise convolution.

    The filter is not flipped (a cross-correlation), as in all the systems named here. The number of windows is
    rounded down:

    `spread = (filter_size_y - 1) * dilation_y + 1`, `P = (H + padding_y + padding_end_y - spread) // stride_y + 1`

    and `Q` in the same way. `padding_end` is that on the right and below where it is another one, as the second half of
    ONNX's `pads`. With stride 1 Keras' "same" is a `padding` of `(spread - 1) // 2` and a `padding_end` of
    `spread // 2`; with longer strides the sum is `max((P - 1) * stride + spread - H, 0)`, with `P = ceil(H / stride)`,
    and the end has the odd one. Paddle's `caffe_mode = false` rounds up; its helpers never set it. As in Paddle, the
    attributes that end in `_y` speak of rows and those without of columns, and a `_y` that is absent equals the other.

    x: images: channels, rows, columns
    num_filters: number of filters (>= 1, required)
    filter_size: columns of a filter (>= 1, required)
    filter_size_y: rows of a filter (>= 1, same as filter_size)
    stride: columns from one window to the next (>= 1, 1)
    stride_y: rows from one window to the next (>= 1, same as stride)
    padding: columns of zeros added on the left, and on the right (>= 0, 0)
    padding_y: rows of zeros added above, and below (>= 0, same as padding)
    padding_end: columns of zeros on the right, where they are others (>= 0, same as padding)
    padding_end_y: rows of zeros below, where they are others (>= 0, same as padding_y)
    dilation: columns from one element of a filter to the next (>= 1, 1)
    dilation_y: rows from one element of a filter to the next (>= 1, same as dilation)
    groups: runs that channels and filters are cut into (>= 1, 1)
    bias: add a bias to every output (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def conv_trans(
    x: Value,
    *,
    num_filters: int,
    filter_size: int,
    filter_size_y: int | None = None,
    stride: int = 1,
    stride_y: int | None = None,
    padding: int = 0,
    padding_y: int | None = None,
    output_padding: int = 0,
    output_padding_y: int | None = None,
    dilation: int = 1,
    dilation_y: int | None = None,
    groups: int = 1,
    bias: bool = True,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Puts every pixel's multiple of the filters into a larger image and adds what overlaps.

    `y[n, k, p, q] = bias[k] + sum over c, a, b of weight[c, k - first(k), a, b] * x[n, c, h, w]` over the pixels with
    `p = h * stride_y - padding_y + a * dilation_y` and `q = w * stride - padding + b * dilation`; `c` runs over the
    channels of the filter's group, and `first(k)` is the group's first filter.

    It is the gradient of `conv` for its input: a `conv` with the same settings makes an image of `H x W` out of one of
    `P x Q`, and

    `P = (H - 1) * stride_y - 2 * padding_y + (filter_size_y - 1) * dilation_y + 1 + output_padding_y`

    and `Q` in the same way. With a stride, several sizes come to the same `H`; `output_padding` says how many rows and
    columns more than the least there are, below and on the right. Paddle and Caffe have the least.

    To enlarge `s` times by bilinear interpolation, as is usual with Caffe: as many filters and groups as channels,
    `filter_size: 2 * s - s % 2`, `stride: s`, `padding: (s - 1) / 2` rounded up, no bias, and the initializer
    `bilinear` for `weight`.

    x: images: channels, rows, columns
    num_filters: number of filters (>= 1, required)
    filter_size: columns of a filter (>= 1, required)
    filter_size_y: rows of a filter (>= 1, same as filter_size)
    stride: columns from one pixel's filter to the next (>= 1, 1)
    stride_y: rows from one pixel's filter to the next (>= 1, same as stride)
    padding: columns taken off on the left and on the right (>= 0, 0)
    padding_y: rows taken off above and below (>= 0, same as padding)
    output_padding: columns more on the right (>= 0, 0)
    output_padding_y: rows more below (>= 0, same as output_padding)
    dilation: columns from one element of a filter to the next (>= 1, 1)
    dilation_y: rows from one element of a filter to the next (>= 1, same as dilation)
    groups: runs that channels and filters are cut into (>= 1, 1)
    bias: add a bias to every output (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def cos_sim(
    a: Value,
    b: Value,
    *,
    scale: float = 1.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cosine of the angle between a row and each of the vectors that lie side by side in another row.

    `y[n, k] = scale * (a . b_k) / (|a| * |b_k|)` with `b_k` the columns `k * C` and on of `b`. As many columns as in
    `a` are one vector; Paddle calls it `cos_vm` where there are more. A vector of zeros has no direction: its
    similarity is 0, and so is its gradient. Paddle stops there.

    a: rows
    b: K vectors side by side, as long as the rows of `a`
    scale: factor of the cosine (1)
    """

def crf(
    x: Value,
    label: Value,
    weight: Value | None = None,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Minus the log-likelihood of the labels of a sequence under a linear-chain conditional random field.

    A labelling `l` of the rows `1..n` has the score `start[l_1] + end[l_n] + sum over t of x[t, l_t] + sum over t > 1
    of step[l_(t-1), l_t]`; then `cost = log(sum over all labellings of exp(score)) - score(label)`, times `weight`
    where the sequence has one (Lafferty et al., "Conditional random fields", 2001). `transitions` has Paddle's layout:
    row 0 is `start`, row 1 is `end`, row `2 + i` has the scores of the steps from class `i`. An empty sequence costs
    nothing. A chain is a sub-sequence where sequences are nested; Paddle refuses these. Paddle's `coeff` scales the
    gradient and not the cost: `loss_weight` scales both.

    x: score of every class in every row
    label: right class of every row
    weight: importance of every sequence
    """

def crf_decoding(
    x: Value,
    label: Value | None = None,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> tuple[Value, ...]:
    """The labelling of a sequence that has the best score under a linear-chain conditional random field.

    Scores are those of `crf`; share its `transitions`. The path is found by Viterbi's algorithm; of equal steps the
    one from the smaller class is taken. With labels, `error` says where the path differs from them; without, it holds
    NaN. Paddle has one output: the path without labels, the errors with them.

    x: score of every class in every row
    label: right class of every row
    """

def crop(
    x: Value,
    like: Value | None = None,
    *,
    axes: Sequence[int] | None = None,
    begin: Sequence[int] | None = None,
    sizes: Sequence[int] | None = None,
    steps: Sequence[int] | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cuts a part out of rows: along each of `axes` so many elements from a place on, the next ones `steps` apart.

    `y[i] = x[begin + i * steps]` along each axis. `begin`, `sizes` and `steps` have a number for each of `axes`, or one
    for all of them; in place of `sizes` a second input may say how large the part is. Without either it reaches to the
    end. Caffe's and Paddle's Crop cut all axes from `axis` on to the size of a second input, with `offset` for `begin`.
    To cut into several parts see `slice`.

    x: rows of any shape
    like: rows of as many axes, whose sizes along `axes` are wanted
    axes: axes that are cut, counted from 1, or from -1 back; without it all (at least 1 values, none)
    begin: first element that stays, from 0 on; without it 0 (at least 1 values, each >= 0, none)
    sizes: how many elements stay; without it all from `begin` on (at least 1 values, each >= 1, none)
    steps: elements from one that stays to the next (at least 1 values, each >= 1, none)
    """

def cross_entropy(
    x: Value,
    label: Value,
    weight: Value | None = None,
    *,
    floor: float = 1e-20,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Minus the logarithm of the probability given to the right class.

    `cost = -log(max(x[label], floor))`, times `weight` where the row has one. `x` are probabilities, as `softmax`
    gives; on scores, `softmax_with_loss` is the same with less rounding. Below `floor` the cost is flat and its
    gradient 0. Caffe and Mocha have a floor of 1e-20, Paddle has none; Mocha's layer has no gradient. Paddle's `coeff`
    scales the gradient and not the cost: `loss_weight` scales both.

    x: probability of every class
    label: right class of every row
    weight: importance of every row
    floor: smallest probability that counts (> 0 and < 1, 1e-20)
    """

def ctc(
    x: Value,
    label: Value,
    *,
    max_labels: int,
    blank: int = 0,
    norm_by_times: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Minus the log-likelihood of labels under connectionist temporal classification.

    Every row of `x` says a class with the probability `softmax(x)`. What the rows say becomes labels when a class that
    is said several times running counts once, and blanks are left out; `cost = -log(sum over all that becomes the
    labels of the product of its probabilities)` (Graves et al., "Connectionist temporal classification", 2006). Labels
    that need more rows than there are cost nothing and teach nothing, as in Paddle; PyTorch has infinity unless told
    otherwise. Blanks among the labels are left out, so labels may be filled up with them.

    This is Paddle's `warp_ctc`. Its `ctc` has the blank last and takes probabilities: give it the scores below their
    softmax and `blank` the number of the last class. Paddle's `norm_by_times` divides the gradient and not the cost.

    x: score of every class in every row
    label: labels in their order
    max_labels: most labels of a sequence, for which memory is held; with more of them it costs NaN (>= 1, required)
    blank: class that says nothing (>= 0, 0)
    norm_by_times: divide the cost by the number of rows (false)
    """

def ctc_edit_distance(
    x: Value,
    label: Value,
    *,
    blank: int = 0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Edits that turn what the rows say into the labels, as a share of the labels: the label error rate.

    Every row says the class with the best score; a class that is said several times running counts once, and blanks
    are left out, here and among the labels, as in `ctc`. An edit puts in, takes out or replaces one class (Levenshtein
    1966). Paddle also counts the three kinds of edits and the sequences that need any.

    x: score of every class in every row
    label: labels in their order
    blank: class that says nothing (>= 0, 0)
    """

def data(
    *,
    shape: Sequence[int] | None = None,
    data_type: Literal["DENSE", "INT", "SPARSE", "SPARSE_INT"] = "DENSE",
    size: int | None = None,
    seq_nested_level: int = 0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """A value that is fed to the network under the layer's name.

    Real numbers have a `shape`, the axes behind the row axis; without one, a row is a single number. Ids and sparse
    rows have a `size` instead. Rows may be grouped in sequences, or in sequences of sub-sequences, and then follow
    one another without padding. Paddle's `data_layer` gives a dense value its width as `size`; Caffe's shapes include
    the batch, which here is never part of a shape.

    shape: axes behind the row axis, without the batch (>= 1, none)
    data_type: what a row is (DENSE)
    size: number of ids, or width of a sparse row (>= 1, none)
    seq_nested_level: 0: single rows, 1: sequences, 2: sequences of sub-sequences (>= 0 and <= 2, 0)
    """

def data_norm(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Brings every column of the data, or every channel of images, to mean 0 and standard deviation 1.

    `y = (x - mean) / deviation`. It reads a data layer: before its first step a training measures both on the data of
    the training phase, transforms included and random ones left out, and saves them with the weights, so that other
    data are treated alike. Until then the layer changes nothing (mean 0, deviation 1). A column whose numbers are all
    equal keeps the deviation 1. Paddle measures in a program of its own, and has two more ways to scale;
    `batch_norm` measures every batch.

    x: rows or images of a data layer
    """

def div(
    x: Value,
    other: Value,
    *,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Quotient of two inputs, of which the second may have one number for each channel, point or row.

    `y[n, c, i] = x[n, c, i] / other[n, c, i]`, and `other` may have 1 in place of axes, as in `mul`. A number by 0 is
    infinite, 0 by 0 is NaN. Mocha's `Divide` takes inputs of one shape.

    x: rows or images that are divided
    other: the divisor: the same shape, or 1 in place of the channels, of the other axes, or of both
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def dot_prod(
    a: Value,
    b: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Inner product of two rows: `y[n] = sum_c a[n, c] * b[n, c]`.

    a: rows
    b: as many columns
    """

def dropout(
    x: Value,
    *,
    drop_rate: float = 0.5,
    scale_in: Literal["TRAIN", "TEST", "NEVER"] = "TRAIN",
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Sets a random share of the values to zero while training; changes nothing, or only the scale, in the test phase.

    The mask is a function of the seed, the step and the position, so that it is the same on every device.
    Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting" (2014).
    Caffe, Mocha, KUnet and ONNX scale the kept values up while training (`scale_in: TRAIN`), Paddle scales all values
    down in the test phase (`scale_in: TEST`), Mocha's `auto_scale: false` and its RandomMaskLayer never scale.

    x: values of any shape
    drop_rate: share of values that are dropped (>= 0 and < 1, 0.5)
    scale_in: phase that makes up for the dropped values (TRAIN)
    """

def eltwise(
    *x: Value | Sequence[Value],
    operation: Literal["SUM", "PROD", "MAX", "MIN"] = "SUM",
    coefficients: Sequence[float] | None = None,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Sum, product, maximum or minimum of inputs of one shape, element by element.

    `SUM`: `y = sum_i coefficients_i * x_i`; `PROD`: `y = prod_i x_i`; `MAX`: `y = max_i x_i`; `MIN`: `y = min_i x_i`.

    The gradient of a product multiplies the other inputs, as Caffe's `stable_prod_grad`, so that zeros do no harm.
    Where several inputs are the largest, or the smallest, the first of them gets the gradient; Caffe gives it to the
    second of the first two. Two inputs of which one has a number for each channel only are for `mul`, `div`, `add` and
    `sub`, as are Mocha's `Subtract` and `Divide`. The factor of Paddle's operator `dot_mul` is a `slope_intercept`
    behind the layer.

    x: operands
    operation: how the operands combine (SUM)
    coefficients: factor of each operand of a sum; without it all are 1 (none)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def elu(
    x: Value,
    *,
    alpha: float = 1.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Exponential linear unit: keeps positive values and bends the others towards -`alpha`.

    `y = x` for `x > 0`, else `alpha * (exp(x) - 1)`. Clevert et al., "Fast and accurate deep network learning by
    exponential linear units" (2015). Caffe and ONNX have the same default.

    x: values of any shape
    alpha: minus the limit on the negative side (>= 0, 1)
    """

def embedding(
    ids: Value,
    *,
    size: int,
    padding_id: int | None = None,
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Takes for every id the row of a table that has its number.

    `y[n] = table[ids[n]]`. The table has as many rows as there are ids, so only the width is to be chosen; the gradient
    has only the rows in use. Caffe counts the rows by `input_dim` and adds a bias unless told not to: put a `shift`
    behind the layer for that. Paddle gives zeros for the id -1; here `padding_id` names such an id among the others.

    ids: row numbers
    size: width of a row (>= 1, required)
    padding_id: id whose rows are zero and learn nothing (>= 0, none)
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def eos_id(
    x: Value,
    *,
    eos_id: int,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Says of every id whether it is the one that ends a sequence: 1 if so, else 0.

    x: ids
    eos_id: the id that ends a sequence (>= 0, required)
    """

def exp(
    x: Value,
    *,
    base: float | None = None,
    scale: float = 1.0,
    shift: float = 0.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Exponential function, of a straight line: `y = base ** (shift + scale * x)`.

    Without `base` it is e, for which Caffe writes -1. What is too large for the precision becomes infinity: above 88 in
    float32, above 709 in float64.

    x: values of any shape
    base: what is raised; without it e (> 0, none)
    scale: factor of `x` (1)
    shift: added to it (0)
    """

def expand(
    x: Value,
    like: Value,
    *,
    level: Literal["SEQUENCE", "SUBSEQUENCE"] = "SEQUENCE",
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Repeats the row of a sequence for each of the rows that the sequence has elsewhere.

    `y[t] = x[s]` for every row t of sequence s of `like`, whose values do not matter. In Paddle `trans_type` says
    whether `x` has a row for every sequence or for every sub-sequence; here `level` does.

    x: one row per sequence, or per sub-sequence
    like: sequences with the rows that are wanted
    level: what a row of `x` stands for (SEQUENCE)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def factorization_machine(
    x: Value,
    *,
    factor_size: int,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Interactions of all pairs of columns, the weight of a pair being the inner product of two learned vectors.

    `y[n] = sum over pairs c < d of (factors[c] . factors[d]) * x[n, c] * x[n, d]` (Rendle 2010), computed as
    `1/2 sum_f ((sum_c x[n, c] * factors[c, f]) ** 2 - sum_c (x[n, c] * factors[c, f]) ** 2)`, which takes as many
    steps as there are factors. The linear part of the machine is an `fc` of size 1, added behind it. A sparse row
    costs as much as it has entries, and names a column once.

    x: rows of features
    factor_size: length of the vectors (>= 1, required)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def fc(
    *x: Value | Sequence[Value],
    size: int,
    axis: int = 1,
    bias: bool = True,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Affine map of every row: the sum of `x @ weight` over the inputs, plus `bias`.

    `y[n, k] = sum_i sum_c x_i[n, c] * weight_i[c, k] + bias[k]`

    An image is taken as it is, its axes side by side, channels first. Rows of a sequence are mapped one by one. With
    `axis: 2` the axes from the second one on are side by side, and each vector along the first is mapped by itself;
    -1 maps the last axis, as ONNX's MatMul, Keras and PyTorch do.
    Sparse rows cost as much as they have entries, and the gradient of their weights has only the rows in use.
    Paddle takes several inputs, each with a weight of its own, as here; the other systems take one. Caffe and KUnet
    store the weight transposed.

    x: rows of features
    size: number of outputs (>= 1, required)
    axis: first axis that is mapped: 1 is the first behind the rows, -1 the last (1)
    bias: add a bias to every output (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def flatten(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Puts all axes of a row into one; the values and their order stay.

    Caffe can merge a part of the axes (`axis`, `end_axis`): see `reshape`. Paddle and Mocha need no such layer, since
    theirs that work on rows take images as they are; `fc` does here too.

    x: rows of any shape
    """

def gated_unit(
    x: Value,
    *,
    size: int,
    act: str = "linear",
    bias: bool = True,
    gate_bias: bool = True,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """A map of every row times a gate: `y = act(x @ V + c) * sigmoid(x @ W + b)` (Dauphin et al. 2017).

    `V` and `c` are `value.weight` and `value.bias`, `W` and `b` those of `gate`. Images are taken as rows, as by `fc`.

    x: rows of features
    size: number of outputs (>= 1, required)
    act: elementwise layer applied to the map, before the gate ("linear")
    bias: add a bias to the map (true)
    gate_bias: add a bias to the gate (true)
    """

def gelu(
    x: Value,
    *,
    approximate: Literal["NONE", "TANH"] = "NONE",
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Gaussian error linear unit: every value times the probability that a normal number is smaller.

    `y = x * (1 + erf(x / sqrt(2))) / 2`, or with `approximate: TANH`
    `y = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2`.
    Hendrycks and Gimpel, "Gaussian error linear units" (2016). ONNX has the same choice under the same name.

    x: values of any shape
    approximate: how the probability is computed (NONE)
    """

def gradient_clip(
    x: Value,
    *,
    threshold: float,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Passes values on as they are and limits each element of the gradient to [-threshold, threshold].

    The common attribute `error_clip` puts this layer behind another one, as Paddle's `error_clipping_threshold` does.

    x: values
    threshold: limit of the gradient's elements (> 0, required)
    """

def gru_step(
    x: Value,
    previous: Value,
    *,
    act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    gate_act: Literal["tanh", "sigmoid", "relu", "linear"] = "sigmoid",
    reset_after: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """One step of gated recurrent units: `grumemory` without its sequence.

    A row of `x` holds three sums for each unit, side by side: update gate, reset gate, candidate. With
    `s = x + bias`, `h = previous` and the weights of the three side by side:

    `u = gate_act(s_u + h @ W_u)`, `r = gate_act(s_r + h @ W_r)`, `c = act(s_c + (r * h) @ W_c)`,
    `y = (1 - u) * h + u * c`

    With `reset_after` it is `c = act(s_c + r * (h @ W_c + b))`, where `b` is the fourth part of `bias`, as in cuDNN and
    PyTorch, which exchange `u` and `1 - u`. Paddle is the same without it.

    x: three sums per unit
    previous: output of the step before
    act: function of the candidate (tanh)
    gate_act: function of the gates (sigmoid)
    reset_after: reset what is recalled after the product (false)
    """

def grumemory(
    x: Value,
    *,
    act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    gate_act: Literal["tanh", "sigmoid", "relu", "linear"] = "sigmoid",
    reset_after: bool = False,
    reverse: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Gated recurrent units (Cho et al. 2014).

    A row of `x` holds three sums for each unit, side by side: update gate, reset gate, candidate. With
    `s = x[t] + bias`, `h = y[t-1]` and the weights of the three side by side:

    `u = gate_act(s_u + h @ W_u)`, `r = gate_act(s_r + h @ W_r)`, `c = act(s_c + (r * h) @ W_c)`,
    `y[t] = (1 - u) * h + u * c`

    in every sequence by itself, in the innermost sequences of nested ones; the output before the first row is zero.
    With `reset_after` it is `c = act(s_c + r * (h @ W_c + b))`, where `b` is the fourth part of `bias`. Put `fc` of
    three times the units before the layer to map the input. Paddle is the same without `reset_after`; cuDNN and PyTorch
    are the same with it, Keras and ONNX have both. All but Paddle exchange `u` and `1 - u`.

    x: three sums per unit
    act: function of the candidate (tanh)
    gate_act: function of the gates (sigmoid)
    reset_after: reset what is recalled after the product (false)
    reverse: run from the last row of a sequence to its first (false)
    """

def hard_sigmoid(
    x: Value,
    *,
    slope: float = 0.16666666666666666,
    offset: float = 0.5,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Straight line in place of the logistic function: from 0 to 1, and no further.

    `y = min(max(slope * x + offset, 0), 1)`; the derivative is 0 at both corners. PyTorch, Keras and MobileNetV3 have
    the slope 1/6 of the default, so that the corners are at -3 and 3; ONNX's default is 0.2.

    x: values of any shape
    slope: rise of the line (> 0, 0.16666666666666666)
    offset: value at 0 (0.5)
    """

def hard_swish(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Every value times its `hard_sigmoid`: an approximation of `swish` without exponentials.

    `y = x * min(max(x + 3, 0), 6) / 6`: 0 up to -3, `x` from 3 on. The derivative is 0 at -3 and 1 at 3. Howard et al.,
    "Searching for MobileNetV3" (2019).

    x: values of any shape
    """

def hinge_loss(
    x: Value,
    label: Value,
    *,
    norm: Literal["L1", "L2"] = "L1",
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cost of a linear classifier, one class against all others: scores shall be above 1 or below -1.

    `cost = sum over c of max(0, 1 - s * x[c]) ** p`, where `s` is 1 for the label and -1 for the other classes, `p` is
    1 for `L1` and 2 for `L2`. A score that is just right teaches nothing.

    x: score of every class
    label: right class of every row
    norm: what is added up (L1)
    """

def huber_classification(
    x: Value,
    label: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Squared hinge cost of a yes-or-no answer, which grows evenly where the answer is far off.

    With `a = x` for the label 1 and `a = -x` for the label 0, `cost = 0` for `a >= 1`, `(1 - a) ** 2` for
    `-1 <= a < 1` and `-4 * a` below (Zhang, "Solving large scale linear prediction problems", 2004). Paddle's `coeff`
    scales the gradient and not the cost: `loss_weight` scales both.

    x: score: above zero is yes
    label: 1 for yes, 0 for no
    """

def huber_regression(
    x: Value,
    target: Value,
    weight: Value | None = None,
    *,
    delta: float = 1.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Half the squared error, which grows like the error itself from `delta` on: outliers pull no harder than that.

    `cost = sum over c of (0.5 * e ** 2 if |e| <= delta else delta * (|e| - delta / 2))` for `e = x - target` (Huber,
    "Robust estimation of a location parameter", 1964), times `weight` where the row has one. Paddle's `coeff` scales
    the gradient and not the cost: `loss_weight` scales both.

    x: rows
    target: wanted rows
    weight: importance of every row
    delta: error from which on the cost grows evenly (> 0, 1)
    """

def img_conv_group(
    x: Value,
    *,
    num_filters: Sequence[int],
    filter_size: int = 3,
    padding: int = 1,
    act: str = "relu",
    batch_norm: bool = False,
    pool_type: Literal["MAX", "AVERAGE"] = "MAX",
    pool_size: int,
    pool_stride: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Convolutions one after the other, then a pool: the stages of LeNet and of VGG networks.

    One number of filters makes Paddle's `simple_img_conv_pool`, or `img_conv_bn_pool` with `batch_norm`. Every
    convolution is `conv`, followed by `batch_norm` where `batch_norm` is set, and `act`.

    x: images: channels, rows, columns
    num_filters: filters of each convolution (at least 1 values, each >= 1, required)
    filter_size: rows and columns of the filters (>= 1, 3)
    padding: zeros around the image before each convolution (>= 0, 1)
    act: elementwise layer applied to each convolution ("relu")
    batch_norm: a `batch_norm` in place of the bias (false)
    pool_type: what the pool keeps (MAX)
    pool_size: rows and columns of the pool's window (>= 1, required)
    pool_stride: steps of the pool's window (>= 1, same as pool_size)
    """

def infogain_loss(
    x: Value,
    label: Value,
    weight: Value | None = None,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cross entropy of the softmax of scores in which mistakes differ in what they cost.

    `cost = sum over c of gain[label, c] * (log(sum over k of exp(x[k])) - x[c])`, times `weight` where the row has one.
    `gain` is given and not learned: load it with the weights, where Caffe has a third input or the file `source`. As
    long as it is not loaded it is the identity matrix, and the layer is `softmax_with_loss`. Caffe's `ignore_label` is
    a weight of zero here.

    x: score of every class
    label: right class of every row
    weight: importance of every row
    """

def interpolation(
    weight: Value,
    a: Value,
    b: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Goes from one row to another by a share: `y[n] = weight[n] * a[n] + (1 - weight[n]) * b[n]`.

    weight: share of `a`, usually between 0 and 1
    a: rows where the weight is 1
    b: rows where the weight is 0
    """

def kmax_seq_score(
    x: Value,
    *,
    beam_size: int = 1,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Gives the places of the largest scores of every sequence, the largest first, -1 where it has fewer rows.

    Places count from 0 in each sequence; of equal scores the first comes first. As in Paddle they are real numbers, and
    there is no gradient.

    x: scores
    beam_size: how many places (>= 1 and <= 1024, 1)
    """

def lambda_cost(
    x: Value,
    relevance: Value,
    *,
    ndcg_num: int = 5,
    max_sort_size: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> tuple[Value, ...]:
    """Costs of the pairs of a list that are in the wrong order, by how much they matter for NDCG.

    A sequence is the list of a query, `relevance` says how much each row answers it. The discounted cumulative gain of
    an order is `sum over places i = 0, 1 ... of (2 ** relevance - 1) / log(i + 2)`; `ndcg` is that of the `ndcg_num`
    best scores, divided by the best one that an order may have. `cost = sum over pairs i before j in the best order of
    w_ij * log(1 + exp(x_j - x_i))`, where `w_ij` is the share of the best gain that is lost when i and j change places
    (Burges, Ragno and Le, "Learning to rank with nonsmooth cost functions", 2006). A list without a relevant row costs
    nothing and has `ndcg` 1. Of rows that are equal the first one has the better place.

    The gradient is Paddle's; Paddle shows NDCG in every row in place of the cost. LambdaRank as published takes the
    places of the order that the scores give at the time, and so has no cost of which this is the gradient.

    x: score of every row
    relevance: how much every row answers the query, from 0 on
    ndcg_num: places that count in a gain (>= 1, 5)
    max_sort_size: places that have a weight in pairs; all if not given (>= 1, none)
    """

def layer_norm(
    x: Value,
    *,
    axis: int = 1,
    end_axis: int = -1,
    epsilon: float = 1e-05,
    bias: bool = True,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Brings every row to mean 0 and variance 1, then scales by `gain` and adds `bias`.

    `y = (x - mean) / sqrt(var + epsilon) * gain + bias`

    (Ba, Kiros and Hinton 2016), mean and variance over all numbers of the row, the variance divided by their count; an
    image is a row with its axes side by side. `axis` and `end_axis` name the first and the last of the axes that are
    brought to mean 0 together: `axis: -1` is each vector along the last axis, as in most transformers, `axis: 1
    end_axis: 1` the channels at each point of an image. There are as many numbers in `gain` as in those axes.

    x: rows
    axis: first axis that is normalised: 1 is the first behind the rows, -1 the last (1)
    end_axis: last axis that is normalised (-1)
    epsilon: added to the variance (> 0, 1e-05)
    bias: add a bias to every output (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def linear(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Identity: the activation that changes nothing, used where a layer names none.

    x: values of any shape
    """

def linear_comb(
    weights: Value,
    vectors: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Adds up the vectors that lie side by side in a row, each with a weight of that row.

    `y[n, c] = sum_k weights[n, k] * vectors[n, k * C + c]`. There are as many vectors as weights, so Paddle's `size`
    follows; nothing makes the combination convex but a `softmax` before the weights.

    weights: factor of each vector
    vectors: K vectors side by side
    """

def log(
    x: Value,
    *,
    base: float | None = None,
    scale: float = 1.0,
    shift: float = 0.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Logarithm, of a straight line: `y = log(shift + scale * x) / log(base)`.

    Without `base` it is the natural one, for which Caffe writes -1. The logarithm of 0 is minus infinity, as is the
    derivative there; that of a negative number is NaN. A small `shift` keeps away from both.

    x: values of any shape
    base: what the result is a power of; without it e (> 0, none)
    scale: factor of `x` (1)
    shift: added to it (0)
    """

def log_softmax(
    x: Value,
    *,
    axis: int = 1,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Logarithm of the `softmax` of every row; of an image, over the channels of every point, or another axis.

    `y[n, c] = x[n, c] - peak[n] - log(sum over d of exp(x[n, d] - peak[n]))`, `peak` the largest of the row, so that
    nothing overflows and small probabilities do not become 0. The gradient is `dy - exp(y) * sum over d of dy[n, d]`.
    KUnet's Logp passes gradients on as they are, which is right below its own cost only; for training see
    `softmax_with_loss`, which contains this.

    x: scores
    axis: axis that is normalised: 1 is the first behind the rows, -1 the last (1)
    """

def lrn(
    x: Value,
    *,
    size: int = 5,
    scale: float = 0.0128,
    power: float = 0.75,
    shift: float = 1.0,
    region: Literal["ACROSS_CHANNELS", "WITHIN_CHANNEL"] = "ACROSS_CHANNELS",
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Divides by a power of the mean square of the neighbourhood.

    `y = x * (shift + scale * s / count) ** -power` (Krizhevsky, Sutskever and Hinton 2012). Across channels, `s` sums
    the squares of `size` neighbouring channels at the pixel and `count` is `size`; within a channel, `s` sums the
    squares in a window of `size` by `size` pixels and `count` is `size * size`. The neighbourhood starts
    `(size - 1) // 2` before the element; what lies outside counts as zero.

    Paddle's `norm` of the type `cmrnorm-projection` knows `scale` 0.0128 and `power` 0.75 and only `shift` 1; its type
    within a channel does not run, and its `cross-channel-norm` is another layer.
    Caffe calls them alpha, beta and k, with 1, 0.75 and 1, and wants an odd `size`; so does Mocha, with `shift` fixed
    at 1 within a channel. ONNX knows the rule across channels alone. All divide `scale` by `count` as here.

    x: images: channels, rows, columns
    size: channels, or rows and columns, of the neighbourhood (>= 1, 5)
    scale: weight of the mean square (>= 0, 0.0128)
    power: exponent (>= 0, 0.75)
    shift: added to the weighted mean square (> 0, 1)
    region: where the neighbours are (ACROSS_CHANNELS)
    """

def lstm_step(
    x: Value,
    previous: Value,
    *,
    act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    gate_act: Literal["tanh", "sigmoid", "relu", "linear"] = "sigmoid",
    state_act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    peepholes: bool = True,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> tuple[Value, ...]:
    """One step of long short-term memory: `lstmemory` without its sequence.

    A row of `x` holds four sums for each unit, side by side: candidate, input gate, forget gate, output gate; what the
    output of the step before adds to them is in them already. With `s = x + bias`, peepholes `p`, `h = previous`:

    `a = act(s_a)`, `i = gate_act(s_i + p_i * h)`, `f = gate_act(s_f + p_f * h)`, `state = a * i + h * f`,
    `o = gate_act(s_o + p_o * state)`, `y = o * state_act(state)`

    `bias` is that of `lstmemory`: the biases of the sums, then the peepholes; Paddle's has the peepholes alone, and the
    state is fetched from it by a layer get_output. Caffe has no peepholes, the gates in another order, and forgets
    where an input says so: put a `scaling` by it before `previous`.

    x: four sums per unit
    previous: state of the step before
    act: function of the candidate (tanh)
    gate_act: function of the gates (sigmoid)
    state_act: function of the state on its way out (tanh)
    peepholes: gates see the state of their unit (true)
    """

def lstmemory(
    x: Value,
    *,
    act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    gate_act: Literal["tanh", "sigmoid", "relu", "linear"] = "sigmoid",
    state_act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    peepholes: bool = True,
    reverse: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Long short-term memory (Hochreiter and Schmidhuber 1997) with peepholes (Gers, Schraudolph and Schmidhuber 2002).

    A row of `x` holds four sums for each unit, side by side: candidate, input gate, forget gate, output gate. With
    `s = x[t] + y[t-1] @ weight + bias` in the same order and the peepholes `p`:

    `a = act(s_a)`, `i = gate_act(s_i + p_i * c[t-1])`, `f = gate_act(s_f + p_f * c[t-1])`, `c[t] = a * i + c[t-1] * f`,
    `o = gate_act(s_o + p_o * c[t])`, `y[t] = o * state_act(c[t])`

    in every sequence by itself, in the innermost sequences of nested ones; output and state before the first row are
    zero. Put `fc` of four times the units before the layer to map the input. `bias` has the biases of the sums and
    then the peepholes of the three gates, as in Paddle, whose configs without helpers take sigmoid for `state_act`
    when nothing is set. Caffe, ONNX and others hold the map of the input, too, have the gates in other orders, and
    have no peepholes (Caffe) or on demand.

    x: four sums per unit
    act: function of the candidate (tanh)
    gate_act: function of the gates (sigmoid)
    state_act: function of the state on its way out (tanh)
    peepholes: gates see the state of their unit (true)
    reverse: run from the last row of a sequence to its first (false)
    """

def maxid(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Number of the best score of every row; of equal scores the first, and NaN before all others.

    Paddle gives `beam_size` ids a row inside its beam search and one elsewhere; here it is one id, which an embedding
    takes as it is. Caffe's ArgMax gives real numbers, of equal scores the last, and Mocha's runs over any axis: see
    `arg_max`.

    x: score of every class
    """

def memory(
    x: Value | None = None,
    *,
    of: str,
    size: int | None = None,
    shape: Sequence[int] | None = None,
    value: float = 0.0,
    id: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """What a layer of a `recurrent_group` gave in the step before.

    It stands in the group's `step`. In the first step it has the rows of its input, a static input of the group with a
    row for each sequence; without an input all numbers are `value`, or all ids are `id`. In Paddle, the
    input is `boot_layer`, and `id` is `boot_with_const_id`.

    x: rows before the first step
    of: the layer's output in the step, by name (required)
    size: numbers in a row, or with `id` the number of ids (>= 1, none)
    shape: axes of a row where there are several, as of an image (at least 1 values, each >= 1, none)
    value: every number before the first step (0)
    id: every id before the first step; it makes this a memory of ids (>= 0, none)
    """

def mixed(
    *x: Value | Sequence[Value],
    terms: Sequence[str],
    size: int | None = None,
    offset: int | None = None,
    context_len: int = 3,
    context_start: int | None = None,
    bias: bool = False,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Sum of terms: each word of `terms` takes the next input, `dot_mul_operator` the next two.

    | word | term |
    |---|---|
    | `full_matrix` | `x @ weight`, as `fc` without bias; `x` may be sparse |
    | `trans_full_matrix` | `x @ weight.T`, the weight stored as that of an `fc` in the other direction, to share it |
    | `table` | the row of a table that has the number `x`, as `embedding` |
    | `identity` | `x` as it is, or its columns from `offset` on |
    | `dot_mul` | every column of `x` times a learned number |
    | `scaling` | `x` times one learned number |
    | `context` | the rows around each row side by side, `context_len` of them |
    | `dot_mul_operator` | the product of two inputs, column by column |

    Each term is a layer of its own here that is called by its word: `param { of: "full_matrix.weight" }` speaks of a
    parameter. Words that are there several times are numbered: `full_matrix_0.weight`, `full_matrix_1.weight`. Paddle
    calls the terms projections and operators, and has some for images: for these put `addto` behind `conv` layers.

    x: what the terms take, in their order
    terms: a word for each term: `full_matrix`, `trans_full_matrix`, `table`, `identity`, `dot_mul`, `scaling`, `context`, `dot_mul_operator` (at least 1 values, required)
    size: number of columns; when absent: that of the first term with columns of its own (>= 1, none)
    offset: first of the columns that `identity` takes; when absent: all of them (>= 0, none)
    context_len: rows of `context` (>= 1 and <= 1024, 3)
    context_start: first row of `context`, counted from the row; when absent: it lies around it (none)
    bias: add `bias.offset`, a learned number for every column (false)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def mul(
    x: Value,
    other: Value,
    *,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Product of two inputs, of which the second may have one number for each channel, as in squeeze and excitation.

    `y[n, c, i] = x[n, c, i] * other[n, c, i]`. Where `other` has one channel only, it stands for all channels of `x`,
    and one point for all points; its gradient is the sum over what it stands for. So `other` has the shape of `x`, or
    one number for each channel (`C` or `C x 1 x 1`), for each point (`1 x H x W`) or for each row (`1`). Caffe's Scale
    with two inputs is this with one number for each channel. Learned factors are in `scale`, products of more than two
    inputs in `eltwise`, a factor for each row that comes first in `scaling`.

    x: rows or images
    other: the same shape, or 1 in place of the channels, of the other axes, or of both
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def multi_binary_label_cross_entropy(
    x: Value,
    label: Value,
    weight: Value | None = None,
    *,
    floor: float = 1e-20,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cross entropy of the probabilities of many classes, several of which may be right at once.

    `cost = -sum over the right classes of log(x) - sum over the others of log(1 - x)`, where no probability counts as
    less than `floor`, times `weight` where the row has one. The label of a row lists its right classes. Paddle takes
    dense labels, too, as `soft_binary_cross_entropy` does here, and has no floor; it stops at probabilities of 0 and 1.

    x: probability of every class
    label: right classes of every row
    weight: importance of every row
    floor: smallest probability that counts (> 0 and < 1, 1e-20)
    """

def multi_head_attention(
    query: Value,
    keys: Value,
    values: Value,
    *,
    num_heads: int = 1,
    causal: bool = False,
    scale: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Every row of `query` gets the mean of the rows of `values` in its sequence, weighted by how well the keys fit.

    For each head, `y[t] = sum_k p[t, k] * values[k]` with `p[t] = softmax_k(scale * query[t] . keys[k])`, over the
    keys of the same sample (Vaswani et al. 2017). The columns of all inputs are cut into `num_heads` equal parts, one
    after the other. Give one layer three times for attention of a sequence to itself; the keys may as well be those of
    sequences with other lengths. Sequences lie end to end, so there is no padding and no mask.

    Nothing is projected: put an `fc` before every input and behind the output, as Paddle's `multi_head_attention`
    network does. Where there is no key at all the output is zero; torch gives NaN. The probabilities are never stored:
    the largest score and the logarithm of the denominator are kept and they are computed again (Dao 2023).

    query: what each row looks for
    keys: what each row is found by
    values: what each row tells
    num_heads: parts into which the columns are cut (>= 1, 1)
    causal: the row at a place sees keys up to the same place in their sequence only (false)
    scale: factor of the products; when absent: one over the root of a head's columns (none)
    """

def nearest_interp(
    x: Value,
    *,
    out_size: int | None = None,
    out_size_y: int | None = None,
    scale: int | None = None,
    scale_y: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Brings images to another size; a pixel is the one at its place, no mean.

    `y[p, q] = x[floor(p * H / P), floor(q * W / Q)]`

    as PyTorch's and Keras' `nearest` has it. A size is given in pixels or as a multiple of that of the image: with
    `scale: 2` every pixel becomes a square of four.

    x: images: channels, rows, columns
    out_size: columns of the result (>= 1, none)
    out_size_y: rows of the result (>= 1, same as out_size)
    scale: how many times as many columns (>= 1, none)
    scale_y: how many times as many rows (>= 1, same as scale)
    """

def out_prod(
    a: Value,
    b: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Outer product of two rows, row by row of the matrix: `y[n, c * D + d] = a[n, c] * b[n, d]`.

    a: rows of the matrix
    b: columns of the matrix
    """

def pad(
    x: Value,
    *,
    axes: Sequence[int] | None = None,
    begin: Sequence[int],
    end: Sequence[int] | None = None,
    mode: Literal["CONSTANT", "EDGE", "REFLECT"] = "CONSTANT",
    value: float = 0.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Puts elements before and behind those of rows, along each of `axes`: a constant, the edge, or what it mirrors.

    `begin` and `end` say how many, with a number for each of `axes` or one for all of them; without `end` there are as
    many behind as before. `REFLECT` does not repeat the edge, so there are fewer than the axis has. Paddle's `pad` has
    a pair for channels, rows and columns each, and zeros. A `conv` and a `pool` have zeros around them of their own.

    x: rows of any shape
    axes: axes that are padded, counted from 1, or from -1 back; without it all (at least 1 values, none)
    begin: elements before the first (at least 1 values, each >= 0, required)
    end: elements behind the last; without it as many as before (at least 1 values, each >= 0, none)
    mode: what they are (CONSTANT)
    value: what stands there in the mode CONSTANT (0)
    """

def permute(
    x: Value,
    *,
    order: Sequence[int],
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Puts the axes of a row into another order: images with their channels last, the transpose of a matrix.

    Axis k of `y` is axis `order[k]` of `x`, `y[n, i, j, k] = x[n, k, i, j]` with `order: [2, 3, 1]`: 1 is the first
    axis behind the rows, which stay where they are. That makes channels last of an image, which Paddle's `switch_order`
    does; [3, 1, 2] is the way back. Caffe's and ONNX's orders begin with 0, the rows; Caffe's may leave out the last
    axes, if they stay; Keras counts as this library.

    x: rows of any shape
    order: axes of `x` in the order in which `y` has them, from 1 on (at least 1 values, each >= 1, required)
    """

def pnpair(
    score: Value,
    label: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Share of the pairs of rows of one sequence, such as the answers to a query, that the scores put in order.

    Pairs with different labels count; in order, the row with the greater label has the higher score. Equal scores
    count one half. Paddle gives the query as a number with every row, and reports the ratio of the pairs in order to
    those that are not: of a share `p` that is `p / (1 - p)`.

    score: score of every row
    label: relevance of every row
    """

def pool(
    x: Value,
    *,
    pool_type: Literal["MAX", "AVERAGE"] = "MAX",
    pool_size: int | None = None,
    pool_size_y: int | None = None,
    stride: int = 1,
    stride_y: int | None = None,
    padding: int = 0,
    padding_y: int | None = None,
    padding_end: int | None = None,
    padding_end_y: int | None = None,
    rounding: Literal["CEIL", "CEIL_ALL", "FLOOR"] = "CEIL",
    divisor: Literal["VALID", "PADDED", "KERNEL"] = "VALID",
    global_pooling: bool = False,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Maximum or mean under each window of an image, channel by channel.

    Window `(p, q)` covers the rows from `p * stride_y - padding_y` on and the columns from `q * stride - padding` on,
    `pool_size_y` and `pool_size` of them. `P` is `(H + padding_y + padding_end_y - pool_size_y) / stride_y + 1`,
    rounded as `rounding` says; `padding_end` is that on the right and below, where it is another one. As in Paddle, the
    attributes that end in `_y` speak of rows and those without of columns, and a `_y` that is absent equals the other.

    Padding never wins a maximum, NaN always does. Of equal maxima the first in reading order wins and gets the whole
    gradient, as in Caffe; in Paddle every one of them gets it. A window without a pixel, which only `CEIL_ALL` makes,
    gives 0.

    What the systems do, and how to say it here:

    | | `rounding` | `divisor` of a mean | `stride` when absent |
    |---|---|---|---|
    | this library | `CEIL` | `VALID` | 1 |
    | Paddle | `CEIL_ALL` at run time, whatever its `ceil_mode` says | `VALID`; `KERNEL` by `exclude_mode = false` | 1 |
    | Caffe | `CEIL`; `FLOOR` by `round_mode: FLOOR` | `PADDED` | 1 |
    | Mocha | `CEIL` | `KERNEL` | 1 |
    | KUnet | `FLOOR` (cuDNN) | `KERNEL` or `VALID` by its mode | the window |
    | ONNX | `FLOOR`; `CEIL` by `ceil_mode = 1` | `VALID`; `PADDED` by `count_include_pad = 1` | 1 |

    `CEIL` and `CEIL_ALL` differ only where the last window holds no pixel: Paddle keeps it, gives the lowest float as
    its maximum and stops at its mean.

    x: images: channels, rows, columns
    pool_type: what a window gives (MAX)
    pool_size: columns of a window (>= 1, none)
    pool_size_y: rows of a window (>= 1, same as pool_size)
    stride: columns from one window to the next (>= 1, 1)
    stride_y: rows from one window to the next (>= 1, same as stride)
    padding: columns added on the left, and on the right (>= 0, 0)
    padding_y: rows added above, and below (>= 0, same as padding)
    padding_end: columns added on the right, where they are others (>= 0, same as padding)
    padding_end_y: rows added below, where they are others (>= 0, same as padding_y)
    rounding: what becomes of a last window that does not fit (CEIL)
    divisor: what a mean divides by (VALID)
    global_pooling: one window as large as the image (false)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def position_embedding(
    x: Value,
    *,
    max_length: int,
    drop_rate: float = 0.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Adds to every row the row of a learned table that belongs to its place in the sequence.

    `y[t] = x[t] + table[p]` where `p` counts from 0 within the sequence, or within the sub-sequence of a nested one
    (Gehring et al. 2017). Rows at place `max_length` and beyond have nothing to be learned for them and become NaN.

    x: rows of sequences
    max_length: rows of the longest sequence (>= 1, required)
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    """

def power(
    x: Value,
    *,
    power: float = 1.0,
    scale: float = 1.0,
    shift: float = 0.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """A constant power of a straight line: `y = (shift + scale * x) ** power`.

    A negative base has whole powers only, NaN otherwise. Where `power * scale` is 0 there is no gradient, not even
    at a base of 0, as in Caffe. A square is `power: 2`, a square root 0.5, a reciprocal -1, also as an activation:
    `activation { type: "power" power { power: 2 } }`. Paddle's `power` is `row_power`.

    x: values of any shape
    power: exponent (1)
    scale: factor of `x` (1)
    shift: added to it (0)
    """

def precision_recall(
    x: Value,
    label: Value,
    weight: Value | None = None,
    *,
    positive_label: int | None = None,
    threshold: float = 0.5,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Precision, recall and F1 of the class `positive_label`, or their means over all classes.

    Precision is the share of the rows found that are right, recall the share of the rows of the class that are found,
    `F1 = 2 * correct / (found + wanted)`. A row is found to be of the class with the best score, the first of equal
    ones, and of none where a score is not a number; a single score says yes (class 1) where it is above `threshold`.
    Without `positive_label` each number is the plain mean (macro average) over the classes that have it: a class that
    is never found has no precision. `accuracy` is the share of all rows that are right: Paddle's micro average, which
    is the same for all three.

    x: score or probability of every class
    label: right class of every row
    weight: importance of every row
    positive_label: the class that is looked for; all of them when absent (>= 0, none)
    threshold: where a single score says yes (0.5)
    """

def prelu(
    x: Value,
    *,
    channel_shared: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Rectifier whose slopes on the negative side are learned, one per channel or one for all.

    `y = x` for `x > 0`, else `slope * x`. He et al., "Delving deep into rectifiers" (2015).
    Caffe does the same. Paddle's `partial_sum` of height times width is one slope per channel; its default of 1
    is one slope per value: put a `flatten` before the layer for that.

    x: rows or images
    channel_shared: one slope for all channels (false)
    """

def rank_auc(
    score: Value,
    clicks: Value,
    views: Value | None = None,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Mean over the sequences of the share of the pairs of a click and a view without one that scores put in order.

    A sequence is a list that was shown, such as the answers to a query. In order, the row of the click has the higher
    score than the row that was seen and not clicked; pairs with equal scores count one half, those of a row with itself
    too. Sequences without such a pair are not counted, where Paddle counts a zero.

    score: score of every row
    clicks: how often the row was clicked
    views: how often the row was seen; once when absent
    """

def rank_cost(
    left: Value,
    right: Value,
    label: Value,
    weight: Value | None = None,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cross entropy of which of two scores shall be the higher one.

    `cost = log(1 + exp(o)) - label * o` for `o = left - right`, times `weight` where the pair has one (Burges et al.,
    "Learning to rank using gradient descent", 2005). The label is 1 where `left` shall win, 0 where `right` shall, and
    0.5 for a tie. Paddle keeps `o` within 40 on either side, and its `coeff` scales the gradient and not the cost:
    `loss_weight` scales both.

    left: scores
    right: scores to compare with
    label: probability that the left one wins
    weight: importance of every pair
    """

def recurrent(
    x: Value,
    *,
    act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    reverse: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Simple recurrent units (Elman 1990): every row adds a map of the output of the row before it.

    `y[t] = act(x[t] + y[t-1] @ weight + bias)`

    in every sequence by itself, in the innermost sequences of nested ones; the output before the first row is zero. `x`
    are sums that are ready: put `fc` before the layer to map the input. Paddle is the same. ONNX holds the map of the
    input, too; Caffe's RNN also has one of the output.

    x: one sum per unit
    act: function of a unit (tanh)
    reverse: run from the last row of a sequence to its first (false)
    """

def recurrent_group(
    step: Callable[..., R],
    /,
    *x: Value | Sequence[Value],
    static: Sequence[Value] = ...,
    reverse: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> R:
    """A network of layers that runs once for every step of the sequences it is given.

    The layers stand in the block `step`. Inputs are in sequences, all of one level and length: a step sees one row of
    each sequence, or one sub-sequence where they are nested. Inputs that `static` names are seen whole in every step:
    one row for each sequence, or a sequence to attend to. A `memory` in the step is what a layer gave in the step
    before. The outputs that the step names become the group's, in sequences again. In Paddle, a static input is a
    `StaticInput`, and the lengths are those of `targetInlink`; here they are those of all inputs that are not static.

    x: sequences, and what all steps see
    static: names of inputs that every step sees whole ([])
    reverse: from the end of each sequence to its start (false)
    """

def reduction(
    x: Value,
    *,
    operation: Literal["SUM", "MEAN", "ASUM", "SUMSQ", "L2", "MAX", "MIN", "PROD", "LOG_SUM_EXP"] = "SUM",
    axes: Sequence[int] | None = None,
    keep_dims: bool = False,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """One number for all those along some axes of a row: their sum, mean, product, largest or smallest, or length.

    With `axes: 1` an image of C channels becomes the sum over its channels, H x W; with `axes: [2, 3]` the sums of the
    channels, C numbers. Axis 1 is the first one behind the rows, -1 the last one; without `axes` a row becomes one
    number. `keep_dims` leaves an axis of one element in the place of each.

    Of equal maxima, or minima, the first gets the whole gradient, and NaN wins. A vector of zeros has no gradient in
    `L2`, a number 0 none in `ASUM`. Caffe's Reduction has the first four operations, takes all axes from `axis` on, and
    multiplies by `coeff`: put a `slope_intercept` behind the layer for that. For sums over the rows of a sequence see
    `seq_avg_pool`, for means over the pixels of an image `pool` with `global_pooling`, too.

    x: rows of any shape
    operation: what becomes of the numbers (SUM)
    axes: axes that vanish, counted from 1, or from -1 back; without it all (at least 1 values, none)
    keep_dims: leave an axis of one element in the place of each (false)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def regression_error(
    x: Value,
    target: Value,
    weight: Value | None = None,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Mean absolute error (MAE), root of the mean squared error (RMSE) and coefficient of determination (R2).

    `MAE = mean of |x - target|` and `RMSE = sqrt(mean of (x - target) ** 2)` over all numbers of all rows.
    `R2 = 1 - sum of (x - target) ** 2 / sum of (target - mean) ** 2` is 1 for exact predictions, 0 for those no better
    than always saying the mean of the targets, and below 0 for worse ones; of several columns it is the plain mean of
    each column's R2. A column whose targets are all equal has none. Rows may have weights. All three are those of all
    rows since the last reset: neither RMSE nor R2 is the mean of those of the batches.

    x: predicted numbers
    target: right numbers
    weight: importance of every row
    """

def relu(
    x: Value,
    *,
    negative_slope: float = 0.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Rectifier: keeps positive values and scales the others by `negative_slope`.

    `y = x` for `x > 0`, else `negative_slope * x`; the derivative at 0 is `negative_slope`, as in Caffe. With slope 0,
    minus infinity becomes 0.
    Paddle, KUnet and Mocha's ReLU have slope 0; Mocha's LReLU has 0.01; ONNX calls it LeakyRelu.

    x: values of any shape
    negative_slope: gain on the negative side (>= 0, 0)
    """

def relu6(
    x: Value,
    *,
    max: float = 6.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Rectifier that goes no higher than `max`, as in MobileNet: 0 below 0, `max` above it, `x` in between.

    `y = min(max(x, 0), 6)`; the derivative is 0 at both corners, as in PyTorch. Krizhevsky, "Convolutional deep belief
    networks on CIFAR-10" (2010). Paddle's `brelu` is this with `max: 24`, ONNX's Clip with `min` 0 and `max` 6. For
    limits of your own, and gradients at them, see `clip`.

    x: values of any shape
    max: largest output (> 0, 6)
    """

def repeat(
    x: Value,
    *,
    num_repeats: int,
    as_row_vector: bool = True,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Repeats the columns of every row: as a whole, or each by itself.

    With two repeats, the row `[a, b]` becomes `[a, b, a, b]`, or `[a, a, b, b]` if `as_row_vector` is false. Paddle's
    helper is `repeat_layer`; rows themselves are repeated by `expand`.

    x: rows
    num_repeats: how often (>= 1, required)
    as_row_vector: repeat the row (true) or every column (false) (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def reshape(
    x: Value,
    *,
    dims: Sequence[int],
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Gives every row another shape; the values and their order stay.

    `dims` are the axes of a row, so the number of rows is never part of them. 0 keeps the size of that axis of `x`,
    one -1 takes what is left, as in Caffe and ONNX, whose dims begin with the rows. Mocha's begin with the fastest
    axis. Paddle's resize, which turns values of one row into several rows, is another layer.

    x: rows of any shape
    dims: axes of a row; 0: as in `x`, -1: what is left (>= -1, required)
    """

def residual_block(
    x: Value,
    *,
    num_filters: int,
    stride: int = 1,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Two convolutions with a way around them (He et al. 2015): `relu(two convolutions of x + shortcut of x)`.

    Each is a 3 by 3 `conv` without bias and a `batch_norm`, the first one with `relu`. The shortcut is `x` itself, or a
    1 by 1 `conv` and a `batch_norm` of it where the number of channels or the size of the image changes.

    x: images: channels, rows, columns
    num_filters: channels of the output (>= 1, required)
    stride: step of the first convolution; the image becomes smaller by it (>= 1, 1)
    """

def rms_norm(
    x: Value,
    *,
    epsilon: float = 1e-05,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Divides every row by the root of the mean of its squares, then scales every column by `gain`.

    `y = x / sqrt(mean(x ** 2) + epsilon) * gain`

    (Zhang and Sennrich 2019): `layer_norm` without the mean and the bias. A row of one column would keep nothing but
    its sign, so there are two columns at least.

    x: rows
    epsilon: added to the mean square (> 0, 1e-05)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def row_conv(
    x: Value,
    *,
    length: int,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Adds to every row the rows that follow it, each column with weights of its own: a look ahead.

    `y[t, c] = sum over j of x[t + j, c] * weight[j, c]` as far as the sequence goes (Deep Speech 2, Amodei et al.).

    x: rows of sequences
    length: rows that count, the row itself included (>= 1, required)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def row_l2_norm(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Divides every row by its Euclidean length: `y = x / sqrt(sum_c x[c] ** 2)`.

    A row of zeros has no direction: it stays as it is and gets no gradient. Paddle gives NaN there.

    x: rows
    """

def row_power(
    exponent: Value,
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Raises every row to its own power: `y[n, c] = x[n, c] ** exponent[n]`.

    Meant for values that are not negative; a negative one has whole powers only. The exponent gets no gradient from
    values that are zero or below, which have no logarithm.

    exponent: power of every row
    x: rows
    """

def row_sum(
    x: Value,
    weight: Value | None = None,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Mean over the rows of the sum of their columns, for instance of a cost that another layer computes.

    x: rows to be added up
    weight: importance of every row
    """

def scale(
    x: Value,
    *,
    bias: bool = True,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Multiplies every channel by a learned number and adds another one.

    `y[n, c] = gain[c] * x[n, c] + bias[c]` at every point of an image. Caffe's Scale has no bias unless
    `bias_term` is set, and may scale along other axes; by a second input, see `mul`. Paddle's scale_shift has one
    number for all channels. ONNX's Mul by a constant for each channel is this without `bias`.

    x: rows or images
    bias: add a bias to every output (true)
    """

def scaling(
    weight: Value,
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Multiplies every row by its own weight, as attention does: `y[n] = weight[n] * x[n]`.

    `mul` takes the weight second, and one for each channel, too.

    weight: factor of every row
    x: rows or images
    """

def selective_fc(
    x: Value,
    selected: Value,
    *,
    others: float = 0.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Affine map of every row, of which only the columns are computed that are selected for the row.

    `y[n, k] = sum_c x[n, c] * weight[k, c] + bias[k]` for the columns k that are set in row n of `selected`, and
    `others` in all other columns; there is no gradient from these, and that of the weight has only the rows in use. For
    a `softmax` behind the layer let `others` be a large negative number. In Paddle `size` says once more how many
    columns there are, rows hold the selected ones alone, and there may be several inputs.

    x: rows of features
    selected: the columns that are wanted of each row
    others: value of the columns that are not selected (0)
    """

def selu(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Scaled exponential linear unit: an `elu` whose outputs tend to mean 0 and deviation 1 from layer to layer.

    `y = scale * x` for `x > 0`, else `scale * alpha * (exp(x) - 1)`, with scale 1.0507 and alpha 1.6733. Klambauer et
    al., "Self-normalizing neural networks" (2017), who derive the two numbers; ONNX has them as defaults. The weights
    before it want the initializer `gaussian` with a deviation of one by the root of the inputs.

    x: values of any shape
    """

def seq_avg_pool(
    x: Value,
    *,
    strategy: Literal["AVERAGE", "SUM", "SQUARE_ROOT"] = "AVERAGE",
    level: Literal["SEQUENCE", "SUBSEQUENCE"] = "SEQUENCE",
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Adds up the rows of every sequence and divides by their number, by its root or by nothing.

    `y[s] = sum over the rows t of s of x[t] * f`, where `f` is `1 / len(s)` (`AVERAGE`), `1` (`SUM`) or
    `1 / sqrt(len(s))` (`SQUARE_ROOT`). An empty sequence gives zeros, as in Paddle, whose `average_strategy` has the
    same three values and whose `trans_type` is `level`. Paddle can also cut sequences into windows (`seq_pool_stride`).

    x: rows of sequences
    strategy: what the sum of the rows is divided by (AVERAGE)
    level: what one row of the output covers (SEQUENCE)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def seq_classification_error(
    x: Value,
    label: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Share of the sequences in which any row is wrong; equal best scores are wrong, as in `accuracy`.

    Sequences without rows are not counted. Of a nested sequence, the sub-sequences are counted.

    x: score or probability of every class
    label: right class of every row
    """

def seq_concat(
    x: Value,
    z: Value,
    *,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Puts the rows of the second sequence behind those of the first, sample by sample.

    `y[s] = x[s] followed by z[s]`; both have the same number of sequences. Of nested sequences the sub-sequences are
    put together.

    x: the rows that come first
    z: the rows behind them
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def seq_first(
    x: Value,
    *,
    level: Literal["SEQUENCE", "SUBSEQUENCE"] = "SEQUENCE",
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Takes the first row of every sequence.

    `y[s] = x[first row of s]`; zeros for an empty sequence. Paddle's `trans_type` is `level`.

    x: rows of sequences
    level: what one row of the output covers (SEQUENCE)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def seq_last(
    x: Value,
    *,
    level: Literal["SEQUENCE", "SUBSEQUENCE"] = "SEQUENCE",
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Takes the last row of every sequence: the state in which a recurrent layer ends.

    `y[s] = x[last row of s]`; zeros for an empty sequence. Paddle's `trans_type` is `level`; a `reverse` recurrent
    layer ends in the first row, which `seq_first` takes.

    x: rows of sequences
    level: what one row of the output covers (SEQUENCE)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def seq_max_pool(
    x: Value,
    *,
    level: Literal["SEQUENCE", "SUBSEQUENCE"] = "SEQUENCE",
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Takes the largest value of every column over the rows of a sequence.

    `y[s, c] = max over the rows t of s of x[t, c]`; the gradient goes to the first row that has it. An empty sequence
    gives zeros, as in Paddle, whose `trans_type` is `level`. For windows of rows (`seq_pool_stride`) there is
    `seq_window_pool`.

    x: rows of sequences
    level: what one row of the output covers (SEQUENCE)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def seq_reshape(
    x: Value,
    *,
    size: int,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cuts the rows of every sequence into narrower ones, whose width divides theirs.

    The values of a sequence keep their order; `n` rows of width `C` become `n * C / size` rows. Paddle also makes wider
    rows, where every sequence of a batch has to have a number of values that is divisible by `size`.

    x: rows of sequences
    size: width of a row (>= 1, required)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def seq_slice(
    x: Value,
    first: Value,
    last: Value | None = None,
    *,
    select_first: bool = True,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cuts runs of rows out of every sequence, from a first row to a last one, as many as are listed.

    Run k of sequence s holds the rows `first[s, k]` to `last[s, k]` of it, that one included; rows count from 0 in
    their sequence, and -1 ends a list. With one list alone, runs go on to the end of the sequence; or, where
    `select_first` is false, the list has the last rows, and runs begin with the first. A run whose last row lies before
    its first has no rows; Paddle stops there.

    The output is a nested sequence whose sub-sequences are the runs. In Paddle, runs of sequences that are not nested
    become sequences of the batch; here a batch keeps its samples. For one run per sequence there is `sub_seq`.

    x: rows of sequences
    first: first rows of the runs, or last ones if `select_first` is false
    last: last rows of the runs
    select_first: what a single list has: first rows (true) or last rows (false) (true)
    """

def seq_window_pool(
    x: Value,
    *,
    stride: int,
    strategy: Literal["AVERAGE", "SUM", "SQUARE_ROOT", "FIRST", "LAST", "MAX"] = "AVERAGE",
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cuts every sequence into windows of `stride` rows and gives one row for each: a shorter sequence.

    The last window has what is left. `AVERAGE`, `SUM` and `SQUARE_ROOT` add up the rows of a window and divide by their
    number, by nothing or by its root; `MAX` takes the largest value of each column, `FIRST` and `LAST` take one of the
    rows. In Paddle every sequence pooling has the attribute `seq_pool_stride` for it, and for the first rows it is the
    first window that has what is left.

    x: rows of sequences
    stride: rows of a window (>= 1, required)
    strategy: what a window gives (AVERAGE)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def sequence_conv_pool(
    x: Value,
    *,
    size: int,
    context_len: int,
    context_start: int | None = None,
    fc_act: str = "tanh",
    pool_type: Literal["MAX", "AVERAGE"] = "MAX",
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Features of short runs of rows, the strongest of each sequence: `context`, `fc`, then a pool over the rows.

    It is a convolution over a sequence, as for the sentiment of a text. Of nested sequences each sample becomes a row.

    x: rows of sequences
    size: number of features (>= 1, required)
    context_len: rows of a run (>= 1 and <= 1024, required)
    context_start: first row of a run, counted from the row itself; when absent: the run lies around it (none)
    fc_act: elementwise layer applied to the features ("tanh")
    pool_type: what is kept of a feature (MAX)
    """

def sequence_softmax(
    x: Value,
    *,
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Exponentials of the rows of a sequence, divided by their sum: weights of the rows that add up to one.

    `y[t, c] = exp(x[t, c]) / sum over the rows u of the sequence of exp(x[u, c])`, column by column. Of nested
    sequences the rows of a sub-sequence add up to one. In Paddle it is an activation, of rows of width one.

    x: scores of the rows
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def shift(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Adds a learned number to every channel.

    `y[n, c] = x[n, c] + offset[c]` at every point of an image. Caffe's Bias may add along other axes too; for a second
    input see `add`. In Paddle and Mocha a bias is part of the layers that need one. ONNX's Add of a constant for each
    channel is this; that of two values is `add` or `addto`.

    x: rows or images
    """

def sigmoid(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Logistic function, which maps every value between 0 and 1.

    `y = 1 / (1 + exp(-x))`, computed so that nothing overflows; `dx = dy * y * (1 - y)`.

    x: values of any shape
    """

def sigmoid_cross_entropy(
    x: Value,
    target: Value,
    *,
    ignore_label: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cross entropy of independent yes-or-no answers: logistic function and cost in one.

    `cost = sum over c of max(x, 0) - x * target + log(1 + exp(-|x|))`, which is
    `-target * log(p) - (1 - target) * log(1 - p)` for `p = 1 / (1 + exp(-x))` without overflow. Targets lie between
    0 and 1. Terms whose target is `ignore_label` cost nothing; the divisor stays the number of rows, as in Caffe when
    nothing is set. On probabilities, `soft_binary_cross_entropy` is the same.

    x: one score per question
    target: wanted answers
    ignore_label: terms with this target cost nothing (none)
    """

def simple_attention(
    encoded: Value,
    projected: Value,
    state: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Mean of the rows of a sequence, weighted by how well they fit a state (Bahdanau, Cho and Bengio 2015).

    `score[t] = v . tanh(projected[t] + W state)`, the weights are the softmax of the scores of a sequence, and
    `y = sum_t weight[t] * encoded[t]`. `projected` is a map of `encoded` that is the same in every step of a
    decoder, so it is made outside of the step, by an `fc` without a bias.

    encoded: what is to be read
    projected: what each row is found by
    state: what is looked for, such as the state of a decoder
    """

def simple_gru(
    x: Value,
    *,
    size: int,
    act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    gate_act: Literal["tanh", "sigmoid", "relu", "linear"] = "sigmoid",
    reverse: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Gated recurrent units with the map of their input: `fc` to the sums of the gates, then `grumemory`.

    The map has no bias, since `grumemory` adds one to the same sums. Paddle's `simple_gru` makes
    the same of steps.

    x: rows of sequences
    size: number of units (>= 1, required)
    act: function of the candidate (tanh)
    gate_act: function of the gates (sigmoid)
    reverse: run from the last row of a sequence to its first (false)
    """

def simple_lstm(
    x: Value,
    *,
    size: int,
    act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    gate_act: Literal["tanh", "sigmoid", "relu", "linear"] = "sigmoid",
    state_act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    reverse: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Long short-term memory with the map of its input: `fc` to the sums of the gates, then `lstmemory`.

    The map has no bias, since `lstmemory` adds one to the same sums.

    x: rows of sequences
    size: number of units (>= 1, required)
    act: function of the candidate (tanh)
    gate_act: function of the gates (sigmoid)
    state_act: function of the state on its way out (tanh)
    reverse: run from the last row of a sequence to its first (false)
    """

def sinusoidal_position(
    x: Value,
    *,
    drop_rate: float = 0.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Adds to every row waves of its place in the sequence, from short ones in front to long ones at the end.

    `y[t, 2i] = x[t, 2i] + sin(a)` and `y[t, 2i + 1] = x[t, 2i + 1] + cos(a)` with `a = p / 10000 ** (2i / C)`, where
    `p` counts from 0 within the sequence, or within the sub-sequence of a nested one (Vaswani et al. 2017). Nothing is
    learned, so there is no longest sequence.

    x: rows of sequences
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    """

def slice(
    x: Value,
    *,
    axis: int = 1,
    sizes: Sequence[int] | None = None,
    parts: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> tuple[Value, ...]:
    """Cuts rows, or images by their channels, into several outputs: the opposite of `concat`.

    Either `sizes` says how many channels each output gets, or `parts` how many equal ones there are; `axis` names
    another axis to cut. Caffe gives the channels where it cuts (`slice_point`) instead of sizes, and equal parts by the
    number of outputs.

    x: what is cut
    axis: axis that is cut: 1 is the first behind the rows, -1 the last (1)
    sizes: channels of each output (at least 1 values, each >= 1, none)
    parts: number of equal outputs (>= 1 and <= 1024, none)
    """

def slope_intercept(
    x: Value,
    *,
    slope: float = 1.0,
    intercept: float = 0.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """A straight line with constants: `y = slope * x + intercept`. Learned ones are in `scale`.

    Caffe's Power is this with its default `power` 1, and `power` here with another one.

    x: values of any shape
    slope: factor (1)
    intercept: summand (0)
    """

def smooth_l1(
    x: Value,
    target: Value,
    weight: Value | None = None,
    *,
    beta: float = 1.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Absolute error, with a parabola in place of its kink.

    `cost = sum over c of (e ** 2 / (2 * beta) if |e| <= beta else |e| - beta / 2)` for `e = x - target` (Girshick,
    "Fast R-CNN", 2015), times `weight` where the row has one; that is `huber_regression` divided by `beta`. Paddle has
    `beta` 1. Its `coeff` scales the gradient and not the cost: `loss_weight` scales both.

    x: rows
    target: wanted rows
    weight: importance of every row
    beta: error up to which the cost is a parabola (> 0, 1)
    """

def soft_binary_cross_entropy(
    x: Value,
    target: Value,
    weight: Value | None = None,
    *,
    floor: float = 1e-20,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cross entropy of independent yes-or-no answers that are given as probabilities.

    `cost = -sum over c of target * log(x) + (1 - target) * log(1 - x)`, where no probability counts as less than
    `floor`, times `weight` where the row has one. On scores, `sigmoid_cross_entropy` is the same with less rounding.
    Mocha takes a mean over the rows, as a network does here, and gives the target a gradient; neither system has a
    floor.

    x: probability of every yes
    target: wanted answers
    weight: importance of every row
    floor: smallest probability that counts (> 0 and < 1, 1e-20)
    """

def soft_cross_entropy(
    x: Value,
    target: Value,
    weight: Value | None = None,
    *,
    floor: float = 1e-20,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cross entropy of a wanted distribution and the probabilities that a network gives.

    `cost = -sum over c of target[c] * log(max(x[c], floor))`, times `weight` where the row has one. `x` are
    probabilities, as `softmax` gives; on scores, `softlabel_softmax_cost` is the same with less rounding. Below
    `floor` the cost is flat and its gradient 0. The gradient is by every probability on its own; KUnet adds what
    follows from a sum of 1.

    x: probability of every class
    target: wanted share of every class
    weight: importance of every row
    floor: smallest probability that counts (> 0 and < 1, 1e-20)
    """

def softlabel_softmax_cost(
    x: Value,
    target: Value,
    weight: Value | None = None,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cross entropy of a wanted distribution and the softmax of scores.

    `cost = sum over c of target[c] * (log(sum over k of exp(x[k])) - x[c])`, times `weight` where the row has one; the
    largest score is taken off first, so that nothing overflows. Targets need not add up to 1. With one class a row,
    `softmax_with_loss` is the same.

    x: score of every class
    target: wanted share of every class
    weight: importance of every row
    """

def softmax(
    x: Value,
    *,
    axis: int = 1,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Exponentials of every row, divided by their sum; of an image, over the channels of every point, or another axis.

    `y[n, c] = exp(x[n, c] - peak[n]) / sum over d of exp(x[n, d] - peak[n])`, `peak` the largest of the row.
    The gradient is `y * (dy - sum over d of dy[n, d] * y[n, d])`.
    Caffe (`axis` 1) and Mocha (`dim` -2) run over the channels too; in ONNX and PyTorch it is often the last axis.
    Paddle and KUnet run over all values of an image: put a `flatten` before it for that.

    x: scores
    axis: axis that is normalised: 1 is the first behind the rows, -1 the last (1)
    """

def softmax_with_loss(
    x: Value,
    label: Value,
    weight: Value | None = None,
    *,
    ignore_label: int | None = None,
    normalization: Literal["VALID", "BATCH_SIZE", "NONE"] = "VALID",
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Minus the logarithm of the softmax probability of the right class.

    `loss = log(sum over c of exp(x[c])) - x[label]`, times `weight` where the row has one; the largest score is taken
    off first, so that nothing overflows and no digit is lost. Rows whose label is `ignore_label` cost nothing, and
    that label may lie outside the classes; another label outside them costs NaN.

    The loss of the network is what `normalization` says: with `VALID` the mean over the rows that are not ignored,
    with `BATCH_SIZE` the mean over all rows, with `NONE` the sum. Caffe has `VALID` when nothing is set, and its `FULL`
    is `BATCH_SIZE` here, where every row has one label. Weights change no divisor; in ONNX and Mocha a weight belongs
    to a class, and ONNX's mean divides by the weights. `softlabel_softmax_cost` takes a share of every class in place
    of one label.

    x: score of every class
    label: right class of every row
    weight: importance of every row
    ignore_label: rows of this class cost nothing (none)
    normalization: what the loss of the network divides the sum over the rows by (VALID)
    """

def softplus(
    x: Value,
    *,
    beta: float = 1.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Rectifier without a corner: close to 0 far below 0, close to `x` far above.

    `y = log(1 + exp(beta * x)) / beta`, computed so that nothing overflows; `dx = dy * (1 - exp(-beta * y))`, which is
    the logistic function of `beta * x`. Caffe calls it BNLL; Paddle, as softrelu, takes values beyond -40 and 40 for
    these. PyTorch's `threshold`, from which on it takes `x` itself, makes no difference that float32 could show.

    x: values of any shape
    beta: how sharp the bend is (> 0, 1)
    """

def softsign(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Maps every value between -1 and 1, as `tanh` does, but approaches the limits slowly.

    `y = x / (1 + |x|)`, and the limit at infinity; `dx = dy / (1 + |x|)**2`.

    x: values of any shape
    """

def split(
    x: Value,
    *,
    copies: int = 2,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> tuple[Value, ...]:
    """Copies its input to several outputs.

    The gradient is the sum of the outputs' gradients. An output may be read by any number of layers without it, as in
    Paddle; Caffe inserts this layer where that happens, Mocha wants it written. To cut an input into pieces, see
    `slice` (which ONNX calls Split).

    x: what is copied
    copies: number of outputs (>= 1 and <= 1024, 2)
    """

def square_error(
    x: Value,
    target: Value,
    weight: Value | None = None,
    *,
    coeff: float = 1.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Squared distance of every row from its target, times `coeff`.

    `cost = coeff * sum over c of (x - target) ** 2`, times `weight` where the row has one. Paddle has no factor, as
    with `coeff` 1; Caffe, Mocha and KUnet have one half: `coeff: 0.5`. Paddle's own `coeff` scales the gradient and
    not the cost. The target gets its gradient too, as in Caffe and Mocha.

    x: rows
    target: wanted rows
    weight: importance of every row
    coeff: factor of the squared distance (1)
    """

def stanh(
    x: Value,
    *,
    scale: float = 1.7159,
    slope: float = 0.6666666666666666,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Hyperbolic tangent, scaled so that 1 becomes about 1: `y = scale * tanh(slope * x)`.

    LeCun et al., "Efficient backprop" (1998), have the numbers 1.7159 and 2/3 of the defaults. Paddle has no others.

    x: values of any shape
    scale: limit of the outputs (> 0, 1.7159)
    slope: factor of `x` (0.6666666666666666)
    """

def sub(
    x: Value,
    other: Value,
    *,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Difference of two inputs, of which the second may have one number for each channel, point or row.

    `y[n, c, i] = x[n, c, i] - other[n, c, i]`, and `other` may have 1 in place of axes, as in `mul`. Mocha's `Subtract`
    takes inputs of one shape.

    x: rows or images
    other: what is taken away: the same shape, or 1 in place of the channels, of the other axes, or of both
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def sub_nested_seq(
    x: Value,
    selected: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Takes sub-sequences of every nested sequence, in the order of a list.

    Sub-sequence k of the output's sequence n is number `selected[n, k]` of those that `x` has there, counted from 0; -1
    ends the list. `kmax_seq_score` makes such lists. Paddle is the same.

    x: rows of nested sequences
    selected: numbers of the sub-sequences that are taken
    """

def sub_seq(
    x: Value,
    offset: Value,
    length: Value,
    *,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Takes from every sequence a run of rows, given by its first row and its length.

    `y[s] = x[s][offset[s] : offset[s] + length[s]]`: as in Python's slices, what is beyond the end is left out. Paddle
    does not check the ranges. For several runs per sequence there is `seq_slice`.

    x: rows of sequences
    offset: first row of the run, from 0
    length: rows of the run
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def sum_cost(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """The sum of every row as its cost: whatever a network computes becomes what it is trained by.

    x: terms of the cost
    """

def sum_to_one_norm(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Divides every row by the sum of its columns: `y = x / sum_c x[c]`.

    Meant for weights that are not negative. Paddle stops at a row whose sum is not positive; here such a row is
    divided all the same, and one whose sum is zero becomes infinite or NaN.

    x: rows of weights
    """

def swish(
    x: Value,
    *,
    beta: float = 1.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Every value times the logistic function of `beta` times it; with the `beta` of 1 it is called SiLU.

    `y = x / (1 + exp(-beta * x))`, computed so that nothing overflows, and 0 at minus infinity. Ramachandran et al.,
    "Searching for activation functions" (2017). ONNX calls `beta` alpha.

    x: values of any shape
    beta: steepness; 0 is half of `x`, and a large one `relu` (1)
    """

def tanh(
    x: Value,
    *,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Hyperbolic tangent, which maps every value between -1 and 1.

    `y = tanh(x)`; `dx = dy * (1 - y * y)`.

    x: values of any shape
    """

def tensor(
    a: Value,
    b: Value,
    *,
    size: int,
    bias: bool = True,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """A bilinear form of two rows for every output: `y[n, k] = sum_c sum_d a[n, c] * weight[k, c, d] * b[n, d]`.

    A bias for every output is added. Paddle stores the weight with the outputs last.

    a: rows
    b: rows, of other width perhaps
    size: number of outputs (>= 1, required)
    bias: add a bias to every output (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def threshold(
    x: Value,
    *,
    threshold: float = 0.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Says which values are above a threshold: `y = 1` for `x > threshold`, else 0.

    Nothing learns through it: its derivative is 0 wherever there is one. PyTorch's Threshold keeps the values that are
    above; with the threshold 0 that is `relu`.

    x: values of any shape
    threshold: largest value that becomes 0 (0)
    """

def top_k(
    x: Value,
    *,
    k: int,
    axis: int = 1,
    largest: bool = True,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> tuple[Value, ...]:
    """The `k` largest values along an axis, or the smallest, from the best on, and their places as real numbers.

    An axis of C elements becomes one of `k`. Of equal values the first comes first; where one is NaN, all are. The
    places are the second output, 0 is the first one; their gradient goes nowhere. Of sequences, see `kmax_seq_score`.

    x: rows of any shape
    k: how many (>= 1, required)
    axis: axis that is searched: 1 is the first behind the rows, -1 the last (1)
    largest: the largest values; false: the smallest (true)
    """

def trans_fc(
    x: Value,
    *,
    size: int,
    bias: bool = True,
    act: str = "linear",
    drop_rate: float = 0.0,
    error_clip: float | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Affine map of every row by a weight that is stored transposed: `y = x @ weight.T + bias`.

    The weight has the shape of that of an `fc` in the other direction, so that `share` makes the two one parameter, as
    encoder and decoder of an autoencoder may have it. Paddle has it as a projection of `mixed`.

    x: rows of features
    size: number of outputs (>= 1, required)
    bias: add a bias to every output (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def transformer_block(
    x: Value,
    *,
    num_heads: int = 1,
    hidden: int | None = None,
    causal: bool = False,
    norm: Literal["LAYER_NORM", "RMS_NORM"] = "LAYER_NORM",
    drop_rate: float = 0.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Attention of a sequence to itself, then two maps of every row, each with a way around it (Vaswani et al. 2017).

    `s = x + merge(attention(norm(x)))`, `y = s + narrow(gelu(wide(norm(s))))`

    The rows are brought to one size before the parts and not behind them, which trains more steadily. Places in the
    sequence are not known to it: put `position_embedding` or `sinusoidal_position` before the first block.

    x: rows of sequences
    num_heads: parts into which the columns are cut (>= 1, 1)
    hidden: columns between the two maps; when absent: four times those of `x` (>= 1, none)
    causal: a row sees itself and the rows before it only (false)
    norm: how rows are brought to one size (LAYER_NORM)
    drop_rate: share of what each part adds that is set to zero while training (>= 0 and < 1, 0)
    """
