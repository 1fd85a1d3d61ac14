"""Output files for values of a network, written batch by batch; the file extension selects the format."""
