"""Tuned CUDA kernels of the dense layers."""
