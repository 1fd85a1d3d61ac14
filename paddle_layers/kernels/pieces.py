"""How the work items of a launch are cut for the CPU's threads."""

PIECES = 8
"""Pieces at most, more than there are threads, so that these end together; items of a piece run one after the other."""
NO_EPILOGUE = (0, 0)
"""What a kernel that asks for `epilogue` gets where nothing follows: see `primitives.epilogues`."""
