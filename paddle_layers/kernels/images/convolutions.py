"""2-D convolution (`conv`) and its gradients: dispatch of kernels by shape."""

from __future__ import annotations

from paddle_layers.kernels.constants import NO_EPILOGUE
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
from .convolution_axes import of_images
from .depthwise import (
    add_planes,
    correlate_each,
    correlate_each_back,
    dots_of_each,
    filter_items,
    plane_scratch,
    small_windows,
)
from .few_channels_conv import band_items, band_numbers, band_runs, correlate_bands, few_channels
from .im2col_conv import (
    correlate_windows,
    correlate_windows_back,
    images,
    matrix_numbers,
    matrix_pays,
    matrix_pays_back,
)
from .packed_conv import correlate_packed, few_images, filter_runs, pack_images, packed_scratch, packing_items
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
from .pointwise_conv import (
    pack_filters,
    packed_items,
    packed_numbers,
    packed_runs,
    pointwise_conv_small,
    small_images,
    sums_of_pixels,
)
from .winograd import OVERWRITE, convolve_volumes, transform_weight, transform_weight_back
from .winograd_gradients import gradients_pay, multiply_tiles, tile_gradient_items, tile_gradient_scratch
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

operations = of_images(multiplications)


# The first kernel that accepts the sizes is used: Winograd, then those for particular shapes, then the general one.
@tuned(
    "conv", "conv_y", items=chunks, prepared=of_images(filters_prepared), scratch=of_images(winograd_scratch),
    scratch_per_chunk=True, when=of_images(tiles_pay), work=operations, least=MIN_WORK, pass_name="winograd",
)  # fmt: skip
@compiled
def winograd_filters(first, last, prepared, weight, scratch):
    transform_weight(first, last, prepared, volumes(weight), scratch)


@tuned("conv", "conv_y", items=of_images(winograd_items), after=winograd_filters)
@compiled
def winograd_y(first, last, y, x, prepared, scratch, padding, padding_y, epilogue):
    convolve_volumes(
        first, last, volumes(y), volumes(x), prepared, OVERWRITE, epilogue, scratch, 1, (0, padding_y, padding)
    )  # fmt: skip


@tuned(
    "conv", "conv_dx", items=chunks, prepared=of_images(filters_prepared_back),
    scratch=of_images(winograd_scratch_back), scratch_per_chunk=True, when=of_images(tiles_pay_back),
    work=operations, least=MIN_WORK, pass_name="winograd",
)  # fmt: skip
@compiled
def winograd_filters_back(first, last, prepared, weight, scratch):
    transform_weight_back(first, last, prepared, volumes(weight), scratch)


@tuned("conv", "conv_dx", items=of_images(winograd_items_back), after=winograd_filters_back)
@compiled
def winograd_dx(first, last, dx, dy, prepared, adding, scratch, padding, padding_y):
    # `adding` instead of `accumulate`: the long source is compiled once for both cases.
    convolve_volumes(
        first, last, volumes(dx), volumes(dy), prepared, adding != 0, NO_EPILOGUE, scratch, 1,
        (0, 2 - padding_y, 2 - padding),
    )  # fmt: skip


@tuned(
    "conv", "conv_y", items=output_planes, runs=output_planes, when=small_windows, work=operations, least=MIN_WORK
)  # fmt: skip
@compiled
def depthwise_y(first, last, y, x, weight, stride, padding, padding_y, epilogue):
    correlate_each(first, last, y, x, weight, stride, padding, padding_y, epilogue)


