"""The vocabulary check: `python -m tests.project.vocabulary [FILE...]` lists words that the texts avoid.

Texts are guides, docstrings, comments, messages and the comments of schemas. `vocabulary.toml` has the words and what
to write instead.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).with_name("vocabulary.toml")
CODE = re.compile(r"^(`{3,}|~~~).*?^\1|`[^`\n]*`|\]\([^)]*\)|https?://\S+", re.MULTILINE | re.DOTALL)


class Finding(NamedTuple):
    """An avoided word in a text."""

    file: str
    line: int
    word: str
    replacement: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: `{self.word}`: {self.replacement}"


class Text(NamedTuple):
    """A text and its first line in the file."""

    line: int
    text: str


def check(path: Path) -> Iterator[Finding]:
    """The findings of one file, in order."""
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
    for text in texts(path):
        bare = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text.text)
        bare = _allowed().sub(lambda phrase: " " * len(phrase[0]), bare)
        for match in _words().finditer(bare):
            replacement = list(_table().values())[(match.lastindex or 1) - 1] if match.lastindex else ""
            yield Finding(name, text.line + bare.count("\n", 0, match.start()), match[0], replacement)


def texts(path: Path) -> Iterable[Text]:
    """What people read in a file."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return _python_texts(source)
    if path.suffix == ".proto":
        return [Text(n, line.partition("//")[2]) for n, line in enumerate(source.splitlines(), 1) if "//" in line]
    return [Text(1, re.sub(r"\{%.*?%\}|\{\{.*?\}\}", " ", source) if path.suffix == ".j2" else source)]


def _python_texts(source: str) -> Iterator[Text]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and "fmt:" not in token.string:
            yield Text(token.start[0], token.string)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield Text(node.lineno, node.value)


@cache
def _table() -> dict[str, str]:
    table: dict[str, str] = tomllib.loads(DATA.read_text(encoding="utf-8"))["words"]
    return table


@cache
def _words() -> re.Pattern[str]:
    words = (re.sub(r"\((?!\?)", "(?:", word) for word in _table())
    return re.compile(rf"\b(?:{'|'.join(f'({word})' for word in words)})(?!\w)", re.IGNORECASE)


@cache
def _allowed() -> re.Pattern[str]:
    phrases = tomllib.loads(DATA.read_text(encoding="utf-8"))["allowed"]["phrases"]
    return re.compile("|".join(map(re.escape, phrases)), re.IGNORECASE)


def files() -> list[Path]:
    """All files with texts: the package, the generators, the schemas, the guides."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    kept = [name for name in listed if name.endswith((".py", ".md", ".proto", ".j2"))]
    left_out = ("docs/reference/", "tests/", "CHANGELOG.md", "paddle_layers/schema/")
    return [ROOT / name for name in kept if not name.startswith(left_out)]


def main(names: list[str]) -> int:
    """Print the findings in the files, or in all; returns the exit status."""
    found = [finding for path in (map(Path, names) if names else files()) for finding in check(path.resolve())]
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
