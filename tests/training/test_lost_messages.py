"""Messages that cannot be written, callbacks that fail and full disks cost a training nothing but themselves."""

import errno
import io
import os
import subprocess
import sys

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define.standard_streams import dropping
from paddle_layers.runtime import SaveError
from paddle_layers.training.progress import Bar, LineProgress, NullProgress, make_progress
from paddle_layers.training.results import records

from .helpers import NETWORK, SETTINGS, SOURCES, train, write

TEXT = NETWORK + SOURCES + SETTINGS + "test { every: 10 }"


class Broken(io.StringIO):
    """A stream that takes nothing, and says that it is a terminal or not."""

    def __init__(self, number, *, terminal=False):
        super().__init__()
        self.number, self.terminal = number, terminal

    def write(self, *_):
        raise OSError(self.number, os.strerror(self.number))

    def isatty(self):
        return self.terminal


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


STREAMS = {
    "full": lambda: Broken(errno.ENOSPC),
    "pipe": lambda: Broken(errno.EPIPE),
    "terminal that is gone": lambda: Broken(errno.EIO, terminal=True),
    "closed": closed,
    "none": lambda: None,
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_a_training_outlives_its_stderr(tmp_path, monkeypatch, as_python, stream):
    path = write(tmp_path, TEXT)
    report, _, _ = train(path)
    monkeypatch.setattr(sys, "stderr", stream())
    again = pl.train(path, output=tmp_path / "again")
    assert again.weights.read_bytes() == report.weights.read_bytes()
    assert again.log.is_file()


def test_what_shows_the_progress(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert isinstance(make_progress(), NullProgress)
    assert isinstance(make_progress(closed()), LineProgress)
    LineProgress(None).say("nobody hears it")
    bar = make_progress(Broken(errno.EIO, terminal=True))
    assert isinstance(bar, Bar)
    bar.say("nobody hears it")
    bar.step(1, 2, {"loss": 1.0}, 3)
    bar.close()


def test_a_text_that_cannot_be_encoded_is_still_an_error():
    with pytest.raises(UnicodeEncodeError):
        dropping(io.TextIOWrapper(io.BytesIO(), "ascii")).write("\u00e9")


REDIRECTED = {"2>&-": 0, "2>/dev/full": 0, ">&-": 0, ">/dev/full": 1, ">&- 2>&- <&-": 0, "2>&1 | true": 0}


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a file that is full")
def test_streams_of_the_command(tmp_path):
    path = write(tmp_path, TEXT)
    for number, (redirection, status) in enumerate(REDIRECTED.items()):
        command = f"{sys.executable} -m paddle_layers train {path} --output {tmp_path / str(number)} {redirection}"
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        assert done.returncode == status, redirection
        assert "Traceback" not in done.stderr
        if status:
            assert done.stderr.endswith("stdout: No space left on device\n")
        assert (tmp_path / str(number) / "weights.safetensors").is_file(), redirection
        assert (tmp_path / str(number) / "checkpoints" / "step-00000030").is_dir()


class Failing:
    """A callback with a mistake that shows late."""

    def __init__(self, event, step):
        self.step = step
        setattr(self, event, self._fail)

    def _fail(self, run):
        if run.step == self.step:
            self.weights = {name: np.array(one.value) for name, one in run.net.parameters.items()}
            raise ZeroDivisionError("a mistake")


@pytest.mark.parametrize("event", ["on_step", "on_gradients", "on_test", "on_epoch", "after_test", "on_end"])
def test_a_callback_that_fails_leaves_the_weights(tmp_path, as_python, event):
    path, failing = (
        write(tmp_path, TEXT.replace("every: 10", "every: 7")),
        Failing(event, 30 if event == "on_end" else 14),
    )
    with pytest.raises(ZeroDivisionError, match="a mistake"):
        train(path, callbacks=[failing])
    with pl.Net(pl.config.network_of(path)) as net:
        net.load(tmp_path / "output" / "weights.safetensors")
        for name, value in failing.weights.items():
            assert np.array_equal(net.parameters[name].value, value), name


@pytest.mark.parametrize("name", ["log.csv", "curve.svg"])
def test_a_log_that_cannot_be_written_leaves_the_weights(tmp_path, monkeypatch, as_python, name):
    path = write(tmp_path, TEXT)

    def full(self, facts):
        if facts["step"] == 25:
            raise SaveError(errno.ENOSPC, "the disk is full")

    if name == "log.csv":
        monkeypatch.setattr(records.CsvLog, "add", full)
    else:
        monkeypatch.setattr("paddle_layers.training.results.metrics_logger.picture", lambda *_: 1 / 0)
    with pytest.raises((SaveError, ZeroDivisionError)):
        train(path)
    assert (tmp_path / "output" / "weights.safetensors").is_file()
    assert (tmp_path / "output" / "checkpoints" / "step-00000020").is_dir()
