"""What people get for the mistakes they make: the files of tests/golden/mistakes.

Each `.textproto` or `.json` is a network or training file with a mistake that users of such tools make (or none:
`..._is_fine`), the `.txt` beside it is what `paddle-layers validate` prints. After a change of a message run
`python -m tests.config.test_mistakes` and read the difference.
"""

import re
from pathlib import Path

import pytest

from paddle_layers.config import ConfigError, load_training, validate
from paddle_layers.config.diagnostics.rendering import render_text
from tests.each import each

FOLDER = Path(__file__).parents[1] / "golden" / "mistakes"
FILES = sorted([*FOLDER.glob("*.textproto"), *FOLDER.glob("*.json")])
FAULTS = {
    "02b_unknown_attribute_twice": 2,
    "07_three_faults": 3,
    "07b_two_faults": 2,
    "32_fault_in_the_network_and_in_the_training": 2,
    "40_eighteen_faults": 18,
    "76_keys_twice": 2,
    "56_three_faults_in_a_step": 3,
    "60d_rename_by_old_and_new": 2,
    "53h_rules_that_never_hold": 3,
    "train_47_attributes_beside_their_type": 4,
    "train_52_stage_without_a_rule": 2,
}
"""Files with more faults than one."""


def diagnostics(path):
    try:
        return validate(path)[1]
    except ConfigError as error:
        return error.diagnostics


def printed(path):
    """What a user sees, with the path as it would be from inside of the folder."""
    return re.sub(r"([^\s`]*/)?mistakes/", "", render_text(diagnostics(path))).rstrip() + "\n"


@each("path", FILES, ids=lambda path: path.stem)
def test_users_get(path):
    assert printed(path) == path.with_suffix(".txt").read_text()


@each("path", FILES, ids=lambda path: path.stem)
def test_one_diagnostic_for_each_fault(path):
    expected = 0 if path.stem.endswith("_is_fine") else FAULTS.get(path.stem, 1)
    assert len(diagnostics(path)) == expected


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """A folder with copies of the files, which name each other."""
    folder = tmp_path_factory.mktemp("copies")
    for file in FOLDER.iterdir():
        if file.suffix != ".txt":
            (folder / file.name).write_bytes(file.read_bytes())
    return folder


@each("path", FILES, ids=lambda path: path.stem)
def test_who_does_what_the_fix_says_is_rid_of_the_fault(path, copies):
    mended = copies / path.name
    faults = [fault for fault in diagnostics(mended) if fault.fix is not None and fault.file == str(mended)]
    text = mended.read_text()
    for start, end, replacement in sorted((fault.fix for fault in faults), reverse=True):
        text = text[:start] + replacement + text[end:]
    mended.write_text(text)
    after = {(fault.start, fault.message) for fault in diagnostics(mended)}
    mended.write_bytes(path.read_bytes())
    assert not {(fault.start, fault.message) for fault in faults} & after


def test_misspelt_words_come_with_the_right_one():
    wrong = [path for path in FILES if re.search(r"unknown|misspelt|wrong_input", path.stem)]
    assert len(wrong) >= 9
    for path in wrong:
        assert "did you mean" in printed(path), path.stem


if __name__ == "__main__":
    for each in FILES:
        each.with_suffix(".txt").write_text(printed(each))


def test_a_config_in_the_place_of_a_file_name():
    with pytest.raises(ConfigError, match=r"a config, not the name of a file; `loads` and .* parse it"):
        load_training('net { layer { name: "x" type: "data" } }')
