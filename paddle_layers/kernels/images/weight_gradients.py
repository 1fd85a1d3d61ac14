"""Filter gradients with register tiles: vectorized over channels, reduced over the pixels of the batch.

For that the images are transposed to channels-last, a band of rows of some channels at a time: the channels of a pixel
are contiguous, followed by those of the next pixel. So the elements of a filter row are also contiguous, and a vector
may hold channels of several; the factors of the tile are the output gradients, unpacked. Pixels outside of the image
are zeros. With few channels, the rows of a window are gathered, so that vectors hold elements of several rows.
"""

from __future__ import annotations

from paddle_layers.kernels.primitives.compile_options import also_in_python, copied
from paddle_layers.kernels.primitives.memory_ops import move_8, scatter_run, set_entry, transpose, zeros
from paddle_layers.kernels.primitives.microkernels import ENTRY, add_dots, gemm_microkernel, rounded, vectors_of

from .direct_conv import band_numbers, forward_layout
from .padded_planes import SLACK, pack_plane, plane_size

# 256 KiB of float32: a quarter of an L2 cache of 1 MiB, next to the gradients of the same band.
MAX_TRANSPOSED = 1 << 16
"""Elements of the transposed pixels of a band, which stay in a core's cache while all filters use them."""
# 8 filters of a register tile times 1024 gradients are 32 KiB of float32, an L1 cache.
WINDOWS = 1 << 10
"""Windows of a band: their gradients for the filters of a tile stay in the L1 cache."""
SPARE = 64
"""Padding elements after the pixels and after each row of sums, for the last vector."""


