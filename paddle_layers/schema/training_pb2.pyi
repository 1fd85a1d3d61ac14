from collections.abc import Iterable as _Iterable
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar

from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from google.protobuf.internal import containers as _containers

from paddle_layers.schema import network_pb2 as _network_pb2

DESCRIPTOR: _descriptor.FileDescriptor

class Training(_message.Message):
    __slots__ = (
        "accumulate",
        "average",
        "base",
        "batch_size",
        "callback",
        "checkpoint",
        "clip",
        "dtype",
        "epochs",
        "feed",
        "generate",
        "level",
        "log",
        "momentum_schedule",
        "net",
        "network",
        "on_nan",
        "optimizer",
        "output",
        "param",
        "regularizer",
        "schedule",
        "seed",
        "source",
        "stage",
        "steps",
        "test",
        "weights",
    )
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
    def __init__(
        self,
        network: str | None = ...,
        net: _network_pb2.Network | _Mapping | None = ...,
        seed: int | None = ...,
        batch_size: int | None = ...,
        epochs: int | None = ...,
        steps: int | None = ...,
        source: _Iterable[Source | _Mapping] | None = ...,
        optimizer: Optimizer | _Mapping | None = ...,
        schedule: _Iterable[Schedule | _Mapping] | None = ...,
        regularizer: Regularizer | _Mapping | None = ...,
        clip: Clip | _Mapping | None = ...,
        test: Test | _Mapping | None = ...,
        checkpoint: Checkpoint | _Mapping | None = ...,
        log: Log | _Mapping | None = ...,
        output: str | None = ...,
        dtype: str | None = ...,
        feed: _Iterable[Feed | _Mapping] | None = ...,
        level: int | None = ...,
        stage: _Iterable[str] | None = ...,
        callback: _Iterable[Callback | _Mapping] | None = ...,
        weights: Weights | _Mapping | None = ...,
        param: _Iterable[Param | _Mapping] | None = ...,
        accumulate: int | None = ...,
        average: Average | _Mapping | None = ...,
        momentum_schedule: _Iterable[Schedule | _Mapping] | None = ...,
        generate: Generate | _Mapping | None = ...,
        on_nan: str | None = ...,
        base: str | None = ...,
    ) -> None: ...

class Generate(_message.Message):
    __slots__ = (
        "beam_size",
        "begin",
        "end",
        "length_penalty",
        "max_length",
        "results",
        "scores",
        "temperature",
        "top_k",
        "top_p",
        "words",
    )
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
    def __init__(
        self,
        words: str | None = ...,
        scores: str | None = ...,
        begin: int | None = ...,
        end: int | None = ...,
        max_length: int | None = ...,
        beam_size: int | None = ...,
        results: int | None = ...,
        length_penalty: float | None = ...,
        temperature: float | None = ...,
        top_k: int | None = ...,
        top_p: float | None = ...,
    ) -> None: ...

class Weights(_message.Message):
    __slots__ = ("file", "layout", "leave_out", "rename")
    FILE_FIELD_NUMBER: _ClassVar[int]
    RENAME_FIELD_NUMBER: _ClassVar[int]
    LEAVE_OUT_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    file: str
    rename: _containers.RepeatedCompositeFieldContainer[Rename]
    leave_out: _containers.RepeatedScalarFieldContainer[str]
    layout: str
    def __init__(
        self,
        file: str | None = ...,
        rename: _Iterable[Rename | _Mapping] | None = ...,
        leave_out: _Iterable[str] | None = ...,
        layout: str | None = ...,
    ) -> None: ...

class Rename(_message.Message):
    __slots__ = ("to",)
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    to: str
    def __init__(self, to: str | None = ..., **kwargs) -> None: ...

class Param(_message.Message):
    __slots__ = (
        "clip",
        "clip_norm",
        "decay_mult",
        "frozen",
        "l1",
        "l2",
        "lr_mult",
        "max_norm",
        "momentum",
        "of",
        "prune",
    )
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
    def __init__(
        self,
        of: str | None = ...,
        lr_mult: float | None = ...,
        decay_mult: float | None = ...,
        frozen: bool = ...,
        clip: float | None = ...,
        clip_norm: float | None = ...,
        l1: float | None = ...,
        l2: float | None = ...,
        momentum: float | None = ...,
        max_norm: float | None = ...,
        prune: float | None = ...,
    ) -> None: ...

