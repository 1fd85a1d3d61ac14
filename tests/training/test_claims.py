"""One training at a time in a folder, and what is called nearly like a checkpoint stays."""

import contextlib
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from paddle_layers.data import DataError
from paddle_layers.training import TrainingError
from paddle_layers.training.checkpoints.files import checkpoints
from paddle_layers.training.results.folders import MARK, claimed_folder
from paddle_layers.training.results.records import read_records
from tests.training.helpers import train, write

pytestmark = pytest.mark.usefixtures("as_python")


@pytest.mark.parametrize("options", [{}, {"resume": True}, {"overwrite": True}], ids=["new", "resume", "overwrite"])
def test_a_second_training_into_a_folder_is_refused(tmp_path, options):
    path = write(tmp_path)
    with claimed_folder(tmp_path / "output"):
        with pytest.raises(TrainingError, match=r"another training is running in .*output; wait for it to finish"):
            train(path, **options)
        assert [one.name for one in (tmp_path / "output").iterdir()] == [MARK]
    report, _, _ = train(path)
    assert report.steps == 30


def test_of_several_at_once_into_a_new_folder_one_goes_on(tmp_path):
    """Threads of one process, which switch often: a folder that one of them leaves stays open for the others."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for attempt in range(20):
            results = claim_at_once(tmp_path / f"output{attempt}", 6)
            assert sorted("another training is running" in result for result in results) == [False, *[True] * 5]
            assert sorted(results)[0] == ""
    finally:
        sys.setswitchinterval(interval)


def claim_at_once(folder, count):
    """What each of several threads is told that claim a folder; "" for those that get it."""
    start, end = threading.Barrier(count), threading.Barrier(count)

    def claim(_):
        with contextlib.ExitStack() as held:
            start.wait()
            try:
                held.enter_context(claimed_folder(folder))
            except TrainingError as error:
                return str(error)
            finally:
                end.wait()  # whatever is raised: the others must not wait forever
            return ""

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(claim, range(count)))


HOLD = """
import sys, pathlib
from paddle_layers.training.results.folders import claimed_folder
with claimed_folder(pathlib.Path(sys.argv[1])):
    print("claimed", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("mark", [True, False], ids=["marked", "of an earlier version"])
def test_a_killed_training_gives_its_folder_back(tmp_path, mark):
    path = write(tmp_path)
    report, _, _ = train(path, stop_after=12)
    if not mark:
        (report.folder / MARK).unlink()
    command = [sys.executable, "-c", HOLD, str(report.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "claimed\n"
        with pytest.raises(TrainingError, match="another training is running"):
            train(path, resume=True)
        process.kill()
    assert train(path, resume=True)[0].steps == 30
    assert (report.folder / MARK).exists() == mark


def test_only_what_is_named_as_a_checkpoint_is_one(tmp_path):
    path = write(tmp_path)
    report, _, _ = train(path, stop_after=12)
    folder = report.folder / "checkpoints"
    mine = ["step-notes", "step-00000004-mine", "step-4", ".step-mine.tmp", ".step-00000004.tmp", "step-00000099.txt"]
    for name in mine:
        (folder / name).mkdir()
    (folder / ".step-00000013.4711.tmp").mkdir()
    (folder / ".step-00000013.4711.tmp" / "weights.safetensors").write_bytes(b"cut short")
    _, losses, _ = train(path, resume=True)
    assert min(losses) == 13
    assert {one.name for one in folder.iterdir()} == {*mine, "step-00000020", "step-00000030"}
    train(path, overwrite=True)
    assert {one.name for one in folder.iterdir()} == {*mine, "step-00000020", "step-00000030"}


def test_temporary_files_of_a_killed_training_go(tmp_path):
    path = write(tmp_path)
    report, _, _ = train(path, stop_after=12)
    scraps = [
        report.folder / name for name in (".log.csv.abc123.tmp", ".weights.safetensors._x.tmp", ".curve.svg.a.tmp")
    ]
    mine = [report.folder / name for name in (".notes.tmp", "log.csv.tmp")]
    for file in (*scraps, *mine):
        file.write_bytes(b"cut short")
    train(path, resume=True)
    assert not any(file.exists() for file in scraps)
    assert all(file.exists() for file in mine)


def test_checkpoints_are_in_the_order_of_their_steps(tmp_path):
    for step in (99_999_999, 100_000_000, 5):
        (tmp_path / f"step-{step:08d}").mkdir()
    assert [one.name for one in checkpoints(tmp_path)] == ["step-00000005", "step-99999999", "step-100000000"]


class Touch:
    """Changes the data of a training that runs."""

    def __init__(self, change):
        self.change = change

    def on_step(self, run):
        if run.step == 12:
            self.change()


def test_data_that_change_while_it_trains(tmp_path):
    """Written over, they are no longer those that were trained with; cut short, reading them would end the process."""
    path = write(tmp_path)
    _, expected, _ = train(path)
    data, content = tmp_path / "train.npz", (tmp_path / "train.npz").read_bytes()
    for changed in (content[: len(content) // 2], b"x" * len(content)):
        data.write_bytes(content)
        with pytest.raises(DataError, match=r"train\.npz was modified while in use"):
            train(path, overwrite=True, callbacks=[Touch(lambda changed=changed: data.write_bytes(changed))])

    def replace():
        (tmp_path / "new").write_bytes(b"other")
        (tmp_path / "new").replace(data)

    data.write_bytes(content)
    _, losses, _ = train(path, overwrite=True, callbacks=[Touch(replace)])
    assert losses == expected


def test_clocks_that_jump(tmp_path, monkeypatch):
    path = write(tmp_path)
    _, expected, _ = train(path, output=tmp_path / "whole")
    back = Touch(lambda: monkeypatch.setattr(time, "time", lambda: 0.0))
    report, losses, _ = train(path, callbacks=[back])
    assert losses == expected
    seconds = [float(line["seconds"]) for line in read_records(report.log)]
    assert seconds == sorted(seconds)
    assert 0 < seconds[-1] < 600
