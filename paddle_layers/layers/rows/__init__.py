"""Functions of rows: maps, products, norms, shapes."""
