"""What kernels and those that launch them agree on: how work items are cut for threads, and tables of epilogues."""

PIECES = 8
"""Pieces at most, more than there are threads, so that these end together; items of a piece run one after the other."""
NO_EPILOGUE = (0, 0)
"""What a kernel that asks for `epilogue` gets where nothing follows: see `primitives.epilogues`."""
EPILOGUE_ROWS = 5
"""Rows of the table of an epilogue: mean, factor, shift, low, high."""
