"""Data to try the layers on."""

from pathlib import Path

import numpy as np

import paddle_layers as pl
from paddle_layers.data import Dataset

PERIOD = 12


@pl.source("series_waves")
class Waves:
    """Synthetic monthly series: a trend, a yearly wave and noise, each sampled per row.

    Fields: `past` and `future`, what follows it.
    """

    rows = pl.Int("number of series", default=1000, min=1)
    past = pl.Int("months of the past", default=96, min=1)
    future = pl.Int("months to forecast", default=12, min=1)
    noise = pl.Float("standard deviation of the noise", default=0.3, min=0)
    seed = pl.Int("random seed", default=0, min=0)

    def open(self, _base: Path) -> Dataset:
        """The series, the same for the same settings. Nothing is read from the training file's folder."""
        random = np.random.default_rng(self.seed)
        month = np.arange(self.past + self.future)
        slope, phase, height = (random.uniform(low, high, (self.rows, 1)) for low, high in ((-1, 1), (0, 1), (0.5, 1)))
        wave = height * np.sin(2 * np.pi * (month / PERIOD + phase))
        series = slope * month / len(month) + wave + self.noise * random.standard_normal((self.rows, len(month)))
        past, future = np.split(series.astype(np.float32), [self.past], axis=1)
        return Dataset({"past": past, "future": future}, origin=f"{self.rows} synthetic series")
