"""Tuned kernels, organized like the layers whose point functions they replace where they are faster."""
