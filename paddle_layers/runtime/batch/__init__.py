"""Everything that a batch brings: values, rows, starts, steps."""
