"""Building blocks that kernels of several families share."""
