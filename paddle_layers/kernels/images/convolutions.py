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
    turn_weight,
    turn_weight_back,
    vectors_of_images,
    vectors_of_images_back,
    volumes,
)
from .conv_tiling import (
    BIAS_WORTH_IT,
    WORTH_IT,
    backward_items,
    backward_runs,
    backward_scratch,
    filter_slices,
    forward_items,
    forward_runs,
    forward_scratch,
    input_planes,
    multiplications,
    of_images,
    output_planes,
    outputs,
    pieces,
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
from .packed_conv import correlate_laid, few_images, filter_runs, laid_scratch, lay_images, laying_items
from .patchify_conv import (
    filters_suit,
    gather_windows,
    gathering_items,
    gathering_scratch,
    gradient_items,
    gradient_scratch,
    multiply_windows,
    spread_windows,
    spreading_items,
    spreading_scratch,
    windows_suit,
)
from .pointwise_conv import (
    mix_small,
    pack_filters,
    packed_items,
    packed_numbers,
    packed_runs,
    small_images,
    sums_of_pixels,
)
from .winograd import ANEW, convolve_volumes, transform_weight, transform_weight_back
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


@tuned(
    "conv", "conv_y", items=pieces, prepared=of_images(filters_prepared), scratch=of_images(winograd_scratch),
    scratch_of_pieces=True, when=of_images(tiles_pay), work=operations, least=WORTH_IT, pass_name="winograd",
)  # fmt: skip
@compiled
def winograd_filters(first, last, prepared, weight, scratch):
    transform_weight(first, last, prepared, volumes(weight), scratch)


@tuned("conv", "conv_y", items=of_images(winograd_items), behind=winograd_filters)
@compiled
def winograd_y(first, last, y, x, prepared, scratch, padding, padding_y, epilogue):
    convolve_volumes(
        first, last, volumes(y), volumes(x), prepared, ANEW, epilogue, scratch, 1, (0, padding_y, padding)
    )  # fmt: skip


@tuned(
    "conv", "conv_dx", items=pieces, prepared=of_images(filters_prepared_back),
    scratch=of_images(winograd_scratch_back), scratch_of_pieces=True, when=of_images(tiles_pay_back),
    work=operations, least=WORTH_IT, pass_name="winograd",
)  # fmt: skip
@compiled
def winograd_filters_back(first, last, prepared, weight, scratch):
    transform_weight_back(first, last, prepared, volumes(weight), scratch)


@tuned("conv", "conv_dx", items=of_images(winograd_items_back), behind=winograd_filters_back)
@compiled
def winograd_dx(first, last, dx, dy, prepared, adding, scratch, padding, padding_y):
    convolve_volumes(
        first, last, volumes(dx), volumes(dy), prepared, adding != 0, NO_EPILOGUE, scratch, 1,
        (0, 2 - padding_y, 2 - padding),
    )  # fmt: skip


@tuned(
    "conv", "conv_y", items=output_planes, runs=output_planes, when=small_windows, work=operations, least=WORTH_IT
)  # fmt: skip
@compiled
def depthwise_y(first, last, y, x, weight, stride, padding, padding_y, epilogue):
    correlate_each(first, last, y, x, weight, stride, padding, padding_y, epilogue)


@tuned(
    "conv", "conv_y", items=packed_items, prepared=packed_numbers, scratch=sums_of_pixels, scratch_of_pieces=True,
    when=small_images, work=operations, least=WORTH_IT,
)  # fmt: skip
@compiled
def packed_filters(first, last, prepared, weight):
    pack_filters(first, last, prepared, weight)


@tuned("conv", "conv_y", items=packed_items, runs=packed_runs, behind=packed_filters)
@compiled
def small_y(first, last, y, x, prepared, scratch, epilogue):
    mix_small(first, last, y, x, prepared, scratch, epilogue)


@tuned(
    "conv", "conv_y", items=gathering_items, runs=output_planes, scratch=of_images(gathering_scratch),
    scratch_of_pieces=True, when=of_images(windows_suit), work=operations, least=WORTH_IT,
)  # fmt: skip
@compiled
def separate_y(first, last, y, x, weight, scratch):
    gather_windows(first, last, volumes(y), volumes(x), volumes(weight), False, scratch)


@tuned(
    "conv", "conv_y", items=images, runs=output_planes, scratch=matrix_numbers, scratch_of_pieces=True,
    when=matrix_pays, work=operations, least=WORTH_IT,
)  # fmt: skip
@compiled
def windows_y(first, last, y, x, weight, scratch):
    correlate_windows(first, last, y, x, weight, scratch)


@tuned(
    "conv", "conv_y", items=band_items, runs=band_runs, scratch=band_numbers, scratch_of_pieces=True,
    when=few_channels, work=operations, least=WORTH_IT,
)  # fmt: skip
@compiled
def bands_y(
    first, last, y, x, weight, scratch, stride, stride_y, padding, padding_y, dilation, dilation_y, epilogue
):  # fmt: skip
    correlate_bands(
        first, last, y, x, weight, scratch, stride, stride_y, padding, padding_y, dilation, dilation_y, epilogue
    )  # fmt: skip


@tuned(
    "conv", "conv_y", items=laying_items, scratch=laid_scratch, scratch_of_pieces=True, when=few_images,
    work=operations, least=WORTH_IT,
)  # fmt: skip
@compiled
def laid_x(
    first, last, x, scratch, P, Q, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y, groups
):  # fmt: skip
    lay_images(
        first, last, x, scratch, P, Q, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y, groups
    )  # fmt: skip


@tuned("conv", "conv_y", items=filter_runs, runs=output_planes, behind=laid_x)
@compiled
def laid_y(
    first, last, y, weight, scratch, H, W, stride, stride_y, padding, padding_y, dilation, dilation_y, groups, epilogue
):  # fmt: skip
    correlate_laid(
        first, last, y, weight, scratch, H, W,
        stride, stride_y, padding, padding_y, dilation, dilation_y, groups, epilogue,
    )  # fmt: skip


@tuned(
    "conv", "conv_y", items=pieces, prepared=of_images(prepared_vectors),
    scratch=of_images(vector_scratch), scratch_of_pieces=True, when=of_images(vectors_pay),
    work=operations, least=WORTH_IT,
)  # fmt: skip
@compiled
def turned_filters(first, last, prepared, weight):
    turn_weight(first, last, prepared, weight)


@tuned("conv", "conv_y", items=of_images(vector_items), behind=turned_filters)
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
    scratch=of_images(forward_scratch), scratch_of_pieces=True, work=operations, least=WORTH_IT,
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
    "conv", "conv_dx", items=input_planes, runs=input_planes, when=small_windows, work=operations, least=WORTH_IT
)  # fmt: skip
@compiled
def depthwise_dx(first, last, dx, dy, weight, accumulate, stride, padding, padding_y):
    correlate_each_back(first, last, dx, dy, weight, accumulate, stride, padding, padding_y)


