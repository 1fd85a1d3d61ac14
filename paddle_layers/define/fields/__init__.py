"""Fields of definitions: attributes, tensors with named axes, examples."""
