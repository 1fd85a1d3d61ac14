"""Tuned kernels of the image layers."""
