"""Output files of a training: folder, log, learning curve and settings, and the comparison of several runs."""
