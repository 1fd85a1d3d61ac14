"""Output of commands: on the terminal, to files, as pages and images."""
