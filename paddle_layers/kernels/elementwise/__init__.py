"""Tuned kernels of the elementwise layers."""
