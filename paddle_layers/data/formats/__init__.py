"""Files as columns of values: tables, texts, arrays, HDF5, LMDB, Parquet, pictures; sizes are checked before use."""
