"""A training writes and deletes nothing through a symbolic link in its folder, nor in one that takes its place."""

import os

import pytest

import paddle_layers as pl
from paddle_layers.define import output_folders
from paddle_layers.define.output_folders import LinkError, claim, new_folder, open_folder, write_texts
from paddle_layers.training.problems import TrainingError
from paddle_layers.training.results import folders
from paddle_layers.training.results.folders import MARK

from .helpers import NETWORK, SETTINGS, SOURCES, train, write

pytestmark = pytest.mark.usefixtures("as_python")

TEXT = (
    NETWORK
    + SOURCES
    + SETTINGS
    + 'test { every: 10 } log { format: "jsonl" }\n'
    + 'callback { type: "save_best" save_best { best_tests: 2 } }'
    + 'callback { type: "plateau" plateau { reload: true } }'
    + 'callback { type: "write_values" write_values { values: "fc2" file: "v.npz" } }'
).replace("log { every: 5 }", "")
LINKS = [*("/".join(names) for names in folders.FOLDERS)]
"""Where a training has folders."""
VICTIM = {
    "step-00000004/keep": "",
    ".step-00000004.1.tmp/keep": "",
    ".run.json.1.tmp": "",
    "run.json": "{}",
    ".v.npz.1.tmp": "",
    "v-00000010.npz": "",
    "step-00000001.safetensors": "",
    "loss-00000001.safetensors": "",
    "events.out.tfevents.1": "",
    "train/events.out.tfevents.1": "",
}


@pytest.fixture(params=[True, False], ids=["descriptors", "paths"])
def platform(request, monkeypatch):
    """Both ways to do it: as on Linux, and as where no file is named relative to an open folder."""
    if not request.param:
        monkeypatch.setattr(output_folders, "HAS_DESCRIPTORS", False)
    return request.param


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def victim_of(tmp_path, **more):
    """A folder of somebody else with files that trainings write and delete."""
    victim = tmp_path / "victim"
    for name, text in (VICTIM | more).items():
        (victim / name).parent.mkdir(parents=True, exist_ok=True)
        (victim / name).write_text(text)
    return victim, contents(victim)


def linked(tmp_path, name):
    """A training whose output has a link in the place of a folder."""
    victim, before = victim_of(tmp_path)
    path, output = write(tmp_path, TEXT), tmp_path / "output"
    (output / name).parent.mkdir(parents=True)
    (output / MARK).touch()
    (output / name).symlink_to(victim, target_is_directory=True)
    return path, output / name, lambda: contents(victim) == before


@pytest.mark.parametrize("name", LINKS)
def test_links_to_folders_are_refused(tmp_path, platform, name):
    path, link, unchanged = linked(tmp_path, name)
    with pytest.raises(TrainingError, match="symbolic links are not followed in an output folder") as caught:
        train(path, overwrite=True)
    assert str(link) in str(caught.value)
    assert unchanged()


@pytest.mark.parametrize("options", [{"resume": True}, {}], ids=["resume", "new"])
def test_links_to_checkpoints_are_refused(tmp_path, options):
    path, _, unchanged = linked(tmp_path, "checkpoints")
    with pytest.raises(TrainingError, match="symbolic links are not followed in an output folder"):
        train(path, **options)
    assert unchanged()


FILES = ["log.csv", "log.jsonl", "weights.safetensors", "best.safetensors", "curve.svg", "run/run.json"]


def test_links_to_files_are_replaced(tmp_path, platform):
    victim, before = victim_of(tmp_path, mine="mine")
    path, output = write(tmp_path, TEXT), tmp_path / "output"
    (output / "run").mkdir(parents=True)
    (output / MARK).touch()
    for name in FILES:
        (output / name).symlink_to(victim / "mine")
    train(path, overwrite=True, settings=["steps=3"])
    assert not any((output / name).is_symlink() for name in FILES)
    assert contents(victim) == before


@pytest.mark.parametrize("target", ["mine", "none"])
def test_a_mark_that_is_a_link_is_none(tmp_path, platform, target):
    victim, before = victim_of(tmp_path, mine="mine")
    path, output = write(tmp_path, TEXT), tmp_path / "output"
    output.mkdir()
    (output / MARK).symlink_to(victim / target)
    with pytest.raises(TrainingError, match="symbolic link"):
        train(path)
    assert contents(victim) == before


