"""Hostile input for every reader: `python -m tests.fuzz --help`.

A target makes cases, each from a number alone, and checks them; a case is the bytes of a file, or of a description
that the target builds its input from. `corpus/` holds cases that once failed, a folder for each target;
`tests/project/test_fuzz.py` replays them.
"""
