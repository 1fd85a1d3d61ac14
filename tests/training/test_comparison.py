"""`runs`: the settings in which trainings differ, their results, their curves; folders that hold anything."""

import json
import os
import shutil
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner

from paddle_layers.cli.app import commands
from paddle_layers.training import TrainingError
from paddle_layers.training.results.comparison import MOST_LINES, compare, comparison_picture, differing
from paddle_layers.training.results.curves import picture
from paddle_layers.training.results.folders import MARK, claimed_folder
from paddle_layers.training.results.records import read_records
from tests.training.helpers import NETWORK, SETTINGS, SOURCES, train, write

TEXT = NETWORK + SOURCES + SETTINGS + "test { every: 6 }"


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """Three runs that differ in a setting of the training and one of the network."""
    folder = tmp_path_factory.mktemp("runs")
    path = write(folder, TEXT)
    for number, setting in enumerate(["seed=1", "optimizer.learning_rate=0.001", "net.layer[fc1].fc.size=3"]):
        train(path, output=folder / "output" / f"run-{number + 9}", settings=[setting])
    return folder / "output"


def run(*arguments):
    return CliRunner().invoke(commands, ["runs", *map(str, arguments)])


def test_a_row_for_each_run(output):
    runs, notes = compare([output])
    assert [one.name for one in runs] == ["run-9", "run-10", "run-11"]
    assert notes == []
    assert differing(runs) == ["optimizer.learning_rate", "seed", "net.layer[fc1].fc.size"]
    for one in runs:
        tests = [line for line in read_records(one.folder / "log.csv") if line["phase"] == "test"]
        losses, accuracies = ([float(line[name]) for line in tests] for name in ("loss", "accuracy"))
        assert (one.last["loss"], one.best["loss"]) == (losses[-1], min(losses))
        assert (one.last["accuracy"], one.best["accuracy"]) == (accuracies[-1], max(accuracies))
        assert one.lines["loss"] == [(6 * (number + 1), loss) for number, loss in enumerate(losses)]
        assert (one.step, one.state) == (30, "finished")


def test_the_command_shows_a_table_and_draws_a_picture(output, tmp_path):
    done = run(output, "--svg", tmp_path / "runs.svg")
    assert done.exit_code == 0, done.output
    rows = done.stdout.splitlines()
    assert rows[0].split()[:4] == ["run", "optimizer.learning_rate", "seed", "net.layer[fc1].fc.size"]
    assert [row.split()[0] for row in rows[1:]] == ["run-9", "run-10", "run-11"]
    assert rows[2].split()[1] == "0.001"
    tree = ET.parse(tmp_path / "runs.svg")
    texts = [one.text for one in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"run-9", "run-10", "run-11", "loss", "accuracy"} <= {*texts}
    assert len(list(tree.iter("{http://www.w3.org/2000/svg}polyline"))) == 6
    assert run(output / "run-9").exit_code == 0


def test_runs_that_go_on_or_were_killed(output, tmp_path):
    shutil.copytree(output, tmp_path / "output")
    for name in ("run-9", "run-10"):
        facts = tmp_path / "output" / name / "run" / "run.json"
        facts.write_text(json.dumps({**json.loads(facts.read_text()), "ended": ""}))
    with claimed_folder(tmp_path / "output" / "run-9"):
        states = [one.state for one in compare([tmp_path / "output"])[0]]
    assert states == ["running", "incomplete", "finished"]


def test_one_without_tests_and_one_of_an_earlier_version(tmp_path):
    path = write(tmp_path, NETWORK + SOURCES[: SOURCES.rindex("source {")] + SETTINGS)
    report, _, _ = train(path, output=tmp_path / "runs" / "new")
    shutil.copytree(report.folder, tmp_path / "runs" / "old")
    shutil.rmtree(tmp_path / "runs" / "old" / "run")
    new, old = compare([tmp_path / "runs"])[0]
    assert new.lines == old.lines
    assert [step for step, _ in new.lines["loss"]] == [5, 10, 15, 20, 25, 30]
    assert old.fields == {}


HOSTILE = {
    "a page": ("log.csv", b"<html>"),
    "bytes": ("log.csv", b"\xff\xfe"),
    "no number": ("log.csv", b"step,epoch,phase,loss,rate,seconds\n1,0,test,\x1b[31m,0,0\n"),
    "a large field": ("log.csv", b"step,epoch,phase,loss,rate,seconds\n1,0,test," + b"9" * 200_000 + b",0,0\n"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_read_is_a_note(output, tmp_path, name):
    shutil.copytree(output, tmp_path / "output")
    file, content = HOSTILE[name]
    (tmp_path / "output" / "run-10" / file).write_bytes(content)
    done = run(tmp_path / "output")
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith("note: ")
    assert "\x1b" not in done.output
    assert len(done.stdout.splitlines()) == 3


def test_hostile_folders(output, tmp_path):
    folder = tmp_path / "output"
    for name in ("pipe", "large", "config"):
        shutil.copytree(output / "run-9", folder / name)
    evil = folder / "\x1b[31mname<&>"
    shutil.copytree(output / "run-9", evil)
    (evil / "log.csv").write_text(
        "step,epoch,phase,loss,rate,seconds,\x1b]0;<x>\n3,0,test,1e308,0,1e300,-1e308\n9,0,test,nan,0,inf,2\n"
    )
    for name in ("log.csv", "run/run.json", "run/train.textproto", MARK):
        (folder / "pipe" / name).unlink()
        os.mkfifo(folder / "pipe" / name)
    (folder / "pipe" / MARK).unlink()
    (folder / "pipe" / MARK).write_text("")
    with (folder / "large" / "log.csv").open("r+b") as file:
        file.truncate(1 << 33)
    (folder / "config" / "run" / "train.textproto").write_text('seed: "\\033[31m' + "x" * 5000 + '" ' + "a { " * 5000)
    done = run(folder, "--svg", tmp_path / "runs.svg")
    assert done.exit_code == 0, done.output
    assert "\x1b" not in done.output
    assert "log.csv: larger than 64 MiB" in done.stderr
    ET.parse(tmp_path / "runs.svg")


def test_nothing_to_compare(tmp_path):
    with pytest.raises(TrainingError, match=r"no runs in .*; a run is an output folder"):
        compare([tmp_path])
    done = run(tmp_path / "none")
    assert (done.exit_code, done.stderr) == (1, f"no such folder: {tmp_path / 'none'}\n")


def test_many_runs_have_a_legend_and_few_points(output, tmp_path):
    runs = compare([output])[0]
    long = [(step, float(step)) for step in range(1, 100_001)]
    for number in range(MOST_LINES):
        runs.append(runs[0].__class__(**{**vars(runs[0]), "name": f"run number {number}", "lines": {"loss": long}}))
    drawn = comparison_picture("many", runs)
    assert len(drawn) < 1_000_000
    ET.fromstring(drawn)
    assert drawn.count("run number 7</text>") == 1  # in the legend, not at each panel


def test_of_several_lines_the_lowest_is_marked():
    drawn = picture("two", {"loss": {"a": [(1, 3.0), (2, 2.0)], "b": [(1, 1.0), (2, 4.0)]}})
    assert "lowest b loss: step 1" in drawn
