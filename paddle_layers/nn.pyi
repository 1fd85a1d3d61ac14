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
    """Share of the labels whose class is among the `top_k` best scores.

    A row has one label, or one for each of its last axes: scores of 21x28x28 and labels of 28x28 are a class for each
    pixel. A label is right if fewer than `top_k` other classes score as much as the right one or more, so ties
    count against it, as in Caffe: a network that gives every class the same score is right nowhere. A score that is not
    a number counts against it, too. Labels that are `ignore_label` or outside the classes are not counted; with none
    counted there is no share (NaN), where Caffe gives 0. Counts run on over the batches until they are reset, as in
    Mocha. Paddle reports the error rate, one minus this: `classification_error`. The accuracy of each class, Caffe's
    second top, is its recall: `paddle-layers evaluate` prints it, and `confusion_matrix` has the mean of all.

    x: score or probability of every class
    label: right class of every row, or of every place
    top_k: how many best scores count as right (>= 1, 1)
    ignore_label: labels of this class are not counted (none)
    """

def adaptive_pool(
    x: Value,
    *,
    size: int,
    size_y: int | None = None,
    pool_type: Literal["MAX", "AVERAGE"] = "MAX",
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
    """2-D adaptive pooling: maximum or average pooling to a given output size.

    Of `H` rows, window `p` of `P` contains those from `floor(p * H / P)` up to, but not including, `ceil((p + 1) * H /
    P)`, columns likewise, as in PyTorch: every pixel is in a window, and if `P` does not divide `H`, neighboring
    windows share a row. There may be more windows than rows. NaN and equal maxima are handled as in `pool`, which is
    equivalent if the sizes divide evenly, and with `global_pooling` for a single window.

    x: images: channels, height, width
    size: output width (>= 1, required)
    size_y: output height (>= 1, same as size)
    pool_type: type of pooling (MAX)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def adaptive_pool1d(
    x: Value,
    *,
    size: int,
    pool_type: Literal["MAX", "AVERAGE"] = "MAX",
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
    """1-D adaptive pooling: maximum or average pooling to a given output length.

    It consists of an `adaptive_pool` on images of one row.

    x: 1-D signals: channels, length
    size: output length (>= 1, required)
    pool_type: type of pooling (MAX)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def adaptive_pool3d(
    x: Value,
    *,
    size: Sequence[int],
    pool_type: Literal["MAX", "AVERAGE"] = "MAX",
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
    """3-D adaptive pooling: maximum or average pooling to a given output size.

    It consists of an `adaptive_pool` of every plane and one along the depth: maxima of maxima, means of means. `size`
    is a list in the order depth, height, width, or one value for all.

    x: 3-D volumes: channels, depth, height, width
    size: output size along each axis (1 to 3 values, each >= 1, required)
    pool_type: type of pooling (MAX)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
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

def attention_step(
    query: Value,
    own_key: Value,
    own_value: Value,
    keys: Value,
    values: Value,
    row: Value,
    place: Value,
    *,
    num_heads: int = 1,
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
    """One position of a causal `multi_head_attention`: a row looks at itself and at what was kept of those before it.

    `y[n] = sum_k p[k] * values[row[n, k], k] + p * own_value[n]`, where the weights are the softmax of
    `scale * query[n] . keys[row[n, k], k]`, for the places `k` before `place[n]`, and of
    `scale * query[n] . own_key[n]`; each head has its own columns. What is behind `place` is not read: the cache
    may have more places.

    Each text has a row of the batch. Where texts begin alike, as those of a beam search do, `row` says in whose row the
    keys and values of a place lie, so that nothing is copied. The caller puts `own_key` and `own_value` at their place
    behind the pass. It is what `generate` runs in the place of `multi_head_attention`; nothing learns through it.

    query: query of each row
    own_key: key of the row itself
    own_value: value of the row itself
    keys: keys of the places before, by row of the batch and place
    values: values of the places before
    row: row of the batch that has the key and the value of a place, from 0
    place: how many places there are before this one
    num_heads: parts into which the columns are cut (>= 1, 1)
    scale: factor of the products; when absent: one over the root of a head's columns (none)
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
    r_max: float | None = None,
    d_max: float | None = None,
    synchronised: bool = False,
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

    With `r_max` or `d_max` it is batch renormalisation (Ioffe 2017): in training, the batch's values are corrected
    towards the running ones, which the test phase will use, as far as the two limits allow:

    `y = ((x - mean) / sqrt(var + epsilon) * r + d) * gain + bias`

    where `r = sqrt(var + epsilon) / sqrt(running_var + epsilon)`, between `1 / r_max` and `r_max`, and
    `d = (mean - running_mean) / sqrt(running_var + epsilon)`, between `-d_max` and `d_max`, with the running values
    from before the step. Both count as constants in the gradient. The paper begins with limits of 1 and 0, which is
    batch normalisation, and lets them grow to 3 and 5 once the averages are good; here a training has one of each.

    Where several processes share a batch, each normalizes by its own rows, unless it is `synchronised`: then by those
    of all processes, as one with the whole batch does. That takes two sums over the processes on the way there, and one
    on the way back.

    x: rows or images
    momentum: share of the old average that stays (>= 0 and <= 1, 0.9)
    epsilon: added to the variance (> 0, 1e-05)
    use_global_stats: use the running averages; when absent: in the test phase (none)
    unbiased: the running variance averages the unbiased estimate (false)
    r_max: how much renormalisation may change the spread; when absent: not at all (>= 1, none)
    d_max: running deviations it may move the mean by; when absent: not at all (>= 0, none)
    synchronised: the batch is that of all processes which share it (false)
    bias: add a bias to every output (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def batch_reindex(
    x: Value,
    index: Value,
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
    """Takes rows of the batch by their numbers, in any order and as often as they are named.

    `y[r] = x[index[r]]`, where rows of the batch count from 0. The numbers of a sample are a sequence, and so are the
    rows that it takes; Caffe's BatchReindex has one list of numbers for the batch. The row of the sample itself, as
    often as it has boxes or words, is `expand`, which needs no numbers. With several processes the numbers are those of
    the rows that a process has. Numbers that the batch does not have are refused when it is fed.

    x: rows of any shape
    index: numbers of rows of the batch, from 0
    """

def beam_expansion(
    x: Value,
    selected: Value,
    gold: Value,
    total_before: Value | None = None,
    path_before: Value | None = None,
    cost_before: Value | None = None,
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
    """One expansion of a beam search that is trained as a whole: the paths that are kept, and the cost so far.

    Each sequence of `x`, or each sub-sequence, belongs to a path that was kept, and its rows are the scores of what may
    follow. `selected` has the places of those that are kept, best by `kmax_seq_score`; -1 ends its list. A path
    scores the sum of its rows' scores, and the paths of a sample are the rows of `total`. `gold` is the place of the
    right one, in the sub-sequence of the right path.

    `cost = log(sum over the paths of exp(total) + exp(gold), where the right path is not kept) - gold`, in which `gold`
    is the score of the right path (Andor et al. 2016: globally normalised, and trained with early updates). Where it is
    not kept, `path` is -1, and in later expansions the cost stays as it is; so it does where `gold` is a number that
    the sub-sequence does not have.

    The first expansion has three inputs; a later one has the outputs of the one before as well, in their order, and
    `x` has a sub-sequence for each path, as `seq_slice` makes. A `sum_cost` behind the last `cost` is
    Paddle's `cross_entropy_over_beam`, which has the inputs of all expansions at once.

    x: scores of what may follow each path
    selected: places that are kept of each path
    gold: place of the right one
    total_before: `total` of the expansion before
    path_before: `path` of the expansion before
    cost_before: `cost` of the expansion before
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

    x: images: channels, height, width
    out_size: output width (>= 1, none)
    out_size_y: output height (>= 1, same as out_size)
    scale: horizontal scale factor (>= 1, none)
    scale_y: vertical scale factor (>= 1, same as scale)
    corners: where a pixel of the result lies in the image (ALIGNED)
    """

def binary_accuracy(
    x: Value,
    label: Value,
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
) -> Sink:
    """Share of the answers that are right, where every column is a yes or no of its own.

    An answer is right if score and label are both above `threshold`, or both are not, as in Mocha; a score that is not
    a number is wrong. For labels of 0 and 1 the threshold is 0.5 for probabilities and 0 for scores before a sigmoid;
    0 for labels of -1 and 1. Every column counts as much, as in Mocha and Keras; Keras compares labels that are 0 or 1
    with the answer. A single column whose label is an id is `classification_error`. Counts run on over the batches
    until they are reset; without rows there is no share (NaN).

    x: score or probability of every yes
    label: the right answers: yes is above `threshold`
    threshold: where yes begins, for scores and labels (0)
    """

def block_expand(
    x: Value,
    *,
    block: int,
    block_y: int | None = None,
    stride: int | None = None,
    stride_y: int | None = None,
    padding: int = 0,
    padding_y: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cuts images into blocks that become the rows of a sequence, from left to right and from the top down.

    A row has the elements of a block, channel by channel, as `im2col` has them; so columns of a text line can be read
    by a recurrent network, and patches by a `transformer_block`. The number of blocks along an axis is rounded up,
    `1 + ceil((H + 2 * padding_y - block_y) / stride_y)`, and what lies outside of the image is 0; where the image is
    smaller than a block there is one.

    Paddle's `stride` is 0 unless set, and does not work so; here blocks lie side by side then.

    x: images: channels, height, width
    block: columns of a block (>= 1, required)
    block_y: rows of a block (>= 1, same as block)
    stride: columns from one block to the next (>= 1, same as block)
    stride_y: rows from one block to the next (>= 1, same as block_y)
    padding: columns of zeros on the left, and on the right (>= 0, 0)
    padding_y: rows of zeros above, and below (>= 0, same as padding)
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
    """The weight of every label's class, for the input `weight` of a cost.

    `y = weights[label]` of every row, or of every pixel where labels have axes, and 0 for a label that is
    `ignore_label` or outside the classes. So rare classes, or those whose mistakes cost more, teach more. The losses of
    `softmax_with_loss` and `cross_entropy` are then sums of weighted costs divided by the number of labels, not by that
    of weights: a mean weight of 1 leaves their size alone, as `labels / (classes * labels of the class)` has. PyTorch
    and ONNX divide by the weights.

    label: class of every row, or of every place
    weights: weight of each class, in the order of the ids (required)
    ignore_label: labels of this class weigh nothing (none)
    """

def classification_error(
    x: Value,
    label: Value,
    weight: Value | None = None,
    *,
    top_k: int = 1,
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
    """Share of the labels whose class is not among the `top_k` best scores.

    One minus `accuracy`, which has the same rules for ties, `ignore_label` and labels of pixels, and two things more,
    as in Paddle: labels may have weights, and a single score says yes (class 1) where it is above `threshold`. Counts
    run on over the batches until they are reset; without any weight there is no share (NaN).

    x: score or probability of every class
    label: right class of every row, or of every place
    weight: importance of every label
    top_k: how many best scores count as right (>= 1, 1)
    threshold: where a single score says yes (0.5)
    ignore_label: labels of this class are not counted (none)
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

    `counts[k, j]` are the labels of class `k` that were found to be of class `j`, weighted. A row has one label, or one
    for each of its last axes, as for the pixels of an image. One is found to be of the
    class with the best score, the first of equal ones, and of none where a score is not a number; a single score says
    yes (class 1) where it is above `threshold`. Labels that are `ignore_label` or outside the classes are not
    counted. `accuracy` is the share of the diagonal, `balanced_accuracy` the plain mean of the recalls of the classes
    that have rows. `paddle-layers evaluate` prints and draws the counts, with precision, recall and F1 of every class,
    and adds this layer to costs of classes by itself.

    x: score or probability of every class
    label: right class of every row, or of every place
    weight: importance of every label
    threshold: where a single score says yes (0.5)
    ignore_label: labels of this class are not counted (none)
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
    projection of `mixed`; where the rows beyond the ends are learned (`trainable_padding`) it is `padded_context`.

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
    """2-D convolution (cross-correlation) with strides, padding, dilation and groups.

    `y[n, k, p, q] = bias[k] + sum over d, a, b of weight[k, d, a, b] * x[n, first(k) + d, h, w]` with
    `h = p * stride_y - padding_y + a * dilation_y`, `w = q * stride - padding + b * dilation`; elements outside the
    image are zero. `first(k)` is the first channel of the filter's group: filters and channels are divided into
    `groups` equal groups, and a filter reads the channels of its group (grouped convolution). With as many groups as
    channels this is the depthwise convolution.

    The filter is not flipped (cross-correlation), as in all frameworks named here. The output size is rounded down:

    `spread = (filter_size_y - 1) * dilation_y + 1`, `P = (H + padding_y + padding_end_y - spread) // stride_y + 1`

    and `Q` in the same way. `padding_end` is the padding on the right and at the bottom if it differs, as the second
    half of ONNX's `pads`. With stride 1 Keras' "same" is a `padding` of `(spread - 1) // 2` and a `padding_end` of
    `spread // 2`; with longer strides the total is `max((P - 1) * stride + spread - H, 0)` with `P = ceil(H / stride)`,
    and an odd pixel goes to the end. Paddle's `caffe_mode = false` rounds up; its helpers never set it. As in Paddle,
    attributes ending in `_y` are vertical and those without horizontal; an absent `_y` equals its horizontal
    counterpart.

    x: images: channels, height, width
    num_filters: number of filters (>= 1, required)
    filter_size: kernel width (>= 1, required)
    filter_size_y: kernel height (>= 1, same as filter_size)
    stride: horizontal stride (>= 1, 1)
    stride_y: vertical stride (>= 1, same as stride)
    padding: horizontal zero padding: columns added on the left and on the right (>= 0, 0)
    padding_y: vertical zero padding: rows added at the top and at the bottom (>= 0, same as padding)
    padding_end: zero padding on the right, if it differs from the left (>= 0, same as padding)
    padding_end_y: zero padding at the bottom, if it differs from the top (>= 0, same as padding_y)
    dilation: horizontal dilation (>= 1, 1)
    dilation_y: vertical dilation (>= 1, same as dilation)
    groups: number of groups of channels and filters (>= 1, 1)
    bias: add a bias to every output (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def conv1d(
    x: Value,
    *,
    num_filters: int,
    filter_size: int,
    stride: int = 1,
    padding: int = 0,
    padding_end: int | None = None,
    dilation: int = 1,
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
    """1-D convolution (cross-correlation) over signals of a fixed length: audio, sensor data, time series.

    `y[n, k, p] = bias[k] + sum over d, b of weight[k, d, b] * x[n, first(k) + d, p * stride - padding + b * dilation]`.
    It consists of a `conv` on images of one row: `param { of: "conv.weight" }` configures its filters, of shape
    `num_filters x channels x 1 x filter_size`. All signals have the same length; for sequences of varying length see
    `context` and `row_conv`.

    x: 1-D signals: channels, length
    num_filters: number of filters (>= 1, required)
    filter_size: kernel size (>= 1, required)
    stride: stride (>= 1, 1)
    padding: zero padding at both ends (>= 0, 0)
    padding_end: zero padding at the end, if it differs from the start (>= 0, same as padding)
    dilation: dilation (>= 1, 1)
    groups: number of groups of channels and filters (>= 1, 1)
    bias: add `conv.bias`, one value per filter (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def conv1d_trans(
    x: Value,
    *,
    num_filters: int,
    filter_size: int,
    stride: int = 1,
    padding: int = 0,
    output_padding: int = 0,
    dilation: int = 1,
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
    """1-D transposed convolution: the gradient of `conv1d` with respect to its input.

    It consists of a `conv_trans` on images of one row: `param { of: "conv_trans.weight" }` configures its filters, of
    shape `channels x num_filters / groups x 1 x filter_size`. The output length is

    `Q = (W - 1) * stride - 2 * padding + (filter_size - 1) * dilation + 1 + output_padding`.

    x: 1-D signals: channels, length
    num_filters: number of filters (>= 1, required)
    filter_size: kernel size (>= 1, required)
    stride: stride: elements of the output per element of the input (>= 1, 1)
    padding: padding: elements removed from the output at both ends (>= 0, 0)
    output_padding: additional elements of the output at the end (>= 0, 0)
    dilation: dilation (>= 1, 1)
    groups: number of groups of channels and filters (>= 1, 1)
    bias: add `conv_trans.bias`, one value per filter (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def conv3d(
    x: Value,
    *,
    num_filters: int,
    filter_size: Sequence[int],
    stride: Sequence[int] = ...,
    padding: Sequence[int] = ...,
    padding_end: Sequence[int] | None = None,
    dilation: Sequence[int] = ...,
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
    """3-D convolution (cross-correlation) over volumes: CT and MRI scans, video.

    `y[n, k, r, p, q] = bias[k] + sum over d, e, a, b of weight[k, d, e, a, b] * x[n, first(k) + d, z, h, w]` with
    `z = r * stride - padding + e * dilation` along the depth, and `h` and `w` in the same way along rows and columns:
    `conv` with one more axis. Elements outside are zero; `groups` divide channels and filters as in `conv`.

    Attributes per axis are lists in the order depth, height, width, such as `filter_size: [3, 5, 5]`, or one value for
    all three. The output size along an axis is rounded down:

    `R = (Z + padding + padding_end - ((filter_size - 1) * dilation + 1)) // stride + 1`

    `padding_end` is the padding at the end, if it differs. Paddle's lists begin with the width, it has no dilation, and
    its filter channels are those of a group, as here. For 1-D signals see `conv1d`.

    x: 3-D volumes: channels, depth, height, width
    num_filters: number of filters (>= 1, required)
    filter_size: kernel size along each axis (1 to 3 values, each >= 1, required)
    stride: stride along each axis (1 to 3 values, each >= 1, [1])
    padding: zero padding at both ends of each axis (1 to 3 values, each >= 0, [0])
    padding_end: zero padding at the end, if it differs from the start (1 to 3 values, each >= 0, same as padding)
    dilation: dilation along each axis (1 to 3 values, each >= 1, [1])
    groups: number of groups of channels and filters (>= 1, 1)
    bias: add a bias to every output (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def conv3d_trans(
    x: Value,
    *,
    num_filters: int,
    filter_size: Sequence[int],
    stride: Sequence[int] = ...,
    padding: Sequence[int] = ...,
    output_padding: Sequence[int] = ...,
    dilation: Sequence[int] = ...,
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
    """3-D transposed convolution: the gradient of `conv3d` with respect to its input.

    `conv_trans` with one more axis: element `(z, h, w)` adds
    `weight[c, d, e, a, b] * x[n, c, z, h, w]` to the element with `r = z * stride - padding + e * dilation`, and `p`
    and `q` in the same way. A `conv3d` with the same attributes maps a volume of `R x P x Q` to one of the size of `x`,
    and

    `R = (Z - 1) * stride - 2 * padding + (filter_size - 1) * dilation + 1 + output_padding`

    Attributes per axis are lists in the order depth, height, width, or one value for all three. Paddle's lists begin
    with the width, and it has no dilation.

    x: 3-D volumes: channels, depth, height, width
    num_filters: number of filters (>= 1, required)
    filter_size: kernel size along each axis (1 to 3 values, each >= 1, required)
    stride: stride along each axis: elements of the output per element of the input (1 to 3 values, each >= 1, [1])
    padding: padding: elements removed from the output at both ends (1 to 3 values, each >= 0, [0])
    output_padding: additional elements of the output at the end (1 to 3 values, each >= 0, [0])
    dilation: dilation along each axis (1 to 3 values, each >= 1, [1])
    groups: number of groups of channels and filters (>= 1, 1)
    bias: add a bias to every output (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def conv_operator(
    x: Value,
    filter: Value,
    *,
    num_filters: int,
    filter_size: int,
    filter_size_y: int | None = None,
    stride: int = 1,
    stride_y: int | None = None,
    padding: int = 0,
    padding_y: int | None = None,
    trans: bool = False,
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
    """Convolves every image with filters of its own, which another layer has made; or spreads it by them.

    `y[n, k, p, q] = sum over c, a, b of filter[n, k, c, a, b] * x[n, c, p * stride_y - padding_y + a, q * stride -
    padding + b]`, as `conv` without bias, 0 outside of the image. A row of `filter` has `num_filters * C *
    filter_size_y * filter_size` numbers in this order, from an `fc` say: a network that looks for what another one
    describes, or that makes its own filters (Jia et al., "Dynamic filter networks", 2016).

    With `trans` it is `conv_trans` instead, Paddle's `conv_trans_operator`: the first axes of a filter are then
    `C x num_filters`. In Paddle both are operators of `mixed` that run on cards only.

    x: images: channels, height, width
    filter: the filters of each image
    num_filters: number of filters (>= 1, required)
    filter_size: kernel width (>= 1, required)
    filter_size_y: kernel height (>= 1, same as filter_size)
    stride: horizontal stride (>= 1, 1)
    stride_y: vertical stride (>= 1, same as stride)
    padding: horizontal zero padding: columns added on the left and on the right (>= 0, 0)
    padding_y: vertical zero padding: rows added at the top and at the bottom (>= 0, same as padding)
    trans: spread the image by the filters, as `conv_trans` (false)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def conv_shift(
    x: Value,
    weights: Value,
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
    """Turns every row around by as much as the weights in a second one say: a circular convolution.

    `y[n, i] = sum over j of x[n, (i + j - (K - 1) / 2) mod C] * weights[n, j]`, with an odd number K of weights. A
    single 1 in the middle changes nothing, one behind it turns the row one place to the front. Neural Turing machines
    (Graves, Wayne and Danihelka 2014) move their attention so. Paddle does the same.

    x: rows that are turned
    weights: an odd number of weights, the middle one for no turn
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
    """2-D transposed convolution: the gradient of `conv` with respect to its input.

    `y[n, k, p, q] = bias[k] + sum over c, a, b of weight[c, k - first(k), a, b] * x[n, c, h, w]` over the pixels with
    `p = h * stride_y - padding_y + a * dilation_y` and `q = w * stride - padding + b * dilation`; `c` runs over the
    channels of the filter's group, and `first(k)` is the group's first filter.

    A `conv` with the same attributes maps an image of `P x Q` to one of `H x W`, and

    `P = (H - 1) * stride_y - 2 * padding_y + (filter_size_y - 1) * dilation_y + 1 + output_padding_y`

    and `Q` in the same way. With a stride, a `conv` maps several input sizes to the same `H`; `output_padding` adds
    rows and columns to the smallest of them, at the bottom and on the right. Paddle and Caffe use the smallest.

    Bilinear upsampling by a factor `s`, as is usual in Caffe: as many filters and groups as channels,
    `filter_size: 2 * s - s % 2`, `stride: s`, `padding: (s - 1) / 2` rounded up, no bias, and the initializer
    `bilinear` for `weight`.

    x: images: channels, height, width
    num_filters: number of filters (>= 1, required)
    filter_size: kernel width (>= 1, required)
    filter_size_y: kernel height (>= 1, same as filter_size)
    stride: horizontal stride: columns of the output per column of the input (>= 1, 1)
    stride_y: vertical stride: rows of the output per row of the input (>= 1, same as stride)
    padding: horizontal padding: columns removed from the output on the left and on the right (>= 0, 0)
    padding_y: vertical padding: rows removed from the output at the top and at the bottom (>= 0, same as padding)
    output_padding: additional columns of the output on the right (>= 0, 0)
    output_padding_y: additional rows of the output at the bottom (>= 0, same as output_padding)
    dilation: horizontal dilation (>= 1, 1)
    dilation_y: vertical dilation (>= 1, same as dilation)
    groups: number of groups of channels and filters (>= 1, 1)
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

def cross_channel_norm(
    x: Value,
    *,
    epsilon: float = 1e-06,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Brings the channels of every pixel to length 1, then scales each by a number that is learned.

    `y = x / sqrt(s + epsilon) * scale`, where `s` sums the squares of all channels at the pixel (Liu, Rabinovich and
    Berg 2016, ParseNet). SSD has it in front of its first maps, with `scale` 20 to begin with. Caffe's Normalize, of
    that branch, has one number for all channels where `channel_shared` is true, and the length of the whole image
    where `across_spatial` is.

    x: rows or images
    epsilon: added to the sum of squares (> 0, 1e-06)
    """

def cross_entropy(
    x: Value,
    label: Value,
    weight: Value | None = None,
    *,
    floor: float = 1e-20,
    ignore_label: int | None = None,
    label_smoothing: float = 0.0,
    normalization: Literal["VALID", "FULL", "BATCH_SIZE", "NONE"] = "VALID",
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

    `cost = -log(max(x[label], floor))`, times `weight` where there is one. `x` are probabilities, as `softmax` gives;
    on scores, `softmax_with_loss` is the same with less rounding, and its page says how labels of pixels,
    `ignore_label`, `label_smoothing` and `normalization` are meant. Below `floor` the cost is flat and its gradient 0.
    Caffe and Mocha have a floor of 1e-20, Paddle has none; Mocha's layer has no gradient. Paddle's `coeff` scales the
    gradient and not the cost: `loss_weight` scales both.

    x: probability of every class
    label: right class of every row, or of every place
    weight: importance of every label
    floor: smallest probability that counts (> 0 and < 1, 1e-20)
    ignore_label: rows or places of this class cost nothing (none)
    label_smoothing: share of the right class that is given to all classes, to each the same (>= 0 and <= 1, 0)
    normalization: what the loss of the network divides the sum over the labels by (VALID)
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
    1966). `deletions`, `insertions` and `substitutions` are the shares of labels that are not said, of classes that are
    said without a label, and of labels for which another class is said, with as many of the last as the fewest edits
    leave; `sequences` is the share of the sequences that need any edit. Paddle divides by the longer of the two.

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
    carry: str | None = None,
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

    Real numbers have a `shape`, the axes behind the row axis; without one, a row is a single number. Ids have a `size`,
    which is how many there are, and a `shape` where a row has several, as a label for each pixel of an image; sparse
    rows have a `size` only. Rows may be grouped in sequences, or in sequences of sub-sequences, and then follow
    one another without padding. Paddle's `data_layer` gives a dense value its width as `size`; Caffe's shapes include
    the batch, which here is never part of a shape.

    With `carry` nobody has to feed it: it has the rows of another value in the batch before, zeros in the first one.
    So states of recurrent layers go on from batch to batch, and gradients end where the batch begins (truncated
    backpropagation through time); every batch then has the same number of samples. To begin anew somewhere, multiply
    the rows by a fed 0 or 1 (`scaling`), which is the `cont` of Caffe.

    shape: axes behind the row axis, without the batch (>= 1, none)
    data_type: what a row is (DENSE)
    size: number of ids, or width of a sparse row (>= 1, none)
    seq_nested_level: 0: single rows, 1: sequences, 2: sequences of sub-sequences (>= 0 and <= 2, 0)
    carry: value whose rows in the batch before are fed; absent: the data's (none)
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

def detection_map(
    label: Value,
    score: Value,
    box: Value,
    truth: Value,
    truth_box: Value,
    difficult: Value | None = None,
    *,
    overlap_threshold: float = 0.5,
    background_id: int = 0,
    evaluate_difficult: bool = False,
    ap_type: Literal["ELEVEN_POINT", "INTEGRAL"] = "ELEVEN_POINT",
    bins: int = 1000,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Sink:
    """Mean average precision (mAP) of boxes that were found in images, between 0 and 1.

    In each image the boxes that were found come one by one, the most sure first. One is right if the box of its class
    that it overlaps most is overlapped by more than `overlap_threshold`, and by none before it; the overlap is the area
    in common divided by the area that both cover together. From the most sure box of all images on, `precision` is the
    share of the boxes found that are right, and `recall` the share of those that are there that were found.

    The average precision of a class is the mean of the largest precision at a recall of 0, 0.1, ... 1 or more
    (`ELEVEN_POINT`, as in Pascal VOC 2007), or the sum of the precision times what the recall gains (`INTEGRAL`). The
    mean is over the classes that have boxes; without any it is NaN. A box that is `difficult` counts neither as one
    that is there nor, when it is found, as right or wrong, unless `evaluate_difficult`.

    Scores are counted in `bins` of equal width, since boxes of all images since the last reset count: those in one bin
    count as equally sure. If any score is outside of 0 to 1 there is no mean (NaN). Paddle keeps every score, leaves
    out classes of which nothing was found, where they count as 0 here, and shows percent.

    label: class of each box that was found
    score: how sure it is
    box: its corners `x1, y1, x2, y2`
    truth: class of each box that is there
    truth_box: its corners
    difficult: 1 for a box that is hard to find, 0 for others
    overlap_threshold: overlap above which a box is found (>= 0 and < 1, 0.5)
    background_id: class of the background, which does not count (>= 0, 0)
    evaluate_difficult: difficult boxes count as all others (false)
    ap_type: how the average is taken (ELEVEN_POINT)
    bins: bins of scores (>= 2, 1000)
    """

def detection_output(
    prior: Value,
    *maps: Value | Sequence[Value],
    num_classes: int,
    nms_threshold: float = 0.45,
    nms_top_k: int = 400,
    keep_top_k: int = 200,
    confidence_threshold: float = 0.01,
    background_id: int = 0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> tuple[Value, ...]:
    """The boxes that a single-shot detector (Liu et al. 2016, SSD) finds in every image, from the most sure one on.

    The scores of a box become probabilities by a softmax. A default box with the middle `(p, q)`, the sides `w` and `h`
    and the variances `v` is moved by its locations `l`: to the middle `(p + v[0] * l[0] * w, q + v[1] * l[1] * h)` and
    the sides `w * exp(v[2] * l[2])` and `h * exp(v[3] * l[3])`.

    In each class but the background, the `nms_top_k` most probable boxes above `confidence_threshold` are taken one by
    one; one that overlaps another that was kept before by more than `nms_threshold` is left out (non-maximum
    suppression). The overlap is the area in common divided by the area that both cover together. Of the boxes of all
    classes, the `keep_top_k` most probable ones are given, cut off at the borders of the image.

    The boxes of an image are a sequence, which may be empty: no rows are filled up. Inputs are those of `multibox_loss`
    without what is there. Paddle gives one row of seven numbers for each box, first the number of the image, class by
    class. Nothing learns through it; `detection_map` judges it.

    prior: default boxes and their variances, as `priorbox` gives
    maps: locations of all scales, then scores of all scales
    num_classes: classes, that of the background included (>= 2, required)
    nms_threshold: overlap up to which two boxes of a class are kept (> 0 and <= 1, 0.45)
    nms_top_k: most boxes of a class that are looked at (>= 1, 400)
    keep_top_k: most boxes of an image (>= 1, 200)
    confidence_threshold: probability above which a box counts (>= 0 and < 1, 0.01)
    background_id: class of the background (>= 0, 0)
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

    The mask is a function of the seed, the step and the position, so that it is the same on every device. In training a
    dropped value is -0.0, which equals 0, and a kept zero is 0.0: by the sign the gradient knows which were dropped.
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

def filter(
    x: Value,
    keep: Value,
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
    """Leaves rows of the batch out: a sample becomes a sequence of its row, or one without rows.

    The row stays where `keep` is not 0; `keep` may be fed, or made by the network, by `maxid` say, and gets no
    gradient. Costs of such sequences are divided by the rows that are left, as in Caffe, whose Filter makes a smaller
    batch of them. Labels are left out by `filter_ids` with the same `keep`, rows of sequences by `seq_filter`. Where
    rows are left out for their label alone, costs have `ignore_label`.

    x: rows of any shape
    keep: which rows stay: all that are not 0
    """

def filter_ids(
    x: Value,
    keep: Value,
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
    """Leaves ids of the batch out, as `filter` does with rows: a sample becomes a sequence of its id, or of none.

    x: ids
    keep: which ids stay: all where it is not 0
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

def gaussian_kl(
    mu: Value,
    sigma: Value,
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
    """Kullback-Leibler divergence from the standard normal distribution to others, given by means and deviations.

    `cost = sum over c of (mu ** 2 + sigma ** 2 - 1) / 2 - log(sigma)`: what a code costs that tells the numbers of each
    row beside one that knows nothing, in nats. It is 0 where every mean is 0 and every deviation 1, and a part of the
    loss of a variational autoencoder (Kingma and Welling, "Auto-encoding variational Bayes", 2014). Deviations have to
    be above 0, as `exponential` makes them. Mocha's manual has the other sign; its layer computes this.

    mu: means
    sigma: deviations
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

def group_norm(
    x: Value,
    *,
    groups: int,
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
    """Brings every group of an image's channels to mean 0 and variance 1, then scales channels and adds `bias`.

    `y = (x - mean) / sqrt(var + epsilon) * gain + bias`

    (Wu and He 2018), mean and variance over the `C / groups` channels of a group and all their pixels, the variance
    divided by their number; `gain` and `bias` have a number for each channel. One group is `layer_norm` with fewer
    gains; as many groups as channels are `instance_norm`. Unlike `batch_norm` it does the same in all phases, and small
    batches do no harm.

    x: rows or images
    groups: runs of neighbouring channels (>= 1, required)
    epsilon: added to the variance (> 0, 1e-05)
    bias: add a bias to every output (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
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
    initial: Value | None = None,
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

    in every sequence by itself, in the innermost sequences of nested ones; the output before the first row, which is
    the last one with `reverse`, is `initial`, or zero. With `reset_after` it is `c = act(s_c + r * (h @ W_c + b))`,
    where `b` is the fourth part of `bias`. Put `fc` of three times the units before the layer to map the input. Paddle
    is the same without `reset_after`; cuDNN and PyTorch are the same with it, Keras and ONNX have both. All but Paddle
    exchange `u` and `1 - u`.

    x: three sums per unit
    initial: output before the first row, a row for each sequence
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

def hsigmoid(
    x: Value,
    label: Value,
    *,
    counts: Sequence[float] = ...,
    codes: Sequence[str] = ...,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cost of a class among very many: of the yes-or-no answers on the way to it through a binary tree.

    The classes are the leaves. Each inner node has a score, `z[i] = x @ weight[i] + bias[i]`, and goes on to its side 1
    with the probability `1 / (1 + exp(-z[i]))`; the probability of a class is the product along its path, and `cost =
    sum over the path of log(1 + exp(z[i])) - side * z[i]`, minus its logarithm. So the probabilities of all classes
    add up to one, and a step takes as long as the tree is deep, whatever the number of classes, which is that of the
    label: the gradients of `weight` and `bias` have only the rows in use.

    By default the tree is complete, as Paddle's: the path of a class is the binary form of `label + classes` behind its
    first digit, and node 0 the root. With `counts`, how often each class occurs, frequent classes have short paths
    (Huffman; Mikolov et al. 2013). `codes` gives any tree, as the path of each class in the digits 0 and 1; its nodes
    are numbered from the root, the shorter first, then in the order of their paths. Morin and Bengio (2005). Paddle
    keeps `z` within 40 of 0, and takes several inputs: put a `concat` before.

    x: rows of features
    label: right class of every row
    counts: how often each class occurs, in the order of the ids: makes the tree (>= 0, [])
    codes: path to each class from the root, such as 010: makes the tree ([])
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

def im2col(
    x: Value,
    *,
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
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Puts the elements under each window of an image side by side, as channels.

    `y[n, (c * A + a) * B + b, p, q] = x[n, c, p * stride_y - padding_y + a * dilation_y, q * stride - padding + b *
    dilation]`, 0 outside of the image, for windows of `A = filter_size_y` rows and `B = filter_size` columns: what the
    filters of a `conv` with the same settings see. An element of the image gets the sum of the gradients of all its
    places. PyTorch's Unfold has the windows as one axis: put a `reshape` behind. For windows as rows of a sequence see
    `block_expand`.

    x: images: channels, height, width
    filter_size: window width (>= 1, required)
    filter_size_y: window height (>= 1, same as filter_size)
    stride: horizontal stride (>= 1, 1)
    stride_y: vertical stride (>= 1, same as stride)
    padding: horizontal zero padding: columns added on the left and on the right (>= 0, 0)
    padding_y: vertical zero padding: rows added at the top and at the bottom (>= 0, same as padding)
    padding_end: zero padding on the right, if it differs from the left (>= 0, same as padding)
    padding_end_y: zero padding at the bottom, if it differs from the top (>= 0, same as padding_y)
    dilation: columns from one element of a window to the next (>= 1, 1)
    dilation_y: rows from one element of a window to the next (>= 1, same as dilation)
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

    x: images: channels, height, width
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
    ignore_label: int | None = None,
    normalization: Literal["VALID", "FULL", "BATCH_SIZE", "NONE"] = "VALID",
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

    `cost = sum over c of gain[label, c] * (log(sum over k of exp(x[k])) - x[c])`, times `weight` where there is one.
    `gain` is given and not learned: load it with the weights, where Caffe has a third input or the file `source`. As
    long as it is not loaded it is the identity matrix, and the layer is `softmax_with_loss`, whose page says how labels
    of pixels, `ignore_label` and `normalization` are meant.

    x: score of every class
    label: right class of every row, or of every place
    weight: importance of every label
    ignore_label: rows or places of this class cost nothing (none)
    normalization: what the loss of the network divides the sum over the labels by (VALID)
    """

def instance_norm(
    x: Value,
    *,
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
    """Brings every channel of every image to mean 0 and variance 1, as networks that paint in a style do.

    (Ulyanov, Vedaldi and Lempitsky 2016): `group_norm` with a group for each channel, which is its part: its numbers
    are `norm.gain` and `norm.bias`. PyTorch has them with `affine=True` only; without, see `mvn`.

    x: images, lines or volumes
    epsilon: added to the variance (> 0, 1e-05)
    bias: add `norm.bias`, a number per channel (true)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
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

    x: images: channels, height, width
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
    initial: Value | None = None,
    initial_state: Value | None = None,
    *,
    act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    gate_act: Literal["tanh", "sigmoid", "relu", "linear"] = "sigmoid",
    state_act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    peepholes: bool = True,
    reverse: bool = False,
    return_state: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Any:
    """Long short-term memory (Hochreiter and Schmidhuber 1997) with peepholes (Gers, Schraudolph and Schmidhuber 2002).

    A row of `x` holds four sums for each unit, side by side: candidate, input gate, forget gate, output gate. With
    `s = x[t] + y[t-1] @ weight + bias` in the same order and the peepholes `p`:

    `a = act(s_a)`, `i = gate_act(s_i + p_i * c[t-1])`, `f = gate_act(s_f + p_f * c[t-1])`, `c[t] = a * i + c[t-1] * f`,
    `o = gate_act(s_o + p_o * c[t])`, `y[t] = o * state_act(c[t])`

    in every sequence by itself, in the innermost sequences of nested ones; output and state before the first row, which
    is the last one with `reverse`, are `initial` and `initial_state`, or zero; with `return_state` the state behind the
    last row is a second output. Put `fc` of four times the units before the layer to map the input. `bias` has the
    biases of the sums and then the peepholes of the three gates, as in Paddle, whose configs without helpers take
    sigmoid for `state_act` when nothing is set. Caffe, ONNX and others hold the map of the input, too, have the gates
    in other orders, and have no peepholes (Caffe) or on demand.

    x: four sums per unit
    initial: output before the first row, a row for each sequence
    initial_state: state before the first row, a row for each sequence
    act: function of the candidate (tanh)
    gate_act: function of the gates (sigmoid)
    state_act: function of the state on its way out (tanh)
    peepholes: gates see the state of their unit (true)
    reverse: run from the last row of a sequence to its first (false)
    return_state: give the states behind the last rows as a second output (false)
    """

def max_pool_with_mask(
    x: Value,
    *,
    pool_size: int,
    pool_size_y: int | None = None,
    stride: int = 1,
    stride_y: int | None = None,
    padding: int = 0,
    padding_y: int | None = None,
    rounding: Literal["CEIL", "FLOOR"] = "CEIL",
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> tuple[Value, ...]:
    """2-D max pooling that also returns the indices of the maxima.

    `y` equals that of `pool` with `MAX`. `mask` is the index of each maximum in its channel, `h * W + w`, the first of
    equal ones; `upsample` reads it. It has integer values and no gradient. Caffe's second top stores the indices as
    floats, and ONNX counts them across all samples and channels.

    x: images: channels, height, width
    pool_size: window width (>= 1, required)
    pool_size_y: window height (>= 1, same as pool_size)
    stride: horizontal stride (>= 1, 1)
    stride_y: vertical stride (>= 1, same as stride)
    padding: horizontal padding: columns added on the left and on the right (>= 0, 0)
    padding_y: vertical padding: rows added at the top and at the bottom (>= 0, same as padding)
    rounding: treatment of a last window that exceeds the input (CEIL)
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

    Paddle gives `beam_size` ids a row, and their values, inside its beam search, and one elsewhere; here it is one id,
    which an embedding takes as it is, and several with their values are those of `top_k`. Caffe's ArgMax gives real
    numbers, of equal scores the last, and Mocha's runs over any axis: see `arg_max`.

    x: score of every class
    """

def maxout(
    x: Value,
    *,
    groups: int,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """The largest of each run of neighbouring channels, at every pixel (Goodfellow et al. 2013).

    `y[n, k] = max of x[n, k * groups] to x[n, k * groups + groups - 1]`; equal maxima and NaN are as in `pool`. Behind
    a `conv` or an `fc` it is an activation that is learned, with `groups` straight pieces.

    x: rows or images
    groups: channels of a run (>= 2, required)
    """

def mdlstmemory(
    x: Value,
    *,
    act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    gate_act: Literal["tanh", "sigmoid", "relu", "linear"] = "sigmoid",
    state_act: Literal["tanh", "sigmoid", "relu", "linear"] = "tanh",
    reverse: bool = False,
    reverse_y: bool = False,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Long short-term memory over the two axes of images (Graves, Fernandez and Schmidhuber 2007).

    The channels of `x` hold five sums for each unit, one behind the other: candidate, input gate, forget gate of the
    point above, forget gate of the point on the left, output gate. With `u` for the point above and `l` for that on the
    left, `s = x[h, w] + (y[u] + y[l]) @ weight + bias` in the same order, and the peepholes `p`:

    `a = act(s_a)`, `i = gate_act(s_i + p_i * (c[u] + c[l]))`, `f = gate_act(s_f + p_f * c[u])`,
    `g = gate_act(s_g + p_g * c[l])`, `c[h, w] = a * i + c[u] * f + c[l] * g`, `o = gate_act(s_o + p_o * c[h, w])`,
    `y[h, w] = o * state_act(c[h, w])`

    where output and state outside of the image are zero. `bias` has the biases of the sums and then the peepholes of
    the four gates. Put a `conv` with windows of one point before the layer to map the input, and four layers with all
    pairs of `reverse` and `reverse_y` beside each other to let every point see the whole image. Paddle's takes the
    blocks that `block_expand` makes of an image, with any number of axes; its configs take sigmoid for `state_act`
    when nothing is set.

    x: five sums per unit, as channels
    act: function of the candidate (tanh)
    gate_act: function of the gates (sigmoid)
    state_act: function of the state on its way out (tanh)
    reverse: run from right to left: the point before is the one on the right (false)
    reverse_y: run from the last row to the first: the point before is the one below (false)
    """

def mean_iou(
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
    """Mean intersection over union of the classes, for labels of pixels.

    Of a class, it is the share of the pixels that are found to be of it or are of it where both are true:
    `correct / (found + wanted - correct)`, counted over all images until the counts are reset; `mean_iou` is the plain
    mean over the classes that are there or are found, and `accuracy` the share of all labels that are right. A pixel is
    found to be of the class with the best score, the first of equal ones, and of none where a score is not a number; a
    single score says yes (class 1) where it is above `threshold`. Labels that are `ignore_label` or outside the classes
    are not counted.

    x: score or probability of every class
    label: right class of every row, or of every place
    weight: importance of every label
    threshold: where a single score says yes (0.5)
    ignore_label: labels of this class are not counted (none)
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
    values: what each row contributes
    num_heads: parts into which the columns are cut (>= 1, 1)
    causal: the row at a place sees keys up to the same place in their sequence only (false)
    scale: factor of the products; when absent: one over the root of a head's columns (none)
    """

def multibox_loss(
    prior: Value,
    label: Value,
    box: Value,
    *maps: Value | Sequence[Value],
    num_classes: int,
    overlap_threshold: float = 0.5,
    neg_pos_ratio: float = 3.0,
    neg_overlap: float = 0.5,
    background_id: int = 0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """The cost of a single-shot detector (Liu et al. 2016, SSD): where boxes lie, and what is in them.

    The overlap of two boxes is the area they have in common, as a share of the area that they cover together. Each box
    of an image takes the default box that it overlaps most, the best of all pairs first, of equal ones that of the
    first default box. Then every default box that is left takes the box that it overlaps most, if that is by
    `overlap_threshold` or more. Of those that match none, and overlap none by `neg_overlap`, the ones that are most
    sure of being something count as background, `neg_pos_ratio` for each match of the image.

    The cost of an image adds up, for its matches, `smooth(l - t)` of each of four locations `l`, and for these and the
    background minus the logarithm of the softmax of the scores at the class. `smooth(d)` is `d**2 / 2` up to 1 and
    `|d| - 1 / 2` from there on. For a default box with the middle `(p, q)`, the sides `w` and `h` and the variances
    `v`, and a box with the middle `(a, b)` and the sides `c` and `d`, the four `t` are

    `(a - p) / w / v[0]`, `(b - q) / h / v[1]`, `log(c / w) / v[2]`, `log(d / h) / v[3]`

    The network's loss is the sum over the batch divided by the number of matches. An image without boxes costs nothing.

    Boxes are two opposite corners `x1, y1, x2, y2`, as shares of the image's width and height. Of the maps, those with
    the locations come first, in the order of the scales in `prior`, then those with the scores, in the same order; for
    each box of a cell they have four channels, or one for every class. Paddle has classes and boxes in one input,
    besides a mark that it does not use here, and the loss of the batch in every row.

    prior: default boxes and their variances, as `priorbox` gives
    label: class of each box that is there
    box: corners of each box that is there
    maps: locations of all scales, then scores of all scales
    num_classes: classes, that of the background included (>= 2, required)
    overlap_threshold: overlap from which on a default box matches (> 0 and <= 1, 0.5)
    neg_pos_ratio: background boxes for each match (>= 0, 3)
    neg_overlap: overlap from which on a default box is no background (> 0 and <= 1, 0.5)
    background_id: class of the background (>= 0, 0)
    """

def multiplex(
    index: Value,
    *x: Value | Sequence[Value],
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Takes every row from one of several inputs; `index` says from which, counted from 0.

    `y[n] = x_i[n]` with `i = index[n]`. The gradient goes to the input that was chosen. Paddle does the same.

    index: number of the input that a row is taken from
    x: the inputs that rows are taken from
    """

def mvn(
    x: Value,
    *,
    axis: int = 2,
    end_axis: int = -1,
    normalize_variance: bool = True,
    epsilon: float = 1e-09,
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
    """Takes the mean off, channel by channel of each image, and divides by the standard deviation.

    `y = (x - mean) / (sqrt(var) + epsilon)`; without `normalize_variance` only `x - mean`. Nothing is learned. `axis`
    and `end_axis` name the first and the last of the axes that mean and variance are over: from axis 2 on are the
    pixels of a channel, from axis 1 on all of an image, Caffe's `across_channels`. As in Caffe and ONNX `epsilon` is
    added to the deviation, where `instance_norm` and `layer_norm` add it to the variance. ONNX's default axes have the
    rows with them: that is a `batch_norm` without averages.

    x: images or rows
    axis: first axis of those that are brought to mean 0 together: 1 is the first behind the rows (2)
    end_axis: last axis of those, -1 is the last (-1)
    normalize_variance: divide by the standard deviation (true)
    epsilon: added to the standard deviation (> 0, 1e-09)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def nce(
    x: Value,
    label: Value,
    importance: Value | None = None,
    *,
    num_neg_samples: int = 10,
    noise: Literal["UNIFORM", "LOG_UNIFORM"] = "UNIFORM",
    neg_distribution: Sequence[float] = ...,
    shared: bool = False,
    odds: Literal["EXP", "SIGMOID", "NEGATIVE_SAMPLING"] = "EXP",
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cost of a class among very many, by telling it from classes that are drawn as noise.

    Each class has a score, `s[k] = x @ weight[k] + bias[k]`, of which only those of the row's label and of
    `num_neg_samples` drawn classes are computed: `cost = log(1 + 1 / odds[label]) + sum over the drawn k of
    log(1 + odds[k])`, times `importance` where the row has one. `odds[k]` are those that a class k is the label and no
    noise: the probability that the model gives it, over `num_neg_samples` times the share of k in the noise. Time and
    memory of a step do not depend on the number of classes, which is that of the label: the gradients of `weight` and
    `bias` have only the rows in use.

    Gutmann and Hyvärinen (2010), Mnih and Teh (2012): with `odds: EXP` the scores learn to be logarithms of
    probabilities, and an `fc` with the same numbers, transposed, before a `softmax` gives these. Paddle has `SIGMOID`,
    ten drawn classes for every row, and takes several inputs: put a `concat` before. word2vec's negative sampling
    (Mikolov et al. 2013) is `NEGATIVE_SAMPLING`. A drawn class may be the label. A row with several labels, as
    sparse ids, has a term for each. Labels come from a data layer.

    x: rows of features
    label: right classes of every row
    importance: importance of every row
    num_neg_samples: classes that are drawn for a row (>= 1, 10)
    noise: which classes are drawn how often, where no `neg_distribution` says it (UNIFORM)
    neg_distribution: how often each class is drawn, in the order of the ids, such as counts; divided by their sum (> 0, [])
    shared: whether the classes are drawn once for all rows of a batch: fewer rows of `weight` are read and learn (false)
    odds: what the score s of a class says (EXP)
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

    x: images: channels, height, width
    out_size: output width (>= 1, none)
    out_size_y: output height (>= 1, same as out_size)
    scale: horizontal scale factor (>= 1, none)
    scale_y: vertical scale factor (>= 1, same as scale)
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

def padded_context(
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
    """Puts the rows around a row side by side, as `context`; the rows beyond the ends of a sequence are learned.

    `y[t] = x[t + start], ..., x[t + start + length - 1]`. Where that is k rows before the first row of the sequence it
    is row `before - k` of `padding`, and k rows behind the last one row `before + k - 1`, with `before = max(0,
    -start)`: Paddle's `trainable_padding`. All sequences share these rows.

    x: rows of sequences
    length: rows of the window (>= 2 and <= 1024, required)
    start: the first row of the window, counted from the row itself; when absent the window is around it (>= -1024 and <= 1024, none)
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def parameter(
    x: Value,
    *,
    shape: Sequence[int],
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """The same learned numbers in every row: a constant that the training finds.

    `y[n] = weight`, in as many rows as `x` has, whose numbers do not matter. Give the numbers that it starts with by
    `param { of: "weight" init { ... } }`. Caffe's layer has no input, and its blob no axis of the batch.

    x: values in whose rows it is wanted
    shape: axes of the numbers, without the rows (at least 1 values, each >= 1, required)
    """

def perceptron_loss(
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
    """Cost of the multi-class perceptron: how far the best score is above that of the right class.

    `cost = max over c of x[c] - x[label]`, so that a row that is right costs nothing and teaches nothing; of one that
    is wrong, the right score shall rise and the best one fall, each by the same. With `sgd` at a rate of 1 and one row
    at a time, an `fc` before it learns as a perceptron does (Rosenblatt 1958). KUnet's gradient is not divided by the
    number of rows.

    x: score of every class
    label: right class of every row
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
    """Share of the pairs of rows of one sequence, such as the answers to a query, that the scores put in order.

    Pairs with different labels count; in order, the row with the greater label has the higher score. Equal scores
    count one half. Where rows have weights, a pair counts the mean of its two. Paddle gives the query as a number with
    every row, and reports the ratio of the pairs in order to those that are not: of a share `p` that is `p / (1 - p)`.

    score: score of every row
    label: relevance of every row
    weight: importance of every row
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
    """2-D pooling: maximum (max pooling) or average (average pooling) of each window, per channel.

    Window `(p, q)` covers the rows from `p * stride_y - padding_y` on and the columns from `q * stride - padding` on,
    `pool_size_y` and `pool_size` of them. `P` is `(H + padding_y + padding_end_y - pool_size_y) / stride_y + 1`,
    rounded according to `rounding`; `padding_end` is the padding on the right and at the bottom, if it differs. As in
    Paddle, attributes ending in `_y` are vertical and those without horizontal; an absent `_y` equals its horizontal
    counterpart.

    Padding is never the maximum, NaN always is. Of equal maxima the first in row-major order receives the whole
    gradient, as in Caffe; in Paddle each of them receives it. A window without a pixel, which only `CEIL_ALL` produces,
    gives 0. For a given output size see `adaptive_pool`, for stochastic pooling `stochastic_pool`.

    Equivalent attributes for other frameworks:

    | | `rounding` | `divisor` of a mean | `stride` when absent |
    |---|---|---|---|
    | this library | `CEIL` | `VALID` | 1 |
    | Paddle | `CEIL_ALL` at run time, regardless of `ceil_mode` | `VALID`; `KERNEL` by `exclude_mode = false` | 1 |
    | Caffe | `CEIL`; `FLOOR` by `round_mode: FLOOR` | `PADDED` | 1 |
    | Mocha | `CEIL` | `KERNEL` | 1 |
    | KUnet | `FLOOR` (cuDNN) | `KERNEL` or `VALID` by its mode | the window |
    | ONNX | `FLOOR`; `CEIL` by `ceil_mode = 1` | `VALID`; `PADDED` by `count_include_pad = 1` | 1 |

    `CEIL` and `CEIL_ALL` differ only if the last window contains no pixel: Paddle keeps it, returns the lowest float as
    its maximum and fails for its average.

    x: images: channels, height, width
    pool_type: type of pooling (MAX)
    pool_size: window width (>= 1, none)
    pool_size_y: window height (>= 1, same as pool_size)
    stride: horizontal stride (>= 1, 1)
    stride_y: vertical stride (>= 1, same as stride)
    padding: horizontal padding: columns added on the left and on the right (>= 0, 0)
    padding_y: vertical padding: rows added at the top and at the bottom (>= 0, same as padding)
    padding_end: padding on the right, if it differs from the left (>= 0, same as padding)
    padding_end_y: padding at the bottom, if it differs from the top (>= 0, same as padding_y)
    rounding: treatment of a last window that exceeds the input (CEIL)
    divisor: divisor of average pooling (VALID)
    global_pooling: global pooling: one window of the size of the image (false)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def pool1d(
    x: Value,
    *,
    pool_type: Literal["MAX", "AVERAGE"] = "MAX",
    pool_size: int,
    stride: int = 1,
    padding: int = 0,
    padding_end: int | None = None,
    rounding: Literal["CEIL", "CEIL_ALL", "FLOOR"] = "CEIL",
    divisor: Literal["VALID", "PADDED", "KERNEL"] = "VALID",
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
    """1-D pooling: maximum or average of each window, per channel.

    It consists of a `pool` on images of one row; rounding, divisors and equal maxima are as described there. For global
    pooling see `reduction` with `axes: -1`. Mocha's ChannelPooling, which pools over windows of the channels of an
    image, is this layer between two `reshape` layers, with `divisor: KERNEL`.

    x: 1-D signals: channels, length
    pool_type: type of pooling (MAX)
    pool_size: window size (>= 1, required)
    stride: stride (>= 1, 1)
    padding: padding at both ends (>= 0, 0)
    padding_end: padding at the end, if it differs from the start (>= 0, same as padding)
    rounding: treatment of a last window that exceeds the input (CEIL)
    divisor: divisor of average pooling (VALID)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
    """

def pool3d(
    x: Value,
    *,
    pool_type: Literal["MAX", "AVERAGE"] = "MAX",
    pool_size: Sequence[int],
    stride: Sequence[int] = ...,
    padding: Sequence[int] = ...,
    padding_end: Sequence[int] | None = None,
    rounding: Literal["CEIL", "CEIL_ALL", "FLOOR"] = "CEIL",
    divisor: Literal["VALID", "PADDED", "KERNEL"] = "VALID",
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
    """3-D pooling: maximum or average of each window of a volume, per channel.

    `pool` with one more axis; windows, rounding, divisors, NaN and equal maxima are as described there. Attributes per
    axis are lists in the order depth, height, width, such as `pool_size: [1, 2, 2]`, or one value for all three. For
    global pooling see `reduction` with `axes: [2, 3, 4]`.

    Paddle's lists begin with the width; its helper of version 0.11 accepts pooling types that its layer rejects. ONNX,
    Keras and PyTorch round down: `rounding: FLOOR`.

    x: 3-D volumes: channels, depth, height, width
    pool_type: type of pooling (MAX)
    pool_size: window size along each axis (1 to 3 values, each >= 1, required)
    stride: stride along each axis (1 to 3 values, each >= 1, [1])
    padding: padding at both ends (1 to 3 values, each >= 0, [0])
    padding_end: padding at the end, if it differs from the start (1 to 3 values, each >= 0, same as padding)
    rounding: treatment of a last window that exceeds the input (CEIL)
    divisor: divisor of average pooling (VALID)
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
    """Precision, recall and F1 of the class `positive_label`, or their means over all classes.

    Precision is the share of the labels found that are right, recall the share of those of the class that are found,
    `F1 = 2 * correct / (found + wanted)`. A row has one label, or one for each of its last axes, as for the pixels of
    an image; those that are `ignore_label` are not counted. One is found to be of the class with the best score, the
    first of equal ones, and of none where a score is not a number; a single score says yes (class 1) where it is above
    `threshold`. Without `positive_label` each number is the plain mean (macro average) over the classes that have it: a
    class that is never found has no precision. `accuracy` is the share of all labels that are right: Paddle's micro
    average, which is the same for all three.

    x: score or probability of every class
    label: right class of every row, or of every place
    weight: importance of every label
    positive_label: the class that is looked for; all of them when absent (>= 0, none)
    threshold: where a single score says yes (0.5)
    ignore_label: labels of this class are not counted (none)
    """

def prelu(
    x: Value,
    *,
    channel_shared: bool = False,
    axis: int = 1,
    end_axis: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Rectifier whose slopes on the negative side are learned: one per channel, along other axes, or one for all.

    `y = x` for `x > 0`, else `slope * x`. He et al., "Delving deep into rectifiers" (2015). `axis` and `end_axis` name
    the first and the last of the axes that have slopes of their own: from 1 to -1 is one for each value.

    Caffe has one per channel or one for all. Paddle's `partial_sum` of height times width is one slope per channel; its
    default of 1 is one for each value. Keras has one for each value, save for its `shared_axes`.

    x: rows or images
    channel_shared: one slope for all channels (false)
    axis: first axis with slopes of its own: 1 is the first behind the rows, -1 the last (1)
    end_axis: last axis with slopes of its own (same as axis)
    """

def priorbox(
    x: Value,
    image: Value,
    *,
    min_size: Sequence[float],
    max_size: Sequence[float] | None = None,
    aspect_ratio: Sequence[float] | None = None,
    variance: Sequence[float] = ...,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """The default boxes of a feature map, around the middle of each of its cells (Liu et al. 2016, SSD).

    The middle of the cell in row `h` and column `w` is `((w + 0.5) * Q / W, (h + 0.5) * P / H)` in the image of
    `P` rows and `Q` columns. Around it lie, for each of `min_size` in its turn,

    * a square of that side `s`,
    * where `max_size` has a `t` for it, a square of the side `sqrt(s * t)`,
    * for each ratio `r` but 1, a box of the sides `s * sqrt(r)` and `s / sqrt(r)`, and one with `1 / r` for `r`.

    A box is a row of eight numbers: its corners `x1, y1, x2, y2`, as shares of the image's width and height and cut off
    at its borders, then the four of `variance`. Boxes come by cells, row by row, those of a cell in the order above.
    All images of a batch have the same ones. Boxes of several feature maps are put together by `concat`, for
    `multibox_loss` and `detection_output`.

    Paddle takes whole numbers, has the ratios of the last size alone, first all `r` and then all `1 / r`, and with
    several sizes more boxes than it has memory for. Caffe cuts off where `clip` is true.

    x: feature map; its numbers are not read
    image: the image; its numbers are not read
    min_size: sides of squares, in pixels of the image (at least 1 values, each > 0, required)
    max_size: for each of `min_size` the side of a larger square (at least 1 values, each > 0, none)
    aspect_ratio: widths divided by heights (at least 1 values, each > 0, none)
    variance: what offsets are divided by: of the middle across and down, of width and height (4 values, each > 0, [0.1, 0.1, 0.2, 0.2])
    """

def random_crop(
    x: Value,
    *,
    size: int,
    size_y: int | None = None,
    mirror: bool = True,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Takes a window out of every image, at a random place while training and from the middle in the test phase.

    Each image has a place of its own, and with `mirror` every second one is mirrored from left to right, by the seed,
    the step and the place in the batch; Mocha draws once for a batch. Pictures that are fed can be cropped and mirrored
    before they enter the network, by the transforms `crop` and `mirror`, which cost no memory on a card; this layer is
    for images that a network makes. For windows whose place is known see `crop`.

    x: images: channels, height, width
    size: columns of the window (>= 1, required)
    size_y: rows of the window (>= 1, same as size)
    mirror: mirror half of the images while training (true)
    """

def random_normal(
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
    """Independent numbers of the standard normal distribution, in the shape of `x`, new in every pass.

    The numbers are a function of the seed, the step and the position, so that they are the same on every device; those
    of `x` do not matter, and nothing learns through it. Pairs of uniform numbers become normal ones by Box and Muller's
    "A note on the generation of random normal deviates" (1958). `slope_intercept` gives another mean and deviation,
    and a mean and a deviation that are learned are `mean + deviation * noise`, by two layers `eltwise`: the noise of a
    variational autoencoder. Mocha's layer has no input; the size of its batch is an attribute.

    x: values in whose shape the numbers are
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
    initial: Value | None = None,
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

    in every sequence by itself, in the innermost sequences of nested ones; the output before the first row, which is
    the last one with `reverse`, is `initial`, or zero. `x` are sums that are ready: put `fc` before the layer to map
    the input. Paddle is the same. ONNX holds the map of the input, too; Caffe's RNN also has one of the output.

    x: one sum per unit
    initial: output before the first row, a row for each sequence
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
    What `beam_search` of a `GeneratedInput` is there, the block `generate` of a training file is here: the same group
    writes texts.

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
    """Repeats the columns of every row, or what lies along another axis: as a whole, or each by itself.

    With two repeats, the row `[a, b]` becomes `[a, b, a, b]`, or `[a, a, b, b]` if `as_row_vector` is false. With
    `axis: 2` these are the rows of an image, and so on. Paddle's helper is `repeat_layer`, of columns; Caffe's Tile
    repeats along any axis as a whole. Rows of the batch are repeated by `expand`.

    x: rows or images
    num_repeats: how often (>= 1, required)
    as_row_vector: repeat the row (true) or every column (false) (true)
    axis: axis that is repeated: 1 is the first behind the rows, -1 the last (1)
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
    axis. Paddle's resize, which cuts a batch into rows of another width, is `resize`.

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

    x: images: channels, height, width
    num_filters: channels of the output (>= 1, required)
    stride: step of the first convolution; the image becomes smaller by it (>= 1, 1)
    """

def resize(
    x: Value,
    *,
    size: int,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cuts the numbers of the whole batch into rows of another width.

    The numbers keep their order: `N` rows of `C` become `N * C / size` rows, and a batch that `size` does not divide is
    refused. A row belongs to the sample with its first number: that sample becomes a sequence of such rows, and one
    without any where all of its numbers stand in a row that another sample began. Of `N` rows of 3 with `size: 6`, each
    second sample has the row of both. Labels of the rows are fed as such sequences; costs count the rows that there
    are. Where `size` does not divide `C`, samples are mixed: a batch is cut as a whole, by each process its own, and
    the last, smaller one of an epoch has to be divided, too. Where it does, `to_sequence` is the same. Rows of
    sequences are cut by `seq_reshape`.

    x: rows of any shape
    size: width of a row (>= 1, required)
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

def roi_align(
    x: Value,
    box: Value,
    *,
    pooled_width: int,
    pooled_height: int | None = None,
    spatial_scale: float = 1.0,
    sampling_ratio: int = 0,
    aligned: bool = True,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """What lies in each box of an image, on a grid of one size, interpolated (He et al. 2017, Mask R-CNN).

    The corners `x1, y1, x2, y2` of a box times `spatial_scale` are places in the feature map; with `aligned`, half a
    pixel is taken off them, so that a pixel's middle is at a whole number. The box is cut into `P` rows of `Q` bins.
    Each value is the mean over `sampling_ratio` rows and as many columns of places, evenly spread in a bin; 0 takes as
    many as a bin has pixels, rounded up, but not over 1024. A place gets the mean of the four pixels around it, by how
    near they are; less than a pixel beside the map it gets the border's value, further away 0. Without `aligned` no box
    is smaller than a pixel, which is the first version of the layer.

    The boxes of an image are a sequence; PyTorch and ONNX have the number of the image with each. Boxes do not learn.

    x: feature map
    box: corners of each box, in pixels times `1 / spatial_scale`
    pooled_width: columns of the grid (>= 1, required)
    pooled_height: rows of the grid (>= 1, same as pooled_width)
    spatial_scale: size of the feature map divided by what boxes are counted in (> 0, 1)
    sampling_ratio: places across a bin, and down; 0: as many as it has pixels (>= 0, 0)
    aligned: a pixel's middle is at a whole number (true)
    """

def roi_pool(
    x: Value,
    box: Value,
    *,
    pooled_width: int,
    pooled_height: int | None = None,
    spatial_scale: float = 1.0,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """The largest values of each box of an image, on a grid of one size (Girshick 2015, Fast R-CNN).

    The corners `x1, y1, x2, y2` of a box times `spatial_scale` are rounded to pixels of the feature map; the last ones
    belong to it. Of its `h` rows, bin `p` of `P` has those from `floor(p * h / P)` to before `ceil((p + 1) * h / P)`,
    columns likewise. Every value is the largest in its bin, 0 where none of it lies in the map.

    The boxes of an image are a sequence, where Paddle and ONNX have the number of the image in a column before the
    corners. Paddle gives 0 for a bin of negative numbers. Boxes do not learn. `roi_align` rounds nothing.

    x: feature map
    box: corners of each box, in pixels times `1 / spatial_scale`
    pooled_width: columns of the grid (>= 1, required)
    pooled_height: rows of the grid (>= 1, same as pooled_width)
    spatial_scale: size of the feature map divided by what boxes are counted in (> 0, 1)
    """

def rotary_position(
    x: Value,
    first: Value | None = None,
    *,
    num_heads: int = 1,
    base: float = 10000.0,
    pairs: Literal["HALVES", "NEIGHBOURS"] = "HALVES",
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Turns pairs of columns by angles that grow with the place of the row in its sequence.

    The columns are cut into `num_heads` equal parts. Pair `i` of a head with `D` columns is turned by the angle
    `a = p * base ** (-2 * i / D)`: `(u, v)` becomes `(u * cos(a) - v * sin(a), v * cos(a) + u * sin(a))`, where `p`
    counts from 0 within the sequence, or within the sub-sequence of a nested one, or from `first`. A product of two
    rows then depends on how far they are apart, and not on where they are (Su et al. 2021): put it behind the maps of
    `query` and `keys` of `multi_head_attention`. Nothing is learned. Weights of Llama and GPT-NeoX are for pairs
    `HALVES` of a head, as Transformers and ONNX have them; the paper and GPT-J pair neighbours.

    x: rows of sequences, such as queries or keys
    first: place of the first row of each sequence
    num_heads: parts into which the columns are cut (>= 1, 1)
    base: the longest wave is nearly so many rows long, divided by 2 pi (>= 1, 10000)
    pairs: which columns of a head make a pair (HALVES)
    """

def rotate(
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
    """Turns every channel of an image by 90 degrees to the right: `y[w, h] = x[H - 1 - h, w]`.

    Of `H` rows and `W` columns become `W` rows and `H` columns. Paddle wants `height` and `width`, which follow from
    the input here. The transform `rotate` of a data source turns pictures by any angle, at random.

    x: images: channels, height, width
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

def sampled_softmax(
    x: Value,
    label: Value,
    *,
    num_neg_samples: int = 10,
    noise: Literal["UNIFORM", "LOG_UNIFORM"] = "UNIFORM",
    neg_distribution: Sequence[float] = ...,
    shared: bool = True,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cost of a class among very many: that of `softmax_with_loss` over the label and classes that are drawn.

    `cost = log(sum over the chosen k of exp(s[k])) - s[label]` with `s[k] = x @ weight[k] + bias[k] -
    log(num_neg_samples * share of k in the noise)`, which makes up for classes that are drawn more often (Jean et al.
    2015); drawn classes that are the label are left out. TensorFlow has it as `sampled_softmax_loss`. Time and
    memory of a step do not depend on the number of classes, which is that of the label: the gradients of `weight` and
    `bias` have only the rows in use. The more classes are drawn, the nearer the scores come to those of a `softmax`; in
    a test, `fc` and `softmax_with_loss` with the same numbers give the whole cost.

    x: rows of features
    label: right class of every row
    num_neg_samples: classes that are drawn (>= 1, 10)
    noise: which classes are drawn how often, where no `neg_distribution` says it (UNIFORM)
    neg_distribution: how often each class is drawn, in the order of the ids, such as counts; divided by their sum (> 0, [])
    shared: whether the classes are drawn once for all rows of a batch: fewer rows of `weight` are read and learn (true)
    """

def sampling_id(
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
    """An id drawn for every row, with the probabilities that the row has.

    The probabilities need not sum to one, but none may be negative; where all are zero, the last id is drawn. What is
    drawn is a function of the seed, the step and the row, in both phases, so that it is the same on every device. ONNX
    takes logarithms of the probabilities. Texts are drawn by the command `generate`.

    x: probability of every class
    """

def scale(
    x: Value,
    *,
    axis: int = 1,
    end_axis: int | None = None,
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
    """Multiplies every channel by a learned number and adds another one; or does so along other axes.

    `y[n, c] = gain[c] * x[n, c] + bias[c]` at every point of an image. `axis` and `end_axis` name the first and the
    last of the axes that have numbers of their own: from 1 to -1 is one for every element of an image, -1 one for every
    column.

    Caffe's Scale has no bias unless `bias_term` is set; its `num_axes` is `end_axis - axis + 1`. For a second input see
    `mul`. Paddle's scale_shift has one number for all: put `reshape { dims: [1, -1] }` before the layer. ONNX's Mul by
    a constant is this without `bias`.

    x: rows or images
    axis: first axis with numbers of its own: 1 is the first behind the rows, -1 the last (1)
    end_axis: last axis with numbers of its own (same as axis)
    bias: add a bias to every output (true)
    """

def scale_sub_region(
    x: Value,
    indices: Value,
    *,
    value: float,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Multiplies a box of every image by `value`; what is outside of the box stays.

    `indices` has six numbers a row: the first and the last channel of the box, the first and the last row, the first
    and the last column, counted from 1 as in Paddle, the last ones included. A box may reach beyond the image, and one
    whose last number is before its first is empty. The box gets no gradient.

    x: images: channels, rows, columns
    indices: six numbers a row
    value: what the box is multiplied by (required)
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

def selected_scores(
    *x: Value | Sequence[Value],
    selected: Value,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Affine map of every row to the columns that are selected for the row, and no others: a sequence of numbers.

    The sequence of row n has `sum_i sum_c x_i[n, c] * weight_i[k, c] + bias[k]` for each column k that is set in row n
    of `selected`, in its order. `selective_fc` is the same with a row of all columns; with many columns, this takes
    time and memory for the selected ones alone, and the gradients of `weight` and `bias` have only the rows in use,
    each as wide as its input, sparse or not. The gradient of a sparse input's weight looks for every
    column in the row: it is for inputs of some thousand columns; with more, put an `fc` before. It is Paddle's
    `selective_fc` with rows of the selected columns; a `sequence_softmax` behind it makes probabilities.

    x: rows of features
    selected: the columns that are wanted of each row
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
    a `softmax` behind the layer let `others` be a large negative number. Rows of the selected columns alone, as Paddle
    has them, are `selected_scores`, which takes several inputs and sparse ones, too. In Paddle `size` says once more
    how many columns there are.

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

def seq_arg_max(
    x: Value,
    *,
    level: Literal["SEQUENCE", "SUBSEQUENCE"] = "SEQUENCE",
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """The place of the largest value of every column among the rows of a sequence, which `seq_max_pool` takes.

    `y[s, c]` is the number of the first row with that value, counted from 0 in the sequence; -1 for an empty one. It is
    a real number, as in Paddle, which counts the rows of the batch. There is no gradient.

    x: rows of sequences
    level: what one row of the output covers (SEQUENCE)
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

def seq_filter(
    x: Value,
    keep: Value,
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
    """Keeps the rows of every sequence that are chosen, in their order.

    Row t of `x` stays where `keep[t]` is not 0. `keep` may be fed, or made by the network, by `maxid` say; it gets no
    gradient. Whole samples are left out by `filter`, which is Caffe's; costs have `ignore_label` and weights, too.

    x: rows of sequences
    keep: which rows stay: all that are not 0
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
    `seq_window_pool`, for the place of the value (`output_max_index`) `seq_arg_max`.

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
    """Cuts the numbers of every sequence into rows of another width.

    The numbers of a sequence keep their order; `n` rows of width `C` become `n * C / size` rows. Where `size` does not
    divide `C`, it has to divide the numbers of each sequence of a batch, as in Paddle, or the batch is refused. Rows
    that are no sequences are cut by `to_sequence` and `resize`.

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
    axis: int = 1,
    end_axis: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Adds a learned number to every channel, or along other axes.

    `y[n, c] = x[n, c] + offset[c]` at every point of an image. `axis` and `end_axis` name the first and the last of the
    axes that have numbers of their own: from 1 to -1 is one for every element, as behind a `conv` without `bias`, which
    Paddle calls biases that are not shared. Caffe's `num_axes` is `end_axis - axis + 1`; for a second input see `add`.
    In Paddle and Mocha a bias is part of the layers that need one. ONNX's Add of a constant is this; that of two values
    is `add` or `addto`.

    x: rows or images
    axis: first axis with numbers of its own: 1 is the first behind the rows, -1 the last (1)
    end_axis: last axis with numbers of its own (same as axis)
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
    normalization: Literal["VALID", "FULL", "BATCH_SIZE", "NONE"] = "BATCH_SIZE",
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
    0 and 1. Terms whose target is `ignore_label` cost nothing. The loss of the network is divided by what
    `normalization` says, by the rows as in Caffe when nothing is set; PyTorch and Keras divide by all terms. On
    probabilities, `soft_binary_cross_entropy` is the same.

    x: one score per question
    target: wanted answers
    ignore_label: terms with this target cost nothing (none)
    normalization: what the loss of the network divides the sum over the terms by (BATCH_SIZE)
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
    first: Value | None = None,
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
    `p` counts from 0 within the sequence, or within the sub-sequence of a nested one, or from `first` (Vaswani et al.
    2017). Nothing is learned, so there is no longest sequence.

    x: rows of sequences
    first: place of the first row of each sequence
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
    normalization: Literal["VALID", "FULL", "BATCH_SIZE", "NONE"] = "VALID",
    label_smoothing: float = 0.0,
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

    `loss = log(sum over c of exp(x[c])) - x[label]`, times `weight` where there is one; the largest score is taken off
    first, so that nothing overflows and no digit is lost. A row has one label, or one for each of its last axes: scores
    of 21x28x28 and labels of 28x28 are a class for each pixel, and so are their costs.

    Labels that are `ignore_label` cost nothing, and that label may lie outside the classes; another label outside them
    costs NaN. With `label_smoothing` e, the right class is wanted with `1 - e + e / C` and each other one of the C
    classes with `e / C`.

    The loss of the network is what `normalization` says: with `VALID` the mean over the labels that are not ignored,
    with `FULL` that over all labels, with `BATCH_SIZE` their sum divided by the rows, with `NONE` the sum. Caffe has
    `VALID` when nothing is set. Weights change no divisor; `class_weight` gives those of classes, as in Mocha, ONNX and
    PyTorch, where the mean divides by the weights. `softlabel_softmax_cost` takes a share of every class in place of
    one label.

    x: score of every class
    label: right class of every row, or of every place
    weight: importance of every label
    ignore_label: rows or places of this class cost nothing (none)
    normalization: what the loss of the network divides the sum over the labels by (VALID)
    label_smoothing: share of the right class that is given to all classes, to each the same (>= 0 and <= 1, 0)
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

def spp(
    x: Value,
    *,
    pyramid_height: int,
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
    """Pools an image into 1, 4, 16, ... bins and puts all side by side: rows of one width from images of any size.

    (He et al. 2014): level l has `2 ** l` bins along each axis, each of `ceil(H / 2 ** l)` rows and
    `ceil(W / 2 ** l)` columns, pooled as by a `pool` whose padding, as much as lacks, lies around the image, the odd
    one before it. A row of `C * (4 ** pyramid_height - 1) / 3` numbers has level after level, each channel by channel.

    A mean is that of the pixels in the bin, as in Paddle; Caffe counts the padding, too. As in Caffe, an image whose
    bins would lie in the padding is refused: take fewer levels.

    x: images: channels, height, width
    pyramid_height: number of levels (>= 1 and <= 16, required)
    pool_type: what a bin gives (MAX)
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

def stochastic_pool(
    x: Value,
    *,
    pool_size: int,
    pool_size_y: int | None = None,
    stride: int = 1,
    stride_y: int | None = None,
    rounding: Literal["CEIL", "FLOOR"] = "CEIL",
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
    """Stochastic pooling: samples one element of each window in training, per channel (Zeiler and Fergus 2013).

    The probability of an element is `p_i = x_i / sum over j of x_j`. In training, `y` is the sampled element, which
    receives the whole gradient; in the test phase it is the expected value:

    `y = sum over i of p_i * x_i = sum of x_i ** 2 / sum of x_i`

    Values of 0 and below have probability 0, as after a `relu`. A window without a positive value gives 0 and no
    gradient, one with NaN gives NaN. The sample depends on the seed, the step and the position in the batch. Windows
    are those of `pool` without padding, which Caffe's `pool: STOCHASTIC` does not support either; Caffe does not check
    for negative values.

    x: images: channels, height, width
    pool_size: window width (>= 1, required)
    pool_size_y: window height (>= 1, same as pool_size)
    stride: horizontal stride (>= 1, 1)
    stride_y: vertical stride (>= 1, same as stride)
    rounding: treatment of a last window that exceeds the input (CEIL)
    act: elementwise layer applied to the output ("linear")
    drop_rate: share of the outputs set to zero while training (>= 0 and < 1, 0)
    error_clip: limit of each element of the output's gradient (> 0, none)
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

def to_sequence(
    x: Value,
    *,
    size: int,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """Cuts every row into narrower ones, which become its sequence.

    A row of `C` numbers becomes a sequence of `C / size` rows; their order stays. Images are rows with their axes side
    by side: put a `permute` before the layer so that what becomes a row comes last, `order: [3, 1, 2]` for the columns
    of an image. Paddle's seq_reshape does this with rows that are no sequences; those of sequences are cut by
    `seq_reshape` here. `resize` cuts the whole batch anew, also into wider rows, in which samples are mixed.

    x: rows of any shape
    size: width of a row of the sequences (>= 1, required)
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

def upsample(
    x: Value,
    mask: Value,
    *,
    scale: int | None = None,
    scale_y: int | None = None,
    upsample_size: int | None = None,
    upsample_size_y: int | None = None,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """2-D max unpooling: writes every value to the index of a maximum, and zeros to all other pixels.

    `y[n, c, m] = sum of x[n, c, p, q]` over the windows with `mask[n, c, p, q] = m`, the index `h * W + w` in the
    output: `mask` is that of `max_pool_with_mask` on an image of that size. If windows overlap, one pixel may be the
    maximum of several: here their values are added, in other frameworks one of them is kept. For interpolation see
    `bilinear_interp` and `nearest_interp`, for learned upsampling `conv_trans`.

    x: images: channels, height, width
    mask: index in the channel of the output for each value
    scale: horizontal scale factor (>= 1, none)
    scale_y: vertical scale factor (>= 1, same as scale)
    upsample_size: output width (>= 1, none)
    upsample_size_y: output height (>= 1, same as upsample_size)
    """

def wasserstein_loss(
    x: Value,
    target: Value,
    *,
    distances: Sequence[float],
    sharpness: float,
    iterations: int = 50,
    name: str | None = None,
    output: str | Sequence[str] | None = None,
    param: Block | Sequence[Block] | None = None,
    activation: Block | None = None,
    include: Block | Sequence[Block] | None = None,
    exclude: Block | Sequence[Block] | None = None,
    loss_weight: float | Sequence[float] | None = None,
    propagate_down: bool | Sequence[bool] | None = None,
) -> Value:
    """What it costs to carry one distribution over the classes to another, each share as far as its way is.

    `cost = sum over c, d of p[c, d] * distances[c, d]` for the plan p that has `x` and `target` as its sums, costs
    least, and is spread a little: `p[c, d] = exp(f[c] + g[d] - sharpness * distances[c, d])`, with f and g from as many
    `iterations` of Sinkhorn's (Cuturi 2013). `x` are probabilities, as `softmax` gives, and add up to one as `target`
    does.

    The gradient by `x` is `f / sharpness` less its mean over the classes, that of the distance with the spread taken
    into account (Frogner et al. 2015); a `softmax` before does not notice what is added to all of it, and Mocha, whose
    `lambda` is `sharpness`, does not take the mean off.

    x: share of every class
    target: wanted share of every class
    distances: how far it is from class to class: a row of numbers for each class, one after the other (>= 0, required)
    sharpness: the larger, the less the plan is spread, and the more iterations it takes (> 0, required)
    iterations: how often each of the sums is met (>= 1, 50)
    """
