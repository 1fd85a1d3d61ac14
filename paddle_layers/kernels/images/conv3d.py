"""3-D convolution (`conv3d`) and transposed convolution (`conv3d_trans`) and their gradients, plane by plane."""

from __future__ import annotations

from paddle_layers.kernels.constants import NO_EPILOGUE
from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.tuned import tuned

from .batched_conv import (
    add_deltas,
    correlate_volumes,
    correlate_volumes_back,
    correlate_with_gradients,
    transpose_weight,
    transpose_weight_back,
    vectors_of_volumes,
    vectors_of_volumes_back,
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
    vector_items,
    vector_items_back,
    vector_scratch,
    vector_scratch_back,
    vectors_pay,
    vectors_pay_back,
    weight_items,
    weight_scratch,
)
from .convolution_axes import mirrored
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


# The first kernel that accepts the sizes is used: Winograd, then those for particular windows, then the general one.
@tuned(
    "conv3d", "conv3d_y", items=chunks, prepared=filters_prepared, scratch=winograd_scratch, scratch_per_chunk=True,
    when=tiles_pay, work=multiplications, least=MIN_WORK, pass_name="winograd",
)  # fmt: skip
@compiled
def winograd_filters(first, last, prepared, weight, scratch):
    transform_weight(first, last, prepared, weight, scratch)


@tuned("conv3d", "conv3d_y", items=winograd_items, after=winograd_filters)
@compiled
def winograd_y(first, last, y, x, prepared, scratch, E, ahead):
    convolve_volumes(first, last, y, x, prepared, OVERWRITE, NO_EPILOGUE, scratch, E, ahead)


@tuned(
    "conv3d", "conv3d_dx", items=chunks, prepared=filters_prepared_back, scratch=winograd_scratch_back,
    scratch_per_chunk=True, when=tiles_pay_back, work=multiplications, least=MIN_WORK, pass_name="winograd",
)  # fmt: skip
@compiled
def winograd_filters_back(first, last, prepared, weight, scratch):
    transform_weight_back(first, last, prepared, weight, scratch)


@tuned("conv3d", "conv3d_dx", items=winograd_items_back, after=winograd_filters_back)
@compiled
def winograd_dx(first, last, dx, dy, prepared, adding, scratch, E, ahead):
    # Padding of the transposed convolution: filter size - 1 - padding.
    back = (E - 1 - ahead[0], 2 - ahead[1], 2 - ahead[2])
    convolve_volumes(first, last, dx, dy, prepared, adding != 0, NO_EPILOGUE, scratch, E, back)


@tuned(
    "conv3d", "conv3d_y", items=im2col_items, runs=output_planes, scratch=im2col_scratch,
    scratch_per_chunk=True, when=windows_suit, work=multiplications, least=MIN_WORK,
)  # fmt: skip
@compiled
def separate_y(first, last, y, x, weight, scratch):
    im2col_gemm(first, last, y, x, weight, False, scratch)


@tuned(
    "conv3d", "conv3d_y", items=chunks, prepared=prepared_vectors, scratch=vector_scratch, scratch_per_chunk=True,
    when=vectors_pay, work=multiplications, least=MIN_WORK,
)  # fmt: skip
@compiled
def transpose_filters(first, last, prepared, weight):
    transpose_weight(first, last, prepared, weight)


@tuned("conv3d", "conv3d_y", items=vector_items, after=transpose_filters)
@compiled
def vectors_y(first, last, y, x, prepared, scratch, E, A, B, step, ahead, gap):
    vectors_of_volumes(first, last, y, x, prepared, False, scratch, (E, A, B), step, ahead, gap)


@tuned(
    "conv3d", "conv3d_dx", items=col2im_items, runs=input_planes, scratch=col2im_scratch,
    scratch_per_chunk=True, when=windows_suit, work=multiplications, least=MIN_WORK,
)  # fmt: skip
@compiled
def separate_dx(first, last, dx, dy, weight, accumulate, scratch):
    col2im_gemm(first, last, dx, dy, weight, accumulate, scratch)


