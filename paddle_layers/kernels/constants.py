"""Constants shared by kernels and launches: chunking of work items for threads, and the layout of epilogue tables."""

MAX_CHUNKS = 8
"""Maximum number of chunks, more than threads for load balance; work items of a chunk run sequentially."""
NO_EPILOGUE = (0, 0)
"""Value of `epilogue` for a kernel without a fused epilogue: see `primitives.epilogues`."""
EPILOGUE_ROWS = 5
"""Rows of the table of an epilogue: mean, factor, shift, low, high."""
