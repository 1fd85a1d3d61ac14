"""Tuned kernels of the sequence layers."""
