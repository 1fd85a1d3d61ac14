"""Docstrings of the public Python API: arguments, results, exceptions and examples, in the style of Google."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from itertools import pairwise
from typing import Any

from paddle_layers.codegen.python_pages import GROUPS

import paddle_layers as pl
from paddle_layers import _MODULE_OF, testing
from tests.each import each

VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
FEW = 2
"""Methods with at most so many parameters may name them in prose instead of a list."""
NOUN_PHRASE = re.compile(r"(The|An?|Whether|Sums|Metrics|Names|Number) .*\.")
"""A summary in one line that says what is returned."""


def exported() -> dict[str, Any]:
    """Every exported object by name, and those with a page in the reference."""
    found = {f"pl.{name}": getattr(pl, name) for name in _MODULE_OF}
    found |= {f"pl.testing.{name}": getattr(testing, name) for name in testing.__all__}
    for modules in GROUPS.values():
        for module, names in modules.items():
            home = module.replace("paddle_layers", "pl", 1)
            found |= {f"{home}.{name}": getattr(import_module(module), name) for name in names}
    return {name: value for name, value in found.items() if callable(value)}


def public() -> Iterator[tuple[str, Any]]:
    """Exported functions and classes, and the public methods of the classes, by name; exceptions are not created."""
    for name, value in exported().items():
        if not is_ours(value) or (inspect.isclass(value) and issubclass(value, BaseException)):
            continue
        yield name, value
        for method, function in inspect.getmembers(value, is_method) if inspect.isclass(value) else ():
            if not method.startswith("_") and is_ours(function):
                yield f"{name}.{method}", function


def is_method(value: object) -> bool:
    """Whether this is a method of a class or of its objects."""
    return inspect.isfunction(value) or inspect.ismethod(value)


def is_ours(value: Any) -> bool:
    """Whether this is defined in the package."""
    return (getattr(value, "__module__", None) or "").startswith("paddle_layers")


EXPORTED, PUBLIC = exported(), dict(public())
FUNCTIONS = {name: value for name, value in PUBLIC.items() if not inspect.isclass(value)}
WITH_EXAMPLE = [name for name in EXPORTED if name in FUNCTIONS or (name in PUBLIC and re.fullmatch(r"pl\.\w+", name))]
"""Exported functions, and the classes of `pl`, whose objects programs create."""


def parameters(value: Any) -> list[str]:
    """Names of the parameters that a caller can pass."""
    found = inspect.signature(value).parameters.values()
    return [
        one.name for one in found if one.kind not in VARIADIC and not one.name.startswith("_") and one.name != "self"
    ]


def section(name: str, value: Any) -> str:
    """The indented text of a section of a docstring; empty without it."""
    found = re.search(rf"^{name}::?\n((?: +.*\n?|\n)+)", inspect.getdoc(value) or "", re.MULTILINE)
    return found[1] if found else ""


def documented(value: Any) -> set[str]:
    """Names in the section `Args`; an entry `**options` lists names in backticks."""
    args = section("Args", value)
    options = re.search(r"^ {4}\*\*.*(?:\n {5,}.*)*", args, re.MULTILINE)
    named = re.findall(r"`([a-z]\w*)`", options[0]) if options else []
    return {*re.findall(r"^ {4}(\w+)(?: \([^)]*\))?:", args, re.MULTILINE), *named}


def documented_fields(owner: type) -> Iterator[tuple[str, str]]:
    """Fields of a class and its bases with the docstring after them."""
    for tree in (tree_of(base) for base in owner.__mro__ if is_ours(base)):
        for field, text in pairwise(tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else ()):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
                yield ast.unparse(field.target), str(text.value.value)


def tree_of(value: Any) -> ast.Module:
    """The parsed source of a class or function, below its decorators."""
    return ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(value))))


def raised(value: Any) -> Iterator[str]:
    """Names of the public exception classes in `raise` statements of a function, or of a class's constructor."""
    creation = [vars(value).get("__init__"), vars(value).get("__post_init__")] if inspect.isclass(value) else [value]
    for function in creation:
        if function is None or not function.__code__.co_filename.endswith(".py"):  # that of a dataclass has no source
            continue
        known = vars(builtins) | vars(sys.modules[function.__module__])
        for node in ast.walk(tree_of(function)):
            if isinstance(node, ast.Raise) and node.exc is not None:
                name = ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc).rpartition(".")[2]
                if name[0].isupper() and inspect.isclass(known.get(name, Exception)):
                    yield name


