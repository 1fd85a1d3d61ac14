"""Trainings that end before their time."""

from __future__ import annotations

import shlex
import shutil
import signal
import subprocess
import time

from .cases import Place
from .processes import Done, end, program, start, wait_for
from .trainings import OUTPUT, Left, begin, goes_on, left, train, uninterrupted, write_training

NOTHING_YET = "no checkpoint to resume from"


def kills(place: Place) -> str:
    """kill -9 at random moments, always resumed: the weights have the same bits, the log the same lines"""
    folder, output = place.folder, place.folder / OUTPUT
    write_training(folder, steps=400)  # several sittings each
    whole = uninterrupted(folder)
    begun = time.perf_counter()
    train(folder).fine()
    longest = time.perf_counter() - begun
    shutil.rmtree(output)
    killed = finished = 0
    while killed < place.kills:
        killed += _killed(begin(folder, *_options(place)), place.random.uniform(0, longest))
        if (output / "curve.svg").exists():  # written last
            goes_on(folder, whole)
            shutil.rmtree(output)
            finished += 1
    train(folder, *_options(place)).fine()
    assert left(output) == whole
    return f"{killed} kills of {finished + 1} trainings"


def _options(place: Place) -> list[str]:
    """How a training goes on: anew when it was killed before its first checkpoint."""
    return ["--resume"] if any((place.folder / OUTPUT).glob("checkpoints/step-*")) else ["--overwrite"]


def _killed(process: subprocess.Popen[str], after: float) -> bool:
    """Kill it so many seconds after its start; whether it was still running."""
    try:
        out, err = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
    Done(process.returncode, out, err).fine()
    return False


def killed_before_the_first_checkpoint(place: Place) -> None:
    """--resume says that there is nothing yet, and what it says to do works"""
    write_training(place.folder)
    whole = uninterrupted(place.folder)
    process = begin(place.folder)
    while not (place.folder / OUTPUT / "log.csv").exists():
        time.sleep(0.001)
    process.kill()
    process.communicate()
    shutil.rmtree(place.folder / OUTPUT / "checkpoints", ignore_errors=True)
    train(place.folder, "--resume").refused(NOTHING_YET, "remove --resume")
    train(place.folder).fine()
    assert left(place.folder / OUTPUT) == whole


def _asked_to_stop(place: Place, *signals: signal.Signals) -> tuple[Done, Left]:
    write_training(place.folder, steps=400, every=50)
    train(place.folder, output="whole").fine()
    process = begin(place.folder)
    wait_for(process, "step 10/")
    for number in signals:
        process.send_signal(number)
    return end(process), left(place.folder / "whole")


def _stopped_in_order(place: Place, number: signal.Signals, reason: str) -> None:
    done, whole = _asked_to_stop(place, number)
    assert f": {reason}." in done.fine().out, done
    promised = done.out.splitlines()[-1]
    assert promised.startswith("Resume: paddle-layers train "), done
    words = shlex.split(promised.removeprefix("Resume: paddle-layers"))
    run = "import sys; from paddle_layers.cli import main; sys.argv[0] = 'paddle-layers'; main()"
    end(start([*program(run), *words], place.folder)).fine()
    assert left(place.folder / OUTPUT) == whole


def ctrl_c(place: Place) -> None:
    """Ctrl-C saves and stops; the command that it prints goes on to the same bits"""
    _stopped_in_order(place, signal.SIGINT, "Ctrl-C")


def sigterm(place: Place) -> None:
    """SIGTERM, which a machine sends before it is switched off, saves and stops as Ctrl-C does"""
    _stopped_in_order(place, signal.SIGTERM, "SIGTERM")


def two_ctrl_c(place: Place) -> None:
    """the second Ctrl-C ends it at once, without a traceback; what was saved can be continued"""
    done, whole = _asked_to_stop(place, signal.SIGINT, signal.SIGINT)
    assert done.status in (0, 1), done  # 0: the first was done before the second came
    assert "Traceback" not in done.err, done.err
    goes_on(place.folder, whole)


CASES = (kills, killed_before_the_first_checkpoint, ctrl_c, sigterm, two_ctrl_c)
