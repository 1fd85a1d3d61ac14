"""What a training shows, its log and its picture."""

import io
from xml.etree import ElementTree

import pytest

from paddle_layers.training.progress import COMPILING, Bar, LineProgress, as_text, duration, make_progress
from paddle_layers.training.results.curves import picture
from paddle_layers.training.results.records import CsvLog, read_records


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_a_bar_and_a_file_gets_lines():
    assert isinstance(make_progress(io.StringIO()), LineProgress)
    bar = make_progress(Terminal())
    bar.close()
    assert isinstance(bar, Bar)


@pytest.mark.parametrize("kind", [LineProgress, Bar])
def test_progress(kind, monkeypatch):
    clock = iter(range(1000))
    monkeypatch.setattr("paddle_layers.training.progress.time.monotonic", lambda: float(next(clock)))
    monkeypatch.setenv("COLUMNS", "150")
    stream = Terminal()
    shown = kind(stream)
    for done in range(1, 4):
        shown.compiling(done, 3, "conv_y")
    for done in range(1, 3):  # the kernels of a phase that is planned later
        shown.compiling(done, 2, "conv_dx")
    shown.say("note: [brackets] stay")
    for step in range(1, 11):
        shown.step(step, 10, {"loss": 0.5}, 32)
    shown.report(10, 10, {"loss": 0.25, "accuracy": 0.975})
    shown.close()
    text = stream.getvalue()
    assert COMPILING in text
    assert "note: [brackets] stay" in text
    assert "samples/s" in text
    if kind is LineProgress:
        assert "compiled 3 of 3 kernels" in text
        assert "compiled 2 of 2 more kernels" in text
    assert ("accuracy 97.50 %" in text) == (kind is LineProgress)


def test_numbers_and_times():
    assert as_text({"loss": 0.123456, "accuracy": 0.5, "accuracy_top5": 1.0}) == (
        "loss 0.1235  accuracy 50.00 %  accuracy_top5 100.00 %"
    )
    assert [duration(seconds) for seconds in (4.4, 200, 7500)] == ["4 s", "3:20 min", "2:05 h"]


def test_the_log_keeps_exact_numbers_and_drops_what_a_resumed_training_repeats(tmp_path):
    path = tmp_path / "log.csv"
    log = CsvLog(path, ["accuracy"])
    for step in (1, 2, 3):
        log.add({"step": step, "epoch": 0, "phase": "train", "loss": step / 3, "rate": 0.1, "seconds": 1})
    log.add({"step": 3, "epoch": 0, "phase": "test", "loss": 0.1, "seconds": 1, "accuracy": 2 / 3})
    assert log.series("train", "loss") == [(1, 1 / 3), (2, 2 / 3), (3, 1.0)]
    with path.open("a") as file:
        file.write("4,0,tra")  # a crash in the middle of a line
    assert [line["step"] for line in read_records(path)] == ["1", "2", "3", "3"]
    log = CsvLog(path, ["accuracy"], {"train": 2, "test": 2})
    log.add({"step": 3, "epoch": 0, "phase": "train", "loss": 1.0, "rate": 0.1, "seconds": 2})
    assert [(line["step"], line["seconds"]) for line in read_records(path)] == [("1", "1"), ("2", "1"), ("3", "2")]


def test_the_picture_takes_any_numbers_and_names():
    lines = {"train": [(1, 0.5), (2, float("nan")), (3, float("inf")), (4, 0.1)], "test": []}
    text = picture("a <title> & more", {"loss": lines, "nothing": {"train": []}, "level": {"train": [(4, 1.0)]}})
    root = ElementTree.fromstring(text)
    words = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert "a <title> & more" in words
    assert "nothing" not in words
    assert len([element for element in root.iter() if element.tag.endswith("polyline")]) == 2
    ElementTree.fromstring(picture("empty", {}))
