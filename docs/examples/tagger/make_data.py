"""Writes train.npz and test.npz: lines of Python's standard library, with the token type of each character.

`characters` are lines as sequences of codes (with `characters.starts`), `tags` the targets by `tokenize`: `2 * kind`
at the start of a token, `2 * kind + 1` inside one, for the kinds below, and `2 * len(KINDS)` outside of tokens. Lines
that are part of a longer token are left out. Every tenth file is held out. `--files` limits the number of files.
"""

import argparse
import keyword
import sysconfig
import tokenize
from pathlib import Path

import numpy as np

KINDS = ("keyword", "name", "number", "string", "comment", "operator")
LONGEST = 100


def kind_of(token: tokenize.TokenInfo) -> int | None:
    """The number of a token's kind; None for line ends and indents."""
    if token.type == tokenize.NAME:
        return int(not keyword.iskeyword(token.string))
    kinds = {tokenize.NUMBER: 2, tokenize.STRING: 3, tokenize.COMMENT: 4, tokenize.OP: 5}
    return kinds.get(token.type)


def tagged_lines(path: Path) -> list[tuple[str, list[int]]]:
    """The lines of a file with a tag for each character."""
    with tokenize.open(path) as file:
        lines = file.read().splitlines()
    outside = 2 * len(KINDS)
    tags = [[outside] * len(line) for line in lines]
    whole = [True] * len(lines)
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            (row, first), (last_row, last) = token.start, token.end
            kind = kind_of(token)
            if row != last_row:
                whole[row - 1 : last_row] = [False] * (last_row - row + 1)
            elif kind is not None and row:
                tags[row - 1][first:last] = [2 * kind] + [2 * kind + 1] * (last - first - 1)
    found = zip(lines, tags, whole, strict=True)
    return [(line, tag) for line, tag, is_whole in found if is_whole and line.isascii() and 0 < len(line) <= LONGEST]


def columns(lines: list[tuple[str, list[int]]]) -> dict[str, np.ndarray]:
    """Characters as codes, and tags, both concatenated."""
    starts = np.cumsum([0, *(len(line) for line, _ in lines)])
    characters = np.frombuffer("".join(line for line, _ in lines).encode("ascii"), np.uint8).astype(np.int64)
    tags = np.array([tag for _, line in lines for tag in line], np.int64)
    return {"characters": characters, "characters.starts": starts, "tags": tags, "tags.starts": starts}


def main() -> None:
    """Write both files beside this one, or into `--folder`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent)
    parser.add_argument("--files", type=int, default=60)
    given = parser.parse_args()
    library = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[: given.files]
    parts: dict[str, list[tuple[str, list[int]]]] = {"train": [], "test": []}
    for number, path in enumerate(library):
        parts["test" if number % 10 == 9 else "train"] += tagged_lines(path)
    for name, lines in parts.items():
        np.savez(given.folder / f"{name}.npz", **columns(lines))


if __name__ == "__main__":
    main()
