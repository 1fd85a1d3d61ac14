"""Point functions: what one element of a tensor is, and what their text says."""
