"""Tuned kernels, in the folders and files of the layers whose point functions they replace where they are faster."""