@also_in_python
def transposed_layout(N, channels, P, Q, geometry):
    """Images and rows of windows of a band, rows and columns of its transposed pixels, pixels per window and axis."""
    _, _, A, B, stride, stride_y, _, _, dilation, dilation_y = geometry
    take, take_y = (1 if B > 1 else stride), (1 if A > 1 else stride_y)
    columns = (Q - 1) * stride // take + (B - 1) * dilation + 1
    reach = (A - 1) * dilation_y + 1
    most = (MAX_TRANSPOSED // (columns * channels) - reach) * take_y // stride_y + 1
    windows = min(WINDOWS, MAX_TRANSPOSED // rounded(A * B * channels)) if gathered(channels, geometry) else WINDOWS
    most = max(1, min(P, most, windows // Q))
    bands = (P + most - 1) // most
    depth = (P + bands - 1) // bands
    rows = (depth - 1) * stride_y // take_y + reach
    images = max(1, min(N, windows // (depth * Q), MAX_TRANSPOSED // (rows * columns * channels))) if depth == P else 1
    return images, depth, rows, columns, take_y, take


@also_in_python
def gathered(channels, geometry):
    """Whether the rows of a window are gathered: that fills vectors much better."""
    _, _, A, B, _, _, _, _, dilation, _ = geometry
    return dilation == 1 and 4 * rounded(A * B * channels) <= 3 * A * rounded(B * channels)


@also_in_python
def run_of(channels, geometry):
    """Number of contiguous elements of a filter, and the size of their run in the sums."""
    _, _, A, B, _, _, _, _, dilation, _ = geometry
    together = A * B if gathered(channels, geometry) else (B if dilation == 1 else 1)
    return together, together * channels + SPARE


@also_in_python
def weight_numbers(N, filters, channels, P, Q, geometry):
    """Scratch elements for `correlate_weights`."""
    images, depth, rows, columns, _, _ = transposed_layout(N, channels, P, Q, geometry)
    together, run = run_of(channels, geometry)
    elements = geometry[2] * geometry[3]
    windows = images * depth * Q * rounded(elements * channels) + SPARE if gathered(channels, geometry) else 0
    sums = filters * (elements // together) * run
    return depth * Q * ENTRY + images * rows * columns * channels + SPARE + windows + sums


@copied
def correlate_weights(
    batches, N, filters, channels, x, x_steps, dy, dy_steps, dweight, dweight_steps, P, Q, geometry, place, adding,
    size, one,
):  # fmt: skip
    """Gradient of some filters' elements for some channels, over all images, or its addition where `adding`.

    `x` and `dy` are the addresses of the first image's channels and gradients, of which there are `batches` times `N`.
    `x_steps` are the byte strides of batches, images and channels, `dy_steps` those of batches, images and filters,
    `dweight_steps` the strides in elements of filters and channels. The result of a band is summed separately before it
    is added, so that rounding errors grow little with the batch.
    """
    H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y = geometry
    images, depth, rows, columns, take_y, take = transposed_layout(N, channels, P, Q, geometry)
    together, run = run_of(channels, geometry)
    gathers, pixel = gathered(channels, geometry), channels * size
    window = rounded(A * B * channels) * size
    transposed = place + depth * Q * ENTRY * size
    windows = transposed + (images * rows * columns * channels + SPARE) * size
    sums = windows + ((images * depth * Q * window + SPARE * size) if gathers else 0)
    filter_sums = A * B // together * run
    vectors = vectors_of(together * channels, size)
    for p in range(depth):
        for q in range(Q):
            at = p * stride_y // take_y * columns + q * stride // take
            start = (p * Q + q) * window if gathers else at * pixel
            set_entry(place, p * Q + q, start, (p * Q + q) * size)
    if batches * N == 0:
        zeros(sums, filters * filter_sums, size, one)
    for batch in range(batches):
        for n in range(0, N, images):
            of, deltas = x + batch * x_steps[0] + n * x_steps[1], dy + batch * dy_steps[0] + n * dy_steps[1]
            for top in range(0, P, depth):
                high, many = min(depth, P - top), min(images, N - n)
                for image in range(many):
                    transpose_band(
                        transposed + image * rows * columns * pixel, of + image * x_steps[1], (H, W), x_steps[2],
                        top * stride_y - padding_y, padding, rows, columns, channels, (take_y, take), size, one,
                    )  # fmt: skip
                    if gathers:
                        gather_pixels(
                            windows + image * high * Q * window, transposed + image * rows * columns * pixel,
                            (high, Q), (stride_y // take_y * columns, stride // take), (A, B * channels),
                            dilation_y * columns, window, pixel, size, one,
                        )  # fmt: skip
                for element in range(0, A * B, together):
                    at = 0 if gathers else (element // B * dilation_y * columns + element % B * dilation) * pixel
                    # The first band overwrites the sums, so that they need not be cleared.
                    gemm_microkernel(
                        filters, vectors, 0, many, high * Q * window if gathers else rows * columns * pixel,
                        dy_steps[1], high * Q, place, deltas + top * Q * size, dy_steps[2],
                        (windows if gathers else transposed) + at, sums + element // together * run * size,
                        filter_sums * size, batch + n + top > 0, one,
                    )  # fmt: skip
    filter_step, channel_step = dweight_steps
    for k in range(filters):
        for element in range(A * B):
            source = sums + (k * filter_sums + element // together * run + element % together * channels) * size
            scatter_run(dweight + (k * filter_step + element) * size, source, channels, channel_step, adding, size, one)


@copied
def gather_pixels(to, of, shape, steps, sizes, row, window, pixel, size, one):
    """Gathers the elements of each window of a transposed band.

    `shape` are the rows and columns of windows, `steps` their strides in pixels; a window has `sizes[0]` runs of
    `sizes[1]` elements, `row` pixels apart. Vectors extend past the end of a run, and what they write there is
    overwritten or never read.
    """
    for p in range(shape[0]):
        for q in range(shape[1]):
            at, source = to, of + (p * steps[0] + q * steps[1]) * pixel
            for _ in range(sizes[0]):
                # Runs of 5, 9 or 21 elements are no multiples of 8: these moves took a third of the filter gradients
                # of first layers.
                for done in range(0, sizes[1], 8):
                    move_8(at + done * size, source + done * size, one)
                at += sizes[1] * size
                source += row * pixel
            to += window


@copied
def transpose_band(to, of, extents, channel_bytes, top, padding, rows, columns, channels, steps, size, one):
    """Transposes a band of rows from `top` on, with zeros where it is outside of the image of `extents` pixels."""
    (H, W), (step_y, step) = extents, steps
    first = min(columns, (padding + step - 1) // step)
    last = max(first, min(columns, (W + padding + step - 1) // step))
    for row in range(rows):
        h = top + row * step_y
        if 0 <= h < H and last > first:
            zeros(to, first * channels, size, one)
            transpose(
                to + first * channels * size, of + (h * W + first * step - padding) * size,
                channels, last - first, channel_bytes // size, channels, step, size, one,
            )  # fmt: skip
            zeros(to + last * channels * size, (columns - last) * channels, size, one)
        else:
            zeros(to, columns * channels, size, one)
        to += columns * channels * size


@also_in_python
def dots_numbers(P, Q, geometry):
    """Scratch elements for `correlate_planes`."""
    depth, reach, pitch, shared_zeros, planes_y, planes_x = forward_layout(1, P, Q, geometry)
    entries, planes = geometry[2] * geometry[3], planes_y * planes_x
    return band_numbers(planes, plane_size(depth + reach, pitch, shared_zeros), entries, depth, pitch)


@copied
def correlate_planes(N, k, stop, filters, x, x_image, dy, dy_image, dweight, P, Q, geometry, place, size, one):
    """Adds the gradients of the depthwise filters `k` to `stop`: dot products of planes.

    A channel has `filters` filters. Gradients between the rows of a plane are zero.
    """
    H, W, A, B, stride, stride_y, padding, padding_y, dilation, dilation_y = geometry
    depth, reach, pitch, shared_zeros, planes_y, planes_x = forward_layout(1, P, Q, geometry)
    plane = plane_size(depth + reach, pitch, shared_zeros) * size
    padded = place + A * B * ENTRY * size
    deltas = padded + (planes_y * planes_x * plane + SLACK * size)
    for a in range(A):
        for b in range(B):
            image = a % planes_y * planes_x + b % planes_x
            run = (a * dilation_y // stride_y * pitch + b * dilation // stride) * size
            set_entry(place, a * B + b, image * plane + run, (a * B + b) * size)
    for n in range(N):
        for filter_ in range(k, stop):
            source = x + n * x_image + filter_ // filters * H * W * size
            for top in range(0, P, depth):
                rows = min(depth, P - top)
                to = padded
                for a in range(planes_y):
                    for b in range(planes_x):
                        first = top * stride_y - padding_y + a * dilation_y % stride_y
                        pack_plane(
                            to, source, (H, W), first, b * dilation % stride - padding,
                            rows + reach, pitch, shared_zeros, (stride_y, stride), size, one,
                        )  # fmt: skip
                        to += plane
                zeros(to, SLACK, size, one)
                of = dy + n * dy_image + (filter_ * P + top) * Q * size
                pack_plane(deltas, of, (rows, Q), 0, 0, rows, pitch, SLACK, (1, 1), size, one)
                vectors = vectors_of((rows - 1) * pitch + Q, size)
                add_dots(A * B, vectors, padded, place, deltas, dweight + filter_ * A * B * size, one)
