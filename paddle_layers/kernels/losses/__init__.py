"""Tuned kernels of the loss layers."""
