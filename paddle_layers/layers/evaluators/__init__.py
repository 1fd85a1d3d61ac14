"""Statistics of what a network says."""