@tuned(
    "conv", "conv_y", items=packed_items, prepared=packed_numbers, scratch=sums_of_pixels, scratch_per_chunk=True,
    when=small_images, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def packed_filters(first, last, prepared, weight):
    pack_filters(first, last, prepared, weight)


@tuned("conv", "conv_y", items=packed_items, runs=packed_runs, after=packed_filters)
@compiled
def small_y(first, last, y, x, prepared, scratch, epilogue):
    pointwise_conv_small(first, last, y, x, prepared, scratch, epilogue)


@tuned(
    "conv", "conv_y", items=im2col_items, runs=output_planes, scratch=of_images(im2col_scratch),
    scratch_per_chunk=True, when=of_images(windows_suit), work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def separate_y(first, last, y, x, weight, scratch):
    im2col_gemm(first, last, volumes(y), volumes(x), volumes(weight), False, scratch)


@tuned(
    "conv", "conv_y", items=images, runs=output_planes, scratch=matrix_numbers, scratch_per_chunk=True,
    when=matrix_pays, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def windows_y(first, last, y, x, weight, scratch):
    correlate_windows(first, last, y, x, weight, scratch)


@tuned(
    "conv", "conv_y", items=band_items, runs=band_runs, scratch=band_numbers, scratch_per_chunk=True,
    when=few_channels, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def bands_y(
    first, last, y, x, weight, scratch, stride, stride_y, padding, padding_y, dilation, dilation_y, epilogue
):  # fmt: skip
    correlate_bands(
        first, last, y, x, weight, scratch, stride, stride_y, padding, padding_y, dilation, dilation_y, epilogue
    )  # fmt: skip


@tuned(
    "conv", "conv_y", items=packing_items, scratch=packed_scratch, scratch_per_chunk=True, when=few_images,
    work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def pack_x(
    first, last, x, scratch, P, Q, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y, groups
):  # fmt: skip
    pack_images(
        first, last, x, scratch, P, Q, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y, groups
    )  # fmt: skip


@tuned("conv", "conv_y", items=filter_runs, runs=output_planes, after=pack_x)
@compiled
def packed_y(
    first, last, y, weight, scratch, H, W, stride, stride_y, padding, padding_y, dilation, dilation_y, groups, epilogue
):  # fmt: skip
    correlate_packed(
        first, last, y, weight, scratch, H, W,
        stride, stride_y, padding, padding_y, dilation, dilation_y, groups, epilogue,
    )  # fmt: skip


@tuned(
    "conv", "conv_y", items=chunks, prepared=of_images(prepared_vectors),
    scratch=of_images(vector_scratch), scratch_per_chunk=True, when=of_images(vectors_pay),
    work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def transpose_filters(first, last, prepared, weight):
    transpose_weight(first, last, prepared, weight)


@tuned("conv", "conv_y", items=of_images(vector_items), after=transpose_filters)
@compiled
def vectors_y(
    first, last, y, x, prepared, scratch, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y
):  # fmt: skip
    vectors_of_images(
        first, last, y, x, prepared, False, scratch, (A, B),
        stride, stride_y, padding, padding_y, dilation, dilation_y,
    )  # fmt: skip


@tuned(
    "conv", "conv_y", items=of_images(forward_items), runs=of_images(forward_runs),
    scratch=of_images(forward_scratch), scratch_per_chunk=True, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def conv_y(
    first, last, y, x, weight, scratch, stride, stride_y, padding, padding_y, dilation, dilation_y, groups, epilogue
):  # fmt: skip
    correlate_images(
        first, last, y, x, weight, False, scratch,
        stride, stride_y, padding, padding_y, dilation, dilation_y, groups, epilogue,
    )  # fmt: skip


@tuned(
    "conv", "conv_dx", items=input_planes, runs=input_planes, when=small_windows, work=operations, least=MIN_WORK
)  # fmt: skip
@compiled
def depthwise_dx(first, last, dx, dy, weight, accumulate, stride, padding, padding_y):
    correlate_each_back(first, last, dx, dy, weight, accumulate, stride, padding, padding_y)


@tuned(
    "conv", "conv_dx", items=of_images(col2im_items), runs=input_planes, scratch=of_images(col2im_scratch),
    scratch_per_chunk=True, when=of_images(windows_suit), work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def separate_dx(first, last, dx, dy, weight, accumulate, scratch):
    col2im_gemm(first, last, volumes(dx), volumes(dy), volumes(weight), accumulate, scratch)


@tuned(
    "conv", "conv_dx", items=images, runs=input_planes, scratch=matrix_numbers, scratch_per_chunk=True,
    when=matrix_pays_back, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def windows_dx(first, last, dx, dy, weight, accumulate, scratch):
    correlate_windows_back(first, last, dx, dy, weight, accumulate, scratch)


@tuned(
    "conv", "conv_dx", items=chunks, prepared=of_images(prepared_vectors_back),
    scratch=of_images(vector_scratch_back), scratch_per_chunk=True, when=of_images(vectors_pay_back),
    work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def transpose_filters_back(first, last, prepared, weight):
    transpose_weight_back(first, last, prepared, weight)


@tuned("conv", "conv_dx", items=of_images(vector_items_back), after=transpose_filters_back)
@compiled
def vectors_dx(
    first, last, dx, dy, prepared, adding, scratch, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y
):  # fmt: skip
    vectors_of_images_back(
        first, last, dx, dy, prepared, adding != 0, scratch, (A, B),
        stride, stride_y, padding, padding_y, dilation, dilation_y,
    )  # fmt: skip


@tuned(
    "conv", "conv_dx", items=of_images(backward_items), runs=of_images(backward_runs),
    scratch=of_images(backward_scratch), scratch_per_chunk=True, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def conv_dx(
    first, last, dx, dy, weight, adding, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    correlate_images_back(
        first, last, dx, dy, weight, adding != 0, scratch,
        stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
    )  # fmt: skip


@tuned("conv", "conv_dweight", items=filter_items, when=small_windows, work=operations, least=MIN_WORK)
@compiled
def depthwise_dweight(first, last, dweight, dy, x, accumulate, stride, padding, padding_y):
    dots_of_each(first, last, dweight, dy, x, accumulate, stride, padding, padding_y)


@tuned(
    "conv", "conv_dweight", items=of_images(gradient_items), scratch=of_images(gradient_scratch),
    scratch_per_chunk=True, when=of_images(filters_suit), work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def separate_dweight(first, last, dweight, dy, x, accumulate, scratch):
    im2col_weight_gradient(first, last, volumes(dweight), volumes(dy), volumes(x), accumulate, scratch)


@tuned(
    "conv", "conv_dweight", items=tile_gradient_items, scratch=tile_gradient_scratch,
    scratch_per_chunk=True, when=gradients_pay, work=operations, least=MIN_WORK,
    pass_name="winograd",
)  # fmt: skip
@compiled
def winograd_dweight(first, last, dweight, dy, x, accumulate, scratch, padding, padding_y):
    multiply_tiles(first, last, dweight, dy, x, accumulate, scratch, padding, padding_y)


@tuned(
    "conv", "conv_dweight", items=filter_items, scratch=plane_scratch, scratch_per_chunk=True,
    when=single_channels, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def planes_dweight(
    first, last, dweight, dy, x, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    add_planes(
        first, last, dweight, dy, x, accumulate, scratch,
        stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
    )  # fmt: skip


@tuned(
    "conv", "conv_dweight", items=of_images(weight_items), scratch=of_images(weight_scratch), scratch_per_chunk=True,
    work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def conv_dweight(
    first, last, dweight, dy, x, accumulate, scratch,
    stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
):  # fmt: skip
    correlate_images_with_gradients(
        first, last, dweight, dy, x, accumulate, scratch,
        stride, stride_y, padding, padding_y, dilation, dilation_y, groups,
    )  # fmt: skip


@tuned("conv", "conv_bias_gradient", items=filter_tiles, work=of_images(outputs), least=MIN_BIAS_WORK)
@compiled
def conv_bias_gradient(first, last, dbias, dy, accumulate):
    add_deltas(first, last, dbias, dy, accumulate)
