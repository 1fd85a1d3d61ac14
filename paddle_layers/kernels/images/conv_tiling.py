"""Convolution kernels: work items, scratch sizes and the cost model, which depend on shapes only.

Volumes have planes, rows and columns, filters of a volume one tap per plane that they cover; images are volumes with
one plane. `step`, `ahead` and `gap` are stride, padding and dilation along these axes.
"""

from __future__ import annotations

from typing import NamedTuple

from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled
from paddle_layers.kernels.primitives.microkernels import LANES, ROWS, rounded

from .direct_conv import BAND, MOST_RUNS, backward_images, backward_numbers, divisor, forward_images, forward_numbers
from .filter_vectorized_conv import (
    backward_pitch,
    forward_pitch,
    most_vector_images,
    packed_size,
    scratch_numbers,
    vector_parts,
)
from .weight_gradients import weight_numbers

Steps = tuple[int, int, int]

# A compiled kernel costs about a second of the first step, and launches of fewer multiplications are not split over
# threads either (see docs/development/performance.md, Threads).
MIN_WORK = 1 << 17
"""Minimum number of multiplications for the tuned kernel; below it, the gain does not repay the compile time."""
MIN_BIAS_WORK = 1 << 17
"""Minimum number of elements for the tuned kernel of the bias gradient."""
# Two register tiles of 8 rows with AVX-512. Every item packs its input again, so shorter runs spend their time packing.
SHORTEST = 16
"""Minimum number of filters of an item."""
# 1x1 convolutions read the image without packing, so a split over pixels costs nothing but the rows of the last
# register tile: SqueezeNet 4.3 to 4.2 ms, MobileNet v2 4.75 to 4.40, whose layers with 16 and 24 filters ran on one
# thread.
TILE_PIXELS = 1 << 8
"""Minimum number of pixels of an item with few filters."""
# 1 MiB of float32: the result of an item should still be in the L2 cache when a fused bias and activation follow.
LARGEST = 1 << 18
"""Maximum number of elements of an item's result, if it has more filters than `SHORTEST`."""
# `MAX_TRANSPOSED` bounds pixels times channels of a band: with more channels, bands have fewer rows and overlap more.
CHANNELS = 64
"""Maximum number of channels of an item of the filter gradient."""
# Flattened, all pixels of a small image share one pass of the transposition; a large image is transposed row by row
# anyway.
ONE_ROW = 1 << 10
"""Maximum number of pixels per row for flattening an image into one row: transposing short rows is slow."""
# Fewer than `MAX_CHUNKS`: items of several images read the filters once for all of them, and more items would share
# less.
FEW = 4
"""Number of items of a batch of small images, if they have that many runs of filters."""
# Sums vectorized over filters have to be transposed before they are stored, which takes as long for a short sum as for
# a long one.
LONG_SUM = 256
"""Minimum number of products of a sum for transposing the sums of all filters of a pixel."""


class ConvProblem(NamedTuple):
    """Sizes of a convolution of volumes: y (N, K, R, P, Q), x (N, C, Z, H, W), filters (K, D, E, A, B) in `groups`.

    `step`, `ahead` and `gap` are stride, padding and dilation along planes, rows and columns.
    """

    N: int
    K: int
    C: int
    D: int
    Z: int
    H: int
    W: int
    E: int
    A: int
    B: int
    R: int
    P: int
    Q: int
    groups: int
    step: Steps
    ahead: Steps
    gap: Steps
    training: bool

    @property
    def filter_elements(self) -> int:
        """Elements of a filter in one channel."""
        return self.E * self.A * self.B

    @property
    def geometry(self) -> tuple[int, ...]:
        """Geometry of planes for the convolution kernels."""
        return tuple(plane_geometry(self.H, self.W, self.A, self.B, self.step, self.ahead, self.gap))

    @property
    def exchanged(self) -> ConvProblem:
        """The convolution of the output, with stride 1, that is the gradient with respect to the input."""
        return self._replace(
            K=self.D, D=self.K, R=self.Z, P=self.H, Q=self.W, Z=self.R, H=self.P, W=self.Q,
        )  # fmt: skip


def multiplications(problem: ConvProblem) -> int:
    """Operations on the whole batch; packing the windows costs as much as two filters."""
    pixels = problem.R * problem.P * problem.Q
    return problem.N * (problem.K + 2) * problem.D * problem.filter_elements * pixels


