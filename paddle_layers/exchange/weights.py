"""Conversion of weight files from and to other systems: names, layouts, precision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from paddle_layers.config import load, load_training
from paddle_layers.config.checking import is_training_file
from paddle_layers.runtime import Net
from paddle_layers.runtime.memory.weights import TORCH, converted


def convert_weights(
    file: str,
    source: str,
    output: str,
    *,
    origin: str | None,
    target: str,
    rename: Mapping[str, str],
    leave_out: Sequence[str],
) -> Iterator[str]:
    """Read weights for the network of a file, and write them; returns lines of what was done.

    The names change on the side that is not ours: in the file that is read, or with the `target` "torch" in the one
    that is written. Raises `ConfigError`, `WeightsError`, `SaveError`.
    """
    outwards = target == TORCH
    with _net(file) as net:
        # Through a network: its parameters determine shapes, layouts and the set of names, so a file that does not fit
        # is rejected here and not at its first use.
        report = net.load(source, rename={} if outwards else rename, leave_out=leave_out, layout=origin)
        if report.missing:
            listed = ", ".join(f"`{name}`" for name in report.missing[:5])
            yield (
                f"note: {source} has no {listed}{', ...' if len(report.missing) > 5 else ''}: initialized from scratch"
            )
        yield f"loaded {len(report.loaded)} weights from {source}{converted(report, net.dtype)}"
        net.save(output, rename=rename if outwards else {}, layout=target)
        yield f"wrote {output}"


def _net(file: str) -> Net:
    if not is_training_file(file):
        return Net(load(file))
    training = load_training(file, sources_needed=False)
    return Net(training.network, dtype=training.dtype, level=training.level, stages=training.stage)
