"""What is fuzzed, by name."""

from __future__ import annotations

import importlib.util

from . import (
    arrays,
    binaries,
    caffe_files,
    checkpoints,
    computed_ids,
    config_memory,
    configs,
    editor,
    feeds,
    onnx_constants,
    onnx_models,
    other_sizes,
    passes,
    records,
    run_folders,
    shards,
    torch_files,
    words,
)
from .target import Target

TARGETS: dict[str, type[Target]] = {
    target.name: target
    for target in (
        *(configs.Text, configs.Json, binaries.Binary, configs.TrainingText, configs.TrainingJson),
        *(arrays.Npy, arrays.Npz, words.Csv, words.Text, words.LargeCsv, words.LargeText, words.Tokenizer),
        *(words.Dictionary, words.Records, config_memory.ConfigMemory),
        *(records.Picture, records.PictureList, records.BoxList, records.WindowFile, records.Lmdb, records.Hdf5),
        records.Parquet,
        *(checkpoints.Weights, checkpoints.DataNames, shards.Shards, checkpoints.Checkpoint),
        *((torch_files.TorchFiles,) if importlib.util.find_spec("torch") else ()),
        *(run_folders.RunFolder, run_folders.SweepJournal),
        *(caffe_files.Prototxt, caffe_files.CaffeModel, caffe_files.CaffeMean),
        *(feeds.Feeds, computed_ids.ComputedIds, passes.Passes, other_sizes.OtherSizes),
        *(onnx_models.Onnx, onnx_constants.OnnxConstants),
        editor.Session,
    )
}
