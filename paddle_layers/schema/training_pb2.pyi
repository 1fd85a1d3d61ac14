from paddle_layers.schema import network_pb2 as _network_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Training(_message.Message):
    __slots__ = ("network", "net", "seed", "batch_size", "epochs", "steps", "source", "optimizer", "schedule", "regularizer", "clip", "test", "checkpoint", "log", "output", "dtype", "feed", "level", "stage", "callback", "weights", "param", "accumulate", "average", "momentum_schedule", "generate", "on_nan", "base")
    NETWORK_FIELD_NUMBER: _ClassVar[int]
    NET_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    BATCH_SIZE_FIELD_NUMBER: _ClassVar[int]
    EPOCHS_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    OPTIMIZER_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    REGULARIZER_FIELD_NUMBER: _ClassVar[int]
    CLIP_FIELD_NUMBER: _ClassVar[int]
    TEST_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    FEED_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    CALLBACK_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_FIELD_NUMBER: _ClassVar[int]
    PARAM_FIELD_NUMBER: _ClassVar[int]
    ACCUMULATE_FIELD_NUMBER: _ClassVar[int]
    AVERAGE_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    GENERATE_FIELD_NUMBER: _ClassVar[int]
    ON_NAN_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    network: str
    net: _network_pb2.Network
    seed: int
    batch_size: int
    epochs: int
    steps: int
    source: _containers.RepeatedCompositeFieldContainer[Source]
    optimizer: Optimizer
    schedule: _containers.RepeatedCompositeFieldContainer[Schedule]
    regularizer: Regularizer
    clip: Clip
    test: Test
    checkpoint: Checkpoint
    log: Log
    output: str
    dtype: str
    feed: _containers.RepeatedCompositeFieldContainer[Feed]
    level: int
    stage: _containers.RepeatedScalarFieldContainer[str]
    callback: _containers.RepeatedCompositeFieldContainer[Callback]
    weights: Weights
    param: _containers.RepeatedCompositeFieldContainer[Param]
    accumulate: int
    average: Average
    momentum_schedule: _containers.RepeatedCompositeFieldContainer[Schedule]
    generate: Generate
    on_nan: str
    base: str
    def __init__(self, network: _Optional[str] = ..., net: _Optional[_Union[_network_pb2.Network, _Mapping]] = ..., seed: _Optional[int] = ..., batch_size: _Optional[int] = ..., epochs: _Optional[int] = ..., steps: _Optional[int] = ..., source: _Optional[_Iterable[_Union[Source, _Mapping]]] = ..., optimizer: _Optional[_Union[Optimizer, _Mapping]] = ..., schedule: _Optional[_Iterable[_Union[Schedule, _Mapping]]] = ..., regularizer: _Optional[_Union[Regularizer, _Mapping]] = ..., clip: _Optional[_Union[Clip, _Mapping]] = ..., test: _Optional[_Union[Test, _Mapping]] = ..., checkpoint: _Optional[_Union[Checkpoint, _Mapping]] = ..., log: _Optional[_Union[Log, _Mapping]] = ..., output: _Optional[str] = ..., dtype: _Optional[str] = ..., feed: _Optional[_Iterable[_Union[Feed, _Mapping]]] = ..., level: _Optional[int] = ..., stage: _Optional[_Iterable[str]] = ..., callback: _Optional[_Iterable[_Union[Callback, _Mapping]]] = ..., weights: _Optional[_Union[Weights, _Mapping]] = ..., param: _Optional[_Iterable[_Union[Param, _Mapping]]] = ..., accumulate: _Optional[int] = ..., average: _Optional[_Union[Average, _Mapping]] = ..., momentum_schedule: _Optional[_Iterable[_Union[Schedule, _Mapping]]] = ..., generate: _Optional[_Union[Generate, _Mapping]] = ..., on_nan: _Optional[str] = ..., base: _Optional[str] = ...) -> None: ...

