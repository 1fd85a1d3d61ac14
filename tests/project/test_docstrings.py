"""Docstrings of the public Python API: every parameter is documented, in the style of Google."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import paddle_layers as pl
from paddle_layers import _MODULE_OF, testing

VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
FEW = 2
"""Methods with at most so many parameters may name them in prose instead of a list."""


def exported() -> dict[str, Any]:
    """Every exported object by name."""
    found = {f"pl.{name}": getattr(pl, name) for name in _MODULE_OF}
    found |= {f"pl.testing.{name}": getattr(testing, name) for name in testing.__all__}
    return {name: value for name, value in found.items() if callable(value)}


def public() -> Iterator[tuple[str, Any]]:
    """Exported functions and classes, and the public methods of the classes, by name; exceptions are not created."""
    for name, value in exported().items():
        if not getattr(value, "__module__", "").startswith("paddle_layers"):
            continue
        if inspect.isclass(value) and issubclass(value, BaseException):
            continue
        yield name, value
        for method, function in inspect.getmembers(value, inspect.isfunction) if inspect.isclass(value) else ():
            if not method.startswith("_") and function.__module__.startswith("paddle_layers"):
                yield f"{name}.{method}", function


EXPORTED, PUBLIC = exported(), dict(public())


def parameters(value: Any) -> list[str]:
    """Names of the parameters that a caller can pass."""
    found = inspect.signature(value).parameters.values()
    return [
        one.name for one in found if one.kind not in VARIADIC and not one.name.startswith("_") and one.name != "self"
    ]


def documented(doc: str) -> set[str]:
    """Names in the section `Args`; an entry `**options` lists names in backticks."""
    section = re.search(r"^Args:\n((?:[ ]+.*\n?|\n)+)", doc, re.MULTILINE)
    if section is None:
        return set()
    options = re.search(r"^ {4}\*\*.*(?:\n {5,}.*)*", section[1], re.MULTILINE)
    named = re.findall(r"`([a-z]\w*)`", options[0]) if options else []
    return {*re.findall(r"^ {4}(\w+)(?: \([^)]*\))?:", section[1], re.MULTILINE), *named}


@pytest.mark.parametrize("name", list(PUBLIC))
def test_public_objects_document_their_parameters(name: str) -> None:
    doc, names = inspect.getdoc(PUBLIC[name]) or "", set(parameters(PUBLIC[name]))
    args = documented(doc)
    assert doc, "no docstring"
    if name in EXPORTED or args or len(names) > FEW:
        assert args >= names, f"not in Args: {sorted(names - args)}"


@pytest.mark.parametrize("name", list(PUBLIC))
def test_documented_parameters_exist(name: str) -> None:
    signature = inspect.signature(PUBLIC[name]).parameters
    if not any(one.kind == inspect.Parameter.VAR_KEYWORD for one in signature.values()):
        assert documented(inspect.getdoc(PUBLIC[name]) or "") <= signature.keys()
