"""2-D transposed convolution (`conv_trans`) by the kernels of a convolution's gradients.

Input and output are exchanged. For images of one pixel it is a matrix product.
"""

from __future__ import annotations

from paddle_layers.kernels.constants import NO_EPILOGUE
from paddle_layers.kernels.dense.fully_connected import fc_dweight, fc_dx, fc_y, tiles
from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.tuned import tuned

from .batched_conv import (
    add_deltas,
    correlate_images,
    correlate_images_back,
    correlate_images_with_gradients,
    transpose_weight,
    transpose_weight_back,
    vectors_of_images,
    vectors_of_images_back,
    volumes,
)
from .conv_tiling import (
    MIN_BIAS_WORK,
    MIN_WORK,
    backward_items,
    backward_runs,
    backward_scratch,
    chunks,
    filter_tiles,
    forward_items,
    forward_runs,
    forward_scratch,
    input_planes,
    multiplications,
    output_planes,
    outputs,
    prepared_vectors,
    prepared_vectors_back,
    single_channels,
    vector_items,
    vector_items_back,
    vector_scratch,
    vector_scratch_back,
    vectors_pay,
    vectors_pay_back,
    weight_items,
    weight_scratch,
)
from .convolution_axes import mirrored, of_images
from .depthwise import add_planes, filter_items, plane_scratch
from .patchify_conv import (
    col2im_gemm,
    col2im_items,
    col2im_scratch,
    filters_suit,
    gradient_items,
    gradient_scratch,
    im2col_gemm,
    im2col_items,
    im2col_scratch,
    im2col_weight_gradient,
    windows_suit,
)
from .winograd import OVERWRITE, convolve_volumes, transform_weight, transform_weight_back
from .winograd_tiling import (
    filters_prepared,
    filters_prepared_back,
    tiles_pay,
    tiles_pay_back,
    winograd_items,
    winograd_items_back,
    winograd_scratch,
    winograd_scratch_back,
)

# A transposed convolution is the gradient of a convolution: the same kernels, sizes with input and output exchanged.
operations = mirrored(of_images(multiplications))


def one_pixel(H: int, W: int, A: int, B: int, P: int, Q: int, groups: int, padding: int, padding_y: int) -> bool:
    """Whether images have one pixel, so that the results are scaled filters."""
    return H * W == groups == 1 and padding + padding_y == 0 and (P, Q) == (A, B)


def tiles_of_y(N: int, D: int, A: int, B: int) -> int:
    """Number of tiles of the output."""
    return int(tiles(N, D * A * B))


def tiles_of_dx(N: int, C: int) -> int:
    """Number of tiles of the input gradient."""
    return int(tiles(N, C))


def tiles_of_dweight(C: int, D: int, A: int, B: int) -> int:
    """Number of tiles of the filter gradient."""
    return int(tiles(C, D * A * B))


