"""Tuned kernels of the dense layers."""
