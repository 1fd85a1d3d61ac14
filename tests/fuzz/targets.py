"""What is fuzzed, by name."""

from __future__ import annotations

from . import arrays, binaries, checkpoints, computed_ids, configs, editor, feeds, onnx_models, records, words
from .target import Target

TARGETS: dict[str, type[Target]] = {
    target.name: target
    for target in (
        *(configs.Text, configs.Json, binaries.Binary, configs.TrainingText, configs.TrainingJson),
        *(arrays.Npy, arrays.Npz, words.Csv, words.Text),
        *(records.Picture, records.PictureList, records.Lmdb, records.Hdf5),
        *(checkpoints.Weights, checkpoints.Checkpoint),
        *(feeds.Feeds, computed_ids.ComputedIds),
        onnx_models.Onnx,
        editor.Session,
    )
}
