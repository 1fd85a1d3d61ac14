"""What a definition is made of: attributes, tensors with named axes, examples."""
