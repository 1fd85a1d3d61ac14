"""Search terms of the site's pages, as entries of Sphinx's index, which its search ranks above titles and text.

A guide lists its terms in comments, `<!-- search: custom loss, loss function -->`; those of a definition are its search
terms and its names in other frameworks. A term leads to one page: to the guide that lists it, else to the definition
with this search term, else to the one with this name in PyTorch or Keras. Other pages follow it in the results.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from paddle_layers.define import Definition, registries, terms_of

from .reference import FOLDERS

INDEXES = {
    "schedules": ("learning rate schedule", "learning rate", "learning rate scheduler", "lr_scheduler"),
    "optimizers": ("optimizer", "optimizers", "torch.optim"),
    "initializers": ("weight initialization", "initializer"),
    "regularizers": ("regularization", "regularizer"),
    "transforms": ("data augmentation", "preprocessing"),
    "diagnostics": ("error code", "error codes", "error message"),
}
"""Search terms of the indexes of the reference."""
_COMMENT = re.compile(r"^<!-- search: (.*?) -->$", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"[\w .-]+")


def add_search_terms(pages: Path) -> None:
    """Add index entries to the Markdown pages below `pages`: in guides at the comments, in others after the title."""
    owners: dict[str, Path] = {}
    for path in sorted(pages.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if comments := list(_COMMENT.finditer(text)):
            for comment in comments:
                text = text.replace(comment[0], _index(owners, path, _entries(comment[1].split(","))))
            path.write_text(text, encoding="utf-8")
    terms: dict[Path, list[str]] = {}
    for path, term in _names(pages):
        owners.setdefault(term, path)
        terms.setdefault(path, []).append(term)
    for path, found in terms.items():
        index = _index(owners, path, dict.fromkeys(found))
        head, title, rest = re.split(r"^(# .*\n)", path.read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE)
        path.write_text(f"{head}{title}\n{index}\n{rest}", encoding="utf-8")


def _index(owners: dict[str, Path], path: Path, terms: Iterable[str]) -> str:
    """A directive; the search ranks main entries above all other results, and other entries after them."""
    words = [f"! {term}" if owners.setdefault(term, path) == path else term for term in terms]
    return f"```{{index}} {', '.join(sorted(words, key=lambda word: not word.startswith('!')))}\n```\n"


def _names(pages: Path) -> Iterator[tuple[Path, str]]:
    """Pages of the reference with their terms, in the order of precedence."""
    for folder, terms in INDEXES.items():
        for term in terms:
            yield pages / "reference" / folder / "index.md", term
    # In this order over all pages: our own name of one layer precedes a foreign name of another.
    for terms_of_page in (_search_terms, _names_in_frameworks, terms_of):
        for kind, folder in FOLDERS.items():
            for definition in registries[kind].values():
                for term in _entries(terms_of_page(definition)):
                    yield pages / "reference" / folder / f"{definition.name}.md", term


def _search_terms(definition: Definition) -> Iterable[str]:
    return definition.name, *definition.terms


def _names_in_frameworks(definition: Definition) -> Iterator[str]:
    for framework in ("PyTorch", "Keras"):
        yield from definition.elsewhere.get(framework, "").split(", ")


def _entries(names: Iterable[str]) -> Iterator[str]:
    """Names in lower case, as they are and split into words: `conv2dtranspose`, `innerproduct`, `inner product`."""
    for name in map(str.strip, names):
        # People type `conv2d transpose` as well as `Conv2DTranspose`.
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").replace("-", " ")
        yield from (term.lower() for term in dict.fromkeys((name, words)) if _ENTRY.fullmatch(term))