@tuned(
    "conv", "conv_dx", items=of_images(spreading_items), runs=input_planes, scratch=of_images(spreading_scratch),
    scratch_of_pieces=True, when=of_images(windows_suit), work=operations, least=WORTH_IT,
)  # fmt: skip
@compiled
def separate_dx(first, last, dx, dy, weight, accumulate, scratch):
    spread_windows(first, last, volumes(dx), volumes(dy), volumes(weight), accumulate, scratch)


@tuned(
    "conv", "conv_dx", items=images, runs=input_planes, scratch=matrix_numbers, scratch_of_pieces=True,
    when=matrix_pays_back, work=operations, least=WORTH_IT,
)  # fmt: skip
@compiled
def windows_dx(first, last, dx, dy, weight, accumulate, scratch):
    correlate_windows_back(first, last, dx, dy, weight, accumulate, scratch)


@tuned(
    "conv", "conv_dx", items=pieces, prepared=of_images(prepared_vectors_back),
    scratch=of_images(vector_scratch_back), scratch_of_pieces=True, when=of_images(vectors_pay_back),
    work=operations, least=WORTH_IT,
)  # fmt: skip
@compiled
def turned_filters_back(first, last, prepared, weight):
    turn_weight_back(first, last, prepared, weight)


@tuned("conv", "conv_dx", items=of_images(vector_items_back), behind=turned_filters_back)
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
    scratch=of_images(backward_scratch), scratch_of_pieces=True, work=operations, least=WORTH_IT,
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


@tuned("conv", "conv_dweight", items=filter_items, when=small_windows, work=operations, least=WORTH_IT)
@compiled
def depthwise_dweight(first, last, dweight, dy, x, accumulate, stride, padding, padding_y):
    dots_of_each(first, last, dweight, dy, x, accumulate, stride, padding, padding_y)


@tuned(
    "conv", "conv_dweight", items=of_images(gradient_items), scratch=of_images(gradient_scratch),
    scratch_of_pieces=True, when=of_images(filters_suit), work=operations, least=WORTH_IT,
)  # fmt: skip
@compiled
def separate_dweight(first, last, dweight, dy, x, accumulate, scratch):
    multiply_windows(first, last, volumes(dweight), volumes(dy), volumes(x), accumulate, scratch)


@tuned(
    "conv", "conv_dweight", items=tile_gradient_items, scratch=tile_gradient_scratch,
    scratch_of_pieces=True, when=gradients_pay, work=operations, least=WORTH_IT,
    pass_name="winograd",
)  # fmt: skip
@compiled
def winograd_dweight(first, last, dweight, dy, x, accumulate, scratch, padding, padding_y):
    multiply_tiles(first, last, dweight, dy, x, accumulate, scratch, padding, padding_y)


@tuned(
    "conv", "conv_dweight", items=filter_items, scratch=plane_scratch, scratch_of_pieces=True,
    when=single_channels, work=operations, least=WORTH_IT,
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
    "conv", "conv_dweight", items=of_images(weight_items), scratch=of_images(weight_scratch), scratch_of_pieces=True,
    work=operations, least=WORTH_IT,
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


@tuned("conv", "conv_bias_gradient", items=filter_slices, work=of_images(outputs), least=BIAS_WORTH_IT)
@compiled
def conv_bias_gradient(first, last, dbias, dy, accumulate):
    add_deltas(first, last, dbias, dy, accumulate)
