"""Tests and benchmarks on a GPU: `python -m tests.gpu` runs them and writes a page, a log and a CSV file.

Each part runs its items in child processes (`children`), since the context of a GPU is lost with the first error of a
kernel, and a kernel may hang. The main process uses no GPU: it keeps the time and writes the files.
"""
