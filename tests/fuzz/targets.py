"""What is fuzzed, by name."""

from __future__ import annotations

from . import binaries, configs
from .target import Target

TARGETS: dict[str, type[Target]] = {
    target.name: target
    for target in (
        *(configs.Text, configs.Json, binaries.Binary, configs.TrainingText, configs.TrainingJson),
    )
}
