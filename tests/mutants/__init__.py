"""Planted faults: `python -m tests.mutants` changes point functions and shows which changes no check notices.

A mutant is a definition with one change in one of its functions: another operator, another constant, an index off by
one. Where the reference comparison and the cheap properties of the conformance kit pass all the same, it survives: the
checks have a hole, or the change makes no difference. All runs as Python; nothing is compiled.
"""
