"""Network construction in Python, by the helpers of `paddle_layers.nn`."""
