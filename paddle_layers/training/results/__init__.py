"""What a training writes down: its folder, log, curve and settings, and the comparison of several."""
