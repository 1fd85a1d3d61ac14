"""Writes train.npz and test.npz: synthetic sentences about four topics, as word ids.

Each file has the sentences twice: `words` as sequences of ids (with `words.starts`), and `bag` as sparse rows with the
distinct words of a sentence (`bag.ids`, `bag.starts`). `label` is the topic. The files are the same on every run.
"""

import sys
from pathlib import Path

import numpy as np

SUBJECTS = {
    "weather": "rain snow wind cloud storm sun cold warm frost fog sky ice thunder drizzle breeze",
    "food": "bread soup cheese apple spoon salt cook oven sweet sour rice bean lunch butter plate",
    "sport": "ball goal team run race score coach win lose match field jump swim train medal",
    "music": "song drum choir tune piano sing chord band note string loud soft dance flute stage",
}
OTHERS = (
    "the a we they and but then in on with some more very today again after before was is had saw heard felt made "
    "good bad new old first last little great"
)


def vocabulary() -> list[str]:
    """All words; the position is the id."""
    return [word for text in (OTHERS, *SUBJECTS.values()) for word in text.split()]


def sentences(count: int, rng: np.random.Generator) -> tuple[list[list[int]], np.ndarray]:
    """Sentences as word ids, and the number of the subject of each.

    Of 5 to 12 words less than half belong to the subject, a few to another one, the rest to none.
    """
    ids = {word: number for number, word in enumerate(vocabulary())}
    others = [ids[word] for word in OTHERS.split()]
    subjects = [[ids[word] for word in text.split()] for text in SUBJECTS.values()]
    labels = rng.integers(0, len(subjects), count)
    made = []
    for label in labels:
        pools = {0: others, 1: subjects[label], 2: subjects[rng.integers(0, len(subjects))]}
        kinds = rng.choice(3, size=rng.integers(5, 13), p=[0.5, 0.42, 0.08])
        made.append([int(rng.choice(pools[kind])) for kind in kinds])
    return made, labels


def save(path: Path, rows: list[list[int]], labels: np.ndarray) -> None:
    """Both views of the sentences in one npz file."""
    bags = [sorted(set(row)) for row in rows]
    np.savez_compressed(
        path,
        **{
            "words": np.concatenate(rows).astype(np.int16),
            "words.starts": np.cumsum([0, *map(len, rows)], dtype=np.int32),
            "bag.ids": np.concatenate(bags).astype(np.int16),
            "bag.starts": np.cumsum([0, *map(len, bags)], dtype=np.int32),
            "label": labels.astype(np.int8),
        },
    )


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    rng = np.random.default_rng(4)
    for name, count in (("train", 1200), ("test", 300)):
        save(folder / f"{name}.npz", *sentences(count, rng))
    print(f"{len(vocabulary())} words, {len(SUBJECTS)} subjects")
