"""What is fuzzed, by name."""

from __future__ import annotations

from . import arrays, binaries, checkpoints, computed_ids, configs, editor, feeds, records, shards, words
from .target import Target

TARGETS: dict[str, type[Target]] = {
    target.name: target
    for target in (
        *(configs.Text, configs.Json, binaries.Binary, configs.TrainingText, configs.TrainingJson),
        *(arrays.Npy, arrays.Npz, words.Csv, words.Text),
        *(records.Picture, records.PictureList, records.Lmdb, records.Hdf5),
        *(checkpoints.Weights, shards.Shards, checkpoints.Checkpoint),
        *(feeds.Feeds, computed_ids.ComputedIds),
        editor.Session,
    )
}
