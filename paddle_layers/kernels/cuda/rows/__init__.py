"""Tuned CUDA kernels of the layers in layers/rows."""
