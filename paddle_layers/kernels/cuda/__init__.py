"""Tuned kernels for CUDA GPUs, where one thread per element is slow. Importing them needs numba-cuda."""
