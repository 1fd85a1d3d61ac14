"""Tuned kernels of the detection layers."""
