"""Tuned kernels of the recurrent layers."""
