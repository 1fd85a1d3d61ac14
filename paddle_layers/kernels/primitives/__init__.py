"""Building blocks of kernels: BLAS calls, register tiles, vector code, packing."""
