"""Every layer on every example: types, gradients, memory, tuned kernels."""

import paddle_layers as pl


def test_layers() -> None:
    pl.testing.check_plugin("series")
