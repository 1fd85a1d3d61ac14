"""2-D transposed convolution (`conv_trans`) by the kernels of a convolution's gradients.

Input and output are exchanged. For images of one pixel it is a matrix product.
"""

from __future__ import annotations

from functools import partial

from paddle_layers.kernels.dense.fully_connected import fc_dweight, fc_dx, fc_y, tiles
from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.tuned import tuned

from .conv_strategies import BACKWARD, DIRECT_OF_WEIGHT, FORWARD, PATCHES_OF_WEIGHT, Convolution
from .conv_tiling import MIN_WORK, multiplications
from .convolutions import PLANES_OF_WEIGHT

conv_trans = Convolution("conv_trans", images=True, transposed=True)
operations = conv_trans.host(multiplications)


def one_pixel(H: int, W: int, A: int, B: int, P: int, Q: int, groups: int, padding: int, padding_y: int) -> bool:
    """Whether images have one pixel, so that the results are scaled filters."""
    return H * W == groups == 1 and padding + padding_y == 0 and (P, Q) == (A, B)


@compiled
def matrix(values):
    """An array as a matrix with the rows of its first axis."""
    return values.reshape((values.shape[0], values.size // max(values.shape[0], 1)))


of_pixels = partial(tuned, "conv_trans", work=operations, least=MIN_WORK, when=one_pixel)


@of_pixels("conv_trans_y", items=lambda N, D, A, B: tiles(N, D * A * B))
@compiled
def pixel_y(first, last, y, x, weight):
    fc_y(first, last, matrix(y), matrix(x), matrix(weight), False)


@of_pixels("conv_trans_dx", items=lambda N, C: int(tiles(N, C)))
@compiled
def pixel_dx(first, last, dx, dy, weight, accumulate):
    fc_dx(first, last, matrix(dx), matrix(dy), matrix(weight), accumulate)


@of_pixels("conv_trans_dweight", items=lambda C, D, A, B: tiles(C, D * A * B))
@compiled
def pixel_dweight(first, last, dweight, dy, x, accumulate):
    fc_dweight(first, last, matrix(dweight), matrix(x), matrix(dy), accumulate)


conv_trans.add("y", *BACKWARD)
conv_trans.add("dx", *FORWARD)
conv_trans.add("dweight", PATCHES_OF_WEIGHT, PLANES_OF_WEIGHT, DIRECT_OF_WEIGHT)
conv_trans.add_bias()