@each("name", list(PUBLIC))
def test_public_objects_document_their_parameters(name: str) -> None:
    value = PUBLIC[name]
    names, args = set(parameters(value)), documented(value)
    args |= dict(documented_fields(value)).keys() if inspect.isclass(value) else set()
    assert inspect.getdoc(value), "no docstring"
    if name in EXPORTED or args or len(names) > FEW:
        assert args >= names, f"not in Args: {sorted(names - args)}"


@each("name", list(PUBLIC))
def test_documented_parameters_exist(name: str) -> None:
    signature = inspect.signature(PUBLIC[name]).parameters
    if not any(one.kind == inspect.Parameter.VAR_KEYWORD for one in signature.values()):
        assert documented(PUBLIC[name]) <= signature.keys()


@each("name", list(FUNCTIONS))
def test_functions_document_their_results(name: str) -> None:
    function = FUNCTIONS[name]
    results = section("Returns", function) + section("Yields", function)
    if inspect.signature(function).return_annotation in (None, "None"):
        assert not results, "it returns nothing"
    elif parameters(function) or not NOUN_PHRASE.fullmatch(inspect.getdoc(function) or ""):
        assert results, "neither Returns nor Yields"


@each("name", list(PUBLIC))
def test_descriptions_have_no_colon_that_sphinx_takes_for_the_end_of_a_type(name: str) -> None:
    value = PUBLIC[name]
    texts = {"Returns": section("Returns", value), "Yields": section("Yields", value)}
    if inspect.isclass(value):
        properties = inspect.getmembers(value, lambda member: isinstance(member, property))
        texts |= {key: inspect.getdoc(member) or "" for key, member in properties}
        texts |= dict(documented_fields(value))
    wrong = {key: first for key, text in texts.items() if ":" in (first := text.partition("\n")[0])}
    assert not wrong


@each("name", list(PUBLIC))
def test_stars_that_sphinx_takes_for_emphasis_are_in_backticks(name: str) -> None:
    args, example = section("Args", PUBLIC[name]), section("Examples?", PUBLIC[name])
    text = inspect.getdoc(PUBLIC[name]) or ""
    text = text.replace(example, "").replace(args, re.sub(r"^ {4}\*\*", "", args, flags=re.MULTILINE))
    assert not re.findall(r"\*\w+", re.sub(r"`[^`]*`", "", text))


@each("name", list(PUBLIC))
def test_public_objects_document_their_exceptions(name: str) -> None:
    documented_errors = re.findall(r"^ {4}(\w+):", section("Raises", PUBLIC[name]), re.MULTILINE)
    missing = {*raised(PUBLIC[name])} - {*documented_errors}
    assert not missing, f"not in Raises: {sorted(missing)}"


@each("name", list(FUNCTIONS))
def test_functions_that_access_files_document_their_exceptions(name: str) -> None:
    if any("Path" in str(one.annotation) for one in inspect.signature(FUNCTIONS[name]).parameters.values()):
        assert section("Raises", FUNCTIONS[name]), "no Raises"


@each("name", WITH_EXAMPLE)
def test_exported_objects_have_an_example(name: str) -> None:
    example = section("Examples?", EXPORTED[name])
    assert example, "no Example"
    if ">>>" not in example:
        ast.parse(textwrap.dedent(example))