@tuned(
    "conv3d", "conv3d_dx", items=chunks, prepared=prepared_vectors_back, scratch=vector_scratch_back,
    scratch_per_chunk=True, when=vectors_pay_back, work=multiplications, least=MIN_WORK,
)  # fmt: skip
@compiled
def transpose_filters_back(first, last, prepared, weight):
    transpose_weight_back(first, last, prepared, weight)


@tuned("conv3d", "conv3d_dx", items=vector_items_back, after=transpose_filters_back)
@compiled
def vectors_dx(first, last, dx, dy, prepared, accumulate, scratch, E, A, B, step, ahead, gap):
    vectors_of_volumes_back(first, last, dx, dy, prepared, accumulate, scratch, (E, A, B), step, ahead, gap)


@tuned(
    "conv3d", "conv3d_y", items=forward_items, runs=forward_runs, scratch=forward_scratch, scratch_per_chunk=True,
    work=multiplications, least=MIN_WORK,
)  # fmt: skip
@compiled
def conv3d_y(first, last, y, x, weight, scratch, step, ahead, gap, groups):
    correlate_volumes(first, last, y, x, weight, False, scratch, step, ahead, gap, groups, NO_EPILOGUE)


@tuned(
    "conv3d", "conv3d_dx", items=backward_items, runs=backward_runs, scratch=backward_scratch, scratch_per_chunk=True,
    work=multiplications, least=MIN_WORK,
)  # fmt: skip
@compiled
def conv3d_dx(first, last, dx, dy, weight, accumulate, scratch, step, ahead, gap, groups):
    correlate_volumes_back(first, last, dx, dy, weight, accumulate, scratch, step, ahead, gap, groups)


@tuned(
    "conv3d", "conv3d_dweight", items=gradient_items, scratch=gradient_scratch, scratch_per_chunk=True,
    when=filters_suit, work=multiplications, least=MIN_WORK,
)  # fmt: skip
@compiled
def separate_dweight(first, last, dweight, dy, x, accumulate, scratch):
    im2col_weight_gradient(first, last, dweight, dy, x, accumulate, scratch)


@tuned(
    "conv3d", "conv3d_dweight", items=weight_items, scratch=weight_scratch, scratch_per_chunk=True,
    work=multiplications, least=MIN_WORK,
)  # fmt: skip
@compiled
def conv3d_dweight(first, last, dweight, dy, x, accumulate, scratch, step, ahead, gap, groups):
    correlate_with_gradients(first, last, dweight, dy, x, accumulate, scratch, step, ahead, gap, groups)


@tuned("conv3d", "conv3d_bias_gradient", items=filter_tiles, work=outputs, least=MIN_BIAS_WORK)
@compiled
def conv3d_bias_gradient(first, last, dbias, dy, accumulate):
    add_deltas(first, last, dbias, dy, accumulate)


# A transposed convolution is the gradient of a convolution: the same kernels with input and output exchanged.
operations = mirrored(multiplications)


@tuned(
    "conv3d_trans", "conv3d_trans_y", items=mirrored(col2im_items), runs=mirrored(input_planes),
    scratch=mirrored(col2im_scratch), scratch_per_chunk=True, when=mirrored(windows_suit), work=operations,
    least=MIN_WORK,
)  # fmt: skip
@compiled
def trans_separate_y(first, last, y, x, weight, scratch):
    col2im_gemm(first, last, y, x, weight, False, scratch)


@tuned(
    "conv3d_trans", "conv3d_trans_y", items=chunks, prepared=mirrored(prepared_vectors_back),
    scratch=mirrored(vector_scratch_back), scratch_per_chunk=True, when=mirrored(vectors_pay_back), work=operations,
    least=MIN_WORK,
)  # fmt: skip
@compiled
def trans_transpose_filters(first, last, prepared, weight):
    transpose_weight_back(first, last, prepared, weight)


