"""Point functions: elementwise formulas of tensors, and their static analysis."""
