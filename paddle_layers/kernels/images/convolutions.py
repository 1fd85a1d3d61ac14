"""2-D convolution (`conv`) and its gradients: kernels in the order in which they are asked for the sizes."""

from __future__ import annotations

from . import conv_strategies as shared
from . import depthwise, few_channels_conv, im2col_conv, packed_conv, pointwise_conv, winograd_gradients
from .conv_strategies import Convolution, Strategy
from .conv_tiling import ConvProblem, input_planes, output_planes, single_channels


def filters_of_each(problem: ConvProblem) -> int:
    """Work items of the filter gradients of single channels."""
    return int(depthwise.filter_items(problem.K))


DEPTHWISE = Strategy(depthwise.correlate_each, output_planes, when=depthwise.small_windows, runs=output_planes)
POINTWISE = Strategy(
    pointwise_conv.pointwise_conv_small, pointwise_conv.packed_items, pointwise_conv.sums_of_pixels,
    pointwise_conv.small_images, pointwise_conv.packed_runs, first=pointwise_conv.pack_filters,
    first_items=pointwise_conv.packed_items, prepared=pointwise_conv.packed_numbers,
)  # fmt: skip
IM2COL = Strategy(
    im2col_conv.correlate_windows, im2col_conv.images, im2col_conv.matrix_numbers, im2col_conv.matrix_pays,
    output_planes,
)  # fmt: skip
BANDS = Strategy(
    few_channels_conv.correlate_bands, few_channels_conv.band_items, few_channels_conv.band_numbers,
    few_channels_conv.few_channels, few_channels_conv.band_runs,
)  # fmt: skip
PACKED = Strategy(
    packed_conv.correlate_packed, packed_conv.filter_runs, packed_conv.packed_scratch, packed_conv.few_images,
    output_planes, first=packed_conv.pack_images,
)  # fmt: skip

DEPTHWISE_BACK = Strategy(depthwise.correlate_each_back, input_planes, when=depthwise.small_windows, runs=input_planes)
IM2COL_BACK = Strategy(
    im2col_conv.correlate_windows_back, im2col_conv.images, im2col_conv.matrix_numbers, im2col_conv.matrix_pays_back,
    input_planes,
)  # fmt: skip

DEPTHWISE_OF_WEIGHT = Strategy(depthwise.dots_of_each, filters_of_each, when=depthwise.small_windows)
WINOGRAD_OF_WEIGHT = Strategy(
    winograd_gradients.multiply_tiles, winograd_gradients.tile_gradient_items,
    winograd_gradients.tile_gradient_scratch, winograd_gradients.gradients_pay, pass_name="winograd",
)  # fmt: skip
PLANES_OF_WEIGHT = Strategy(
    depthwise.add_planes, filters_of_each, depthwise.plane_scratch, single_channels
)  # fmt: skip

# Winograd, then the kernels for particular shapes, then the general ones.
conv = Convolution("conv", images=True)
conv.add(
    "y", shared.WINOGRAD, DEPTHWISE, POINTWISE, shared.PATCHES, IM2COL, BANDS, PACKED, shared.VECTORS, shared.DIRECT
)  # fmt: skip
conv.add(
    "dx", shared.WINOGRAD_BACK, DEPTHWISE_BACK, shared.PATCHES_BACK, IM2COL_BACK, shared.VECTORS_BACK,
    shared.DIRECT_BACK,
)  # fmt: skip
conv.add(
    "dweight", DEPTHWISE_OF_WEIGHT, shared.PATCHES_OF_WEIGHT, WINOGRAD_OF_WEIGHT, PLANES_OF_WEIGHT,
    shared.DIRECT_OF_WEIGHT,
)  # fmt: skip
conv.add_bias()
