"""Computation graph: values, operations, rows, recurrent groups."""