class Generate(_message.Message):
    __slots__ = ("words", "scores", "begin", "end", "max_length", "beam_size", "results", "length_penalty", "temperature", "top_k", "top_p")
    WORDS_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    BEGIN_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    MAX_LENGTH_FIELD_NUMBER: _ClassVar[int]
    BEAM_SIZE_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    LENGTH_PENALTY_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    words: str
    scores: str
    begin: int
    end: int
    max_length: int
    beam_size: int
    results: int
    length_penalty: float
    temperature: float
    top_k: int
    top_p: float
    def __init__(self, words: _Optional[str] = ..., scores: _Optional[str] = ..., begin: _Optional[int] = ..., end: _Optional[int] = ..., max_length: _Optional[int] = ..., beam_size: _Optional[int] = ..., results: _Optional[int] = ..., length_penalty: _Optional[float] = ..., temperature: _Optional[float] = ..., top_k: _Optional[int] = ..., top_p: _Optional[float] = ...) -> None: ...

class Weights(_message.Message):
    __slots__ = ("file", "rename", "leave_out", "layout")
    FILE_FIELD_NUMBER: _ClassVar[int]
    RENAME_FIELD_NUMBER: _ClassVar[int]
    LEAVE_OUT_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    file: str
    rename: _containers.RepeatedCompositeFieldContainer[Rename]
    leave_out: _containers.RepeatedScalarFieldContainer[str]
    layout: str
    def __init__(self, file: _Optional[str] = ..., rename: _Optional[_Iterable[_Union[Rename, _Mapping]]] = ..., leave_out: _Optional[_Iterable[str]] = ..., layout: _Optional[str] = ...) -> None: ...

class Rename(_message.Message):
    __slots__ = ("to",)
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    to: str
    def __init__(self, to: _Optional[str] = ..., **kwargs) -> None: ...

class Param(_message.Message):
    __slots__ = ("of", "lr_mult", "decay_mult", "frozen", "clip", "clip_norm", "l1", "l2", "momentum", "max_norm", "prune")
    OF_FIELD_NUMBER: _ClassVar[int]
    LR_MULT_FIELD_NUMBER: _ClassVar[int]
    DECAY_MULT_FIELD_NUMBER: _ClassVar[int]
    FROZEN_FIELD_NUMBER: _ClassVar[int]
    CLIP_FIELD_NUMBER: _ClassVar[int]
    CLIP_NORM_FIELD_NUMBER: _ClassVar[int]
    L1_FIELD_NUMBER: _ClassVar[int]
    L2_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    MAX_NORM_FIELD_NUMBER: _ClassVar[int]
    PRUNE_FIELD_NUMBER: _ClassVar[int]
    of: str
    lr_mult: float
    decay_mult: float
    frozen: bool
    clip: float
    clip_norm: float
    l1: float
    l2: float
    momentum: float
    max_norm: float
    prune: float
    def __init__(self, of: _Optional[str] = ..., lr_mult: _Optional[float] = ..., decay_mult: _Optional[float] = ..., frozen: bool = ..., clip: _Optional[float] = ..., clip_norm: _Optional[float] = ..., l1: _Optional[float] = ..., l2: _Optional[float] = ..., momentum: _Optional[float] = ..., max_norm: _Optional[float] = ..., prune: _Optional[float] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("type", "phase", "transform", "shuffle", "split", "workers", "memory", "on_error", "ratio", "name")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    TRANSFORM_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_FIELD_NUMBER: _ClassVar[int]
    SPLIT_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    ON_ERROR_FIELD_NUMBER: _ClassVar[int]
    RATIO_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    type: str
    phase: str
    transform: _containers.RepeatedCompositeFieldContainer[Transform]
    shuffle: bool
    split: Split
    workers: int
    memory: int
    on_error: str
    ratio: float
    name: str
    def __init__(self, type: _Optional[str] = ..., phase: _Optional[str] = ..., transform: _Optional[_Iterable[_Union[Transform, _Mapping]]] = ..., shuffle: bool = ..., split: _Optional[_Union[Split, _Mapping]] = ..., workers: _Optional[int] = ..., memory: _Optional[int] = ..., on_error: _Optional[str] = ..., ratio: _Optional[float] = ..., name: _Optional[str] = ...) -> None: ...

class Split(_message.Message):
    __slots__ = ("test", "seed", "stratify", "field", "value", "group", "validation", "validation_value")
    TEST_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    STRATIFY_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_VALUE_FIELD_NUMBER: _ClassVar[int]
    test: float
    seed: int
    stratify: str
    field: str
    value: str
    group: str
    validation: float
    validation_value: str
    def __init__(self, test: _Optional[float] = ..., seed: _Optional[int] = ..., stratify: _Optional[str] = ..., field: _Optional[str] = ..., value: _Optional[str] = ..., group: _Optional[str] = ..., validation: _Optional[float] = ..., validation_value: _Optional[str] = ...) -> None: ...

class Transform(_message.Message):
    __slots__ = ("type", "input", "also")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    ALSO_FIELD_NUMBER: _ClassVar[int]
    type: str
    input: str
    also: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, type: _Optional[str] = ..., input: _Optional[str] = ..., also: _Optional[_Iterable[str]] = ...) -> None: ...

