from google.protobuf import descriptor_pb2 as _descriptor_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
RULE_FIELD_NUMBER: _ClassVar[int]
rule: _descriptor.FieldDescriptor

class FieldRule(_message.Message):
    __slots__ = ("required", "min", "above", "max", "options", "registry", "elsewhere", "below")
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
    def __init__(self, required: bool = ..., min: _Optional[float] = ..., above: _Optional[float] = ..., max: _Optional[float] = ..., options: _Optional[_Iterable[str]] = ..., registry: _Optional[str] = ..., elsewhere: _Optional[_Iterable[str]] = ..., below: _Optional[float] = ...) -> None: ...

class Network(_message.Message):
    __slots__ = ("name", "layer", "block")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    name: str
    layer: _containers.RepeatedCompositeFieldContainer[Layer]
    block: _containers.RepeatedCompositeFieldContainer[Block]
    def __init__(self, name: _Optional[str] = ..., layer: _Optional[_Iterable[_Union[Layer, _Mapping]]] = ..., block: _Optional[_Iterable[_Union[Block, _Mapping]]] = ...) -> None: ...

class Block(_message.Message):
    __slots__ = ("name", "input", "settings", "layer", "output")
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
    def __init__(self, name: _Optional[str] = ..., input: _Optional[_Iterable[str]] = ..., settings: _Optional[str] = ..., layer: _Optional[_Iterable[_Union[Layer, _Mapping]]] = ..., output: _Optional[_Iterable[str]] = ...) -> None: ...

class Layer(_message.Message):
    __slots__ = ("name", "type", "input", "output", "param", "activation", "include", "exclude", "loss_weight", "propagate_down", "step", "set", "times")
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
    def __init__(self, name: _Optional[str] = ..., type: _Optional[str] = ..., input: _Optional[_Iterable[str]] = ..., output: _Optional[_Iterable[str]] = ..., param: _Optional[_Iterable[_Union[ParamSettings, _Mapping]]] = ..., activation: _Optional[_Union[Activation, _Mapping]] = ..., include: _Optional[_Iterable[_Union[StateRule, _Mapping]]] = ..., exclude: _Optional[_Iterable[_Union[StateRule, _Mapping]]] = ..., loss_weight: _Optional[_Iterable[float]] = ..., propagate_down: _Optional[_Iterable[bool]] = ..., step: _Optional[_Union[Step, _Mapping]] = ..., set: _Optional[str] = ..., times: _Optional[int] = ...) -> None: ...

class Step(_message.Message):
    __slots__ = ("layer", "output")
    LAYER_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    layer: _containers.RepeatedCompositeFieldContainer[Layer]
    output: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, layer: _Optional[_Iterable[_Union[Layer, _Mapping]]] = ..., output: _Optional[_Iterable[str]] = ...) -> None: ...

class ParamSettings(_message.Message):
    __slots__ = ("of", "init", "lr_mult", "decay_mult", "share", "frozen", "clip", "clip_norm", "l1", "l2", "momentum", "max_norm", "prune")
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
    def __init__(self, of: _Optional[str] = ..., init: _Optional[_Union[Initializer, _Mapping]] = ..., lr_mult: _Optional[float] = ..., decay_mult: _Optional[float] = ..., share: _Optional[str] = ..., frozen: bool = ..., clip: _Optional[float] = ..., clip_norm: _Optional[float] = ..., l1: _Optional[float] = ..., l2: _Optional[float] = ..., momentum: _Optional[float] = ..., max_norm: _Optional[float] = ..., prune: _Optional[float] = ...) -> None: ...

class Initializer(_message.Message):
    __slots__ = ("type",)
    TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    def __init__(self, type: _Optional[str] = ...) -> None: ...

class Activation(_message.Message):
    __slots__ = ("type",)
    TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    def __init__(self, type: _Optional[str] = ...) -> None: ...

class StateRule(_message.Message):
    __slots__ = ("phase", "min_level", "max_level", "stage", "not_stage")
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
    def __init__(self, phase: _Optional[str] = ..., min_level: _Optional[int] = ..., max_level: _Optional[int] = ..., stage: _Optional[_Iterable[str]] = ..., not_stage: _Optional[_Iterable[str]] = ...) -> None: ...
