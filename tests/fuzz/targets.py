"""What is fuzzed, by name."""

from __future__ import annotations

from . import arrays, binaries, caffe_files, checkpoints, computed_ids, configs, editor, feeds, words
from .target import Target

TARGETS: dict[str, type[Target]] = {
    target.name: target
    for target in (
        *(configs.Text, configs.Json, binaries.Binary, configs.TrainingText, configs.TrainingJson),
        *(arrays.Npy, arrays.Npz, words.Csv, words.Text),
        *(checkpoints.Weights, checkpoints.Checkpoint),
        *(caffe_files.Prototxt, caffe_files.CaffeModel, caffe_files.CaffeMean),
        *(feeds.Feeds, computed_ids.ComputedIds),
        editor.Session,
    )
}
