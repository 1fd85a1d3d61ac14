"""Events of a training: order of the listeners after a step, and kinds of events."""

import io

import paddle_layers as pl
from paddle_layers.training.callbacks import HOOKS
from paddle_layers.training.events import Due, Events, GradientsReady, Run, StepDone
from paddle_layers.training.progress import LineProgress

from .helpers import NETWORK, SETTINGS, SOURCES, write

ALL_DUE = (NETWORK + SOURCES + SETTINGS).replace("steps: 30", "epochs: 1").replace("every: 10", "every_epochs: 1")


class Spy:
    """A callback that notes its hooks in the output of the progress, and when its state is saved."""

    def __init__(self, hooks=HOOKS):
        self.run = None
        for hook in hooks:
            setattr(self, hook, self._noting(hook))

    def _noting(self, hook):
        def note(run):
            self.run = run
            run.say(hook)

        return note

    def state(self):
        self.run.say("save")
        return {}


def test_after_a_step_come_log_test_epoch_and_checkpoint(tmp_path):
    shown = io.StringIO()
    path = write(tmp_path, ALL_DUE + "test { every_epochs: 1 }", rows=8)
    pl.train(path, output=tmp_path / "out", callbacks=[Spy()], progress=LineProgress(shown))
    lines = [line.split("  ")[0] for line in shown.getvalue().splitlines()]
    lines = lines[lines.index("on_gradients") :]
    batches = ["on_test_batch"] * 3
    test = [*batches, "step 1: test", "on_test", "after_test"]
    assert lines == ["on_gradients", "on_step", "step 1/1", *test, "on_epoch", "save", "on_end"]


def test_listeners_of_a_kind_hear_its_events_in_their_order():
    heard, events, run = [], Events(), Run(None, None, 1)
    events.listen(StepDone, lambda event: heard.append(("first", event.rows)))
    events.listen(StepDone, lambda event: heard.append(("second", event.rows)))
    events.emit(GradientsReady(run))
    events.emit(StepDone(run, {}, 8, Due(report=False, test=False, epoch=False, save=False)))
    assert heard == [("first", 8), ("second", 8)]
