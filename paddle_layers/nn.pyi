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
    """Elementwise absolute value: `y = |x|`. The derivative at 0 is 0, as in Paddle and Caffe.

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
    """Accuracy: the fraction of labels whose class is among the `top_k` scores.

    A sample has one label, or one for each of its last axes: scores of 21x28x28 with labels of 28x28 are a class for
    each pixel. A label is correct if fewer than `top_k` other classes have a score at least as large, so ties count as
    wrong, as in Caffe: a network that gives every class the same score has accuracy 0. NaN scores count as wrong, too.
    Labels that are `ignore_label` or outside the classes are ignored; without any counted label the accuracy is NaN,
    where Caffe reports 0. Counts accumulate over the batches until they are reset, as in Mocha. Paddle reports the
    error rate, one minus this: `classification_error`. The accuracy of each class, Caffe's second top, is its recall:
    `paddle-layers evaluate` prints it, and `confusion_matrix` has their mean.

    x: score or probability per class
    label: target class of each sample or pixel
    top_k: number of top scores that count as correct (>= 1, 1)
    ignore_label: labels of this class are ignored (none)
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

    Of `H` rows, window `p` of `P` contains those from `floor(p * H / P)` up to, but not including,
    `ceil((p + 1) * H / P)`, columns likewise, as in PyTorch: every pixel is in a window, and if `P` does not divide
    `H`, neighboring windows share a row. There may be more windows than rows. NaN and equal maxima are handled as in
    `pool`, which is equivalent if the sizes divide evenly, and with `global_pooling` for a single window.

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
    """Elementwise sum with broadcasting of the second input.

    `y[n, c, i] = x[n, c, i] + other[n, c, i]`; `other` is broadcast as in `mul`. Caffe's Bias with two inputs is this
    layer with one value per channel. For learned offsets see `shift`, for sums of any number of inputs of the same
    shape `addto`.

    x: feature vectors or images
    other: the same shape, or size 1 for the channels, for the other axes, or for both
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
    """Elementwise sum of inputs of the same shape, as at the end of a residual block.

    `y = sum_i x_i`. Paddle can add a bias, off by default: add a `shift` for that. For Caffe's coefficients see
    `eltwise`, for broadcasting see `add`. Mocha and KUnet take exactly two inputs.

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
    """Argmax or argmin along an axis, as floating-point indices from 0.

    An image of C channels becomes H x W indices with `axis: 1`. Of equal values the first is selected, or the last with
    `last`; if one is NaN, so is the index. It has no gradient. For class ids, which embeddings and metrics read, see
    `maxid`, for the largest values with their indices `top_k`, for the values alone `reduction`. Caffe's ArgMax reduces
    the whole sample unless `axis` is set, and selects the last of equal values; its `top_k` and `out_max_val` are in
    `top_k`.

    x: rows of any shape
    axis: reduced axis: 1 is the first after the batch axis, -1 the last (1)
    operation: maximum or minimum (MAX)
    last: select the last of equal values (false)
    keep_dims: keep the reduced axis with size 1 (false)
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
    """One step of causal `multi_head_attention` with a key-value cache, for autoregressive generation.

    `y[n] = sum_k p[k] * values[row[n, k], k] + p * own_value[n]`, where the weights are the softmax of
    `scale * query[n] . keys[row[n, k], k]`, for the positions `k` before `place[n]`, and of
    `scale * query[n] . own_key[n]`; each head has its own columns. Positions from `place` on are not read: the cache
    may have a larger capacity.

    Each generated sequence has a row of the batch. If sequences share a prefix, as in beam search, `row` gives the row
    that holds the keys and values of a position, so that nothing is copied. The caller writes `own_key` and `own_value`
    to their position after the pass. `generate` runs it instead of `multi_head_attention`; it has no gradient.

    query: query of the current position
    own_key: key of the current position
    own_value: value of the current position
    keys: cached keys of the previous positions, by row of the batch and position
    values: cached values of the previous positions
    row: row of the batch that holds the key and the value of a position, from 0
    place: number of previous positions
    num_heads: number of attention heads (>= 1, 1)
    scale: scale of the dot products; if absent, one over the square root of the head size (none)
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
    """Area under the ROC curve (AUC) of binary classification.

    The fraction of the pairs of a positive and a negative sample in which the positive one has the higher score; ties
    count one half (Hanley and McNeil 1982), and with weights each pair counts as the product of both. The score is the
    last column, a probability. Scores are counted in `bins` of equal width, as in Paddle, so the pairs are those of all
    samples since the last reset. Samples in one bin are ties: the error is at most half the fraction of the pairs in
    one bin, `1 / (2 * bins)` for uniformly distributed scores. If any score is outside of 0 to 1 the AUC is NaN: add a
    `softmax` or a `sigmoid` after an `fc` without an activation.

    x: probabilities; the last column is the score of class 1
    label: 0 or 1
    weight: sample weight
    bins: number of bins of the scores (>= 2, 4096)
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
    """Batch normalization: normalizes each channel to zero mean and unit variance over the batch.

    `y = (x - mean) / sqrt(var + epsilon) * gain + bias`

    (Ioffe and Szegedy 2015). In training, mean and biased variance of a channel are computed over all samples and
    pixels of the batch, and the running averages are updated in every step:

    `running = momentum * running + (1 - momentum) * batch`

    In the test phase the running averages are used instead. An empty batch uses the running averages and leaves them
    unchanged.

    Paddle: `momentum` is its `moving_average_fraction`, 0.9. PyTorch's `momentum` is `1 - momentum` here. Caffe: 0.999,
    the running variance is the unbiased one (`unbiased`), the averages are not initialized with 0 and 1 but divided by
    the accumulated weights, and `gain` and `bias` are a separate Scale layer. With `use_global_stats` true the running
    averages are used in training too and not updated, with false the statistics of the batch are used in the test phase
    too.

    With `r_max` or `d_max` it is batch renormalization (Ioffe 2017): in training, the statistics of the batch are
    corrected towards the running averages, within two limits:

    `y = ((x - mean) / sqrt(var + epsilon) * r + d) * gain + bias`

    where `r = sqrt(var + epsilon) / sqrt(running_var + epsilon)`, between `1 / r_max` and `r_max`, and
    `d = (mean - running_mean) / sqrt(running_var + epsilon)`, between `-d_max` and `d_max`, with the running averages
    from before the step. Both are constants in the gradient. The paper starts with limits of 1 and 0, which is batch
    normalization, and raises them to 3 and 5; here a training uses one value of each.

    If several processes share a batch, each normalizes by its own samples, unless `synchronised` is set: then by those
    of all processes. That takes two all-reduce operations in the forward pass and one in the backward pass.

    x: feature vectors or images
    momentum: decay of the running averages (>= 0 and <= 1, 0.9)
    epsilon: epsilon for numerical stability, added to the variance (> 0, 1e-05)
    use_global_stats: normalize by the running averages; if absent, only in the test phase (none)
    unbiased: average the unbiased variance estimate (false)
    r_max: limit of the scale correction of batch renormalization; if absent, none (>= 1, none)
    d_max: limit of the mean correction of batch renormalization, in running standard deviations; if absent, none (>= 0, none)
    synchronised: synchronize the statistics across processes (SyncBatchNorm) (false)
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
    """Gathers rows of the batch by index, in any order and with repetition.

    `y[r] = x[index[r]]`, with indices from 0. The indices of a sample are a sequence, and so are the rows that it
    gathers; Caffe's BatchReindex has one list of indices per batch. To repeat the row of a sample for each of its boxes
    or words see `expand`, which needs no indices. With several processes the indices refer to the samples of the
    process. Indices outside the batch are rejected when they are fed.

    x: rows of any shape
    index: indices of samples of the batch, from 0
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
    """One expansion of a beam search with a globally normalized loss: the paths that are kept, and the loss so far.

    Each sequence of `x`, or each sub-sequence, belongs to a path that was kept, and its rows are the scores of the
    candidates that extend it. `selected` has the indices of those that are kept, usually from `kmax_seq_score`; -1 ends
    its list. The score of a path is the sum of its rows' scores, and the paths of a sample are the rows of `total`.
    `gold` is the index of the target candidate in the sub-sequence of the target path.

    `cost = log(sum over the paths of exp(total) + exp(gold), if the target path was dropped) - gold`, in which `gold`
    is the score of the target path (Andor et al. 2016: globally normalized, trained with early updates). If it was
    dropped, `path` is -1, and later expansions leave the cost unchanged; so they do if `gold` is an index that the
    sub-sequence does not have.

    The first expansion has three inputs; a later one also has the outputs of the previous one, in their order, and `x`
    has a sub-sequence for each path, as `seq_slice` returns. A `sum_cost` of the last `cost` is Paddle's
    `cross_entropy_over_beam`, which has the inputs of all expansions at once.

    x: scores of the candidates that extend each path
    selected: indices of the candidates kept for each path
    gold: index of the target candidate
    total_before: `total` of the previous expansion
    path_before: `path` of the previous expansion
    cost_before: `cost` of the previous expansion
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
    """Bidirectional GRU: two `simple_gru` layers in opposite directions, concatenated.

    By default a sequence becomes one vector: the final states of both directions, the last step of the forward and the
    first step of the backward layer. In nested sequences every sub-sequence becomes one.

    x: sequences of feature vectors
    size: number of units per direction (>= 1, required)
    return_seq: return all steps; if false, only the final states (false)
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
    """Bidirectional LSTM: two `simple_lstm` layers in opposite directions, concatenated.

    By default a sequence becomes one vector: the final states of both directions, the last step of the forward and the
    first step of the backward layer. In nested sequences every sub-sequence becomes one.

    x: sequences of feature vectors
    size: number of units per direction (>= 1, required)
    return_seq: return all steps; if false, only the final states (false)
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
    """Bilinear interpolation: resizes images to a given size or by a scale factor.

    A pixel `(p, q)` of the output corresponds to the coordinates `(u, v)` of the input, depending on `corners`. With
    `h = floor(u)`, `w = floor(v)`, `s = u - h` and `t = v - w`

    `y[p, q] = (1 - s) * ((1 - t) * x[h, w] + t * x[h, w + 1]) + s * ((1 - t) * x[h + 1, w] + t * x[h + 1, w + 1])`

    `ALIGNED` is Paddle's rule and PyTorch's `align_corners=True`, `HALF_PIXEL` the default of PyTorch, Keras and ONNX.
    Downscaling applies no antialiasing filter.

    x: images: channels, height, width
    out_size: output width (>= 1, none)
    out_size_y: output height (>= 1, same as out_size)
    scale: horizontal scale factor (>= 1, none)
    scale_y: vertical scale factor (>= 1, same as scale)
    corners: coordinate transformation (ALIGNED)
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
    """Binary accuracy for multi-label targets: the fraction of columns on the correct side of the threshold.

    A column is correct if score and target are both above `threshold`, or both are not, as in Mocha; NaN scores are
    wrong. For targets of 0 and 1 the threshold is 0.5 for probabilities and 0 for logits; 0 for targets of -1 and 1.
    All columns count equally, as in Mocha and Keras; Keras compares targets of 0 or 1 with the prediction. For a single
    column with an integer label see `classification_error`. Counts accumulate over the batches until they are reset;
    without samples the accuracy is NaN.

    x: score or probability per label
    label: binary targets: positive above `threshold`
    threshold: decision threshold of scores and targets (0)
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
    """Patch extraction: divides images into patches that become the steps of a sequence, in row-major order.

    A step has the elements of a patch, channel by channel, as in `im2col`: columns of a line of text for a recurrent
    network, or patches for a `transformer_block` (vision transformer). The number of patches along an axis is rounded
    up, `1 + ceil((H + 2 * padding_y - block_y) / stride_y)`, and pixels outside the image are 0; an image smaller than
    a patch has one patch.

    Paddle's `stride` defaults to 0, which does not work; here patches are adjacent by default.

    x: images: channels, height, width
    block: patch width (>= 1, required)
    block_y: patch height (>= 1, same as block)
    stride: horizontal stride (>= 1, same as block)
    stride_y: vertical stride (>= 1, same as block_y)
    padding: horizontal zero padding: columns on the left and on the right (>= 0, 0)
    padding_y: vertical zero padding: rows at the top and at the bottom (>= 0, same as padding)
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
    """Precision, recall and F1 score of chunks, such as named entities: `F1 = 2 * correct / (found + wanted)`.

    A chunk is correct if it has the same start, end and type in both inputs. Tags are encoded as `type * tags + tag`,
    with the tags of `scheme` in the order given there, and the next number is for steps outside of all chunks. A step
    continues the chunk of the previous step if it has the same type, the previous step does not end a chunk and this
    one does not start one (Tjong Kim Sang and Buchholz 2000). As in Paddle.

    x: predicted tags
    label: targets
    num_chunk_types: number of chunk types (>= 1, required)
    scheme: tagging scheme (IOB)
    excluded_chunk_types: chunk types to ignore (at least 1 values, each >= 0, none)
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
    """Class weight of each label, for the input `weight` of a loss.

    `y = weights[label]` for each sample, or for each pixel if labels have axes, and 0 for a label that is
    `ignore_label` or outside the classes. Used for imbalanced data, to increase the weight of rare classes. The losses
    of `softmax_with_loss` and `cross_entropy` are then sums of weighted terms divided by the number of labels, not by
    the sum of the weights: with a mean weight of 1 the size of the loss is unchanged, as with
    `labels / (classes * labels of the class)`. PyTorch and ONNX divide by the weights.

    label: class of each sample or pixel
    weights: weight of each class, in the order of the ids (required)
    ignore_label: labels of this class have weight 0 (none)
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
    """Classification error rate: the fraction of labels whose class is not among the `top_k` scores.

    One minus `accuracy`, with the same rules for ties, `ignore_label` and labels of pixels, and two additions, as in
    Paddle: labels may have weights, and a single score predicts class 1 if it is above `threshold`. Counts accumulate
    over the batches until they are reset; without any weight the error is NaN.

    x: score or probability per class
    label: target class of each sample or pixel
    weight: sample weight of each label
    top_k: number of top scores that count as correct (>= 1, 1)
    threshold: decision threshold of a single score (0.5)
    ignore_label: labels of this class are ignored (none)
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
    """Clips every value to the interval from `min` to `max`: `y = min(max(x, min), max)`.

    A limit that is not set does not apply. Values at a limit pass the gradient on, values beyond it do not, as in Caffe
    and Paddle, which require both limits; PyTorch's Hardtanh defaults to -1 and 1 and stops the gradient at the limits
    too. To clip gradients, see `gradient_clip`.

    x: values of any shape
    min: lower limit; if absent, none (none)
    max: upper limit; if absent, none (none)
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
    """Mean over the samples of one column, such as the probability of a class; by default the last column.

    x: values
    weight: sample weight
    column: column index, from 0; if absent, the last (>= 0, none)
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
    """Concatenation along an axis, by default the channels.

    The channels of the first input come first, then those of the second, and so on; all other axes must agree. Caffe
    (`axis`) and Mocha (`dim`) can concatenate along other axes as well; Paddle cannot. Their axis 0 is the batch axis.

    x: values to concatenate
    axis: concatenation axis: 1 is the first after the batch axis, -1 the last (1)
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
    """Confusion matrix: the number of labels of each class predicted as each other class.

    `counts[k, j]` are the labels of class `k` that were predicted as class `j`, weighted. A sample has one label, or
    one for each of its last axes, such as the pixels of an image. The predicted class has the maximum score, the first
    of equal ones; there is no prediction if a score is NaN; a single score predicts class 1 if it is above `threshold`.
    Labels that are `ignore_label` or outside the classes are ignored. `accuracy` is the fraction on the diagonal,
    `balanced_accuracy` the mean of the recalls of the classes that have samples. `paddle-layers evaluate` prints and
    plots the counts, with precision, recall and F1 of every class, and adds this layer to classification losses
    automatically.

    x: score or probability per class
    label: target class of each sample or pixel
    weight: sample weight of each label
    threshold: decision threshold of a single score (0.5)
    ignore_label: labels of this class are ignored (none)
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
    """Context window: concatenates the steps in a window around each step of a sequence.

    `y[t] = x[t + start], ..., x[t + start + length - 1]`, zeros beyond the ends of the sequence. With an `fc` it is a
    1-D convolution over sequences of any length. In Paddle it is a projection of `mixed`; for learned padding
    (`trainable_padding`) see `padded_context`.

    x: sequences of feature vectors
    length: window length (>= 1 and <= 1024, required)
    start: start of the window relative to the current step; if absent, centered (>= -1024 and <= 1024, none)
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
    """Contrastive loss for pairs: pulls similar samples together and pushes dissimilar ones apart up to a margin.

    With the distance `d = |a - b|`, `cost = d ** 2 / 2` for similar pairs and `max(margin - d, 0) ** 2 / 2` for
    dissimilar ones (Hadsell, Chopra and LeCun, "Dimensionality reduction by learning an invariant mapping", 2006). With
    `legacy_version` it is `max(margin - d ** 2, 0) / 2` for dissimilar pairs, as in Caffe's first version. Equal
    dissimilar samples have no gradient.

    a: feature vectors
    b: feature vectors to compare with
    alike: 1 for similar pairs, 0 for dissimilar ones
    margin: margin: minimum distance of dissimilar pairs (> 0, 1)
    legacy_version: use the squared distance in the margin, without squaring the violation (false)
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
    stride: step between adjacent windows (>= 1, 1)
    padding: zero padding at both ends (>= 0, 0)
    padding_end: zero padding at the end, if it differs from the start (>= 0, same as padding)
    dilation: spacing between the elements of a filter (>= 1, 1)
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
    dilation: spacing between the elements of a filter (>= 1, 1)
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
    """Dynamic filter convolution: 2-D convolution of every image with its own filters, which are an input.

    `y[n, k, p, q] = sum over c, a, b of filter[n, k, c, a, b] * x[n, c, p * stride_y - padding_y + a, q * stride -
    padding + b]`, as `conv` without bias, zero outside the image. A row of `filter` has
    `num_filters * C * filter_size_y * filter_size` values in this order, computed by an `fc`, for example (Jia et al.,
    "Dynamic filter networks", 2016).

    With `trans` it is a transposed convolution, Paddle's `conv_trans_operator`: the first axes of a filter are then
    `C x num_filters`. In Paddle both are operators of `mixed` and run on GPUs only.

    x: images: channels, height, width
    filter: filters of each image, flattened
    num_filters: number of filters (>= 1, required)
    filter_size: kernel width (>= 1, required)
    filter_size_y: kernel height (>= 1, same as filter_size)
    stride: horizontal stride (>= 1, 1)
    stride_y: vertical stride (>= 1, same as stride)
    padding: horizontal zero padding: columns added on the left and on the right (>= 0, 0)
    padding_y: vertical zero padding: rows added at the top and at the bottom (>= 0, same as padding)
    trans: transposed convolution, as `conv_trans` (false)
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
    """Circular convolution of each row with a kernel that is a second input.

    `y[n, i] = sum over j of x[n, (i + j - (K - 1) / 2) mod C] * weights[n, j]`, with an odd number K of weights. A
    single 1 at the center is the identity, a 1 right after it shifts the row by one column to the left. Used for
    location-based attention in neural Turing machines (Graves, Wayne and Danihelka 2014). Paddle's layer is the same.

    x: the signals
    weights: kernel: an odd number of weights, the center one for shift 0
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
    """Cosine similarity of a vector to one or more concatenated vectors of another row.

    `y[n, k] = scale * (a . b_k) / (|a| * |b_k|)`, where `b_k` are the columns of `b` from `k * C` on. If `b` has the
    width of `a` it is one vector; Paddle's name for several is `cos_vm`. The similarity to a zero vector is 0, and so
    is its gradient; Paddle fails there.

    a: rows
    b: K concatenated vectors, each of the width of `a`
    scale: scale of the cosine (1)
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
    """Negative log-likelihood of a label sequence under a linear-chain conditional random field (CRF).

    A labeling `l` of the steps `1..n` has the score
    `start[l_1] + end[l_n] + sum over t of x[t, l_t] + sum over t > 1 of step[l_(t-1), l_t]`; then
    `cost = log(sum over all labelings of exp(score)) - score(label)`, times `weight` if present (Lafferty et al.,
    "Conditional random fields", 2001). `transitions` has Paddle's layout: row 0 is `start`, row 1 is `end`, row `2 + i`
    has the transition scores from class `i`; minus infinity forbids a transition. An empty sequence has loss 0. In
    nested sequences a chain is a sub-sequence; Paddle rejects these. Paddle's `coeff` scales the gradient but not the
    loss: `loss_weight` scales both.

    x: score (logit) per class and time step
    label: target class per step
    weight: sample weight of each sequence
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
    """Viterbi decoding: the most probable label sequence under a linear-chain conditional random field (CRF).

    Scores are those of `crf`; share its `transitions`. Of equal transitions the one from the smaller class is selected.
    With labels, `error` marks the steps at which the path differs from them; without, it is NaN. Paddle has one output:
    the path without labels, the errors with them.

    x: score (logit) per class and time step
    label: target class per step
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
    """Crop (slice) along given axes: start index, size and step per axis.

    `y[i] = x[begin + i * steps]` along each axis. `begin`, `sizes` and `steps` have one value per axis of `axes`, or
    one for all of them; instead of `sizes` a second input may determine the size. Without either, the part extends to
    the end. Caffe's and Paddle's Crop crop all axes from `axis` on to the size of a second input, with `offset` for
    `begin`. To split into several parts see `slice`.

    x: rows of any shape
    like: reference input of the same rank, whose sizes along `axes` are used
    axes: axes to be cropped, from 1 on or from -1 backwards; if absent, all (at least 1 values, none)
    begin: start index along each axis; if absent, 0 (at least 1 values, each >= 0, none)
    sizes: number of elements along each axis; if absent, all from `begin` on (at least 1 values, each >= 1, none)
    steps: step along each axis (at least 1 values, each >= 1, none)
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
    """L2 normalization across the channels of every pixel, with a learned scale per channel.

    `y = x / sqrt(s + epsilon) * scale`, where `s` is the sum of squares of all channels at the pixel (Liu, Rabinovich
    and Berg 2016, ParseNet). SSD applies it to its first feature maps, with an initial `scale` of 20. Caffe's Normalize
    has one scale for all channels if `channel_shared` is true, and the norm of the whole image if `across_spatial` is.

    x: feature vectors or images
    epsilon: epsilon for numerical stability, added to the sum of squares (> 0, 1e-06)
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
    """Cross-entropy (negative log-likelihood) of the target class, from probabilities.

    `cost = -log(max(x[label], floor))`, times `weight` if present. `x` are probabilities, as from `softmax`; from
    scores (logits), `softmax_with_loss` is numerically more accurate, and its page describes labels of pixels,
    `ignore_label`, `label_smoothing` and `normalization`. Below `floor` the loss is constant and its gradient 0. Caffe
    and Mocha have a floor of 1e-20, Paddle has none; Mocha's layer has no gradient. Paddle's `coeff` scales the
    gradient but not the loss: `loss_weight` scales both.

    x: probability per class
    label: target class of each sample or pixel
    weight: sample weight of each label
    floor: lower limit of the probabilities (> 0 and < 1, 1e-20)
    ignore_label: samples or pixels with this label are ignored (none)
    label_smoothing: label smoothing: fraction of the target probability that is distributed over all classes (>= 0 and <= 1, 0)
    normalization: divisor of the sum of the loss over the labels (VALID)
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
    """Connectionist temporal classification (CTC) loss: negative log-likelihood of labels without known alignment.

    Every time step of `x` predicts a class with the probability `softmax(x)`. A path becomes labels by collapsing
    repeated classes and removing blanks;
    `cost = -log(sum over all paths that become the labels of the product of their probabilities)` (Graves et al.,
    "Connectionist temporal classification", 2006). Labels that need more steps than there are have loss 0 and no
    gradient, as in Paddle; PyTorch returns infinity unless `zero_infinity` is set. Blanks among the labels are removed,
    so labels may be padded with them.

    This is Paddle's `warp_ctc`. Its `ctc` has the blank as the last class and takes probabilities: use the scores
    before the softmax and set `blank` to the last class. Paddle's `norm_by_times` divides the gradient but not the
    loss. Scores may be minus infinity (probability 0): labels with enough steps but no possible path have an infinite
    loss.

    x: score (logit) per class and time step
    label: label sequence
    max_labels: maximum number of labels per sequence, for which memory is reserved; more labels give NaN (>= 1, required)
    blank: blank class (>= 0, 0)
    norm_by_times: divide the loss by the number of time steps (false)
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
    """Label error rate of CTC predictions: the edit distance to the labels, divided by their number.

    The predicted class of each time step has the maximum score; repetitions are collapsed and blanks removed, in
    predictions and labels, as in `ctc`. An edit inserts, deletes or substitutes one class (Levenshtein 1966).
    `deletions`, `insertions` and `substitutions` are the error rates by type, with as many substitutions as the minimum
    number of edits allows; `sequences` is the fraction of the sequences with any error. Paddle divides by the longer of
    the two sequences.

    x: score per class and time step
    label: label sequence
    blank: blank class (>= 0, 0)
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
    """Input of a network: a value that is fed under the name of the layer.

    Floating-point values have a `shape`, the axes of a sample without the batch axis; without one, a sample is a
    scalar. Integer ids have a `size`, their number, and a `shape` if a sample has several, such as a label for each
    pixel of an image; sparse vectors have only a `size`. Samples may be sequences, or nested sequences, whose steps are
    concatenated without padding. Paddle's `data_layer` gives the width of a dense value as `size`; Caffe's shapes
    include the batch axis, which is never part of a shape here.

    With `carry` it is not fed: it has the rows of another value of the previous batch, zeros in the first one. This
    carries recurrent states over from batch to batch (stateful recurrence), while gradients stop at the start of the
    batch (truncated backpropagation through time); every batch then has the same number of samples. To reset states,
    multiply the rows by a fed 0 or 1 (`scaling`), the `cont` of Caffe.

    shape: shape of a sample, without the batch axis (>= 1, none)
    data_type: type of the values (DENSE)
    size: number of ids (classes, vocabulary size), or width of a sparse vector (>= 1, none)
    seq_nested_level: 0: single samples, 1: sequences, 2: nested sequences (>= 0 and <= 2, 0)
    carry: value of the previous batch to feed (stateful recurrence); if absent, the value is fed (none)
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
    """Standardization of input features: zero mean and unit standard deviation over the training data.

    `y = (x - mean) / deviation`. It reads a data layer: before its first step a training measures both on the data of
    the training phase, including transforms but without random ones, and saves them with the weights, so that other
    data are transformed in the same way. Until then the layer is the identity (mean 0, deviation 1). A constant column
    keeps the deviation 1. Paddle measures in a separate program, and has two more ways to scale; `batch_norm` measures
    every batch.

    x: feature vectors or images of a data layer
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
    """Mean average precision (mAP) of object detection, between 0 and 1.

    In each image the detections are processed in order of confidence. A detection is correct if the ground-truth box of
    its class with the maximum IoU has an IoU above `overlap_threshold` and was not matched before; the IoU is the area
    of the intersection divided by the area of the union. From the most confident detection of all images on,
    `precision` is the fraction of the detections that are correct, and `recall` the fraction of the ground truth that
    was detected.

    The average precision of a class is the mean of the maximum precision at a recall of at least 0, 0.1, ... 1
    (`ELEVEN_POINT`, as in Pascal VOC 2007), or the sum of the precision times the increase of the recall (`INTEGRAL`).
    The mean is over the classes that have ground truth; without any it is NaN. A `difficult` box counts neither as
    ground truth nor, when it is detected, as correct or wrong, unless `evaluate_difficult` is set.

    Scores are counted in `bins` of equal width, since the detections of all images since the last reset count: those in
    one bin have equal confidence. If any score is outside of 0 to 1 the mean is NaN. Paddle keeps every score, ignores
    classes without detections, which count as 0 here, and reports percent.

    label: class of each detection
    score: confidence of each detection
    box: corners `x1, y1, x2, y2` of each detection
    truth: class of each ground-truth box
    truth_box: corners of each ground-truth box
    difficult: 1 for a difficult box, else 0
    overlap_threshold: IoU threshold for a match (>= 0 and < 1, 0.5)
    background_id: background class, which is ignored (>= 0, 0)
    evaluate_difficult: include difficult boxes (false)
    ap_type: definition of the average precision (ELEVEN_POINT)
    bins: number of bins of the scores (>= 2, 1000)
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
    """Detections of a single-shot detector (SSD, Liu et al. 2016): decoding and non-maximum suppression (NMS).

    The scores of a box become probabilities by a softmax. A default box with the center `(p, q)`, the sides `w` and `h`
    and the variances `v` is decoded from its locations `l`: the center is `(p + v[0] * l[0] * w, q + v[1] * l[1] * h)`
    and the sides are `w * exp(v[2] * l[2])` and `h * exp(v[3] * l[3])`.

    In each class but the background, the `nms_top_k` most probable boxes above `confidence_threshold` are processed in
    order; one whose IoU with a box kept before exceeds `nms_threshold` is dropped (non-maximum suppression). The
    `keep_top_k` most probable boxes of all classes are returned, clipped to the image.

    The detections of an image are a sequence, which may be empty, without padding. Inputs are those of `multibox_loss`
    without the ground truth. Paddle returns one row of seven values per box, first the index of the image, class by
    class. It has no gradient; `detection_map` evaluates it.

    prior: default boxes and their variances, from `priorbox`
    maps: location maps of all scales, then score maps of all scales
    num_classes: number of classes, including the background (>= 2, required)
    nms_threshold: IoU threshold of the non-maximum suppression (> 0 and <= 1, 0.45)
    nms_top_k: maximum number of candidates per class (>= 1, 400)
    keep_top_k: maximum number of detections per image (>= 1, 200)
    confidence_threshold: minimum confidence of a detection (>= 0 and < 1, 0.01)
    background_id: background class (>= 0, 0)
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
    """Elementwise quotient with broadcasting of the second input.

    `y[n, c, i] = x[n, c, i] / other[n, c, i]`; `other` is broadcast as in `mul`. A nonzero value divided by 0 is
    infinite, 0 divided by 0 is NaN. Mocha's `Divide` takes inputs of the same shape.

    x: dividend
    other: divisor: the same shape, or size 1 for the channels, for the other axes, or for both
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
    """Dot product (inner product) of two vectors: `y[n] = sum_c a[n, c] * b[n, c]`.

    a: rows
    b: vectors of the same width
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
    """Dropout: sets a random fraction of the values to zero in training.

    The mask depends on the seed, the step and the position, so it is the same on every device. In training a dropped
    value is -0.0, which equals 0, and a zero that is kept is 0.0: the gradient distinguishes them by the sign.
    Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting" (2014). Caffe, Mocha, KUnet
    and ONNX scale the remaining values up in training (`scale_in: TRAIN`, inverted dropout), Paddle scales all values
    down in the test phase (`scale_in: TEST`), Mocha's `auto_scale: false` and its RandomMaskLayer never scale.

    x: values of any shape
    drop_rate: dropout rate: fraction of the values that are set to zero (>= 0 and < 1, 0.5)
    scale_in: phase in which outputs are rescaled (TRAIN)
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
    """Elementwise sum, product, maximum or minimum of inputs of the same shape.

    `SUM`: `y = sum_i coefficients_i * x_i`; `PROD`: `y = prod_i x_i`; `MAX`: `y = max_i x_i`; `MIN`: `y = min_i x_i`.

    The gradient of a product multiplies the other inputs, as Caffe's `stable_prod_grad`, and is right for zeros too. If
    several inputs are the maximum, or the minimum, the first of them receives the gradient; Caffe gives it to the
    second of the first two. For two inputs with broadcasting see `mul`, `div`, `add` and `sub`, which are also Mocha's
    `Subtract` and `Divide`. For the factor of Paddle's operator `dot_mul` add a `slope_intercept`.

    x: operands
    operation: elementwise operation of the inputs (SUM)
    coefficients: coefficient of each operand of a sum; if absent, all are 1 (none)
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
    """Exponential linear unit (ELU): `y = x` for `x > 0`, else `alpha * (exp(x) - 1)`.

    Clevert et al., "Fast and accurate deep network learning by exponential linear units" (2015). Caffe and ONNX have
    the same default.

    x: values of any shape
    alpha: negative of the limit for large negative values (>= 0, 1)
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
    """Embedding lookup: the row of a learned table for each id.

    `y[n] = table[ids[n]]`. The table has one row per id, so only the width is given; the gradient has only the rows in
    use (sparse gradient). Caffe gives the number of rows as `input_dim` and adds a bias by default: add a `shift` for
    that. Paddle returns zeros for the id -1; here `padding_id` is one of the ids.

    ids: integer ids to look up
    size: embedding size (>= 1, required)
    padding_id: padding id: its embedding is zero and has no gradient (>= 0, none)
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
    """End-of-sequence mask: 1 for each id that equals `eos_id`, else 0.

    x: ids
    eos_id: end-of-sequence id (>= 0, required)
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
    """Elementwise exponential: `y = base ** (shift + scale * x)`.

    Without `base` it is e, for which Caffe writes -1. Overflow gives infinity: for exponents above 88 in float32, above
    709 in float64.

    x: values of any shape
    base: base; if absent, e (> 0, none)
    scale: factor of `x` (1)
    shift: offset, added to `scale * x` (0)
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
    """Expands one vector per sequence to all steps of the sequence (broadcast over time).

    `y[t] = x[s]` for every step t of sequence s of `like`, whose values do not matter. In Paddle `trans_type`
    determines whether `x` has one vector per sequence or per sub-sequence; here `level` does.

    x: one vector per sequence, or per sub-sequence
    like: sequences that determine the number of repetitions
    level: level of `x` (SEQUENCE)
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
    """Factorization machine: second-order interactions of all pairs of features with factorized weights.

    `y[n] = sum over pairs c < d of (factors[c] . factors[d]) * x[n, c] * x[n, d]` (Rendle 2010), computed as
    `1/2 sum_f ((sum_c x[n, c] * factors[c, f]) ** 2 - sum_c (x[n, c] * factors[c, f]) ** 2)`, which is linear in the
    number of factors. The linear part of the machine is an `fc` of size 1, to be added. A sparse row costs in
    proportion to its entries, and may name a column only once.

    x: feature vectors: samples, tokens, images
    factor_size: rank of the factorization: length of the vectors (>= 1, required)
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
    """Fully connected (dense, linear) layer: the sum of `x @ weight` over the inputs, plus `bias`.

    `y[n, k] = sum_i sum_c x_i[n, c] * weight_i[c, k] + bias[k]`

    Images are flattened, channels first. Each step of a sequence is a sample. With `axis: 2` the axes from the second
    one on are flattened, and each vector along the first is a sample; -1 applies the layer to the last axis, as ONNX's
    MatMul, Keras and PyTorch do. Sparse rows cost in proportion to their entries, and the gradient of their weights has
    only the rows in use. Paddle accepts several inputs, each with its own weight, as here; the other frameworks accept
    one. Caffe and KUnet store the weight transposed.

    x: feature vectors: samples, tokens, images
    size: number of outputs (>= 1, required)
    axis: first axis of the input features: 1 is the first after the batch axis, -1 the last (1)
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
    """Filters rows of the batch by a mask: a sample becomes a sequence of one row or an empty one.

    A row is kept if `keep` is not 0; `keep` may be fed or computed by the network, by `maxid`, for example, and has no
    gradient. Losses of such sequences are divided by the number of rows that are kept, as in Caffe, whose Filter makes
    a smaller batch of them. To filter labels use `filter_ids` with the same `keep`, for steps of sequences
    `seq_filter`. If rows are filtered only by their label, losses have `ignore_label`.

    x: rows of any shape
    keep: mask: rows with a nonzero value are kept
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
    """Filters ids of the batch by a mask, as `filter` does with rows.

    A sample becomes a sequence of one id or an empty one.

    x: ids
    keep: mask: ids with a nonzero value are kept
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
    """Flattens each sample to one axis; values and their order are unchanged.

    Caffe can merge a range of axes (`axis`, `end_axis`): see `reshape`. Paddle and Mocha need no such layer, since
    their layers for vectors accept images; so does `fc` here.

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
    """Gated linear unit (GLU): `y = act(x @ V + c) * sigmoid(x @ W + b)` (Dauphin et al. 2017).

    `V` and `c` are `value.weight` and `value.bias`, `W` and `b` those of `gate`. Images are flattened, as in `fc`.

    x: feature vectors: samples, tokens, images
    size: number of outputs (>= 1, required)
    act: activation of the value branch ("linear")
    bias: add a bias to the value branch (true)
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
    """Kullback-Leibler divergence of diagonal Gaussians from the standard normal distribution (VAE loss).

    `cost = sum over c of (mu ** 2 + sigma ** 2 - 1) / 2 - log(sigma)`, in nats. It is 0 if every mean is 0 and every
    standard deviation 1, and is one term of the loss of a variational autoencoder (Kingma and Welling, "Auto-encoding
    variational Bayes", 2014). Standard deviations must be positive, as computed by `exp`. Mocha's manual has the
    opposite sign; its layer computes this.

    mu: means
    sigma: standard deviations
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
    """Gaussian error linear unit (GELU): `x` times the standard normal distribution function of `x`.

    `y = x * (1 + erf(x / sqrt(2))) / 2`, or with `approximate: TANH`
    `y = x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2`. Hendrycks and Gimpel, "Gaussian error linear units"
    (2016). ONNX has the same choice under the same name.

    x: values of any shape
    approximate: computation of the normal distribution function (NONE)
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
    """Gradient clipping: the identity, which clips each element of the gradient to [-threshold, threshold].

    The common attribute `error_clip` adds this layer after another one, as Paddle's `error_clipping_threshold` does.

    x: values
    threshold: limit of the absolute value of each element of the gradient (> 0, required)
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
    """Group normalization: normalizes each group of channels of a sample to zero mean and unit variance.

    `y = (x - mean) / sqrt(var + epsilon) * gain + bias`

    (Wu and He 2018). Mean and biased variance are computed over the `C / groups` channels of a group and all their
    pixels; `gain` and `bias` have one value per channel. One group is `layer_norm` with one gain per channel; as many
    groups as channels are `instance_norm`. Unlike `batch_norm` it is the same in all phases and for all batch sizes.

    x: feature vectors or images
    groups: number of groups of channels (>= 1, required)
    epsilon: epsilon for numerical stability, added to the variance (> 0, 1e-05)
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
    """GRU cell: one step of `grumemory`.

    Each row of `x` has three gate pre-activations per unit, concatenated: update gate, reset gate, candidate. With
    `s = x + bias`, `h = previous` and the recurrent weights of the three, concatenated:

    `u = gate_act(s_u + h @ W_u)`, `r = gate_act(s_r + h @ W_r)`, `c = act(s_c + (r * h) @ W_c)`,
    `y = (1 - u) * h + u * c`

    With `reset_after` it is `c = act(s_c + r * (h @ W_c + b))`, where `b` is the fourth part of `bias`, as in cuDNN and
    PyTorch, which exchange `u` and `1 - u`. Paddle is the same without it.

    x: three gate pre-activations per unit
    previous: previous hidden state
    act: activation of the candidate (tanh)
    gate_act: activation of the gates (sigmoid)
    reset_after: apply the reset gate after the recurrent weights (cuDNN, PyTorch, Keras) (false)
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
    """Gated recurrent unit (GRU) recurrence over pre-computed gate inputs (Cho et al. 2014).

    For the `GRU` layer of Keras and PyTorch, which includes the input projection, see `simple_gru`.

    Each step of `x` has three gate pre-activations per unit, concatenated: update gate, reset gate, candidate. With
    `s = x[t] + bias`, `h = y[t-1]` and the recurrent weights of the three, concatenated:

    `u = gate_act(s_u + h @ W_u)`, `r = gate_act(s_r + h @ W_r)`, `c = act(s_c + (r * h) @ W_c)`,
    `y[t] = (1 - u) * h + u * c`

    in each sequence, or in the innermost sequences of nested ones; the initial hidden state is `initial`, or zero. With
    `reset_after` it is `c = act(s_c + r * (h @ W_c + b))`, where `b` is the fourth part of `bias`. Add an `fc` with
    three times the units before the layer as the input projection. Paddle is the same without `reset_after`; cuDNN and
    PyTorch are the same with it, Keras and ONNX support both. All but Paddle exchange `u` and `1 - u`.

    x: three gate pre-activations per unit
    initial: initial hidden state, one per sequence
    act: activation of the candidate (tanh)
    gate_act: activation of the gates (sigmoid)
    reset_after: apply the reset gate after the recurrent weights (cuDNN, PyTorch, Keras) (false)
    reverse: process each sequence in reverse (false)
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
    """Hard sigmoid: a piecewise linear approximation of the sigmoid, `y = min(max(slope * x + offset, 0), 1)`.

    The derivative is 0 at both corners. PyTorch, Keras and MobileNetV3 use the default slope 1/6, with corners at -3
    and 3; ONNX's default is 0.2.

    x: values of any shape
    slope: slope of the linear part (> 0, 0.16666666666666666)
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
    """Hard swish: `x` times its hard sigmoid, an approximation of `swish` without exponentials.

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
    """Hinge loss of a one-vs-rest linear classifier (multi-class SVM).

    `cost = sum over c of max(0, 1 - s * x[c]) ** p`, where `s` is 1 for the label and -1 for the other classes, and `p`
    is 1 for `L1` and 2 for `L2`.

    x: score (logit) per class
    label: target class
    norm: norm of the margin violations (L1)
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
    """Hierarchical softmax over a binary tree of classes (Morin and Bengio 2005).

    The classes are the leaves. Each inner node has a score, `z[i] = x @ weight[i] + bias[i]`, and continues to its
    child 1 with probability `1 / (1 + exp(-z[i]))`; the probability of a class is the product along its path, and
    `cost = sum over the path of log(1 + exp(z[i])) - side * z[i]`, its negative logarithm. The probabilities of all
    classes sum to one, and the time of a step is proportional to the depth of the tree, not to the number of classes,
    which is that of the label: the gradients of `weight` and `bias` have only the rows in use.

    By default the tree is complete, as Paddle's: the path of a class is the binary form of `label + classes` after its
    first digit, and node 0 is the root. With `counts`, the frequency of each class, frequent classes have short paths
    (Huffman tree; Mikolov et al. 2013). `codes` defines any tree, as the path of each class in the digits 0 and 1; its
    nodes are numbered from the root, shorter paths first, then in lexicographic order. Paddle clips `z` to [-40, 40],
    and accepts several inputs: add a `concat`.

    x: feature vectors
    label: target class
    counts: class counts in the order of the ids, for a Huffman tree (>= 0, [])
    codes: path to each class from the root, such as 010, for a custom tree ([])
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
    """Huber loss for binary classification (modified Huber): a squared hinge loss that becomes linear for large errors.

    With `a = x` for the label 1 and `a = -x` for the label 0, `cost = 0` for `a >= 1`, `(1 - a) ** 2` for `-1 <= a < 1`
    and `-4 * a` below (Zhang, "Solving large scale linear prediction problems", 2004). Paddle's `coeff` scales the
    gradient but not the loss: `loss_weight` scales both.

    x: score: above zero is class 1
    label: binary target, 0 or 1
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
    """Huber loss: quadratic for small errors, linear for errors above `delta`, robust against outliers.

    `cost = sum over c of (0.5 * e ** 2 if |e| <= delta else delta * (|e| - delta / 2))` for `e = x - target` (Huber,
    "Robust estimation of a location parameter", 1964), times `weight` if present. Paddle's `coeff` scales the gradient
    but not the loss: `loss_weight` scales both.

    x: feature vectors
    target: targets
    weight: sample weight
    delta: error at which the loss becomes linear (> 0, 1)
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
    """Im2col (unfold): the elements of each window of an image as channels.

    `y[n, (c * A + a) * B + b, p, q] = x[n, c, p * stride_y - padding_y + a * dilation_y, q * stride - padding + b *
    dilation]`, zero outside the image, for windows of `A = filter_size_y` rows and `B = filter_size` columns: what the
    filters of a `conv` with the same attributes read. The gradient of an element is the sum over all windows that
    contain it (col2im). PyTorch's Unfold flattens the windows to one axis: add a `reshape`. For windows as steps of a
    sequence see `block_expand`.

    x: images: channels, height, width
    filter_size: window width (>= 1, required)
    filter_size_y: window height (>= 1, same as filter_size)
    stride: horizontal stride (>= 1, 1)
    stride_y: vertical stride (>= 1, same as stride)
    padding: horizontal zero padding: columns added on the left and on the right (>= 0, 0)
    padding_y: vertical zero padding: rows added at the top and at the bottom (>= 0, same as padding)
    padding_end: zero padding on the right, if it differs from the left (>= 0, same as padding)
    padding_end_y: zero padding at the bottom, if it differs from the top (>= 0, same as padding_y)
    dilation: horizontal dilation (>= 1, 1)
    dilation_y: vertical dilation (>= 1, same as dilation)
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
    """Convolutions followed by pooling: one stage of LeNet or VGG.

    With one number of filters it is Paddle's `simple_img_conv_pool`, or `img_conv_bn_pool` with `batch_norm`. Each
    convolution is a `conv`, followed by a `batch_norm` if `batch_norm` is set, and `act`.

    x: images: channels, height, width
    num_filters: number of filters of each convolution (at least 1 values, each >= 1, required)
    filter_size: kernel size (>= 1, 3)
    padding: zero padding of each convolution (>= 0, 1)
    act: activation of each convolution ("relu")
    batch_norm: batch normalization instead of the bias (false)
    pool_type: type of pooling (MAX)
    pool_size: window size of the pooling (>= 1, required)
    pool_stride: stride of the pooling (>= 1, same as pool_size)
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
    """Information gain loss: softmax cross-entropy with a matrix of misclassification costs.

    `cost = sum over c of gain[label, c] * (log(sum over k of exp(x[k])) - x[c])`, times `weight` if present. `gain` is
    given and not trained: load it with the weights; Caffe has a third input or the file `source`. By default it is the
    identity matrix, and the layer equals `softmax_with_loss`, whose page describes labels of pixels, `ignore_label` and
    `normalization`.

    x: score (logit) per class
    label: target class of each sample or pixel
    weight: sample weight of each label
    ignore_label: samples or pixels with this label are ignored (none)
    normalization: divisor of the sum of the loss over the labels (VALID)
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
    """Instance normalization: normalizes each channel of each image to zero mean and unit variance.

    Used in style transfer (Ulyanov, Vedaldi and Lempitsky 2016). It consists of a `group_norm` with one channel per
    group, whose parameters are `norm.gain` and `norm.bias`. PyTorch has them only with `affine=True`; without them, see
    `mvn`.

    x: images, 1-D signals or 3-D volumes
    epsilon: epsilon for numerical stability, added to the variance (> 0, 1e-05)
    bias: add `norm.bias`, one value per channel (true)
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
    """Linear interpolation of two vectors: `y[n] = weight[n] * a[n] + (1 - weight[n]) * b[n]`.

    weight: weight of `a`, usually between 0 and 1
    a: first input
    b: second input
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
    """Top-k over the steps of each sequence: the indices of the largest scores, -1 if the sequence is shorter.

    Indices count from 0 in each sequence; of equal scores the first comes first. As in Paddle they are floats without a
    gradient.

    x: scores
    beam_size: number of indices, k (>= 1 and <= 1024, 1)
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
    """Listwise ranking loss (LambdaRank): pairs in the wrong order, weighted by their effect on NDCG.

    A sequence is the result list of a query with the `relevance` of each item. The discounted cumulative gain of an
    order is `sum over positions i = 0, 1 ... of (2 ** relevance - 1) / log(i + 2)`; `ndcg` is that of the `ndcg_num`
    top scores, divided by the ideal one.
    `cost = sum over pairs i before j in the ideal order of w_ij * log(1 + exp(x_j - x_i))`, where `w_ij` is the
    fraction of the ideal gain lost if i and j are swapped (Burges, Ragno and Le, "Learning to rank with nonsmooth cost
    functions", 2006). A list without a relevant item has loss 0 and `ndcg` 1. Of equal items the first one has the
    better rank.

    The gradient is Paddle's; Paddle reports NDCG instead of the loss. The published LambdaRank uses the current order
    of the scores, and so is not the gradient of a loss.

    x: score per item
    relevance: relevance of each item, from 0 on
    ndcg_num: truncation of the NDCG: number of positions (>= 1, 5)
    max_sort_size: number of positions with a weight in pairs; if absent, all (>= 1, none)
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
    """Layer normalization: normalizes each sample to zero mean and unit variance, with a learned scale and offset.

    `y = (x - mean) / sqrt(var + epsilon) * gain + bias`

    (Ba, Kiros and Hinton 2016). Mean and biased variance are computed over all values of the sample; images are
    flattened. `axis` and `end_axis` are the first and the last normalized axis: `axis: -1` is each vector along the
    last axis, as in most Transformers, `axis: 1 end_axis: 1` the channels at each pixel of an image. `gain` has the
    size of these axes.

    x: rows
    axis: first normalized axis: 1 is the first after the batch axis, -1 the last (1)
    end_axis: last normalized axis (-1)
    epsilon: epsilon for numerical stability, added to the variance (> 0, 1e-05)
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
    """Identity: `y = x`, the default activation. For a fully connected (linear) layer see `fc`.

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
    """Linear combination of the K concatenated vectors of a row, with one weight per vector.

    `y[n, c] = sum_k weights[n, k] * vectors[n, k * C + c]`. The number of vectors equals the number of weights, so
    Paddle's `size` is derived; the combination is convex only if a `softmax` computes the weights.

    weights: weight of each vector
    vectors: K concatenated vectors
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
    """Elementwise logarithm: `y = log(shift + scale * x) / log(base)`.

    Without `base` it is the natural logarithm, for which Caffe writes -1. The logarithm of 0 is minus infinity, as is
    the derivative there; that of a negative number is NaN. A small `shift` avoids both.

    x: values of any shape
    base: base; if absent, e (> 0, none)
    scale: factor of `x` (1)
    shift: offset, added to `scale * x` (0)
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
    """Logarithm of the softmax along an axis, by default over the columns of a row or the channels of an image.

    `y[n, c] = x[n, c] - peak[n] - log(sum over d of exp(x[n, d] - peak[n]))`, where `peak` is the maximum, so that
    nothing overflows and small probabilities do not become 0. The gradient is `dy - exp(y) * sum over d of dy[n, d]`.
    KUnet's Logp passes gradients through unchanged, which is right only for its own loss; for training see
    `softmax_with_loss`, which includes this layer.

    x: scores
    axis: normalized axis: 1 is the first after the batch axis, -1 the last (1)
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
    """Local response normalization (LRN): divides by a power of the mean square of the neighborhood.

    `y = x * (shift + scale * s / count) ** -power` (Krizhevsky, Sutskever and Hinton 2012). Across channels, `s` is the
    sum of squares of `size` adjacent channels at the pixel and `count` is `size`; within a channel, `s` is the sum of
    squares in a window of `size` by `size` pixels and `count` is `size * size`. The neighborhood starts
    `(size - 1) // 2` before the element; elements outside are zero.

    Paddle's `norm` of the type `cmrnorm-projection` has `scale` 0.0128, `power` 0.75 and only `shift` 1; its type
    within a channel does not work, and its `cross-channel-norm` is another layer. Caffe names the attributes alpha,
    beta and k, with defaults 1, 0.75 and 1, and requires an odd `size`; so does Mocha, with `shift` fixed at 1 within a
    channel. ONNX supports only normalization across channels. All divide `scale` by `count` as here.

    x: images: channels, height, width
    size: size of the neighborhood: channels, or height and width (>= 1, 5)
    scale: weight of the mean square, alpha (>= 0, 0.0128)
    power: exponent, beta (>= 0, 0.75)
    shift: offset of the weighted mean square, k (> 0, 1)
    region: normalization region (ACROSS_CHANNELS)
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
    """LSTM cell: one step of `lstmemory`.

    Each row of `x` has four gate pre-activations per unit, concatenated: candidate, input gate, forget gate, output
    gate, including the contribution of the previous hidden state. With `s = x + bias`, peephole weights `p`,
    `h = previous`:

    `a = act(s_a)`, `i = gate_act(s_i + p_i * h)`, `f = gate_act(s_f + p_f * h)`, `state = a * i + h * f`,
    `o = gate_act(s_o + p_o * state)`, `y = o * state_act(state)`

    `bias` is that of `lstmemory`: the biases of the gates, then the peephole weights; Paddle's has only the peephole
    weights, and its state is read by a layer get_output. Caffe has no peepholes, another order of the gates, and an
    input that resets the state: add a `scaling` by it before `previous`.

    x: four gate pre-activations per unit
    previous: previous cell state
    act: activation of the candidate (tanh)
    gate_act: activation of the gates (sigmoid)
    state_act: activation of the cell state in the output (tanh)
    peepholes: peephole connections from the cell state to the gates (true)
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
    """Long short-term memory (LSTM) recurrence over pre-computed gate inputs, with peephole connections.

    For the `LSTM` layer of Keras and PyTorch, which includes the input projection, see `simple_lstm`.

    Each step of `x` has four gate pre-activations per unit, concatenated: candidate, input gate, forget gate, output
    gate (Hochreiter and Schmidhuber 1997; peepholes: Gers, Schraudolph and Schmidhuber 2002). With
    `s = x[t] + y[t-1] @ weight + bias` in the same order and the peephole weights `p`:

    `a = act(s_a)`, `i = gate_act(s_i + p_i * c[t-1])`, `f = gate_act(s_f + p_f * c[t-1])`, `c[t] = a * i + c[t-1] * f`,
    `o = gate_act(s_o + p_o * c[t])`, `y[t] = o * state_act(c[t])`

    in each sequence, or in the innermost sequences of nested ones; the initial hidden and cell states are `initial` and
    `initial_state`, or zero; with `return_state` the final cell state is a second output. Add an `fc` with four times
    the units before the layer as the input projection. `bias` has the biases of the gates and then the peephole weights
    of the three gates, as in Paddle, whose configs without helpers default to sigmoid for `state_act`. Caffe, ONNX and
    others include the input projection, order the gates differently, and have no peepholes (Caffe) or optional ones.

    x: four gate pre-activations per unit
    initial: initial hidden state, one per sequence
    initial_state: initial cell state, one per sequence
    act: activation of the candidate (tanh)
    gate_act: activation of the gates (sigmoid)
    state_act: activation of the cell state in the output (tanh)
    peepholes: peephole connections from the cell state to the gates (true)
    reverse: process each sequence in reverse (false)
    return_state: return the final cell states as a second output (false)
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
    """Argmax over the classes of each sample, as an integer id; the first of equal scores, NaN before all others.

    In Paddle it returns `beam_size` ids with their values inside its beam search, and one id otherwise; here it is one
    id, which an `embedding` reads; for several with their values see `top_k`. Caffe's ArgMax returns floats and the
    last of equal scores, and Mocha's reduces any axis: see `arg_max`.

    x: score per class
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
    """Maxout activation: the maximum of each group of adjacent channels, at every pixel (Goodfellow et al. 2013).

    `y[n, k] = max of x[n, k * groups] to x[n, k * groups + groups - 1]`; equal maxima and NaN are handled as in `pool`.
    After a `conv` or an `fc` it is a learned, piecewise linear activation with `groups` pieces.

    x: feature vectors or images
    groups: number of channels per group (>= 2, required)
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
    """Multi-dimensional LSTM (MDLSTM) over both axes of images (Graves, Fernandez and Schmidhuber 2007).

    The channels of `x` are five gate pre-activations per unit, concatenated: candidate, input gate, forget gate of the
    pixel above, forget gate of the pixel on the left, output gate. With `u` for the pixel above and `l` for the pixel
    on the left, `s = x[h, w] + (y[u] + y[l]) @ weight + bias` in the same order, and the peepholes `p`:

    `a = act(s_a)`, `i = gate_act(s_i + p_i * (c[u] + c[l]))`, `f = gate_act(s_f + p_f * c[u])`,
    `g = gate_act(s_g + p_g * c[l])`, `c[h, w] = a * i + c[u] * f + c[l] * g`, `o = gate_act(s_o + p_o * c[h, w])`,
    `y[h, w] = o * state_act(c[h, w])`

    where hidden and cell state outside of the image are zero. `bias` has the biases of the gates and then the peephole
    weights of the four gates. Add a 1x1 `conv` before the layer as the input projection, and combine four layers with
    all pairs of `reverse` and `reverse_y` so that every pixel depends on the whole image. Paddle's layer reads the
    patches of `block_expand`, with any number of axes; its configs default to sigmoid for `state_act`.

    x: five gate pre-activations per unit, as channels
    act: activation of the candidate (tanh)
    gate_act: activation of the gates (sigmoid)
    state_act: activation of the cell state in the output (tanh)
    reverse: process columns from right to left (false)
    reverse_y: process rows from bottom to top (false)
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
    """Mean intersection over union (mIoU) of the classes, for semantic segmentation.

    The IoU of a class is `correct / (found + wanted - correct)`, where the pixels predicted as the class and those of
    the class are counted over all images until the counts are reset; `mean_iou` is the mean over the classes that occur
    in labels or predictions, and `accuracy` the fraction of all labels that are correct. The predicted class has the
    maximum score, the first of equal ones; there is no prediction if a score is NaN; a single score predicts class 1 if
    it is above `threshold`. Labels that are `ignore_label` or outside the classes are ignored.

    x: score or probability per class
    label: target class of each sample or pixel
    weight: sample weight of each label
    threshold: decision threshold of a single score (0.5)
    ignore_label: labels of this class are ignored (none)
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
    """Recurrent state of a `recurrent_group`: the output of a layer in the previous step.

    It is part of the group's `step`. In the first step it has the values of its input, a static input of the group with
    one vector per sequence; without an input all elements are `value`, or all ids are `id`. In Paddle, the input is
    `boot_layer`, and `id` is `boot_with_const_id`.

    x: initial values
    of: name of the layer in the step whose output is remembered (required)
    size: size of the value, or with `id` the number of ids (>= 1, none)
    shape: shape of the value if it has several axes, such as an image (at least 1 values, each >= 1, none)
    value: initial value of all elements (0)
    id: initial id; makes this a memory of ids (>= 0, none)
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
    """Sum of projections and operators: each of `terms` reads the next input, `dot_mul_operator` the next two.

    | term | value |
    |---|---|
    | `full_matrix` | `x @ weight`, as `fc` without bias; `x` may be sparse |
    | `trans_full_matrix` | `x @ weight.T`, with the weight of an `fc` in the other direction (tied weights) |
    | `table` | the row of a table at index `x`, as `embedding` |
    | `identity` | `x`, or its columns from `offset` on |
    | `dot_mul` | `x` times a learned value per column |
    | `scaling` | `x` times a learned scalar |
    | `context` | a window of `context_len` steps around each step, concatenated |
    | `dot_mul_operator` | the elementwise product of two inputs |

    Each term is a layer here, named like the term: `param { of: "full_matrix.weight" }` configures a parameter.
    Repeated terms are numbered: `full_matrix_0.weight`, `full_matrix_1.weight`. Paddle also has terms for images: for
    these add `conv` layers with `addto`.

    x: inputs of the terms, in their order
    terms: type of each term: `full_matrix`, `trans_full_matrix`, `table`, `identity`, `dot_mul`, `scaling`, `context`, `dot_mul_operator` (at least 1 values, required)
    size: number of outputs; if absent, that of the first term with a known width (>= 1, none)
    offset: first column that `identity` reads; if absent, all columns (>= 0, none)
    context_len: window length of `context` (>= 1 and <= 1024, 3)
    context_start: start of the window of `context` relative to the current step; if absent, centered (none)
    bias: add `bias.offset`, a learned value per column (false)
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
    """Elementwise product with broadcasting of the second input, as in squeeze-and-excitation.

    `y[n, c, i] = x[n, c, i] * other[n, c, i]`. Axes of size 1 in `other` are broadcast, and its gradient is summed over
    them. So `other` has the shape of `x`, or one value per channel (`C` or `C x 1 x 1`), per pixel (`1 x H x W`) or per
    sample (`1`). Caffe's Scale with two inputs is this layer with one value per channel. For learned factors see
    `scale`, for products of more than two inputs `eltwise`, for a factor per sample as the first input `scaling`.

    x: feature vectors or images
    other: the same shape, or size 1 for the channels, for the other axes, or for both
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
    """Multi-label binary cross-entropy from probabilities, with the target classes as a sparse list.

    `cost = -sum over the target classes of log(x) - sum over the others of log(1 - x)`, with probabilities of at least
    `floor`, times `weight` if present. The label of a sample lists its target classes. Paddle also accepts dense
    labels, as `soft_binary_cross_entropy` does here, and has no floor; it fails at probabilities of 0 and 1.

    x: probability per class
    label: target classes
    weight: sample weight
    floor: lower limit of the probabilities (> 0 and < 1, 1e-20)
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
    """Multi-head scaled dot-product attention over sequences of any length, without padding or masks.

    For each head, `y[t] = sum_k p[t, k] * values[k]` with `p[t] = softmax_k(scale * query[t] . keys[k])`, over the keys
    of the same sample (Vaswani et al. 2017). The columns of all inputs are split into `num_heads` consecutive heads of
    equal size. For self-attention pass one layer three times; for cross-attention the keys may be sequences of other
    lengths. Sequences are concatenated, so there is no padding and no mask.

    It has no parameters: add an `fc` before every input and after the output, as Paddle's `multi_head_attention`
    network does; `transformer_block` includes them. Without any key the output is zero; PyTorch returns NaN. The
    attention matrix is never stored: the maximum and the logarithm of the denominator are kept, and the probabilities
    are recomputed in the backward pass (FlashAttention, Dao 2023).

    query: queries
    keys: keys that the queries are compared with
    values: values that are averaged
    num_heads: number of attention heads (>= 1, 1)
    causal: causal mask: a position attends only to keys at the same or earlier positions (false)
    scale: scale of the dot products; if absent, one over the square root of the head size (none)
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
    """MultiBox loss of a single-shot detector (SSD, Liu et al. 2016): localization loss and classification loss.

    The overlap (IoU) of two boxes is the area of their intersection divided by the area of their union. Each
    ground-truth box of an image is matched to the default box with the maximum IoU, in order of decreasing IoU, the
    first default box of equal ones. Then every remaining default box is matched to the ground-truth box with the
    maximum IoU, if that is at least `overlap_threshold`. Of the boxes without a match whose IoUs are below
    `neg_overlap`, the `neg_pos_ratio` per match with the highest confidence for any class are negatives (hard negative
    mining).

    The loss of an image is the sum over its matches of `smooth(l - t)` of each of four locations `l`, and over matches
    and negatives of the softmax cross-entropy of the class scores. `smooth(d)` is `d**2 / 2` up to 1 and `|d| - 1 / 2`
    above. For a default box with the center `(p, q)`, the sides `w` and `h` and the variances `v`, and a ground-truth
    box with the center `(a, b)` and the sides `c` and `d`, the four `t` are

    `(a - p) / w / v[0]`, `(b - q) / h / v[1]`, `log(c / w) / v[2]`, `log(d / h) / v[3]`

    The network's loss is the sum over the batch divided by the number of matches. An image without ground truth has
    loss 0.

    Boxes are two opposite corners `x1, y1, x2, y2`, relative to the image size. Of the maps, those with the locations
    come first, in the order of the scales in `prior`, then those with the scores, in the same order; for each box of a
    cell they have four channels, or one per class. Paddle has classes and boxes in one input, with an additional flag
    that it does not use here, and returns the loss of the batch for every sample.

    prior: default boxes and their variances, from `priorbox`
    label: class of each ground-truth box
    box: corners of each ground-truth box
    maps: location maps of all scales, then score maps of all scales
    num_classes: number of classes, including the background (>= 2, required)
    overlap_threshold: IoU threshold for a match (> 0 and <= 1, 0.5)
    neg_pos_ratio: ratio of negative to positive boxes (hard negative mining) (>= 0, 3)
    neg_overlap: maximum IoU of a negative box (> 0 and <= 1, 0.5)
    background_id: background class (>= 0, 0)
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
    """Selects each row from one of several inputs by an index, counted from 0.

    `y[n] = x_i[n]` with `i = index[n]`. The gradient flows to the selected input. Paddle's layer is the same.

    index: index of the input that each row is selected from
    x: the inputs to select from
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
    """Mean-variance normalization of each channel of each image, without learned parameters.

    `y = (x - mean) / (sqrt(var) + epsilon)`; without `normalize_variance` only `x - mean`. `axis` and `end_axis` are
    the first and the last axis of the statistics: from axis 2 on, the pixels of a channel; from axis 1 on, the whole
    image, Caffe's `across_channels`. As in Caffe and ONNX, `epsilon` is added to the standard deviation, whereas
    `instance_norm` and `layer_norm` add it to the variance. ONNX's default axes include the batch: that is a
    `batch_norm` without running averages.

    x: images or feature vectors
    axis: first axis of the statistics: 1 is the first after the batch axis (2)
    end_axis: last axis of the statistics, -1 is the last (-1)
    normalize_variance: divide by the standard deviation (true)
    epsilon: epsilon for numerical stability, added to the standard deviation (> 0, 1e-09)
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
    """Noise-contrastive estimation (NCE) and negative sampling: a loss for classification with very many classes.

    Each class has a score, `s[k] = x @ weight[k] + bias[k]`, which is computed only for the label and `num_neg_samples`
    classes sampled from a noise distribution:
    `cost = log(1 + 1 / odds[label]) + sum over the sampled k of log(1 + odds[k])`, times `importance` if present.
    `odds[k]` are the odds that class k is the label and not noise: its probability under the model, divided by
    `num_neg_samples` times its probability under the noise distribution. Time and memory of a step do not depend on the
    number of classes, which is that of the label: the gradients of `weight` and `bias` have only the rows in use.

    Gutmann and Hyvärinen (2010), Mnih and Teh (2012): with `odds: EXP` the scores approximate log-probabilities, and an
    `fc` with the same weights, transposed, before a `softmax` computes the probabilities. Paddle has `SIGMOID`, ten
    negative samples per sample, and accepts several inputs: add a `concat`. word2vec's negative sampling (Mikolov et
    al. 2013) is `NEGATIVE_SAMPLING`. A sampled class may be the label. A sample with several labels, as sparse ids, has
    one term for each. Labels come from a data layer.

    x: feature vectors
    label: target classes
    importance: sample weight
    num_neg_samples: number of negative samples per sample (>= 1, 10)
    noise: noise distribution, if there is no `neg_distribution` (UNIFORM)
    neg_distribution: noise distribution: one weight per class in the order of the ids, such as counts; normalized (> 0, [])
    shared: share the negative samples among all samples of a batch: fewer rows of `weight` are used (false)
    odds: interpretation of the score s of a class (EXP)
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
    """Nearest-neighbor interpolation: resizes images to a given size or by a scale factor.

    `y[p, q] = x[floor(p * H / P), floor(q * W / Q)]`

    as `nearest` in PyTorch and Keras. With `scale: 2` every pixel becomes a square of four.

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
    """Outer product of two vectors, in row-major order: `y[n, c * D + d] = a[n, c] * b[n, d]`.

    a: vectors that index the rows of the matrix
    b: vectors that index the columns of the matrix
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
    """Padding along given axes: constant, edge or reflection.

    `begin` and `end` are the numbers of elements added, with one value per axis of `axes` or one for all of them;
    without `end` both are equal. `REFLECT` does not repeat the edge, so fewer elements than the axis has can be added.
    Paddle's `pad` has one pair each for channels, rows and columns, and pads with zeros. `conv` and `pool` include zero
    padding.

    x: rows of any shape
    axes: axes to be padded, from 1 on or from -1 backwards; if absent, all (at least 1 values, none)
    begin: number of elements before the first along each axis (at least 1 values, each >= 0, required)
    end: number of elements after the last along each axis; if absent, as `begin` (at least 1 values, each >= 0, none)
    mode: padding mode (CONSTANT)
    value: padding value in the mode CONSTANT (0)
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
    """Context window with learned padding: as `context`, but steps beyond the ends of a sequence are parameters.

    `y[t] = x[t + start], ..., x[t + start + length - 1]`. The step k positions before the first one is row `before - k`
    of `padding`, and the step k positions after the last one is row `before + k - 1`, with `before = max(0, -start)`:
    Paddle's `trainable_padding`. All sequences share these rows.

    x: sequences of feature vectors
    length: window length (>= 2 and <= 1024, required)
    start: start of the window relative to the current step; if absent, centered (>= -1024 and <= 1024, none)
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
    """Learned constant: the same trained values in every row.

    `y[n] = weight`, with as many rows as `x`, whose values do not matter. Initialize it by
    `param { of: "weight" init { ... } }`. Caffe's layer has no input, and its blob no batch axis.

    x: values that determine the number of rows
    shape: shape, without the batch axis (at least 1 values, each >= 1, required)
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
    """Multi-class perceptron loss: the difference between the maximum score and that of the target class.

    `cost = max over c of x[c] - x[label]`: zero for a correctly classified sample; otherwise the gradient raises the
    target score and lowers the maximum by the same amount. With `sgd` at a learning rate of 1 and one sample per batch,
    an `fc` before it is a perceptron (Rosenblatt 1958). KUnet's gradient is not divided by the number of samples.

    x: score (logit) per class
    label: target class
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
    """Permutes the axes of each sample (transpose): channels-last images, the transpose of a matrix.

    Axis k of `y` is axis `order[k]` of `x`, such as `y[n, i, j, k] = x[n, k, i, j]` with `order: [2, 3, 1]`; 1 is the
    first axis after the batch axis, which stays. This converts images to channels-last, as Paddle's `switch_order`
    does; [3, 1, 2] is the inverse. The orders of Caffe and ONNX start with 0, the batch axis; Caffe's may omit trailing
    axes that stay; Keras counts as this library.

    x: rows of any shape
    order: axes of `x` in the order of `y`, from 1 on (at least 1 values, each >= 1, required)
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
    """Positive-negative pair rate: the fraction of the pairs of a list in correct order.

    A list is a sequence, such as the results of a query. Pairs with different labels count; the order is correct if the
    item with the greater label has the higher score. Ties count one half. With weights, a pair counts the mean of its
    two. Paddle identifies the query by a number with every item, and reports the ratio of correct to incorrect pairs:
    for a rate `p` that is `p / (1 - p)`.

    score: score per item
    label: relevance per item
    weight: sample weight
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
    stride: step between adjacent windows (>= 1, 1)
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
    """Learned positional embedding: adds a learned vector per position to each step of a sequence.

    `y[t] = x[t] + table[p]`, where `p` counts from 0 within the sequence, or within the sub-sequence of a nested one
    (Gehring et al. 2017). Steps at position `max_length` and beyond become NaN.

    x: sequences of feature vectors
    max_length: maximum sequence length (>= 1, required)
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
    """Elementwise power: `y = (shift + scale * x) ** power`.

    A negative base requires an integer exponent, otherwise the result is NaN. If `power * scale` is 0 there is no
    gradient, not even at a base of 0, as in Caffe. A square is `power: 2`, a square root 0.5, a reciprocal -1, also as
    an activation: `activation { type: "power" power { power: 2 } }`. Paddle's `power` is `row_power`.

    x: values of any shape
    power: exponent (1)
    scale: factor of `x` (1)
    shift: offset, added to `scale * x` (0)
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
    """Precision, recall and F1 score of the class `positive_label`, or their macro average over all classes.

    Precision is the fraction of the predictions of a class that are correct, recall the fraction of the labels of the
    class that are predicted, `F1 = 2 * correct / (found + wanted)`. A sample has one label, or one for each of its last
    axes, such as the pixels of an image; `ignore_label` is ignored. The predicted class has the maximum score, the
    first of equal ones; there is no prediction if a score is NaN; a single score predicts class 1 if it is above
    `threshold`. Without `positive_label` each metric is the mean (macro average) over the classes for which it is
    defined: a class that is never predicted has no precision. For the micro average, which is the same for all three,
    see `accuracy`.

    x: score or probability per class
    label: target class of each sample or pixel
    weight: sample weight of each label
    positive_label: the positive class; if absent, the mean over all classes (>= 0, none)
    threshold: decision threshold of a single score (0.5)
    ignore_label: labels of this class are ignored (none)
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
    """Parametric ReLU (PReLU): leaky ReLU with learned slopes, per channel, along other axes, or shared.

    `y = x` for `x > 0`, else `slope * x`. He et al., "Delving deep into rectifiers" (2015). `axis` and `end_axis` are
    the first and the last axis with separate slopes: from 1 to -1 means one slope per element.

    Caffe has one per channel or one in total. Paddle's `partial_sum` of height times width is one slope per channel;
    its default of 1 is one per element. Keras has one per element, except along its `shared_axes`.

    x: feature vectors or images
    channel_shared: one slope for all channels (false)
    axis: first axis with separate slopes: 1 is the first after the batch axis, -1 the last (1)
    end_axis: last axis with separate slopes (same as axis)
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
    """Default boxes (anchor boxes, priors) of a feature map, centered at each of its cells (Liu et al. 2016, SSD).

    The center of the cell in row `h` and column `w` is `((w + 0.5) * Q / W, (h + 0.5) * P / H)` in the image of
    `P` rows and `Q` columns. At each center there are, for each of `min_size` in order,

    * a square of side `s`,
    * if `max_size` has a `t` for it, a square of side `sqrt(s * t)`,
    * for each ratio `r` but 1, a box with the sides `s * sqrt(r)` and `s / sqrt(r)`, and one for `1 / r`.

    A box is a row of eight values: its corners `x1, y1, x2, y2`, relative to the image size and clipped to the image,
    then the four of `variance`. Boxes are ordered by cell, row by row, those of a cell in the order above. All images
    of a batch have the same boxes. Boxes of several feature maps are concatenated by `concat`, for `multibox_loss` and
    `detection_output`.

    Paddle accepts integers, applies the ratios only to the last size, first all `r` and then all `1 / r`, and with
    several sizes has more boxes than it allocates memory for. Caffe clips if `clip` is true.

    x: feature map, of which only the size is used
    image: image, of which only the size is used
    min_size: side lengths of the square boxes, in pixels of the image (at least 1 values, each > 0, required)
    max_size: side length of a larger square for each of `min_size` (at least 1 values, each > 0, none)
    aspect_ratio: aspect ratios, width divided by height (at least 1 values, each > 0, none)
    variance: variances of the encoding: center x, center y, width, height (4 values, each > 0, [0.1, 0.1, 0.2, 0.2])
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
    """Random crop: a random window of every image in training, the central window in the test phase.

    Each image has its own position, and with `mirror` half of the images are flipped horizontally, depending on the
    seed, the step and the position in the batch; Mocha samples once per batch. Images that are fed can be cropped and
    flipped before they enter the network, by the transforms `crop` and `mirror`, which need no GPU memory; this layer
    is for images computed by a network. For windows at a given position see `crop`.

    x: images: channels, height, width
    size: crop width (>= 1, required)
    size_y: crop height (>= 1, same as size)
    mirror: flip half of the images horizontally in training (true)
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
    """Standard normal noise in the shape of `x`, sampled anew in every pass.

    The values depend on the seed, the step and the position, so they are the same on every device; those of `x` do not
    matter, and there is no gradient. Samples are computed by the Box-Muller transform, "A note on the generation of
    random normal deviates" (1958). `slope_intercept` sets another mean and standard deviation; learned ones, as in a
    variational autoencoder, are `mean + deviation * noise`, by two layers `eltwise`. Mocha's layer has no input; its
    batch size is an attribute.

    x: values that determine the shape
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
    """Mean AUC over lists with clicks: the fraction of pairs of a click and a view without click in correct order.

    A sequence is a list that was shown, such as the results of a query. The order is correct if the clicked item has a
    higher score than the item that was viewed and not clicked; ties count one half, including those of an item with
    itself. Sequences without such a pair are ignored, where Paddle counts a zero.

    score: score per item
    clicks: number of clicks per item
    views: number of views per item; if absent, one
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
    """Pairwise ranking loss (RankNet): cross-entropy of which of two items ranks higher.

    `cost = log(1 + exp(o)) - label * o` for `o = left - right`, times `weight` if present (Burges et al., "Learning to
    rank using gradient descent", 2005). The label is 1 if `left` should rank higher, 0 if `right` should, and 0.5 for a
    tie. Paddle clips `o` to [-40, 40], and its `coeff` scales the gradient but not the loss: `loss_weight` scales both.

    left: scores
    right: scores of the second item
    label: target probability that the first item ranks higher
    weight: sample weight of each pair
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
    """Simple (Elman) recurrent layer over pre-computed inputs: `y[t] = act(x[t] + y[t-1] @ weight + bias)`.

    (Elman 1990), in each sequence, or in the innermost sequences of nested ones; the initial hidden state is `initial`,
    or zero. `x` are the pre-activations: add an `fc` before the layer as the input projection, which `SimpleRNN` of
    Keras and `RNN` of PyTorch include. Paddle is the same. ONNX includes the input projection; Caffe's RNN also has an
    output projection.

    x: pre-activations
    initial: initial hidden state, one per sequence
    act: activation (tanh)
    reverse: process each sequence in reverse (false)
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
    """Recurrent group: a custom RNN cell, a network of layers that is run once per step of its input sequences.

    The layers are in the block `step`. Inputs are sequences of the same level and length: a step reads one element of
    each sequence, or one sub-sequence if they are nested. Inputs listed in `static` are read completely in every step:
    one vector per sequence, or a sequence to attend to. A `memory` in the step is the output of a layer in the previous
    step. The outputs named by the step become those of the group, as sequences. In Paddle, a static input is a
    `StaticInput`, and the lengths are those of `targetInlink`; here they are those of all inputs that are not static.
    The equivalent of `beam_search` with a `GeneratedInput` is the block `generate` of a training file: the same group
    generates text.

    x: sequences, and static inputs
    static: names of static inputs, which every step reads completely ([])
    reverse: process each sequence in reverse (false)
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
    """Reduction over given axes of each sample: sum, mean, maximum, minimum, product, norm or log-sum-exp.

    With `axes: 1` an image of C channels becomes the sum over its channels, H x W; with `axes: [2, 3]` the sums of the
    channels, C values. Axis 1 is the first after the batch axis, -1 the last; without `axes` a sample becomes a scalar.
    `keep_dims` keeps the reduced axes with size 1.

    Of equal maxima, or minima, the first receives the whole gradient, and NaN propagates. A zero vector has no gradient
    in `L2`, a value of 0 none in `ASUM`. Caffe's Reduction has the first four operations, reduces all axes from `axis`
    on, and multiplies by `coeff`: add a `slope_intercept` for that. For sums over the steps of a sequence see
    `seq_avg_pool`, for global average pooling also `pool` with `global_pooling`.

    x: rows of any shape
    operation: reduction operation (SUM)
    axes: reduced axes, from 1 on or from -1 backwards; if absent, all (at least 1 values, none)
    keep_dims: keep the reduced axes with size 1 (false)
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
    """Mean absolute error (MAE), root mean squared error (RMSE) and coefficient of determination (R2).

    `MAE = mean of |x - target|` and `RMSE = sqrt(mean of (x - target) ** 2)` over all values of all samples.
    `R2 = 1 - sum of (x - target) ** 2 / sum of (target - mean) ** 2` is 1 for exact predictions, 0 for those no better
    than the mean of the targets, and negative for worse ones; for several columns it is the mean of each column's R2. A
    column with constant targets has none. Samples may have weights. All three are computed over all samples since the
    last reset: neither RMSE nor R2 is the mean over the batches.

    x: predictions
    target: targets
    weight: sample weight
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
    """Rectified linear unit (ReLU): `y = max(x, 0)`, or leaky ReLU with a `negative_slope`.

    `y = x` for `x > 0`, else `negative_slope * x`; the derivative at 0 is `negative_slope`, as in Caffe. With slope 0,
    minus infinity becomes 0. The slope is 0 in Paddle, KUnet and Mocha's ReLU, and 0.01 in Mocha's LReLU; ONNX's
    equivalent with a slope is LeakyRelu.

    x: values of any shape
    negative_slope: slope for negative values (>= 0, 0)
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
    """ReLU6: rectified linear unit with an upper limit, `y = min(max(x, 0), max)`, as in MobileNet.

    The derivative is 0 at both limits, as in PyTorch. Krizhevsky, "Convolutional deep belief networks on CIFAR-10"
    (2010). Paddle's `brelu` is this layer with `max: 24`, ONNX's Clip with `min` 0 and `max` 6. For other limits, and
    gradients at them, see `clip`.

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
    """Repeats an axis of each sample: the whole axis (tile), or each element (interleave).

    With two repetitions, the row `[a, b]` becomes `[a, b, a, b]`, or `[a, a, b, b]` if `as_row_vector` is false. With
    `axis: 2` the rows of an image are repeated, and so on. Paddle's helper is `repeat_layer`, for columns; Caffe's Tile
    repeats any axis as a whole. To repeat samples see `expand`.

    x: feature vectors or images
    num_repeats: number of repetitions (>= 1, required)
    as_row_vector: repeat the whole axis (true, tile) or each element (false, interleave) (true)
    axis: repeated axis: 1 is the first after the batch axis, -1 the last (1)
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
    """Reshapes each sample; values and their order are unchanged.

    `dims` is the shape of a sample, without the batch axis. 0 keeps the size of that axis of `x`, one -1 is inferred,
    as in Caffe and ONNX, whose dims start with the batch axis. Mocha's start with the fastest axis. For Paddle's
    resize, which reshapes a batch into rows of another width, see `resize`.

    x: rows of any shape
    dims: shape of a sample; 0: as in `x`, -1: inferred (>= -1, required)
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
    """Residual block with two 3x3 convolutions and a skip connection (He et al. 2015).

    `y = relu(f(x) + shortcut(x))`, where `f` is two `conv` layers without bias, each followed by a `batch_norm`, the
    first one with `relu`. The shortcut is the identity, or a 1x1 `conv` and a `batch_norm` (projection shortcut) if the
    number of channels or the image size changes.

    x: images: channels, height, width
    num_filters: number of output channels (>= 1, required)
    stride: stride of the first convolution (>= 1, 1)
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
    """Reshapes the values of the whole batch into rows of another width.

    The values keep their order: `N` rows of `C` values become `N * C / size` rows, and a batch that `size` does not
    divide is rejected. A row belongs to the sample that contains its first value: that sample becomes a sequence of
    such rows, an empty one if all of its values belong to a row that another sample started. Of `N` rows of 3 with
    `size: 6`, every second sample has the row of both. Labels are fed as such sequences; losses count the resulting
    rows. If `size` does not divide `C`, samples are mixed: a batch is reshaped as a whole, separately in each process,
    and the last, smaller batch of an epoch has to be divisible, too. If it does, `to_sequence` is equivalent. To
    reshape the steps of sequences see `seq_reshape`.

    x: rows of any shape
    size: row width (>= 1, required)
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
    """Root mean square normalization (RMSNorm) with a learned scale.

    `y = x / sqrt(mean(x ** 2) + epsilon) * gain`

    (Zhang and Sennrich 2019): `layer_norm` without mean and bias. At least two columns are required, because one column
    would keep only its sign.

    x: rows
    epsilon: epsilon for numerical stability, added to the mean square (> 0, 1e-05)
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
    """RoI align: pools each box to a grid of fixed size by bilinear interpolation (He et al. 2017, Mask R-CNN).

    The corners `x1, y1, x2, y2` of a box times `spatial_scale` are coordinates in the feature map; with `aligned`, half
    a pixel is subtracted from them, so that pixel centers are at integers. The box is divided into `P` rows of `Q`
    bins. Each value is the mean over `sampling_ratio` by `sampling_ratio` points, evenly spaced in a bin; 0 uses as
    many as a bin has pixels, rounded up, but at most 1024. A point has the bilinear interpolation of the four pixels
    around it; less than a pixel outside the map it has the value of the border, further away 0. Without `aligned` no
    box is smaller than a pixel, as in the first version of the layer.

    The boxes of an image are a sequence; PyTorch and ONNX have the index of the image with each. Boxes have no
    gradient.

    x: feature map
    box: corners of each region of interest, in pixels divided by `spatial_scale`
    pooled_width: output width (>= 1, required)
    pooled_height: output height (>= 1, same as pooled_width)
    spatial_scale: scale from box coordinates to the feature map (> 0, 1)
    sampling_ratio: number of sampling points per bin and axis; 0: adaptive (>= 0, 0)
    aligned: align pixel centers with integer coordinates (true)
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
    """Region of interest (RoI) max pooling: pools each box to a grid of fixed size (Girshick 2015, Fast R-CNN).

    The corners `x1, y1, x2, y2` of a box times `spatial_scale` are rounded to pixels of the feature map, inclusive. Of
    its `h` rows, bin `p` of `P` contains those from `floor(p * h / P)` up to, but not including,
    `ceil((p + 1) * h / P)`, columns likewise. Every value is the maximum of its bin, 0 if the bin is outside of the
    map.

    The boxes of an image are a sequence, where Paddle and ONNX have the index of the image in a column before the
    corners. Paddle returns 0 for a bin of negative values. Boxes have no gradient. `roi_align` does not round
    coordinates.

    x: feature map
    box: corners of each region of interest, in pixels divided by `spatial_scale`
    pooled_width: output width (>= 1, required)
    pooled_height: output height (>= 1, same as pooled_width)
    spatial_scale: scale from box coordinates to the feature map (> 0, 1)
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
    """Rotary position embedding (RoPE): rotates pairs of columns by angles proportional to the position.

    The columns are split into `num_heads` heads. Pair `i` of a head with `D` columns is rotated by the angle
    `a = p * base ** (-2 * i / D)`: `(u, v)` becomes `(u * cos(a) - v * sin(a), v * cos(a) + u * sin(a))`, where `p`
    counts from 0 within the sequence, or within the sub-sequence of a nested one, or from `first`. The dot product of
    two steps then depends only on their distance (Su et al. 2021): add it after the projections of `query` and `keys`
    of `multi_head_attention`. There are no parameters. Weights of Llama and GPT-NeoX use pairs `HALVES`, as Hugging
    Face Transformers and ONNX do; the paper and GPT-J pair adjacent columns.

    x: sequences, such as queries or keys
    first: position of the first step of each sequence
    num_heads: number of attention heads (>= 1, 1)
    base: base of the geometric progression of wavelengths (>= 1, 10000)
    pairs: pairing of the columns of a head (HALVES)
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
    """Rotation of images by 90 degrees clockwise: `y[w, h] = x[H - 1 - h, w]`.

    `H` rows and `W` columns become `W` rows and `H` columns. Paddle requires `height` and `width`, which are derived
    from the input here. The transform `rotate` of a data source rotates images by a random angle.

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
    """Lookahead (row) convolution: a weighted sum of each step and the steps that follow it, per column.

    `y[t, c] = sum over j of x[t + j, c] * weight[j, c]` within the sequence (Deep Speech 2, Amodei et al.).

    x: sequences of feature vectors
    length: window length, including the current step (>= 1, required)
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
    """L2 normalization: divides each row by its Euclidean norm, `y = x / sqrt(sum_c x[c] ** 2)`.

    A zero row is unchanged and has no gradient. Paddle returns NaN there.

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
    """Elementwise power with one exponent per sample: `y[n, c] = x[n, c] ** exponent[n]`.

    Intended for nonnegative values; a negative one requires an integer exponent. The exponent gets no gradient from
    values of zero or below, which have no logarithm.

    exponent: exponent per sample
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
    """Mean over the samples of the sum of their columns, for example of a loss that another layer computes.

    x: values to sum
    weight: sample weight
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
    """Sampled softmax loss for very many classes: cross-entropy over the label and sampled classes.

    `cost = log(sum over the chosen k of exp(s[k])) - s[label]` with
    `s[k] = x @ weight[k] + bias[k] - log(num_neg_samples * noise probability of k)`, which corrects for the sampling
    (Jean et al. 2015); samples that equal the label are removed. This is TensorFlow's `sampled_softmax_loss`. Time and
    memory of a step do not depend on the number of classes, which is that of the label: the gradients of `weight` and
    `bias` have only the rows in use. More samples approximate the full softmax better; for testing, `fc` and
    `softmax_with_loss` with the same weights compute the exact loss.

    x: feature vectors
    label: target class
    num_neg_samples: number of negative samples (>= 1, 10)
    noise: noise distribution, if there is no `neg_distribution` (UNIFORM)
    neg_distribution: noise distribution: one weight per class in the order of the ids, such as counts; normalized (> 0, [])
    shared: share the negative samples among all samples of a batch: fewer rows of `weight` are used (true)
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
    """Sampling from a categorical distribution: one id per row, with the probabilities of the row.

    The probabilities need not sum to one, but must not be negative; if all are zero, the last id is sampled. The sample
    depends on the seed, the step and the row, in both phases, so it is the same on every device. ONNX takes
    log-probabilities. To generate text see the command `generate`.

    x: probability per class
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
    """Learned scale and offset per channel, or along other axes: `y = gain * x + bias`.

    `y[n, c] = gain[c] * x[n, c] + bias[c]` at every pixel of an image. `axis` and `end_axis` are the first and the last
    axis with separate values: from 1 to -1 means one per element, -1 one per column.

    Caffe's Scale has no bias unless `bias_term` is set; its `num_axes` is `end_axis - axis + 1`. For a second input see
    `mul`. Paddle's scale_shift has one scalar for all: add `reshape { dims: [1, -1] }` before the layer. ONNX's Mul by
    a constant is this layer without `bias`.

    x: feature vectors or images
    axis: first axis with separate values: 1 is the first after the batch axis, -1 the last (1)
    end_axis: last axis with separate values (same as axis)
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
    """Scales a box-shaped region of every image by `value`; values outside of it are unchanged.

    `indices` has six values per sample: first and last channel, first and last row, first and last column of the
    region, counted from 1 as in Paddle, inclusive. A region may exceed the image, and one whose last index is smaller
    than its first is empty. The indices have no gradient.

    x: images: channels, height, width
    indices: six values per sample
    value: scale of the region (required)
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
    """Scales each sample by its own weight, as in attention: `y[n] = weight[n] * x[n]`.

    `mul` has the weight as the second input, and also broadcasts one weight per channel.

    weight: weight per sample
    x: feature vectors or images
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
    """Fully connected layer that returns only the output columns selected for each sample, as a sequence of scores.

    The sequence of sample n has `sum_i sum_c x_i[n, c] * weight_i[k, c] + bias[k]` for each column k set in row n of
    `selected`, in its order. `selective_fc` returns all columns instead; with many columns, this layer needs time and
    memory only for the selected ones, and the gradients of `weight` and `bias` have only the rows in use. The gradient
    of a sparse input's weight searches every column in the row: suitable for inputs of some thousand columns; with
    more, add an `fc` before the layer. It is Paddle's `selective_fc` with rows of the selected columns;
    `sequence_softmax` computes probabilities from it.

    x: feature vectors: samples, tokens, images
    selected: output columns to compute for each sample
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
    """Fully connected layer that computes only the output columns selected for each sample.

    `y[n, k] = sum_c x[n, c] * weight[k, c] + bias[k]` for the columns k set in row n of `selected`, and `others` in all
    other columns, which have no gradient; that of the weight has only the rows in use. If a `softmax` follows, set
    `others` to a large negative number. For rows with only the selected columns, as in Paddle, see `selected_scores`,
    which also accepts several and sparse inputs. In Paddle `size` repeats the number of columns.

    x: feature vectors: samples, tokens, images
    selected: output columns to compute for each sample
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
    """Scaled exponential linear unit (SELU): activation of self-normalizing networks.

    `y = scale * x` for `x > 0`, else `scale * alpha * (exp(x) - 1)`, with scale 1.0507 and alpha 1.6733. Klambauer et
    al., "Self-normalizing neural networks" (2017), who derive the two constants; ONNX has them as defaults. The
    preceding weights should be initialized by `gaussian` with a standard deviation of one over the square root of the
    number of inputs (LeCun normal).

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
    """Argmax over the steps of each sequence, per column: the index of the value that `seq_max_pool` returns.

    `y[s, c]` is the index of the first step with that value, from 0 in the sequence; -1 for an empty one. It is a
    float, as in Paddle, which counts the rows of the batch. There is no gradient.

    x: sequences of feature vectors
    level: pooling level (SEQUENCE)
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
    """Average pooling over the steps of each sequence; also sum, or sum divided by the square root of the length.

    `y[s] = sum over the steps t of s of x[t] * f`, where `f` is `1 / len(s)` (`AVERAGE`), `1` (`SUM`) or
    `1 / sqrt(len(s))` (`SQUARE_ROOT`). An empty sequence gives zeros, as in Paddle, whose `average_strategy` has the
    same three values and whose `trans_type` is `level`. For Paddle's windows (`seq_pool_stride`) see `seq_window_pool`.

    x: sequences of feature vectors
    strategy: divisor of the sum (AVERAGE)
    level: pooling level (SEQUENCE)
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
    """Sequence error rate: the fraction of the sequences with any misclassified step; ties are wrong, as in `accuracy`.

    Empty sequences are ignored. In nested sequences, the sub-sequences are counted.

    x: score or probability per class
    label: target class
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
    """Concatenation of two sequences of each sample in time.

    `y[s] = x[s] followed by z[s]`; both have the same number of sequences. In nested sequences the sub-sequences are
    concatenated.

    x: first sequences
    z: second sequences
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
    """Filters the steps of each sequence by a mask.

    Step t of `x` is kept if `keep[t]` is not 0. `keep` may be fed or computed by the network, by `maxid`, for example;
    it has no gradient. To filter whole samples see `filter`, which is Caffe's; losses also have `ignore_label` and
    sample weights.

    x: sequences of feature vectors
    keep: mask: steps with a nonzero value are kept
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
    """First step of each sequence.

    `y[s] = x[first step of s]`; zeros for an empty sequence. Paddle's `trans_type` is `level`.

    x: sequences of feature vectors
    level: pooling level (SEQUENCE)
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
    """Last step of each sequence: the final state of a recurrent layer.

    `y[s] = x[last step of s]`; zeros for an empty sequence. Paddle's `trans_type` is `level`. The final state of a
    recurrent layer with `reverse` is the first step: see `seq_first`.

    x: sequences of feature vectors
    level: pooling level (SEQUENCE)
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
    """Max pooling over the steps of each sequence, per column.

    `y[s, c] = max over the steps t of s of x[t, c]`; the gradient flows to the first step with the maximum. An empty
    sequence gives zeros, as in Paddle, whose `trans_type` is `level`. For windows of steps (`seq_pool_stride`) see
    `seq_window_pool`, for the index of the maximum (`output_max_index`) `seq_arg_max`.

    x: sequences of feature vectors
    level: pooling level (SEQUENCE)
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
    """Reshapes each sequence into steps of another width.

    The values of a sequence keep their order; `n` steps of width `C` become `n * C / size` steps. If `size` does not
    divide `C`, it must divide the number of values of each sequence of a batch, as in Paddle, or the batch is rejected.
    For samples that are not sequences see `to_sequence` and `resize`.

    x: sequences of feature vectors
    size: embedding size (>= 1, required)
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
    """Slices of each sequence, given by lists of first and last indices.

    Slice k of sequence s has the steps `first[s, k]` to `last[s, k]`, inclusive; indices count from 0 in each sequence,
    and -1 ends a list. With only one list, slices extend to the end of the sequence; or, if `select_first` is false,
    the list has the last indices, and slices start at 0. A slice whose last index is smaller than its first is empty;
    Paddle fails there.

    The output is a nested sequence whose sub-sequences are the slices. In Paddle, slices of sequences that are not
    nested become sequences of the batch; here a batch keeps its samples. For one slice per sequence see `sub_seq`.

    x: sequences of feature vectors
    first: first indices of the slices, or last ones if `select_first` is false
    last: last indices of the slices, inclusive
    select_first: meaning of a single list: first indices (true) or last indices (false) (true)
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
    """Pooling over windows of `stride` steps: shortens each sequence.

    The last window has the remaining steps. In Paddle every sequence pooling has the attribute `seq_pool_stride` for
    it, and when it pools first steps, the first window has the remaining steps.

    x: sequences of feature vectors
    stride: rows of a window (>= 1, required)
    strategy: type of pooling (AVERAGE)
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
    """Convolution over a sequence followed by pooling over its steps: `context`, `fc`, then a pool.

    Used for text classification, such as sentiment analysis (text CNN). For nested sequences the output is one vector
    per sample.

    x: sequences of feature vectors
    size: number of output features (>= 1, required)
    context_len: window length (>= 1 and <= 1024, required)
    context_start: start of the window relative to the current step; if absent, centered (none)
    fc_act: activation of the features ("tanh")
    pool_type: type of pooling over the steps (MAX)
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
    """Softmax over the steps of each sequence: attention weights that sum to one.

    `y[t, c] = exp(x[t, c]) / sum over the steps u of the sequence of exp(x[u, c])`, per column. In nested sequences it
    is computed over the steps of each sub-sequence. In Paddle it is an activation of values of width one.

    x: score per step
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
    """Learned offset (bias) per channel, or along other axes: `y = x + offset`.

    `y[n, c] = x[n, c] + offset[c]` at every pixel of an image. `axis` and `end_axis` are the first and the last axis
    with separate values: from 1 to -1 means one per element, as after a `conv` without `bias`, which Paddle calls
    biases that are not shared. Caffe's `num_axes` is `end_axis - axis + 1`; for a second input see `add`. In Paddle and
    Mocha a bias is part of other layers. ONNX's Add of a constant is this layer; Add of two values is `add` or `addto`.

    x: feature vectors or images
    axis: first axis with separate values: 1 is the first after the batch axis, -1 the last (1)
    end_axis: last axis with separate values (same as axis)
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
    """Sigmoid (logistic function): `y = 1 / (1 + exp(-x))`.

    Computed without overflow; `dx = dy * y * (1 - y)`.

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
    """Binary cross-entropy loss from scores (logits), for binary or multi-label classification.

    `cost = sum over c of max(x, 0) - x * target + log(1 + exp(-|x|))`, which is
    `-target * log(p) - (1 - target) * log(1 - p)` for `p = 1 / (1 + exp(-x))` without overflow. Targets are between 0
    and 1. Terms whose target is `ignore_label` are ignored. The divisor of the network's loss depends on
    `normalization`, by default the number of samples as in Caffe; PyTorch and Keras divide by all terms. From
    probabilities, `soft_binary_cross_entropy` is the same.

    x: one score (logit) per label
    target: binary targets
    ignore_label: terms with this target are ignored (none)
    normalization: divisor of the sum of the loss over the terms (BATCH_SIZE)
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
    """Additive (Bahdanau) attention: the weighted average of encoder outputs for a decoder state.

    `score[t] = v . tanh(projected[t] + W state)`, the weights are the softmax of the scores of a sequence, and
    `y = sum_t weight[t] * encoded[t]` (Bahdanau, Cho and Bengio 2015). `projected` is a projection of `encoded` by an
    `fc` without a bias, which is the same in all steps of a decoder, so it is computed outside of the step.

    encoded: encoder outputs
    projected: keys
    state: decoder state (query)
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
    """Gated recurrent unit (GRU) layer with its input projection: an `fc` followed by `grumemory`.

    This is the equivalent of `GRU` in Keras and PyTorch, in the original form; for `reset_after`, their default, use
    `fc` and `grumemory`. The projection has no bias, since `grumemory` adds one to the
    same gate pre-activations. Paddle's `simple_gru` is the same, composed of single steps.

    x: sequences of feature vectors
    size: number of units (>= 1, required)
    act: activation of the candidate (tanh)
    gate_act: activation of the gates (sigmoid)
    reverse: process each sequence in reverse (false)
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
    """Long short-term memory (LSTM) layer with its input projection: an `fc` followed by `lstmemory`.

    This is the equivalent of `LSTM` in Keras and PyTorch, with peephole connections, whose weights start at zero;
    without them use `fc` and `lstmemory` with `peepholes: false`. The projection has no bias, since `lstmemory` adds
    one to the same gate pre-activations.

    x: sequences of feature vectors
    size: number of units (>= 1, required)
    act: activation of the candidate (tanh)
    gate_act: activation of the gates (sigmoid)
    state_act: activation of the cell state in the output (tanh)
    reverse: process each sequence in reverse (false)
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
    """Sinusoidal positional encoding: adds sines and cosines of the position to each step of a sequence.

    `y[t, 2i] = x[t, 2i] + sin(a)` and `y[t, 2i + 1] = x[t, 2i + 1] + cos(a)` with `a = p / 10000 ** (2i / C)`, where
    `p` counts from 0 within the sequence, or within the sub-sequence of a nested one, or from `first` (Vaswani et al.
    2017). There are no parameters, so the length is not limited.

    x: sequences of feature vectors
    first: position of the first step of each sequence
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
    """Splits the channels, or another axis, into several outputs: the inverse of `concat`.

    Either `sizes` gives the number of channels of each output, or `parts` the number of equal ones; `axis` selects
    another axis. Caffe gives the indices of the splits (`slice_point`) instead of sizes, and equal parts by the number
    of outputs.

    x: values to split
    axis: split axis: 1 is the first after the batch axis, -1 the last (1)
    sizes: size of each output along the axis (at least 1 values, each >= 1, none)
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
    """Linear function with constants: `y = slope * x + intercept`. For learned values see `scale`.

    Caffe's Power is this layer with its default `power` 1, and `power` here with another exponent.

    x: values of any shape
    slope: factor (1)
    intercept: offset (0)
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
    """Smooth L1 loss: absolute error that is quadratic near zero.

    `cost = sum over c of (e ** 2 / (2 * beta) if |e| <= beta else |e| - beta / 2)` for `e = x - target` (Girshick,
    "Fast R-CNN", 2015), times `weight` if present; this is `huber_regression` divided by `beta`. Paddle has `beta` 1.
    Its `coeff` scales the gradient but not the loss: `loss_weight` scales both.

    x: feature vectors
    target: targets
    weight: sample weight
    beta: error up to which the loss is quadratic (> 0, 1)
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
    """Binary cross-entropy of independent targets, from probabilities.

    `cost = -sum over c of target * log(x) + (1 - target) * log(1 - x)`, with probabilities of at least `floor`, times
    `weight` if present. From scores, `sigmoid_cross_entropy` is numerically more accurate. Mocha averages over the
    samples, as a network does here, and has a gradient for the target; neither framework has a floor.

    x: probability per label
    target: binary targets
    weight: sample weight
    floor: lower limit of the probabilities (> 0 and < 1, 1e-20)
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
    """Cross-entropy of a target distribution (soft labels), from probabilities.

    `cost = -sum over c of target[c] * log(max(x[c], floor))`, times `weight` if present. `x` are probabilities, as from
    `softmax`; from scores, `softlabel_softmax_cost` is numerically more accurate. Below `floor` the loss is constant
    and its gradient 0. The gradient treats probabilities as independent; KUnet includes the constraint that they sum to
    1.

    x: probability per class
    target: target probability per class
    weight: sample weight
    floor: lower limit of the probabilities (> 0 and < 1, 1e-20)
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
    """Softmax cross-entropy of a target distribution (soft labels), from scores (logits).

    `cost = sum over c of target[c] * (log(sum over k of exp(x[k])) - x[c])`, times `weight` if present; the maximum is
    subtracted first to prevent overflow. Targets need not sum to 1. With one class per sample, `softmax_with_loss` is
    the same.

    x: score (logit) per class
    target: target probability per class
    weight: sample weight
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
    """Softmax along an axis, by default over the columns of a row or the channels of an image.

    `y[n, c] = exp(x[n, c] - peak[n]) / sum over d of exp(x[n, d] - peak[n])`, where `peak` is the maximum, which
    prevents overflow. The gradient is `y * (dy - sum over d of dy[n, d] * y[n, d])`. Caffe (`axis` 1) and Mocha (`dim`
    -2) normalize over the channels too; ONNX and PyTorch often use the last axis. Paddle and KUnet normalize over all
    values of an image: add a `flatten` before the layer.

    x: scores
    axis: normalized axis: 1 is the first after the batch axis, -1 the last (1)
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
    """Softmax cross-entropy loss from scores (logits), for classification.

    `loss = log(sum over c of exp(x[c])) - x[label]`, times `weight` if present; the maximum is subtracted first, which
    prevents overflow and loss of precision. A sample has one label, or one for each of its last axes: scores of
    21x28x28 with labels of 28x28 classify each pixel, and so have as many losses.

    Labels that equal `ignore_label` are ignored, and that label may be outside the classes; another label outside them
    gives NaN. With `label_smoothing` e, the target probability is `1 - e + e / C` for the target class and `e / C` for
    each other one of the C classes.

    The loss of the network depends on `normalization`: with `VALID` the mean over the labels that are not ignored, with
    `FULL` over all labels, with `BATCH_SIZE` the sum divided by the number of samples, with `NONE` the sum. Caffe's
    default is `VALID`. Weights do not change the divisor; for weights of classes see `class_weight`, and note that
    Mocha, ONNX and PyTorch divide by the weights. `softlabel_softmax_cost` accepts a target distribution instead of a
    label.

    x: score (logit) per class
    label: target class of each sample or pixel
    weight: sample weight of each label
    ignore_label: samples or pixels with this label are ignored (none)
    normalization: divisor of the sum of the loss over the labels (VALID)
    label_smoothing: label smoothing: fraction of the target probability that is distributed over all classes (>= 0 and <= 1, 0)
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
    """Softplus: a smooth approximation of ReLU, `y = log(1 + exp(beta * x)) / beta`.

    Computed without overflow; `dx = dy * (1 - exp(-beta * y))`, the sigmoid of `beta * x`. Caffe calls it BNLL;
    Paddle's softrelu clips its input to [-40, 40]. PyTorch's `threshold`, above which it returns `x`, makes no
    difference in float32.

    x: values of any shape
    beta: sharpness of the transition (> 0, 1)
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
    """Softsign: `y = x / (1 + |x|)`, which approaches its limits -1 and 1 more slowly than `tanh`.

    At infinity it is the limit; `dx = dy / (1 + |x|)**2`.

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
    """Copies of the input as several outputs.

    The gradient is the sum of the outputs' gradients. Any number of layers may read an output without it, as in Paddle;
    Caffe inserts this layer automatically, Mocha requires it. To split a value into parts, see `slice` (ONNX's Split).

    x: values to copy
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
    """Spatial pyramid pooling: pools an image into 1, 4, 16, ... bins, so that images of any size give equal widths.

    (He et al. 2014): level l has `2 ** l` bins along each axis, each of `ceil(H / 2 ** l)` rows and `ceil(W / 2 ** l)`
    columns, computed by a `pool` with the necessary padding around the image, an odd pixel at the start. A row of
    `C * (4 ** pyramid_height - 1) / 3` values contains level after level, each channel by channel.

    An average counts only the pixels in the bin, as in Paddle; Caffe also counts the padding. As in Caffe, an image
    whose bins would be inside the padding is rejected: use fewer levels.

    x: images: channels, height, width
    pyramid_height: number of levels (>= 1 and <= 16, required)
    pool_type: type of pooling (MAX)
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
    """Squared error loss (MSE): the squared Euclidean distance between prediction and target, times `coeff`.

    `cost = coeff * sum over c of (x - target) ** 2`, times `weight` if present. Paddle has no factor, as with `coeff`
    1; Caffe, Mocha and KUnet have one half: `coeff: 0.5`; PyTorch and Keras also divide by the number of columns.
    Paddle's own `coeff` scales the gradient but not the loss. The target has a gradient too, as in Caffe and Mocha.

    x: feature vectors
    target: targets
    weight: sample weight
    coeff: factor of the squared error (1)
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
    """Scaled hyperbolic tangent: `y = scale * tanh(slope * x)`.

    LeCun et al., "Efficient backprop" (1998), with the constants 1.7159 and 2/3 of the defaults, which are fixed in
    Paddle.

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
    """Elementwise difference with broadcasting of the second input.

    `y[n, c, i] = x[n, c, i] - other[n, c, i]`; `other` is broadcast as in `mul`. Mocha's `Subtract` takes inputs of the
    same shape.

    x: feature vectors or images
    other: subtrahend: the same shape, or size 1 for the channels, for the other axes, or for both
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
    """Selects sub-sequences of each nested sequence by a list of indices.

    Sub-sequence k of the output's sequence n is number `selected[n, k]` of those of `x`, counted from 0; -1 ends the
    list. `kmax_seq_score` computes such lists. Paddle's layer is the same.

    x: nested sequences of feature vectors
    selected: indices of the selected sub-sequences
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
    """One slice of each sequence, given by its offset and its length.

    `y[s] = x[s][offset[s] : offset[s] + length[s]]`: as in Python's slices, steps beyond the end are left out. Paddle
    does not check the ranges. For several slices per sequence see `seq_slice`.

    x: sequences of feature vectors
    offset: first step of the slice, from 0
    length: length of the slice
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
    """Custom loss: the sum of each row is its loss, so that any value a network computes can be minimized.

    x: terms of the loss
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
    """L1 normalization of nonnegative values: divides each row by its sum, `y = x / sum_c x[c]`.

    Paddle fails for a row whose sum is not positive; here it is divided nevertheless, and one whose sum is zero becomes
    infinite or NaN.

    x: nonnegative weights
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
    """Swish: `y = x * sigmoid(beta * x)`; with `beta` 1 it is the sigmoid linear unit (SiLU).

    Computed without overflow, and 0 at minus infinity. Ramachandran et al., "Searching for activation functions"
    (2017). ONNX calls `beta` alpha.

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
    """Hyperbolic tangent: `y = tanh(x)`.

    `dx = dy * (1 - y * y)`.

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
    """Bilinear (neural tensor) layer: `y[n, k] = sum_c sum_d a[n, c] * weight[k, c, d] * b[n, d] + bias[k]`.

    Paddle stores the weight with the outputs last.

    a: rows
    b: vectors, possibly of another width
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
    """Binary threshold (step function): `y = 1` for `x > threshold`, else 0.

    It has no gradient: the derivative is 0 wherever it exists. PyTorch's Threshold keeps the values above the
    threshold; with threshold 0 that is `relu`.

    x: values of any shape
    threshold: threshold: larger values become 1 (0)
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
    """Converts each sample to a sequence by splitting it into steps of equal width.

    A sample of `C` values becomes a sequence of `C / size` steps, in order. Images are flattened: add a `permute`
    before the layer so that the axis of a step is last, `order: [3, 1, 2]` for the columns of an image. Paddle's
    seq_reshape does this with samples that are not sequences; for sequences see `seq_reshape`. `resize` reshapes the
    whole batch, also into wider rows, which mixes samples.

    x: rows of any shape
    size: width of a step (>= 1, required)
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
    """Top-k: the `k` largest or smallest values along an axis in order, and their indices as floats.

    An axis of size C becomes one of size `k`. Of equal values the first comes first; if one is NaN, all are. The second
    output are the indices from 0, which have no gradient. For sequences see `kmax_seq_score`.

    x: rows of any shape
    k: number of values, k (>= 1, required)
    axis: reduced axis: 1 is the first after the batch axis, -1 the last (1)
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
    """Fully connected layer with a transposed weight: `y = x @ weight.T + bias`, for tied weights.

    The weight has the shape of that of an `fc` in the other direction, so that `share` makes both one parameter, as in
    the encoder and decoder of an autoencoder. Paddle has it as a projection of `mixed`.

    x: feature vectors: samples, tokens, images
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
    """Pre-norm Transformer block: multi-head self-attention and a position-wise feed-forward network.

    `s = x + out_proj(attention(norm1(x)))`, `y = s + ffn_out(gelu(ffn_in(norm2(s))))`

    Each of the two has a residual connection (Vaswani et al. 2017), and is preceded by the normalization (pre-norm),
    which trains more stably than post-norm. The block has no positional encoding: add `position_embedding` or
    `sinusoidal_position` before the first block.

    x: sequences of feature vectors
    num_heads: number of attention heads (>= 1, 1)
    hidden: hidden size of the feed-forward network; if absent, four times the width of `x` (>= 1, none)
    causal: causal mask: a position attends only to itself and earlier positions (false)
    norm: type of normalization (LAYER_NORM)
    drop_rate: dropout rate of the attention and feed-forward outputs (>= 0 and < 1, 0)
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
    """Wasserstein (optimal transport) loss between two distributions over classes, with entropic regularization.

    `cost = sum over c, d of p[c, d] * distances[c, d]` for the transport plan p with the marginals `x` and `target` and
    minimum regularized cost: `p[c, d] = exp(f[c] + g[d] - sharpness * distances[c, d])`, with f and g from `iterations`
    of Sinkhorn's algorithm (Cuturi 2013). `x` are probabilities, as from `softmax`, and sum to one, as `target` does.

    The gradient with respect to `x` is `f / sharpness` minus its mean over the classes, that of the regularized
    distance (Frogner et al. 2015); a preceding `softmax` is invariant to the mean, which Mocha, whose `lambda` is
    `sharpness`, does not subtract.

    x: probability per class
    target: target probability per class
    distances: distance matrix of the classes in row-major order (>= 0, required)
    sharpness: inverse of the entropic regularization; larger values need more iterations (> 0, required)
    iterations: number of Sinkhorn iterations (>= 1, 50)
    """
