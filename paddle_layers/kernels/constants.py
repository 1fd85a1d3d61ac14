"""Constants shared by kernels and launches: chunking of work items for threads, and the layout of epilogue tables."""

# A constant, never the number of threads: chunks own the scratch buffers and partial sums, so results have the same
# bits on any machine. Eight keep the memory small and still balance two to eight threads.
MAX_CHUNKS = 8
"""Maximum number of chunks, more than threads for load balance; work items of a chunk run sequentially."""
MAX_TILES = 8
"""Maximum number of work items of elementwise kernels and reductions; a constant, as `MAX_CHUNKS`."""
MAX_PLANE_TILES = 16
"""The same for kernels whose work items are planes; a constant, too."""
NO_EPILOGUE = (0, 0)
"""Value of `epilogue` for a kernel without a fused epilogue: see `primitives.epilogues`."""
EPILOGUE_ROWS = 5
"""Rows of the table of an epilogue: mean, factor, shift, low, high."""