@compiled
def matrix(values):
    """An array as a matrix with the rows of its first axis."""
    return values.reshape((values.shape[0], values.size // max(values.shape[0], 1)))


@tuned("conv_trans", "conv_trans_y", items=tiles_of_y, work=operations, least=MIN_WORK, when=one_pixel)
@compiled
def pixel_y(first, last, y, x, weight):
    fc_y(first, last, matrix(y), matrix(x), matrix(weight), False)


@tuned("conv_trans", "conv_trans_dx", items=tiles_of_dx, work=operations, least=MIN_WORK, when=one_pixel)
@compiled
def pixel_dx(first, last, dx, dy, weight, accumulate):
    fc_dx(first, last, matrix(dx), matrix(dy), matrix(weight), accumulate)


@tuned("conv_trans", "conv_trans_dweight", items=tiles_of_dweight, work=operations, least=MIN_WORK, when=one_pixel)
@compiled
def pixel_dweight(first, last, dweight, dy, x, accumulate):
    fc_dweight(first, last, matrix(dweight), matrix(x), matrix(dy), accumulate)


@tuned(
    "conv_trans", "conv_trans_y", items=chunks, prepared=mirrored(of_images(filters_prepared_back)),
    scratch=mirrored(of_images(winograd_scratch_back)), scratch_per_chunk=True,
    when=mirrored(of_images(tiles_pay_back)), work=operations, least=MIN_WORK, pass_name="winograd",
)  # fmt: skip
@compiled
def winograd_filters(first, last, prepared, weight, scratch):
    transform_weight_back(first, last, prepared, volumes(weight), scratch)


@tuned("conv_trans", "conv_trans_y", items=mirrored(of_images(winograd_items_back)), after=winograd_filters)
@compiled
def winograd_y(first, last, y, x, prepared, scratch, padding, padding_y):
    convolve_volumes(
        first, last, volumes(y), volumes(x), prepared, OVERWRITE, NO_EPILOGUE, scratch, 1,
        # Padding of the transposed convolution: filter size - 1 - padding.
        (0, 2 - padding_y, 2 - padding),
    )  # fmt: skip


@tuned(
    "conv_trans", "conv_trans_dx", items=chunks, prepared=mirrored(of_images(filters_prepared)),
    scratch=mirrored(of_images(winograd_scratch)), scratch_per_chunk=True, when=mirrored(of_images(tiles_pay)),
    work=operations, least=MIN_WORK, pass_name="winograd",
)  # fmt: skip
@compiled
def winograd_filters_back(first, last, prepared, weight, scratch):
    transform_weight(first, last, prepared, volumes(weight), scratch)


@tuned("conv_trans", "conv_trans_dx", items=mirrored(of_images(winograd_items)), after=winograd_filters_back)
@compiled
def winograd_dx(first, last, dx, dy, prepared, adding, scratch, padding, padding_y):
    convolve_volumes(
        first, last, volumes(dx), volumes(dy), prepared, adding != 0, NO_EPILOGUE, scratch, 1, (0, padding_y, padding)
    )  # fmt: skip


@tuned(
    "conv_trans", "conv_trans_y", items=mirrored(of_images(col2im_items)), runs=mirrored(input_planes),
    scratch=mirrored(of_images(col2im_scratch)), scratch_per_chunk=True, when=mirrored(of_images(windows_suit)),
    work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def separate_y(first, last, y, x, weight, scratch):
    col2im_gemm(first, last, volumes(y), volumes(x), volumes(weight), False, scratch)


@tuned(
    "conv_trans", "conv_trans_y", items=chunks, prepared=mirrored(of_images(prepared_vectors_back)),
    scratch=mirrored(of_images(vector_scratch_back)), scratch_per_chunk=True,
    when=mirrored(of_images(vectors_pay_back)),
    work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def transpose_filters(first, last, prepared, weight):
    transpose_weight_back(first, last, prepared, weight)


@tuned("conv_trans", "conv_trans_y", items=mirrored(of_images(vector_items_back)), after=transpose_filters)
@compiled
def vectors_y(
    first, last, y, x, prepared, scratch, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y
):  # fmt: skip
    vectors_of_images_back(
        first, last, y, x, prepared, False, scratch, (A, B),
        stride, stride_y, padding, padding_y, dilation, dilation_y,
    )  # fmt: skip


@tuned(
    "conv_trans", "conv_trans_y", items=mirrored(of_images(backward_items)), runs=mirrored(of_images(backward_runs)),
    scratch=mirrored(of_images(backward_scratch)), scratch_per_chunk=True, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def conv_trans_y(
    first, last, y, x, weight, scratch, stride, stride_y, padding, padding_y, dilation, dilation_y, groups
):  # fmt: skip
    correlate_images_back(
        first, last, y, x, weight, False, scratch,
        stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
    )  # fmt: skip


@tuned(
    "conv_trans", "conv_trans_dx", items=mirrored(im2col_items), runs=mirrored(output_planes),
    scratch=mirrored(of_images(im2col_scratch)), scratch_per_chunk=True, when=mirrored(of_images(windows_suit)),
    work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def separate_dx(first, last, dx, dy, weight, accumulate, scratch):
    im2col_gemm(first, last, volumes(dx), volumes(dy), volumes(weight), accumulate, scratch)


@tuned(
    "conv_trans", "conv_trans_dx", items=chunks, prepared=mirrored(of_images(prepared_vectors)),
    scratch=mirrored(of_images(vector_scratch)), scratch_per_chunk=True, when=mirrored(of_images(vectors_pay)),
    work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def transpose_filters_back(first, last, prepared, weight):
    transpose_weight(first, last, prepared, weight)


@tuned("conv_trans", "conv_trans_dx", items=mirrored(of_images(vector_items)), after=transpose_filters_back)
@compiled
def vectors_dx(
    first, last, dx, dy, prepared, accumulate, scratch, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y
):  # fmt: skip
    vectors_of_images(
        first, last, dx, dy, prepared, accumulate, scratch, (A, B),
        stride, stride_y, padding, padding_y, dilation, dilation_y,
    )  # fmt: skip


@tuned(
    "conv_trans", "conv_trans_dx", items=mirrored(of_images(forward_items)), runs=mirrored(of_images(forward_runs)),
    scratch=mirrored(of_images(forward_scratch)), scratch_per_chunk=True, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def conv_trans_dx(
    first, last, dx, dy, weight, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    correlate_images(
        first, last, dx, dy, weight, accumulate, scratch,
        stride, stride_y, padding, padding_y, dilation, dilation_y, groups, NO_EPILOGUE,
    )  # fmt: skip


@tuned(
    "conv_trans", "conv_trans_dweight", items=mirrored(of_images(gradient_items)),
    scratch=mirrored(of_images(gradient_scratch)), scratch_per_chunk=True, when=mirrored(of_images(filters_suit)),
    work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def separate_dweight(first, last, dweight, dy, x, accumulate, scratch):
    im2col_weight_gradient(first, last, volumes(dweight), volumes(x), volumes(dy), accumulate, scratch)


@tuned(
    "conv_trans", "conv_trans_dweight", items=mirrored(filter_items), scratch=mirrored(plane_scratch),
    scratch_per_chunk=True, when=single_channels, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def planes_dweight(
    first, last, dweight, dy, x, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    add_planes(
        first, last, dweight, x, dy, accumulate, scratch,
        stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
    )  # fmt: skip


@tuned(
    "conv_trans", "conv_trans_dweight", items=mirrored(of_images(weight_items)),
    scratch=mirrored(of_images(weight_scratch)), scratch_per_chunk=True, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def conv_trans_dweight(
    first, last, dweight, dy, x, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    correlate_images_with_gradients(
        first, last, dweight, x, dy, accumulate, scratch,
        stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
    )  # fmt: skip


@tuned("conv_trans", "conv_trans_bias_gradient", items=filter_tiles, work=of_images(outputs), least=MIN_BIAS_WORK)
@compiled
def conv_trans_bias_gradient(first, last, dbias, dy, accumulate):
    add_deltas(first, last, dbias, dy, accumulate)
