"""Sources of data and transforms."""
