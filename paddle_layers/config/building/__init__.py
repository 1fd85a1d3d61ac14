"""Networks that are written in Python, by the helpers of `paddle_layers.nn`."""