@compiled
def volume_shape(array):
    """Shape of volumes, or of images as volumes with one plane; filters have such shapes, too."""
    if array.ndim == 4:  # decided when the kernel is compiled
        N, C, H, W = array.shape
        return N, C, 1, H, W
    return array.shape


@also_in_python
def plane_geometry(H, W, A, B, step, ahead, gap):
    """Geometry of planes for the convolution kernels."""
    return H, W, A, B, step[2], step[1], ahead[2], ahead[1], gap[2], gap[1]


@also_in_python
def one_pixel(geometry, P, Q):
    """Whether windows of a plane are single adjacent pixels (pointwise), each pixel exactly once."""
    H, W, A, B, stride, stride_y, padding, padding_y, _, _ = geometry
    return A * B * stride * stride_y == 1 and padding + padding_y == 0 and P * Q == H * W


@also_in_python
def one_element(Z, E, R, P, Q, step, ahead, geometry):
    """Whether windows of a volume are single adjacent elements (pointwise), each element exactly once."""
    return E * step[0] == 1 and ahead[0] == 0 and Z == R and one_pixel(geometry, P, Q)


@also_in_python
def image_parts(N, images, rows, numbers):
    """Runs of the `rows` channels, of `numbers` elements, of `images` images; depends on shapes only.

    They are split where there are few items, or where a run would not stay in a core's cache, but not into short runs:
    each of them packs the other operand's planes again.
    """
    # The divisor is searched upward, so the result is the smallest number of runs that suffices.
    parts, wanted = 1, MAX_CHUNKS if images == 1 else FEW
    for count in range(2, min(MOST_RUNS, rows // (SHORTEST * min(images, 2))) + 1):
        few = N // images * parts < wanted or images * rows // parts * numbers > LARGEST
        if not few:  # nor is it with more runs
            break
        if rows % count == 0:
            parts = count
    return parts


@also_in_python
def forward_parts(N, K, D, Z, E, R, P, Q, groups, step, ahead, geometry):
    """Images of an item of `correlate_volumes`, and the runs of their filters and then of their pixels.

    Pixels are split where filters are too few for all threads and each element is read separately.
    """
    whole = one_element(Z, E, R, P, Q, step, ahead, geometry)
    # Pointwise windows are not packed, so that several images in one item would save nothing.
    images = 1 if whole else divisor(N, forward_images(N, K // groups, D * E, P, Q, geometry))
    parts = image_parts(N, images, K, R * P * Q)
    pixel_tiles = min(MAX_CHUNKS // max(1, N // images * parts), R * P * Q // TILE_PIXELS) if whole else 1
    return images, parts, max(1, pixel_tiles)


@also_in_python
def backward_parts(N, K, C, Z, E, R, P, Q, groups, step, ahead, geometry):
    """Images of an item of `correlate_volumes_back`, and the runs of their channels."""
    whole = one_element(Z, E, R, P, Q, step, ahead, geometry)
    images = 1 if whole else divisor(N, backward_images(N, K // groups * E, C // groups, Q, geometry))
    return images, image_parts(N, images, C, Z * geometry[0] * geometry[1])


def forward_tiles(problem: ConvProblem) -> tuple[int, int, int]:
    """`forward_parts` of a problem."""
    N, K, _, D, Z, _, _, E, _, _, R, P, Q, groups, step, ahead, _, _ = problem
    images, parts, pixel_tiles = forward_parts(N, K, D, Z, E, R, P, Q, groups, step, ahead, problem.geometry)
    return int(images), int(parts), int(pixel_tiles)


def backward_tiles(problem: ConvProblem) -> tuple[int, int]:
    """`backward_parts` of a problem."""
    N, K, C, _, Z, _, _, E, _, _, R, P, Q, groups, step, ahead, _, _ = problem
    images, parts = backward_parts(N, K, C, Z, E, R, P, Q, groups, step, ahead, problem.geometry)
    return int(images), int(parts)


def forward_items(problem: ConvProblem) -> int:
    """Work items of `correlate_volumes`."""
    images, parts, pixel_tiles = forward_tiles(problem)
    return problem.N // images * parts * pixel_tiles


def backward_items(problem: ConvProblem) -> int:
    """Work items of `correlate_volumes_back`."""
    images, parts = backward_tiles(problem)
    return problem.N // images * parts


def output_planes(problem: ConvProblem) -> int:
    """Planes of the output; an item writes some of them."""
    return problem.N * problem.K


def input_planes(problem: ConvProblem) -> int:
    """Planes of the input gradient; an item writes some of them."""
    return problem.N * problem.C


def forward_runs(problem: ConvProblem) -> int:
    """Channels of the output, where those of an item of `correlate_volumes` are contiguous."""
    images, parts, pixel_tiles = forward_tiles(problem)
    return output_planes(problem) if min(images, parts) == 1 and pixel_tiles == 1 else 0


def backward_runs(problem: ConvProblem) -> int:
    """Channels of the input gradient, where those of an item of `correlate_volumes_back` are contiguous."""
    return input_planes(problem) if min(backward_tiles(problem)) == 1 else 0


def per_chunk(numbers: int, images: int, items: int) -> int:
    """Scratch elements per item such that `MAX_CHUNKS` chunks have `numbers` each: fewer images may be more items."""
    return numbers if images == 1 else -(-numbers * MAX_CHUNKS // max(1, min(items, MAX_CHUNKS)))


def forward_scratch(problem: ConvProblem) -> int:
    """Numbers that a chunk of `correlate_volumes` needs."""
    N, K, _, D, _, _, _, E, _, _, _, P, Q, groups, *_ = problem
    most = int(forward_images(N, K // groups, D * E, P, Q, problem.geometry))
    return per_chunk(int(forward_numbers(most, D, E, P, Q, problem.geometry)), most, forward_items(problem))


def backward_scratch(problem: ConvProblem) -> int:
    """Numbers that a chunk of `correlate_volumes_back` needs."""
    N, K, C, _, _, _, _, E, _, _, _, _, Q, groups, *_ = problem
    most = int(backward_images(N, K // groups * E, C // groups, Q, problem.geometry))
    numbers = int(backward_numbers(most, K // groups, E, Q, problem.geometry))
    return per_chunk(numbers, most, backward_items(problem))


@also_in_python
def vector_forward_parts(N, K, D, E, P, Q, geometry):
    """Images of an item of `vectors_of_volumes`, and the runs of their filters."""
    H, W, A, B, stride, _, padding, _, dilation, _ = geometry
    pitch, _ = forward_pitch(W, Q, B, stride, padding, dilation)
    return vector_parts(N, K, K * D * E * A * B, D * E * H * pitch, P * Q)


@also_in_python
def vector_backward_parts(N, K, D, E, P, Q, geometry):
    """Images of an item of `vectors_of_volumes_back`, and the runs of their channels."""
    H, W, A, B, stride, stride_y, padding, _, dilation, _ = geometry
    _, pitch, _ = backward_pitch(W, Q, B, stride, padding, dilation)
    pixels = ((H + stride_y - 1) // stride_y) * ((W + stride - 1) // stride)
    return vector_parts(N, D, K * D * E * A * B, K * E * P * pitch, pixels)


def vector_items(problem: ConvProblem) -> int:
    """Work items of `vectors_of_volumes`."""
    N, K, _, D, _, _, _, E, _, _, _, P, Q, *_ = problem
    images, parts = vector_forward_parts(N, K, D, E, P, Q, problem.geometry)
    return int(N // images * parts)


def vector_items_back(problem: ConvProblem) -> int:
    """Work items of `vectors_of_volumes_back`."""
    N, K, _, D, _, _, _, E, _, _, _, P, Q, *_ = problem
    images, parts = vector_backward_parts(N, K, D, E, P, Q, problem.geometry)
    return int(N // images * parts)


def prepared_vectors(problem: ConvProblem) -> int:
    """Elements of the filters, transposed for `vectors_of_volumes`."""
    return int(packed_size(problem.K, problem.D, problem.filter_elements))


def vector_scratch(problem: ConvProblem) -> int:
    """Numbers that a chunk of `vectors_of_volumes` needs."""
    N, K, _, D, _, H, W, E, _, B, _, P, Q, _, step, ahead, gap, _ = problem
    pitch, direct = forward_pitch(W, Q, B, step[2], ahead[2], gap[2])
    padded = D * E * H * int(pitch)
    most = int(most_vector_images(N, K * D * problem.filter_elements, padded, P * Q))
    numbers = int(scratch_numbers(most, problem.filter_elements, P, Q, 0 if direct else padded))
    return per_chunk(numbers, most, vector_items(problem))


def vector_scratch_back(problem: ConvProblem) -> int:
    """Numbers that a chunk of `vectors_of_volumes_back` needs."""
    N, K, _, D, _, H, W, E, _, B, _, P, Q, _, step, ahead, gap, _ = problem
    _, pitch, direct = backward_pitch(W, Q, B, step[2], ahead[2], gap[2])
    rows, columns, padded = -(-H // step[1]), -(-W // step[2]), K * E * P * int(pitch)
    most = int(most_vector_images(N, K * D * problem.filter_elements, padded, rows * columns))
    numbers = int(scratch_numbers(most, problem.filter_elements, rows, columns, 0 if direct else padded))
    return per_chunk(numbers, most, vector_items_back(problem))


@also_in_python
def vectors_suit(filters, numbers, columns, products):
    """Whether vectorizing over filters suits rows of so many pixels and sums of so many products.

    Filters have to fill vectors, and the elements that all pixels read have to stay in the cache. Tiles need even rows,
    and transposing the sums has to be cheap in comparison, unless rows are short, which fill vectors of pixels badly.
    """
    # At least 80 % of the lanes hold a filter. For 7x7 images, pixels fill only 77 % of the lanes, and filters all of
    # them.
    fits = 4 * rounded(filters) <= 5 * filters and numbers <= BAND
    return fits and (columns % 2 == 0 or columns > LANES) and (columns < LANES or products >= LONG_SUM)


def vectors_pay(problem: ConvProblem) -> bool:
    """Whether vectorizing over filters is faster than over pixels."""
    _, K, _, D, _, H, W, E, _, _, _, _, Q, groups, *_ = problem
    several = groups == 1 and problem.filter_elements > 1
    return several and bool(vectors_suit(K, D * E * H * W, Q, D * problem.filter_elements))


def vectors_pay_back(problem: ConvProblem) -> bool:
    """Whether vectorizing over channels is faster than over pixels, for the gradient of the input."""
    _, K, _, D, _, _, W, E, _, _, _, P, Q, groups, step, *_ = problem
    products = K * problem.filter_elements // (step[0] * step[1] * step[2])
    several = groups == 1 and problem.filter_elements > 1
    return several and bool(vectors_suit(D, K * E * P * Q, W // step[2], products))


def single_channels(problem: ConvProblem) -> bool:
    """Whether the convolution is depthwise, with few filters per channel."""
    # With fewer filters than a register tile has rows, part of the tile would be empty.
    return problem.D == 1 and problem.K // problem.groups < ROWS


@also_in_python
def weight_parts(K, D, E, groups):
    """Runs of the channels and of the filters of a group that are work items, for each tap; depends on shapes only.

    Each run of the filters transposes the images again, so that channels are split first, and filters into long runs.
    """
    filters, channels, runs = K // groups, max(1, (D + CHANNELS - 1) // CHANNELS), 1
    # Measured: 4x4 transposed convolution, stride 2, 128 to 64 channels, from 82 to 99 GFLOP/s.
    while groups * channels * E < MAX_CHUNKS and D % (2 * channels * SHORTEST) == 0:
        channels *= 2
    if groups * channels * E == 1 and filters >= 2 * ROWS:
        runs = 2  # one item would leave all threads but one idle
    while groups * channels * E * runs < MAX_CHUNKS and filters >= 8 * runs * ROWS:
        runs *= 2
    return channels, runs


@also_in_python
def run_start(filters, run, runs):
    """The first filter of a run, aligned to half a register tile."""
    # The remainder of a run is then one tile of ROWS / 2 rows, instead of tiles of 4, 2 and 1.
    half = max(1, ROWS // 2)
    return min(filters, (filters * run // runs + half - 1) // half * half)


@also_in_python
def weight_items(K, D, E, groups):
    """Work items of `correlate_with_gradients`."""
    channels, runs = weight_parts(K, D, E, groups)
    return groups * channels * runs * E


@also_in_python
def weight_shape(H, W, P, Q, geometry):
    """Rows and columns of windows, and the geometry: for pointwise windows, a small image is one row."""
    if one_pixel(geometry, P, Q) and P * Q <= ONE_ROW:
        return 1, P * Q, (1, P * Q, 1, 1, 1, 1, 0, 0, 1, 1)
    return P, Q, geometry


def weight_scratch(problem: ConvProblem) -> int:
    """Numbers that a chunk of `correlate_with_gradients` needs."""
    N, K, _, D, _, H, W, E, _, _, R, P, Q, groups, *_ = problem
    channels, runs = weight_parts(K, D, E, groups)
    rows, columns, geometry = weight_shape(H, W, P, Q, problem.geometry)
    # `run_start` rounds to half a register tile, so the longest run exceeds the average; ROWS is a safe margin.
    filters = -(-K // groups // runs) + ROWS
    return int(weight_numbers(max(N, R), filters, -(-D // channels), rows, columns, geometry))