class Source(_message.Message):
    __slots__ = ("memory", "name", "on_error", "phase", "ratio", "shuffle", "split", "transform", "type", "workers")
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
    def __init__(
        self,
        type: str | None = ...,
        phase: str | None = ...,
        transform: _Iterable[Transform | _Mapping] | None = ...,
        shuffle: bool = ...,
        split: Split | _Mapping | None = ...,
        workers: int | None = ...,
        memory: int | None = ...,
        on_error: str | None = ...,
        ratio: float | None = ...,
        name: str | None = ...,
    ) -> None: ...

class Split(_message.Message):
    __slots__ = ("field", "group", "seed", "stratify", "test", "value")
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
    def __init__(
        self,
        test: float | None = ...,
        seed: int | None = ...,
        stratify: str | None = ...,
        field: str | None = ...,
        value: str | None = ...,
        group: str | None = ...,
    ) -> None: ...

class Transform(_message.Message):
    __slots__ = ("also", "input", "type")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    ALSO_FIELD_NUMBER: _ClassVar[int]
    type: str
    input: str
    also: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, type: str | None = ..., input: str | None = ..., also: _Iterable[str] | None = ...) -> None: ...

class Optimizer(_message.Message):
    __slots__ = ("learning_rate", "type")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    LEARNING_RATE_FIELD_NUMBER: _ClassVar[int]
    type: str
    learning_rate: float
    def __init__(self, type: str | None = ..., learning_rate: float | None = ...) -> None: ...

class Schedule(_message.Message):
    __slots__ = ("base", "type", "until")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    type: str
    until: int
    base: float
    def __init__(self, type: str | None = ..., until: int | None = ..., base: float | None = ...) -> None: ...

class Regularizer(_message.Message):
    __slots__ = ("type",)
    TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    def __init__(self, type: str | None = ...) -> None: ...

class Callback(_message.Message):
    __slots__ = ("type",)
    TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    def __init__(self, type: str | None = ...) -> None: ...

class Clip(_message.Message):
    __slots__ = ("norm", "value")
    NORM_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    norm: float
    value: float
    def __init__(self, norm: float | None = ..., value: float | None = ...) -> None: ...

class Average(_message.Message):
    __slots__ = ("decay", "max_window", "window")
    DECAY_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    MAX_WINDOW_FIELD_NUMBER: _ClassVar[int]
    decay: float
    window: float
    max_window: int
    def __init__(self, decay: float | None = ..., window: float | None = ..., max_window: int | None = ...) -> None: ...

class Test(_message.Message):
    __slots__ = ("at_start", "batches", "every", "every_epochs")
    EVERY_FIELD_NUMBER: _ClassVar[int]
    EVERY_EPOCHS_FIELD_NUMBER: _ClassVar[int]
    AT_START_FIELD_NUMBER: _ClassVar[int]
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    every: int
    every_epochs: int
    at_start: bool
    batches: int
    def __init__(
        self, every: int | None = ..., every_epochs: int | None = ..., at_start: bool = ..., batches: int | None = ...
    ) -> None: ...

class Checkpoint(_message.Message):
    __slots__ = ("every", "every_epochs", "keep")
    EVERY_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    EVERY_EPOCHS_FIELD_NUMBER: _ClassVar[int]
    every: int
    keep: int
    every_epochs: int
    def __init__(self, every: int | None = ..., keep: int | None = ..., every_epochs: int | None = ...) -> None: ...

class Log(_message.Message):
    __slots__ = ("every", "format")
    EVERY_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    every: int
    format: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, every: int | None = ..., format: _Iterable[str] | None = ...) -> None: ...

class Feed(_message.Message):
    __slots__ = ("field", "input")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    input: str
    field: str
    def __init__(self, input: str | None = ..., field: str | None = ...) -> None: ...
