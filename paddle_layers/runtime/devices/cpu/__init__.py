"""The CPU: compiled drivers, and the loop that runs them."""
