"""Functions of elements: activations, arithmetic."""
