"""From point functions to the text of drivers, kept on the disk."""
