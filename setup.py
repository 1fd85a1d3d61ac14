"""The packages: those below `paddle_layers/`, and three that are installed there from folders of the top level."""

from setuptools import find_packages, setup

# `package-dir` in pyproject.toml has their folders.
MAPPED = ["paddle_layers.codegen", "paddle_layers.guides", "paddle_layers.schema.protos"]

setup(packages=[*find_packages(include=["paddle_layers*"]), *MAPPED])
