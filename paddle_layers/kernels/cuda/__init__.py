"""Tuned kernels for CUDA cards, where a thread for each element is slow. Importing them needs numba-cuda."""