class Optimizer(_message.Message):
    __slots__ = ("type", "learning_rate")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    LEARNING_RATE_FIELD_NUMBER: _ClassVar[int]
    type: str
    learning_rate: float
    def __init__(self, type: _Optional[str] = ..., learning_rate: _Optional[float] = ...) -> None: ...

class Schedule(_message.Message):
    __slots__ = ("type", "until", "base")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    type: str
    until: int
    base: float
    def __init__(self, type: _Optional[str] = ..., until: _Optional[int] = ..., base: _Optional[float] = ...) -> None: ...

class Regularizer(_message.Message):
    __slots__ = ("type",)
    TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    def __init__(self, type: _Optional[str] = ...) -> None: ...

class Callback(_message.Message):
    __slots__ = ("type",)
    TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    def __init__(self, type: _Optional[str] = ...) -> None: ...

class Clip(_message.Message):
    __slots__ = ("norm", "value")
    NORM_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    norm: float
    value: float
    def __init__(self, norm: _Optional[float] = ..., value: _Optional[float] = ...) -> None: ...

class Average(_message.Message):
    __slots__ = ("decay", "window", "max_window")
    DECAY_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    MAX_WINDOW_FIELD_NUMBER: _ClassVar[int]
    decay: float
    window: float
    max_window: int
    def __init__(self, decay: _Optional[float] = ..., window: _Optional[float] = ..., max_window: _Optional[int] = ...) -> None: ...

class Test(_message.Message):
    __slots__ = ("every", "every_epochs", "at_start", "batches")
    EVERY_FIELD_NUMBER: _ClassVar[int]
    EVERY_EPOCHS_FIELD_NUMBER: _ClassVar[int]
    AT_START_FIELD_NUMBER: _ClassVar[int]
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    every: int
    every_epochs: int
    at_start: bool
    batches: int
    def __init__(self, every: _Optional[int] = ..., every_epochs: _Optional[int] = ..., at_start: bool = ..., batches: _Optional[int] = ...) -> None: ...

class Checkpoint(_message.Message):
    __slots__ = ("every", "keep", "every_epochs")
    EVERY_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    EVERY_EPOCHS_FIELD_NUMBER: _ClassVar[int]
    every: int
    keep: int
    every_epochs: int
    def __init__(self, every: _Optional[int] = ..., keep: _Optional[int] = ..., every_epochs: _Optional[int] = ...) -> None: ...

class Log(_message.Message):
    __slots__ = ("every", "format")
    EVERY_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    every: int
    format: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, every: _Optional[int] = ..., format: _Optional[_Iterable[str]] = ...) -> None: ...

class Feed(_message.Message):
    __slots__ = ("input", "field")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    input: str
    field: str
    def __init__(self, input: _Optional[str] = ..., field: _Optional[str] = ...) -> None: ...
