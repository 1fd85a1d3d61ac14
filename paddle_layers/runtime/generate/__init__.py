"""Code generation: from point functions to the source code of drivers, cached on disk."""
