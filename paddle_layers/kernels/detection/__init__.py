"""Tuned kernels of the layers in layers/detection."""