class Swap:
    """Puts a link in the place of a folder behind a step."""

    def __init__(self, folder, victim):
        self.folder, self.victim = folder, victim

    def on_step(self, run):
        if run.step == 5:
            swap(self.folder, self.victim)


def swap(folder, victim):
    folder.rename(folder.with_name(f"{folder.name}-away"))
    folder.symlink_to(victim, target_is_directory=True)


@pytest.mark.parametrize("name", ["", "checkpoints", "values", "best", "plateau"])
def test_a_folder_that_is_exchanged_while_it_trains(tmp_path, name):
    victim, before = victim_of(tmp_path, **{MARK: "", "log.csv": "", "weights.safetensors": ""})
    path, output = write(tmp_path, TEXT.replace("every: 10", "every: 4")), tmp_path / "output"
    with pytest.raises(OSError, match=r"symbolic link|it was replaced by another folder"):
        train(path, callbacks=[Swap(output / name, victim)])
    assert contents(victim) == before


@pytest.mark.parametrize("name", ["", "checkpoints", "run", "values"])
def test_a_folder_that_is_exchanged_between_check_and_clearing(tmp_path, monkeypatch, name):
    victim, before = victim_of(tmp_path, **{MARK: "", "log.csv": "", "weights.safetensors": ""})
    path, output, clear = write(tmp_path, TEXT), tmp_path / "output", folders.clear_folder
    train(path, settings=["steps=10"])

    def exchanged(folder):
        swap(output / name, victim)
        clear(folder)

    monkeypatch.setattr("paddle_layers.training.trainer.clear_folder", exchanged)
    with pytest.raises(OSError, match=r"symbolic link|it was replaced by another folder"):
        train(path, overwrite=True)
    assert contents(victim) == before


def test_a_folder_that_is_exchanged_between_open_and_delete(tmp_path, monkeypatch):
    victim, before = victim_of(tmp_path, keep="")
    checkpoints, unlink = tmp_path / "output" / "checkpoints", os.unlink
    for name in ("step-00000004", "step-00000008"):
        (checkpoints / name).mkdir(parents=True)
        (checkpoints / name / "keep").touch()

    def exchange(*args, **options):
        monkeypatch.setattr(os, "unlink", unlink)
        swap(checkpoints, victim)
        return unlink(*args, **options)

    monkeypatch.setattr(os, "unlink", exchange)
    with claim(tmp_path / "output"):
        folders.remove_checkpoints(checkpoints)
    assert contents(victim) == before
    assert not any((tmp_path / "output" / "checkpoints-away").iterdir())


def test_a_checkpoint_that_is_a_link_goes_and_not_what_it_leads_to(tmp_path, platform):
    victim, before = victim_of(tmp_path)
    with new_folder(tmp_path / "output") as folder:
        folder.make("checkpoints")
        (tmp_path / "output" / "checkpoints" / "step-00000001").symlink_to(victim / "step-00000004")
        with folder.folder("checkpoints") as inner:
            inner.remove_tree("step-00000001")
            assert inner.names() == []
    assert contents(victim) == before


@pytest.mark.parametrize("name", ["", "sub/"])
def test_pages_replace_links_and_follow_none(tmp_path, platform, name):
    victim, before = victim_of(tmp_path)
    (tmp_path / "docs").mkdir()
    if name:
        (tmp_path / "docs" / "sub").symlink_to(victim)
        with pytest.raises(LinkError):
            write_texts(tmp_path / "docs", {f"{name}run.json": "page"})
    else:
        (tmp_path / "docs" / "run.json").symlink_to(victim / "run.json")
        write_texts(tmp_path / "docs", {"run.json": "page"})
        assert (tmp_path / "docs" / "run.json").read_text() == "page"
    assert contents(victim) == before


def test_weights_of_a_path_with_links_of_the_user(tmp_path, platform):
    (tmp_path / "scratch").mkdir()
    (tmp_path / "output").symlink_to(tmp_path / "scratch")
    report, _, _ = train(write(tmp_path, TEXT), settings=["steps=3"])
    assert (tmp_path / "scratch" / "weights.safetensors").read_bytes() == report.weights.read_bytes()
    with open_folder(tmp_path / "output") as folder:
        assert folder.is_file("weights.safetensors")
    with pl.Net(pl.loads(NETWORK.strip().removeprefix("net {").rstrip().removesuffix("}"))) as net:
        net.save(tmp_path / "output" / "w.safetensors")
    assert (tmp_path / "scratch" / "w.safetensors").is_file()
