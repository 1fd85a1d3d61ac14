"""What is wrong with a config: collected, explained, shown."""
