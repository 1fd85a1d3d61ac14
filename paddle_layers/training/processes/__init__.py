"""Data-parallel training by MPI."""
