"""Writes train.npz and test.npz: Python's own manual, as every installation has it, cut into runs of characters.

`characters` are sequences of ids (with `characters.starts`), `next` is the character that follows each of them. An id
is 1 and more for the printable characters from the space on, 96 for the end of a line, 0 for any other. The last tenth
of the manual is held out. `--length` and `--share` make shorter runs of less of it.
"""

import argparse
import pydoc_data.topics
from pathlib import Path

import numpy as np

NEWLINE, SIZE = 96, 97


def manual() -> str:
    """All topics, in the order of their names."""
    return "\n".join(text for _, text in sorted(pydoc_data.topics.topics.items()))


def encode(text: str) -> np.ndarray:
    """Ids of characters."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.int64)
    ids = np.where((codes >= 32) & (codes < 127), codes - 31, 0)
    return np.where(codes == 10, NEWLINE, ids)


def decode(ids: np.ndarray) -> str:
    """The characters of ids."""
    return "".join("\n" if number == NEWLINE else chr(number + 31) if number else "?" for number in ids.tolist())


def cut(ids: np.ndarray, length: int) -> dict[str, np.ndarray]:
    """Runs of `length` characters, and what follows each of them."""
    runs = (len(ids) - 1) // length
    starts = np.arange(runs + 1) * length
    words, following = ids[: runs * length], ids[1 : runs * length + 1]
    return {"characters": words, "characters.starts": starts, "next": following, "next.starts": starts}


def main() -> None:
    """Write both files beside this one, or into `--folder`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--share", type=float, default=1.0)
    given = parser.parse_args()
    ids = encode(manual())
    ids = ids[: int(len(ids) * given.share)]
    held_out = len(ids) * 9 // 10
    for name, part in (("train", ids[:held_out]), ("test", ids[held_out:])):
        np.savez(given.folder / f"{name}.npz", **cut(part, given.length))


if __name__ == "__main__":
    main()
