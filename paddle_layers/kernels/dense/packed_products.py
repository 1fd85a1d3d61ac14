"""Products of fully connected layers (`fc`, `trans_fc`) with a right matrix that is packed first, by its own kernel.

In the test phase weights are packed once, until a parameter changes; then even two rows repay it. In training they are
packed in every pass, for many rows. A weight gradient packs the gradient of the output, and blocks of the input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from paddle_layers.kernels.constants import MAX_CHUNKS
from paddle_layers.kernels.primitives.compile_options import also_in_python, compiled
from paddle_layers.kernels.primitives.microkernels import rounded
from paddle_layers.kernels.primitives.packed_panels import (
    TILES,
    block_numbers,
    multiply_panels,
    multiply_transposed,
    pack_columns,
    packing_items,
    panel_bounds,
    panel_numbers,
    tail_numbers,
)
from paddle_layers.kernels.primitives.scratch import chunk_of, scratch_of_chunk
from paddle_layers.kernels.tuned import tuned

# For fewer rows, register tiles over the weight as it is take less time than packing it. Speed relative to BLAS for 16
# rows, 9216 to 4096: output 1.97, input gradient 2.91, weight gradient 1.72.
MOST = 128
"""Maximum number of rows of a skinny product."""
Host = Callable[..., int]
# Below it, little is gained: 16x256 to 256 takes 19 us, 22 by BLAS.
MIN_WORK = 1 << 20
"""Minimum number of multiplications."""
SHORTEST = 64
"""Minimum length of rows and columns of the weight in training: short sums and narrow panels do not repay packing."""


@also_in_python
def tiles(rows, columns):
    """Number of tiles of a result matrix: at least 16 rows or columns, and long runs of a vector.

    It depends on the shape only.
    """
    # With tiles of 256 or 128 columns BLAS was slower: 229 and 259 us instead of 195 for 1280 to 1000.
    return max(1, min(TILES, columns // 512 if rows == 1 else max(rows, columns) // 16))


@compiled
def pack(first, last, panels, matrix, transposed):
    """Packs a stored matrix, or its transpose."""
    pack_columns(first, last, panels.ctypes.data, matrix, 0, matrix.shape[1], transposed)


@compiled
def packed_product(first, last, y, x, prepared, scratch, adding):
    """Product of x and a packed weight; an item is some rows or some panels, whichever are more."""
    N, K = y.shape
    size, one = y.itemsize, y.dtype.type(1)
    C, items = prepared.size // rounded(K), tiles(N, K)
    for item in range(first, last):
        low, high, (begin, end) = 0, N, panel_bounds(item, items, K, size)
        if N > K:
            low, high, (begin, end) = N * item // items, N * (item + 1) // items, panel_bounds(0, 1, K, size)
        multiply_panels(
            (y.ctypes.data + low * K * size, K), (x.ctypes.data + low * C * size, C), high - low, C,
            prepared.ctypes.data, K, begin, end, adding, scratch_of_chunk(scratch, item, items), size, one,
        )  # fmt: skip


@also_in_python
def chunk_numbers(N, K):
    """Scratch elements of a chunk of the weight gradient: its share of the packed matrix, and a block."""
    return (panel_numbers(N, K) + MAX_CHUNKS - 1) // MAX_CHUNKS + block_numbers()


@compiled
def packed_gradient(first, last, dweight, x, dy, scratch, adding):
    """Product of transposed x and packed dy; an item is some rows or some panels."""
    N = dy.shape[0]
    C, K = dweight.shape
    size, one, items = x.itemsize, x.dtype.type(1), tiles(C, K)
    blocks = scratch.ctypes.data + panel_numbers(N, K) * size
    for item in range(first, last):
        low, high, (begin, end) = 0, C, panel_bounds(item, items, K, size)
        # Inputs are split so that each item packs its own once, unless all panels are much memory to read per item.
        if C > K or (C >= TILES * SHORTEST // 2 and K <= 4 * C):
            low, high, (begin, end) = C * item // items, C * (item + 1) // items, panel_bounds(0, 1, K, size)
        multiply_transposed(
            (dweight.ctypes.data, K), (x.ctypes.data, C), low, high, N, scratch.ctypes.data, K, begin, end, adding,
            blocks + chunk_of(item, items) * block_numbers() * size, size, one,
        )  # fmt: skip


def packing_pays(N: int, C: int, K: int, training: bool) -> bool:
    """Whether N rows repay packing a weight of C x K elements."""
    return N > MOST and min(C, K) >= SHORTEST if training else N > 1


def register_product(
    layer: str,
    function: str,
    arguments: Mapping[str, str],
    items: Host,
    runs: Host,
    numbers: Host,
    when: Callable[..., bool],
    work: Host,
) -> None:
    """Registers a product with a weight: `arguments` of both kernels, work items of the second, packed elements."""
    tuned(
        layer, function, items=packing_items, scratch=tail_numbers, scratch_per_chunk=True, when=when, work=work,
        least=MIN_WORK, prepared=numbers, arguments={"panels": "prepared", "matrix": "weight", **arguments},
    )(pack)  # fmt: skip
    tuned(layer, function, items=items, runs=runs, after=pack, arguments=arguments)(packed_product)


def register_gradient(
    layer: str,
    function: str,
    arguments: Mapping[str, str],
    items: Host,
    numbers: Host,
    when: Callable[..., bool],
    work: Host,
) -> None:
    """Registers a weight gradient; `numbers` are the scratch elements of a chunk."""
    tuned(
        layer, function, items=packing_items, scratch=numbers, scratch_per_chunk=True, when=when, work=work,
        least=MIN_WORK, arguments={"panels": "scratch", "matrix": arguments.get("dy", "dy"), "transposed": "0"},
    )(pack)  # fmt: skip
    tuned(layer, function, items=items, after=pack, arguments=arguments)(packed_gradient)
