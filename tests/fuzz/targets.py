"""What is fuzzed, by name."""

from __future__ import annotations

from . import binaries, checkpoints, computed_ids, configs, data_files, editor, feeds
from .target import Target

TARGETS: dict[str, type[Target]] = {
    target.name: target
    for target in (
        *(configs.Text, configs.Json, binaries.Binary, configs.TrainingText, configs.TrainingJson),
        *(data_files.Npy, data_files.Npz, data_files.Csv, data_files.Text),
        *(checkpoints.Weights, checkpoints.Checkpoint),
        *(feeds.Feeds, computed_ids.ComputedIds),
        editor.Session,
    )
}
