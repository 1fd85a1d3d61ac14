"""A small training that takes a moment: eight numbers, three classes, two layers."""

import io

import numpy as np

import paddle_layers as pl
from paddle_layers.training.progress import LineProgress

NETWORK = """
net {
  name: "small"
  layer { name: "x" type: "data" data { shape: [8] } }
  layer { name: "label" type: "data" data { data_type: INT size: 3 } }
  layer { name: "fc1" type: "fc" input: "x" fc { size: 6 act: "relu" drop_rate: 0.25 } }
  layer { name: "fc2" type: "fc" input: "fc1" fc { size: 3 } }
  layer { name: "cost" type: "softmax_with_loss" input: "fc2" input: "label" }
  layer { name: "accuracy" type: "accuracy" input: "fc2" input: "label" }
}
"""
SOURCES = """
source {
  type: "npz" phase: "train" npz { file: "train.npz" }
  transform { type: "scale" input: "x" scale { factor: 1.5 } }
}
source {
  type: "npz" phase: "test" npz { file: "test.npz" }
  transform { type: "scale" input: "x" scale { factor: 1.5 } }
}
"""
SETTINGS = """
batch_size: 8
steps: 30
optimizer { type: "adam" learning_rate: 0.02 }
schedule { type: "cosine" cosine { warmup: 5 } }
log { every: 5 }
checkpoint { every: 10 }
"""


def write(folder, text=NETWORK + SOURCES + SETTINGS, rows=50, **fields):
    """A training file with its data; gives its path."""
    rng = np.random.default_rng(0)
    for name, count in (("train", rows), ("test", 20)):
        label = rng.integers(0, 3, count)
        x = rng.normal(0, 1, (count, 8)) + 2 * np.eye(3, 8)[label]
        np.savez(folder / f"{name}.npz", **{"x": x.astype(np.float32), "label": label, **fields})
    path = folder / "train.textproto"
    path.write_text(text)
    return path


class Losses:
    """A callback that notes every loss, and stops after so many steps if asked."""

    def __init__(self, stop_after=None):
        self.losses, self.stop_after = {}, stop_after

    def on_step(self, run):
        self.losses[run.step] = run.loss
        if run.step == self.stop_after:
            run.stop("the test wants it")


def train(path, **options):
    """Train beside the file. Gives the report, the losses and what was shown."""
    losses, shown = Losses(options.pop("stop_after", None)), io.StringIO()
    options.setdefault("output", path.parent / "output")
    callbacks = [losses, *options.pop("callbacks", ())]
    report = pl.train(path, callbacks=callbacks, progress=LineProgress(shown), **options)
    return report, losses.losses, shown.getvalue()
