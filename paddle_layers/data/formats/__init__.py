"""File formats as columns of values: tables, text, arrays, HDF5, LMDB, Parquet, images, all with checked sizes."""
