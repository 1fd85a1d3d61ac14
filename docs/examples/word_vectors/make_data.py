"""Writes train.npz, test.npz and words.txt: words of Python's own manual, as every installation has it.

`context` are the words around one, up to `--window` on either side, as sequences of ids (with `context.starts`), `word`
is the one between. words.txt has the 2,000 most frequent words of the manual in their order, one a line: the id is the
number of the line, from 0 on. Other words, and the most frequent ones, which say little, are left out; the last tenth
of the manual is held out. `--share` reads less of it.
"""

import argparse
import pydoc_data.topics
import re
from collections import Counter
from pathlib import Path

import numpy as np

SIZE = 2000


def manual() -> list[str]:
    """The words of all topics, in the order of the topics' names."""
    text = "\n".join(text for _, text in sorted(pydoc_data.topics.topics.items()))
    return re.findall(r"[a-z]+", text.lower())


def around(ids: np.ndarray, window: int) -> dict[str, np.ndarray]:
    """For each word, those around it."""
    places = np.arange(len(ids))[:, None] + np.concatenate([np.arange(-window, 0), np.arange(1, window + 1)])
    inside = (places >= 0) & (places < len(ids))
    starts = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    return {"context": ids[places[inside]], "context.starts": starts, "word": ids}


def main() -> None:
    """Write the files beside this one, or into `--folder`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent)
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument("--share", type=float, default=1.0)
    given = parser.parse_args()
    words = manual()
    words = words[: int(len(words) * given.share)]
    counted = Counter(words)
    frequent = [word for word, _ in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))[:SIZE]]
    number = {word: place for place, word in enumerate(frequent)}
    kept = [number[word] for word in words if word in number]
    # A word is kept with the root of a thousandth over its share (Mikolov et al. 2013).
    share = np.bincount(kept, minlength=SIZE)[kept] / len(kept)
    rng = np.random.default_rng(0)
    ids = np.array(kept)[rng.random(len(kept)) < np.sqrt(1e-3 / share)]
    held_out = len(ids) * 9 // 10
    for name, part in (("train", ids[:held_out]), ("test", ids[held_out:])):
        np.savez(given.folder / f"{name}.npz", **around(part, given.window))
    (given.folder / "words.txt").write_text("\n".join(frequent) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
