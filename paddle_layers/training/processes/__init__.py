"""Several processes that train one network together, by MPI."""
