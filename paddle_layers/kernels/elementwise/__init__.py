"""Tuned kernels of the layers in layers/elementwise."""