@tuned("conv3d_trans", "conv3d_trans_y", items=mirrored(vector_items_back), after=trans_transpose_filters)
@compiled
def trans_vectors_y(first, last, y, x, prepared, scratch, E, A, B, step, ahead, gap):
    vectors_of_volumes_back(first, last, y, x, prepared, False, scratch, (E, A, B), step, ahead, gap)


@tuned(
    "conv3d_trans", "conv3d_trans_dx", items=mirrored(im2col_items), runs=mirrored(output_planes),
    scratch=mirrored(im2col_scratch), scratch_per_chunk=True, when=mirrored(windows_suit), work=operations,
    least=MIN_WORK,
)  # fmt: skip
@compiled
def trans_separate_dx(first, last, dx, dy, weight, accumulate, scratch):
    im2col_gemm(first, last, dx, dy, weight, accumulate, scratch)


@tuned(
    "conv3d_trans", "conv3d_trans_dx", items=chunks, prepared=mirrored(prepared_vectors),
    scratch=mirrored(vector_scratch), scratch_per_chunk=True, when=mirrored(vectors_pay), work=operations,
    least=MIN_WORK,
)  # fmt: skip
@compiled
def trans_transpose_filters_back(first, last, prepared, weight):
    transpose_weight(first, last, prepared, weight)


@tuned("conv3d_trans", "conv3d_trans_dx", items=mirrored(vector_items), after=trans_transpose_filters_back)
@compiled
def trans_vectors_dx(first, last, dx, dy, prepared, accumulate, scratch, E, A, B, step, ahead, gap):
    vectors_of_volumes(first, last, dx, dy, prepared, accumulate, scratch, (E, A, B), step, ahead, gap)


@tuned(
    "conv3d_trans", "conv3d_trans_y", items=mirrored(backward_items), runs=mirrored(backward_runs),
    scratch=mirrored(backward_scratch), scratch_per_chunk=True, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def conv3d_trans_y(first, last, y, x, weight, scratch, step, ahead, gap, groups):
    correlate_volumes_back(first, last, y, x, weight, False, scratch, step, ahead, gap, groups)


@tuned(
    "conv3d_trans", "conv3d_trans_dx", items=mirrored(forward_items), runs=mirrored(forward_runs),
    scratch=mirrored(forward_scratch), scratch_per_chunk=True, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def conv3d_trans_dx(first, last, dx, dy, weight, accumulate, scratch, step, ahead, gap, groups):
    correlate_volumes(first, last, dx, dy, weight, accumulate, scratch, step, ahead, gap, groups, NO_EPILOGUE)


@tuned(
    "conv3d_trans", "conv3d_trans_dweight", items=mirrored(gradient_items), scratch=mirrored(gradient_scratch),
    scratch_per_chunk=True, when=mirrored(filters_suit), work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def trans_separate_dweight(first, last, dweight, dy, x, accumulate, scratch):
    im2col_weight_gradient(first, last, dweight, x, dy, accumulate, scratch)


@tuned(
    "conv3d_trans", "conv3d_trans_dweight", items=mirrored(weight_items), scratch=mirrored(weight_scratch),
    scratch_per_chunk=True, work=operations, least=MIN_WORK,
)  # fmt: skip
@compiled
def conv3d_trans_dweight(first, last, dweight, dy, x, accumulate, scratch, step, ahead, gap, groups):
    correlate_with_gradients(first, last, dweight, x, dy, accumulate, scratch, step, ahead, gap, groups)


@tuned("conv3d_trans", "conv3d_trans_bias_gradient", items=filter_tiles, work=outputs, least=MIN_BIAS_WORK)
@compiled
def conv3d_trans_bias_gradient(first, last, dbias, dy, accumulate):
    add_deltas(first, last, dbias, dy, accumulate)
