"""Writes train.npz, test.npz and words.txt: numbers below a million in digits, and their English names.

`digits` are ids 0 to 9. `words` are the words followed by the end token, `before` the previous word of each, beginning
with the start token; all are sequences. Each line of words.txt is a word; its line number from 0 is the id. Nine of ten
numbers are for training, the others for the test. `--numbers` is the number of samples, `--seed` the random seed.
"""

import argparse
from pathlib import Path

import numpy as np

NAMES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety
"""
SMALL, TENS = NAMES.split()[:20], NAMES.split()[20:]
WORDS = ["<begin>", "<end>", *SMALL, *TENS, "hundred", "thousand", "and"]
BEGIN, END = 0, 1


def spelled(number: int) -> list[str]:
    """A number below a million in words, as in British English: `two hundred and five`."""
    if number < 20:
        return [SMALL[number]]
    if number < 100:
        return [TENS[number // 10 - 2], *(spelled(number % 10) if number % 10 else [])]
    if number < 1000:
        rest = ["and", *spelled(number % 100)] if number % 100 else []
        return [SMALL[number // 100], "hundred", *rest]
    thousands, rest = divmod(number, 1000)
    link = ["and"] if 0 < rest < 100 else []
    return [*spelled(thousands), "thousand", *link, *(spelled(rest) if rest else [])]


def columns(numbers: list[int]) -> dict[str, np.ndarray]:
    """Concatenated sequences, each field with the starts of its sequences."""
    ids = {word: number for number, word in enumerate(WORDS)}
    digits = [[int(digit) for digit in str(number)] for number in numbers]
    words = [[ids[word] for word in spelled(number)] for number in numbers]
    found = {"digits": digits, "before": [[BEGIN, *one] for one in words], "words": [[*one, END] for one in words]}
    arrays = {}
    for name, sequences in found.items():
        arrays[name] = np.array([item for one in sequences for item in one], np.int64)
        arrays[f"{name}.starts"] = np.cumsum([0, *map(len, sequences)])
    return arrays


def main() -> None:
    """Write the files beside this one, or into `--folder`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent)
    parser.add_argument("--numbers", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    # As many of few digits as of many, as far as there are: else nearly all would have six.
    drawn = dict.fromkeys(int(10 ** rng.uniform(0, 6)) for _ in range(given.numbers))
    numbers = list(drawn)
    rng.shuffle(numbers)
    held_out = len(numbers) // 10
    np.savez(given.folder / "test.npz", **columns(numbers[:held_out]))
    np.savez(given.folder / "train.npz", **columns(numbers[held_out:]))
    (given.folder / "words.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
