from paddle_layers.schema import network_pb2 as _network_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Training(_message.Message):
    __slots__ = ("network", "net", "seed", "batch_size", "epochs", "steps", "source", "optimizer", "schedule", "regularizer", "clip", "test", "checkpoint", "log", "output", "dtype", "feed", "level", "stage", "callback", "weights", "param")
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
    network: str
    net: _network_pb2.Network
    seed: int
    batch_size: int
    epochs: int
    steps: int
    source: _containers.RepeatedCompositeFieldContainer[Source]
    optimizer: Optimizer
    schedule: Schedule
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
    def __init__(self, network: _Optional[str] = ..., net: _Optional[_Union[_network_pb2.Network, _Mapping]] = ..., seed: _Optional[int] = ..., batch_size: _Optional[int] = ..., epochs: _Optional[int] = ..., steps: _Optional[int] = ..., source: _Optional[_Iterable[_Union[Source, _Mapping]]] = ..., optimizer: _Optional[_Union[Optimizer, _Mapping]] = ..., schedule: _Optional[_Union[Schedule, _Mapping]] = ..., regularizer: _Optional[_Union[Regularizer, _Mapping]] = ..., clip: _Optional[_Union[Clip, _Mapping]] = ..., test: _Optional[_Union[Test, _Mapping]] = ..., checkpoint: _Optional[_Union[Checkpoint, _Mapping]] = ..., log: _Optional[_Union[Log, _Mapping]] = ..., output: _Optional[str] = ..., dtype: _Optional[str] = ..., feed: _Optional[_Iterable[_Union[Feed, _Mapping]]] = ..., level: _Optional[int] = ..., stage: _Optional[_Iterable[str]] = ..., callback: _Optional[_Iterable[_Union[Callback, _Mapping]]] = ..., weights: _Optional[_Union[Weights, _Mapping]] = ..., param: _Optional[_Iterable[_Union[Param, _Mapping]]] = ...) -> None: ...

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
    __slots__ = ("of", "lr_mult", "decay_mult", "frozen", "clip")
    OF_FIELD_NUMBER: _ClassVar[int]
    LR_MULT_FIELD_NUMBER: _ClassVar[int]
    DECAY_MULT_FIELD_NUMBER: _ClassVar[int]
    FROZEN_FIELD_NUMBER: _ClassVar[int]
    CLIP_FIELD_NUMBER: _ClassVar[int]
    of: str
    lr_mult: float
    decay_mult: float
    frozen: bool
    clip: float
    def __init__(self, of: _Optional[str] = ..., lr_mult: _Optional[float] = ..., decay_mult: _Optional[float] = ..., frozen: bool = ..., clip: _Optional[float] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("type", "phase", "transform", "shuffle", "split", "workers", "memory", "on_error")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    TRANSFORM_FIELD_NUMBER: _ClassVar[int]
    SHUFFLE_FIELD_NUMBER: _ClassVar[int]
    SPLIT_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    ON_ERROR_FIELD_NUMBER: _ClassVar[int]
    type: str
    phase: str
    transform: _containers.RepeatedCompositeFieldContainer[Transform]
    shuffle: bool
    split: Split
    workers: int
    memory: int
    on_error: str
    def __init__(self, type: _Optional[str] = ..., phase: _Optional[str] = ..., transform: _Optional[_Iterable[_Union[Transform, _Mapping]]] = ..., shuffle: bool = ..., split: _Optional[_Union[Split, _Mapping]] = ..., workers: _Optional[int] = ..., memory: _Optional[int] = ..., on_error: _Optional[str] = ...) -> None: ...

class Split(_message.Message):
    __slots__ = ("test", "seed", "stratify", "field", "value", "group")
    TEST_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    STRATIFY_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    test: float
    seed: int
    stratify: str
    field: str
    value: str
    group: str
    def __init__(self, test: _Optional[float] = ..., seed: _Optional[int] = ..., stratify: _Optional[str] = ..., field: _Optional[str] = ..., value: _Optional[str] = ..., group: _Optional[str] = ...) -> None: ...

class Transform(_message.Message):
    __slots__ = ("type", "input")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    type: str
    input: str
    def __init__(self, type: _Optional[str] = ..., input: _Optional[str] = ...) -> None: ...

class Optimizer(_message.Message):
    __slots__ = ("type", "learning_rate")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    LEARNING_RATE_FIELD_NUMBER: _ClassVar[int]
    type: str
    learning_rate: float
    def __init__(self, type: _Optional[str] = ..., learning_rate: _Optional[float] = ...) -> None: ...

class Schedule(_message.Message):
    __slots__ = ("type",)
    TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    def __init__(self, type: _Optional[str] = ...) -> None: ...

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

class Test(_message.Message):
    __slots__ = ("every",)
    EVERY_FIELD_NUMBER: _ClassVar[int]
    every: int
    def __init__(self, every: _Optional[int] = ...) -> None: ...

class Checkpoint(_message.Message):
    __slots__ = ("every", "keep")
    EVERY_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    every: int
    keep: int
    def __init__(self, every: _Optional[int] = ..., keep: _Optional[int] = ...) -> None: ...

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
