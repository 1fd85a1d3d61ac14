"""Tuned CUDA kernels of the image layers."""
