"""Convolution kernels: work items, scratch sizes and the cost model, which depend on shapes only.

Volumes have planes, rows and columns, filters of a volume one tap per plane that they cover; images are volumes with
one plane. `step`, `ahead` and `gap` are stride, padding and dilation along these axes.
"""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_CHUNKS, MAX_TILES
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


def multiplications(N: int, K: int, D: int, E: int, A: int, B: int, R: int, P: int, Q: int) -> int:
    """Operations on the whole batch; packing the windows costs as much as two filters."""
    return N * (K + 2) * D * E * A * B * R * P * Q


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


def forward_items(
    N: int, K: int, D: int, Z: int, H: int, W: int, E: int, A: int, B: int, R: int, P: int, Q: int, groups: int,
    step: Steps, ahead: Steps, gap: Steps,
) -> int:  # fmt: skip
    """Work items of `correlate_volumes`."""
    geometry = plane_geometry(H, W, A, B, step, ahead, gap)
    images, parts, pixel_tiles = forward_parts(N, K, D, Z, E, R, P, Q, groups, step, ahead, geometry)
    return int(N // images * parts * pixel_tiles)


def backward_items(
    N: int, K: int, C: int, Z: int, H: int, W: int, E: int, A: int, B: int, R: int, P: int, Q: int, groups: int,
    step: Steps, ahead: Steps, gap: Steps,
) -> int:  # fmt: skip
    """Work items of `correlate_volumes_back`."""
    geometry = plane_geometry(H, W, A, B, step, ahead, gap)
    images, parts = backward_parts(N, K, C, Z, E, R, P, Q, groups, step, ahead, geometry)
    return int(N // images * parts)


def chunks() -> int:
    """Work items of filter preparation: one run of filters each."""
    return MAX_CHUNKS


def output_planes(N: int, K: int) -> int:
    """Planes of the output; an item writes some of them."""
    return N * K


def input_planes(N: int, C: int) -> int:
    """Planes of the input gradient; an item writes some of them."""
    return N * C


def forward_runs(
    N: int, K: int, D: int, Z: int, H: int, W: int, E: int, A: int, B: int, R: int, P: int, Q: int, groups: int,
    step: Steps, ahead: Steps, gap: Steps,
) -> int:  # fmt: skip
    """Channels of the output, where those of an item of `correlate_volumes` are contiguous."""
    geometry = plane_geometry(H, W, A, B, step, ahead, gap)
    images, parts, pixel_tiles = forward_parts(N, K, D, Z, E, R, P, Q, groups, step, ahead, geometry)
    return N * K if min(images, parts) == 1 and pixel_tiles == 1 else 0


def backward_runs(
    N: int, K: int, C: int, Z: int, H: int, W: int, E: int, A: int, B: int, R: int, P: int, Q: int, groups: int,
    step: Steps, ahead: Steps, gap: Steps,
) -> int:  # fmt: skip
    """Channels of the input gradient, where those of an item of `correlate_volumes_back` are contiguous."""
    geometry = plane_geometry(H, W, A, B, step, ahead, gap)
    images, parts = backward_parts(N, K, C, Z, E, R, P, Q, groups, step, ahead, geometry)
    return N * C if min(images, parts) == 1 else 0


def per_chunk(numbers: int, images: int, items: int) -> int:
    """Scratch elements per item such that `MAX_CHUNKS` chunks have `numbers` each: fewer images may be more items."""
    return numbers if images == 1 else -(-numbers * MAX_CHUNKS // max(1, min(items, MAX_CHUNKS)))


def forward_scratch(
    N: int, K: int, D: int, Z: int, H: int, W: int, E: int, A: int, B: int, R: int, P: int, Q: int, groups: int,
    step: Steps, ahead: Steps, gap: Steps,
) -> int:  # fmt: skip
    """Numbers that a chunk of `correlate_volumes` needs."""
    geometry = plane_geometry(H, W, A, B, step, ahead, gap)
    images, parts, pixel_tiles = forward_parts(N, K, D, Z, E, R, P, Q, groups, step, ahead, geometry)
    most = int(forward_images(N, K // groups, D * E, P, Q, geometry))
    return per_chunk(int(forward_numbers(most, D, E, P, Q, geometry)), most, int(N // images * parts * pixel_tiles))


def backward_scratch(
    N: int, K: int, C: int, Z: int, H: int, W: int, E: int, A: int, B: int, R: int, P: int, Q: int, groups: int,
    step: Steps, ahead: Steps, gap: Steps,
) -> int:  # fmt: skip
    """Numbers that a chunk of `correlate_volumes_back` needs."""
    geometry = plane_geometry(H, W, A, B, step, ahead, gap)
    images, parts = backward_parts(N, K, C, Z, E, R, P, Q, groups, step, ahead, geometry)
    most = int(backward_images(N, K // groups * E, C // groups, Q, geometry))
    return per_chunk(int(backward_numbers(most, K // groups, E, Q, geometry)), most, int(N // images * parts))


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


def vector_items(
    N: int, K: int, D: int, H: int, W: int, E: int, A: int, B: int, P: int, Q: int, step: Steps, ahead: Steps,
    gap: Steps,
) -> int:  # fmt: skip
    """Work items of `vectors_of_volumes`."""
    images, parts = vector_forward_parts(N, K, D, E, P, Q, plane_geometry(H, W, A, B, step, ahead, gap))
    return int(N // images * parts)


def vector_items_back(
    N: int, K: int, D: int, H: int, W: int, E: int, A: int, B: int, P: int, Q: int, step: Steps, ahead: Steps,
    gap: Steps,
) -> int:  # fmt: skip
    """Work items of `vectors_of_volumes_back`."""
    images, parts = vector_backward_parts(N, K, D, E, P, Q, plane_geometry(H, W, A, B, step, ahead, gap))
    return int(N // images * parts)


def prepared_vectors(K: int, D: int, E: int, A: int, B: int) -> int:
    """Elements of the filters, transposed for `vectors_of_volumes`."""
    return int(packed_size(K, D, E * A * B))


def prepared_vectors_back(K: int, D: int, E: int, A: int, B: int) -> int:
    """Elements of the filters, transposed for `vectors_of_volumes_back`."""
    return prepared_vectors(D, K, E, A, B)


def vector_scratch(
    N: int, K: int, D: int, H: int, W: int, E: int, A: int, B: int, P: int, Q: int, step: Steps, ahead: Steps,
    gap: Steps,
) -> int:  # fmt: skip
    """Numbers that a chunk of `vectors_of_volumes` needs."""
    pitch, direct = forward_pitch(W, Q, B, step[2], ahead[2], gap[2])
    padded = D * E * H * int(pitch)
    most = int(most_vector_images(N, K * D * E * A * B, padded, P * Q))
    items = vector_items(N, K, D, H, W, E, A, B, P, Q, step, ahead, gap)
    return per_chunk(int(scratch_numbers(most, E * A * B, P, Q, 0 if direct else padded)), most, items)


def vector_scratch_back(
    N: int, K: int, D: int, H: int, W: int, E: int, A: int, B: int, P: int, Q: int, step: Steps, ahead: Steps,
    gap: Steps,
) -> int:  # fmt: skip
    """Numbers that a chunk of `vectors_of_volumes_back` needs."""
    _, pitch, direct = backward_pitch(W, Q, B, step[2], ahead[2], gap[2])
    rows, columns, padded = -(-H // step[1]), -(-W // step[2]), K * E * P * int(pitch)
    most = int(most_vector_images(N, K * D * E * A * B, padded, rows * columns))
    items = vector_items_back(N, K, D, H, W, E, A, B, P, Q, step, ahead, gap)
    return per_chunk(
        int(scratch_numbers(most, E * A * B, rows, columns, 0 if direct else padded)), most, items
    )  # fmt: skip


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


def vectors_pay(
    K: int, D: int, E: int, H: int, W: int, A: int, B: int, Q: int, groups: int
) -> bool:  # fmt: skip
    """Whether vectorizing over filters is faster than over pixels."""
    return groups == 1 and E * A * B > 1 and bool(vectors_suit(K, D * E * H * W, Q, D * E * A * B))


def vectors_pay_back(
    K: int, D: int, E: int, W: int, A: int, B: int, P: int, Q: int, groups: int, step: Steps
) -> bool:  # fmt: skip
    """Whether vectorizing over channels is faster than over pixels, for the gradient of the input."""
    products = K * E * A * B // (step[0] * step[1] * step[2])
    return groups == 1 and E * A * B > 1 and bool(vectors_suit(D, K * E * P * Q, W // step[2], products))


def single_channels(K: int, D: int, groups: int) -> bool:
    """Whether the convolution is depthwise, with few filters per channel."""
    # With fewer filters than a register tile has rows, part of the tile would be empty.
    return D == 1 and K // groups < ROWS


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


def weight_scratch(
    N: int, K: int, D: int, H: int, W: int, E: int, A: int, B: int, R: int, P: int, Q: int, groups: int,
    step: Steps, ahead: Steps, gap: Steps,
) -> int:  # fmt: skip
    """Numbers that a chunk of `correlate_with_gradients` needs."""
    geometry = plane_geometry(H, W, A, B, step, ahead, gap)
    channels, runs = weight_parts(K, D, E, groups)
    rows, columns, geometry = weight_shape(H, W, P, Q, geometry)
    # `run_start` rounds to half a register tile, so the longest run exceeds the average; ROWS is a safe margin.
    filters = -(-K // groups // runs) + ROWS
    return int(weight_numbers(max(N, R), filters, -(-D // channels), rows, columns, geometry))


def outputs(N: int, K: int, R: int, P: int, Q: int) -> int:
    """Number of elements of the output of a convolution."""
    return N * K * R * P * Q


def filter_tiles(K: int) -> int:
    """Number of filter tiles; depends on the shape only."""
    return min(K, MAX_TILES)
