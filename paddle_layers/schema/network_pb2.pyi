from collections.abc import Iterable as _Iterable
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar

from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from google.protobuf.internal import containers as _containers

DESCRIPTOR: _descriptor.FileDescriptor
RULE_FIELD_NUMBER: _ClassVar[int]
rule: _descriptor.FieldDescriptor

class FieldRule(_message.Message):
    __slots__ = ("above", "below", "elsewhere", "max", "min", "options", "registry", "required")
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    MIN_FIELD_NUMBER: _ClassVar[int]
    ABOVE_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_FIELD_NUMBER: _ClassVar[int]
    ELSEWHERE_FIELD_NUMBER: _ClassVar[int]
    BELOW_FIELD_NUMBER: _ClassVar[int]
    required: bool
    min: float
    above: float
    max: float
    options: _containers.RepeatedScalarFieldContainer[str]
    registry: str
    elsewhere: _containers.RepeatedScalarFieldContainer[str]
    below: float
    def __init__(
        self,
        required: bool = ...,
        min: float | None = ...,
        above: float | None = ...,
        max: float | None = ...,
        options: _Iterable[str] | None = ...,
        registry: str | None = ...,
        elsewhere: _Iterable[str] | None = ...,
        below: float | None = ...,
    ) -> None: ...

class Network(_message.Message):
    __slots__ = ("block", "layer", "name")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    name: str
    layer: _containers.RepeatedCompositeFieldContainer[Layer]
    block: _containers.RepeatedCompositeFieldContainer[Block]
    def __init__(
        self,
        name: str | None = ...,
        layer: _Iterable[Layer | _Mapping] | None = ...,
        block: _Iterable[Block | _Mapping] | None = ...,
    ) -> None: ...

class Block(_message.Message):
    __slots__ = ("input", "layer", "name", "output", "settings")
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    name: str
    input: _containers.RepeatedScalarFieldContainer[str]
    settings: str
    layer: _containers.RepeatedCompositeFieldContainer[Layer]
    output: _containers.RepeatedScalarFieldContainer[str]
    def __init__(
        self,
        name: str | None = ...,
        input: _Iterable[str] | None = ...,
        settings: str | None = ...,
        layer: _Iterable[Layer | _Mapping] | None = ...,
        output: _Iterable[str] | None = ...,
    ) -> None: ...

class Layer(_message.Message):
    __slots__ = (
        "activation",
        "exclude",
        "include",
        "input",
        "loss_weight",
        "name",
        "output",
        "param",
        "propagate_down",
        "set",
        "step",
        "times",
        "type",
    )
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    PARAM_FIELD_NUMBER: _ClassVar[int]
    ACTIVATION_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_FIELD_NUMBER: _ClassVar[int]
    LOSS_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    PROPAGATE_DOWN_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    SET_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: str
    input: _containers.RepeatedScalarFieldContainer[str]
    output: _containers.RepeatedScalarFieldContainer[str]
    param: _containers.RepeatedCompositeFieldContainer[ParamSettings]
    activation: Activation
    include: _containers.RepeatedCompositeFieldContainer[StateRule]
    exclude: _containers.RepeatedCompositeFieldContainer[StateRule]
    loss_weight: _containers.RepeatedScalarFieldContainer[float]
    propagate_down: _containers.RepeatedScalarFieldContainer[bool]
    step: Step
    set: str
    times: int
    def __init__(
        self,
        name: str | None = ...,
        type: str | None = ...,
        input: _Iterable[str] | None = ...,
        output: _Iterable[str] | None = ...,
        param: _Iterable[ParamSettings | _Mapping] | None = ...,
        activation: Activation | _Mapping | None = ...,
        include: _Iterable[StateRule | _Mapping] | None = ...,
        exclude: _Iterable[StateRule | _Mapping] | None = ...,
        loss_weight: _Iterable[float] | None = ...,
        propagate_down: _Iterable[bool] | None = ...,
        step: Step | _Mapping | None = ...,
        set: str | None = ...,
        times: int | None = ...,
    ) -> None: ...

class Step(_message.Message):
    __slots__ = ("layer", "output")
    LAYER_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    layer: _containers.RepeatedCompositeFieldContainer[Layer]
    output: _containers.RepeatedScalarFieldContainer[str]
    def __init__(
        self, layer: _Iterable[Layer | _Mapping] | None = ..., output: _Iterable[str] | None = ...
    ) -> None: ...

class ParamSettings(_message.Message):
    __slots__ = (
        "clip",
        "clip_norm",
        "decay_mult",
        "frozen",
        "init",
        "l1",
        "l2",
        "lr_mult",
        "max_norm",
        "momentum",
        "of",
        "prune",
        "share",
    )
    OF_FIELD_NUMBER: _ClassVar[int]
    INIT_FIELD_NUMBER: _ClassVar[int]
    LR_MULT_FIELD_NUMBER: _ClassVar[int]
    DECAY_MULT_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    FROZEN_FIELD_NUMBER: _ClassVar[int]
    CLIP_FIELD_NUMBER: _ClassVar[int]
    CLIP_NORM_FIELD_NUMBER: _ClassVar[int]
    L1_FIELD_NUMBER: _ClassVar[int]
    L2_FIELD_NUMBER: _ClassVar[int]
    MOMENTUM_FIELD_NUMBER: _ClassVar[int]
    MAX_NORM_FIELD_NUMBER: _ClassVar[int]
    PRUNE_FIELD_NUMBER: _ClassVar[int]
    of: str
    init: Initializer
    lr_mult: float
    decay_mult: float
    share: str
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
        init: Initializer | _Mapping | None = ...,
        lr_mult: float | None = ...,
        decay_mult: float | None = ...,
        share: str | None = ...,
        frozen: bool = ...,
        clip: float | None = ...,
        clip_norm: float | None = ...,
        l1: float | None = ...,
        l2: float | None = ...,
        momentum: float | None = ...,
        max_norm: float | None = ...,
        prune: float | None = ...,
    ) -> None: ...

class Initializer(_message.Message):
    __slots__ = ("type",)
    TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    def __init__(self, type: str | None = ...) -> None: ...

class Activation(_message.Message):
    __slots__ = ("type",)
    TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    def __init__(self, type: str | None = ...) -> None: ...

class StateRule(_message.Message):
    __slots__ = ("max_level", "min_level", "not_stage", "phase", "stage")
    PHASE_FIELD_NUMBER: _ClassVar[int]
    MIN_LEVEL_FIELD_NUMBER: _ClassVar[int]
    MAX_LEVEL_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    NOT_STAGE_FIELD_NUMBER: _ClassVar[int]
    phase: str
    min_level: int
    max_level: int
    stage: _containers.RepeatedScalarFieldContainer[str]
    not_stage: _containers.RepeatedScalarFieldContainer[str]
    def __init__(
        self,
        phase: str | None = ...,
        min_level: int | None = ...,
        max_level: int | None = ...,
        stage: _Iterable[str] | None = ...,
        not_stage: _Iterable[str] | None = ...,
    ) -> None: ...
