"""What people get for the mistakes they make: the files of tests/golden/mistakes.

Each `.textproto` is a network or training file with a mistake that users of such tools make (or none: `..._is_fine`),
the `.txt` beside it is what `paddle-layers validate` prints. After a change of a message run
`python -m tests.test_mistakes` and read the difference.
"""

import re
from pathlib import Path

import pytest

from paddle_layers.config import ConfigError, validate
from paddle_layers.config.diagnostics.rendering import render_text

FOLDER = Path(__file__).parent / "golden" / "mistakes"
FILES = sorted(FOLDER.glob("*.textproto"))
FAULTS = {
    "02b_unknown_attribute_twice": 2,
    "07_three_faults": 3,
    "07b_two_faults": 2,
    "32_fault_in_the_network_and_in_the_training": 2,
    "40_eighteen_faults": 18,
    "56_three_faults_in_a_step": 3,
    "60d_rename_by_old_and_new": 2,
}
"""Files with more faults than one."""


def diagnostics(path):
    try:
        return validate(path)[1]
    except ConfigError as error:
        return error.diagnostics


def printed(path):
    """What a user sees, with the path as it would be from inside of the folder."""
    return re.sub(r"(\S*/)?mistakes/", "", render_text(diagnostics(path))).rstrip() + "\n"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_users_get(path):
    assert printed(path) == path.with_suffix(".txt").read_text()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_one_diagnostic_for_each_fault(path):
    expected = 0 if path.stem.endswith("_is_fine") else FAULTS.get(path.stem, 1)
    assert len(diagnostics(path)) == expected


def test_misspelt_words_come_with_the_right_one():
    wrong = [path for path in FILES if re.search(r"unknown|misspelt|wrong_input", path.stem)]
    assert len(wrong) >= 9
    for path in wrong:
        if path.stem != "25_unknown_field":  # no field of ours is called like Caffe's max_iter
            assert "did you mean" in printed(path), path.stem


if __name__ == "__main__":
    for each in FILES:
        each.with_suffix(".txt").write_text(printed(each))
