"""Batched convolutions (correlations) of images and volumes, and their gradients: loops over independent work items.

`conv` and `conv3d` are such correlations; the transposed convolutions are their gradients. Images are volumes with one
plane.
"""

from __future__ import annotations

from paddle_layers.kernels.constants import MAX_CHUNKS, MAX_TILES, NO_EPILOGUE
from paddle_layers.kernels.primitives.compile_options import compiled
from paddle_layers.kernels.primitives.epilogues import from_filter
from paddle_layers.kernels.primitives.memory_ops import set_entry
from paddle_layers.kernels.primitives.microkernels import ENTRY, VECTOR, VECTORS, rounded
from paddle_layers.kernels.primitives.scratch import scratch_of_chunk
from paddle_layers.kernels.primitives.vector_functions import total

from .conv_tiling import (
    backward_parts,
    forward_parts,
    one_element,
    plane_geometry,
    run_start,
    vector_backward_parts,
    vector_forward_parts,
    volume_shape,
    weight_items,
    weight_parts,
    weight_shape,
)
from .direct_conv import correlate, correlate_back, pointwise_conv
from .filter_vectorized_conv import correlate_vectors, correlate_vectors_back, transpose_matrices
from .weight_gradients import correlate_weights


@compiled
def meeting_run(count, first, step, extent):
    """The first of `count` indices, `step` apart from `first` on, that is in `extent`, and how many are."""
    low = min(count, max(0, -(first // step)))
    return low, max(low, min(count, (extent - first + step - 1) // step)) - low


@compiled
def meeting_taps(z, taps, windows, step, ahead, gap):
    """The first tap whose window contains a plane, the step to the next such tap, and their number."""
    first, apart, count = 0, 1, 0
    for tap in range(taps):
        back = z + ahead - tap * gap
        if back >= 0 and back % step == 0 and back // step < windows:
            apart = tap - first if count == 1 else apart
            first = tap if count == 0 else first
            count += 1
    return first, apart, count


@compiled
def pixel_tile_bounds(pixel_tile, pixel_tiles, pixels, size):
    """Bounds of a tile of pixels: all register tiles but the last are complete."""
    tile = VECTORS * VECTOR // size
    tiles = (pixels + tile - 1) // tile
    return tiles * pixel_tile // pixel_tiles * tile, min(pixels, tiles * (pixel_tile + 1) // pixel_tiles * tile)


@compiled
def correlate_volumes(first, last, y, x, weight, accumulate, scratch, step, ahead, gap, groups, epilogue):
    """Convolution `y` (N, K, R, P, Q) of `x` (N, C, Z, H, W) with the filters, added to `y` where `accumulate`.

    A work item is a run of filters of a volume, or of several volumes with small planes, or a tile of the pixels of
    such a run. `epilogue` is defined in `primitives.epilogues`.
    """
    N, K, R, P, Q = volume_shape(y)
    _, C, Z, H, W = volume_shape(x)
    _, D, E, A, B = volume_shape(weight)
    geometry = plane_geometry(H, W, A, B, step, ahead, gap)
    filters, size, one = K // groups, y.itemsize, y.dtype.type(1)
    images, parts, pixel_tiles = forward_parts(N, K, D, Z, E, R, P, Q, groups, step, ahead, geometry)
    items = N // images * parts * pixel_tiles
    element, plane, volume = A * B * size, H * W * size, R * P * Q * size
    # `pointwise_conv` needs at least one whole vector of pixels.
    direct = one_element(Z, E, R, P, Q, step, ahead, geometry) and volume >= VECTOR
    for item in range(first, last):
        place, n, run = (
            scratch_of_chunk(scratch, item, items),
            item // pixel_tiles // parts * images,
            item // pixel_tiles % parts,
        )
        left, right = pixel_tile_bounds(item % pixel_tiles, pixel_tiles, R * P * Q, size)
        k, stop = run * K // parts, (run + 1) * K // parts
        while k < stop:
            # A run of filters may begin or end inside of a group, but whole groups are convolved in one call.
            count = min(stop - k, filters - k % filters)
            whole = (stop - k) // filters if count == filters else 1
            of, to = x.ctypes.data + (n * C + k // filters * D) * Z * plane, y.ctypes.data + (n * K + k) * volume
            factors, ending = weight.ctypes.data + k * D * E * element, from_filter(epilogue, k, size)
            if direct:
                set_entry(place, 0, 0, 0)
                pointwise_conv(
                    count, (D, volume, 1, place), of + left * size, factors, (D * size, size), to + left * size, volume,
                    right - left, place + ENTRY * size if accumulate else 0, ending, size, one,
                )  # fmt: skip
            else:
                for r in range(R):
                    start = r * step[0] - ahead[0]
                    # Planes of padding are left out, unlike padding within a plane.
                    tap, taps = meeting_run(E, start, gap[0], Z)
                    correlate(
                        images, whole, count, D, (E, taps), of + (start + tap * gap[0]) * plane,
                        (C * Z * plane, Z * plane, gap[0] * plane), factors + tap * element,
                        (D * E * element, E * element, element), to + r * P * Q * size, (K * volume, volume), P, Q,
                        geometry, place, accumulate, ending, size, one,
                    )  # fmt: skip
            k += count if direct else whole * count


@compiled
def correlate_volumes_back(first, last, dx, dy, weight, accumulate, scratch, step, ahead, gap, groups):
    """Gradient `dx` (N, C, Z, H, W) of `correlate_volumes` with respect to x, added to `dx` where `accumulate`.

    A work item is a run of channels of a volume, or of several volumes with small planes.
    """
    N, K, R, P, Q = volume_shape(dy)
    _, C, Z, H, W = volume_shape(dx)
    _, D, E, A, B = volume_shape(weight)
    geometry = plane_geometry(H, W, A, B, step, ahead, gap)
    filters, size, one = K // groups, dy.itemsize, dy.dtype.type(1)
    images, parts = backward_parts(N, K, C, Z, E, R, P, Q, groups, step, ahead, geometry)
    items = N // images * parts
    element, plane, volume = A * B * size, P * Q * size, Z * H * W * size
    direct = one_element(Z, E, R, P, Q, step, ahead, geometry) and volume >= VECTOR
    for item in range(first, last):
        place, n = scratch_of_chunk(scratch, item, items), item // parts * images
        c, stop = item % parts * C // parts, (item % parts + 1) * C // parts
        while c < stop:
            count, k = min(stop - c, D - c % D), c // D * filters
            whole = (stop - c) // D if count == D else 1
            deltas, to = dy.ctypes.data + (n * K + k) * R * plane, dx.ctypes.data + (n * C + c) * volume
            factors = weight.ctypes.data + (k * D + c % D) * E * element
            if direct:
                set_entry(place, 0, 0, 0)
                pointwise_conv(
                    count,
                    (filters, volume, 1, place),
                    deltas,
                    factors,
                    (size, D * size),
                    to,
                    volume,
                    Z * H * W,
                    place + ENTRY * size if accumulate else 0,
                    NO_EPILOGUE,
                    size,
                    one,
                )
            else:
                for z in range(Z):
                    tap, apart, taps = meeting_taps(z, E, R, step[0], ahead[0], gap[0])
                    r = (z + ahead[0] - tap * gap[0]) // step[0]
                    correlate_back(
                        images, whole, count, filters, (E, taps), deltas + r * plane,
                        (K * R * plane, R * plane, -(apart * gap[0] // step[0]) * plane), factors + tap * element,
                        (E * element, D * E * element, apart * element), to + z * H * W * size, (C * volume, volume),
                        P, Q, geometry, place, accumulate, size, one,
                    )  # fmt: skip
            c += count if direct else whole * count


@compiled
def transpose_weight(first, last, prepared, weight):
    """Transposes `weight` (K, D, ...) so that the filters are contiguous, for `vectors_of_volumes`.

    An item is a run of elements.
    """
    K, size, one = weight.shape[0], weight.itemsize, weight.dtype.type(1)
    elements = weight.size // max(K, 1)
    for item in range(first, last):
        begin, end = elements * item // MAX_CHUNKS, elements * (item + 1) // MAX_CHUNKS
        transpose_matrices(begin, end, prepared.ctypes.data, weight.ctypes.data, K, elements, size, one)


@compiled
def transpose_weight_back(first, last, prepared, weight):
    """Makes the channels of each filter contiguous, for `vectors_of_volumes_back`; an item is a run of filters."""
    K, D, size, one = weight.shape[0], weight.shape[1], weight.itemsize, weight.dtype.type(1)
    elements = weight.size // max(K * D, 1)
    for k in range(K * first // MAX_CHUNKS, K * last // MAX_CHUNKS):
        to = prepared.ctypes.data + k * elements * rounded(D) * size
        transpose_matrices(0, elements, to, weight.ctypes.data + k * D * elements * size, D, elements, size, one)


@compiled
def vectors_of_volumes(first, last, y, x, prepared, accumulate, scratch, sizes, step, ahead, gap):
    """`correlate_volumes` vectorized over filters of `sizes` (E, A, B), without groups.

    A work item is a run of filters of a volume, or of several small ones.
    """
    N, K, R, P, Q = volume_shape(y)
    _, C, Z, H, W = volume_shape(x)
    E, A, B = sizes
    geometry = plane_geometry(H, W, A, B, step, ahead, gap)
    size, one = y.itemsize, y.dtype.type(1)
    images, parts = vector_forward_parts(N, K, C, E, P, Q, geometry)
    plane, volume, element = H * W * size, R * P * Q * size, A * B * rounded(K) * size
    for item in range(first, last):
        place, n, part = scratch_of_chunk(scratch, item, N // images * parts), item // parts * images, item % parts
        for r in range(R):
            start = r * step[0] - ahead[0]
            tap, taps = meeting_run(E, start, gap[0], Z)
            correlate_vectors(
                images, C, taps, x.ctypes.data + (n * C * Z + start + tap * gap[0]) * plane,
                (C * Z * plane, Z * plane, gap[0] * plane), prepared.ctypes.data + tap * element,
                (E * element, element), K * part // parts, K * (part + 1) // parts,
                y.ctypes.data + n * K * volume + r * P * Q * size, (K * volume, volume), P, Q, geometry, place,
                accumulate, size, one,
            )  # fmt: skip


@compiled
def vectors_of_volumes_back(first, last, dx, dy, prepared, accumulate, scratch, sizes, step, ahead, gap):
    """`correlate_volumes_back` vectorized over channels, for filters of `sizes` (E, A, B), without groups.

    A work item is a run of channels of a volume, or of several small ones.
    """
    N, K, R, P, Q = volume_shape(dy)
    _, C, Z, H, W = volume_shape(dx)
    E, A, B = sizes
    geometry = plane_geometry(H, W, A, B, step, ahead, gap)
    size, one = dy.itemsize, dy.dtype.type(1)
    images, parts = vector_backward_parts(N, K, C, E, P, Q, geometry)
    plane, volume, wide = P * Q * size, Z * H * W * size, rounded(C) * size
    element = A * B * wide
    for item in range(first, last):
        place, n, part = scratch_of_chunk(scratch, item, N // images * parts), item // parts * images, item % parts
        for z in range(Z):
            tap, apart, taps = meeting_taps(z, E, R, step[0], ahead[0], gap[0])
            r = (z + ahead[0] - tap * gap[0]) // step[0]
            correlate_vectors_back(
                images, K, taps, dy.ctypes.data + (n * K * R + r) * plane,
                (K * R * plane, R * plane, -(apart * gap[0] // step[0]) * plane), prepared.ctypes.data + tap * element,
                (E * element, apart * element, wide), C * part // parts, C * (part + 1) // parts,
                dx.ctypes.data + n * C * volume + z * H * W * size, (C * volume, volume), P, Q, geometry, place,
                accumulate, size, one,
            )  # fmt: skip


@compiled
def correlate_with_gradients(first, last, dweight, dy, x, accumulate, scratch, step, ahead, gap, groups):
    """Gradient `dweight` (K, D, E, A, B) of `correlate_volumes` by the filters, added to `dweight` where `accumulate`.

    A work item is a tap of some filters for some channels of a group, over all its planes in order.
    """
    N, K, R, P, Q = volume_shape(dy)
    _, C, Z, H, W = volume_shape(x)
    _, D, E, A, B = volume_shape(dweight)
    rows, columns, geometry = weight_shape(H, W, P, Q, plane_geometry(H, W, A, B, step, ahead, gap))
    filters, size, one = K // groups, dy.itemsize, dy.dtype.type(1)
    plane, deltas = H * W * size, P * Q * size
    parts, runs = weight_parts(K, D, E, groups)
    items = weight_items(K, D, E, groups)
    for item in range(first, last):
        group, part, run, tap = item // E // runs // parts, item // E // runs % parts, item // E % runs, item % E
        k, end = run_start(filters, run, runs), run_start(filters, run + 1, runs)
        d, stop = D * part // parts, D * (part + 1) // parts
        r, count = meeting_run(R, tap * gap[0] - ahead[0], step[0], Z)
        z = r * step[0] - ahead[0] + tap * gap[0]
        of_volume, of_plane = (C * Z * plane, K * R * deltas), (step[0] * plane, deltas)
        # The longer of batch and planes is the inner loop, of which a band takes several.
        many, outer, inner = (N, of_volume, of_plane) if count > N else (count, of_plane, of_volume)
        correlate_weights(
            many, max(N, count), end - k, stop - d,
            x.ctypes.data + ((group * D + d) * Z + z) * plane, (outer[0], inner[0], Z * plane),
            dy.ctypes.data + ((group * filters + k) * R + r) * deltas, (outer[1], inner[1], R * deltas),
            dweight.ctypes.data + (((group * filters + k) * D + d) * E + tap) * A * B * size,
            (D * E * A * B, E * A * B), rows, columns, geometry, scratch_of_chunk(scratch, item, items), accumulate,
            size, one,
        )  # fmt: skip


@compiled
def add_deltas(first, last, dbias, dy, accumulate):
    """Bias gradient `dbias` (K): sums of `dy` (N, K, ...), added to `dbias` where `accumulate`."""
    N, K = dy.shape[:2]
    parts, zero, deltas = min(K, MAX_TILES), dy.dtype.type(0), dy.ravel()
    numbers = dy.size // max(N * K, 1)
    for part in range(first, last):
        for k in range(K * part // parts, K * (part + 1) // parts):
            result = dbias[k] if accumulate else zero
            for n in range(N):
                result += total(deltas[(n * K + k) * numbers : (n * K + k + 1) * numbers], zero)
            dbias[k] = result
