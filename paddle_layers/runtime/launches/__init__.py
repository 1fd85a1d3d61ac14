"""What is launched: specialised functions with their arguments, over buffers."""
