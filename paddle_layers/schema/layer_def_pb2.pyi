from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DataType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DENSE: _ClassVar[DataType]
    SPARSE_INT: _ClassVar[DataType]
    SPARSE: _ClassVar[DataType]
    INT: _ClassVar[DataType]
DENSE: DataType
SPARSE_INT: DataType
SPARSE: DataType
INT: DataType

class Attribute(_message.Message):
    __slots__ = ("s_value", "i_value", "f_value", "d_value", "b_value", "list")
    S_VALUE_FIELD_NUMBER: _ClassVar[int]
    I_VALUE_FIELD_NUMBER: _ClassVar[int]
    F_VALUE_FIELD_NUMBER: _ClassVar[int]
    D_VALUE_FIELD_NUMBER: _ClassVar[int]
    B_VALUE_FIELD_NUMBER: _ClassVar[int]
    LIST_FIELD_NUMBER: _ClassVar[int]
    s_value: str
    i_value: int
    f_value: float
    d_value: float
    b_value: bool
    list: AttributeList
    def __init__(self, s_value: _Optional[str] = ..., i_value: _Optional[int] = ..., f_value: _Optional[float] = ..., d_value: _Optional[float] = ..., b_value: bool = ..., list: _Optional[_Union[AttributeList, _Mapping]] = ...) -> None: ...

class AttributeList(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[Attribute]
    def __init__(self, items: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ...) -> None: ...

class ChoiceDef(_message.Message):
    __slots__ = ("name", "description", "number")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    number: int
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., number: _Optional[int] = ...) -> None: ...

class AttributeDef(_message.Message):
    __slots__ = ("name", "type", "description", "default_value", "max_value", "min_value", "number", "required", "repeated", "min_items", "max_items", "choices", "fields", "default_from", "axis", "aliases", "deprecated", "min_exclusive", "max_exclusive", "alias_numbers", "groups")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STRING: _ClassVar[AttributeDef.Type]
        INT: _ClassVar[AttributeDef.Type]
        FLOAT: _ClassVar[AttributeDef.Type]
        DOUBLE: _ClassVar[AttributeDef.Type]
        BOOL: _ClassVar[AttributeDef.Type]
        CHOICE: _ClassVar[AttributeDef.Type]
        GROUP: _ClassVar[AttributeDef.Type]
    STRING: AttributeDef.Type
    INT: AttributeDef.Type
    FLOAT: AttributeDef.Type
    DOUBLE: AttributeDef.Type
    BOOL: AttributeDef.Type
    CHOICE: AttributeDef.Type
    GROUP: AttributeDef.Type
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_VALUE_FIELD_NUMBER: _ClassVar[int]
    MAX_VALUE_FIELD_NUMBER: _ClassVar[int]
    MIN_VALUE_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    MIN_ITEMS_FIELD_NUMBER: _ClassVar[int]
    MAX_ITEMS_FIELD_NUMBER: _ClassVar[int]
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_FROM_FIELD_NUMBER: _ClassVar[int]
    AXIS_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    MIN_EXCLUSIVE_FIELD_NUMBER: _ClassVar[int]
    MAX_EXCLUSIVE_FIELD_NUMBER: _ClassVar[int]
    ALIAS_NUMBERS_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: AttributeDef.Type
    description: str
    default_value: Attribute
    max_value: Attribute
    min_value: Attribute
    number: int
    required: bool
    repeated: bool
    min_items: int
    max_items: int
    choices: _containers.RepeatedCompositeFieldContainer[ChoiceDef]
    fields: _containers.RepeatedCompositeFieldContainer[AttributeDef]
    default_from: str
    axis: str
    aliases: _containers.RepeatedScalarFieldContainer[str]
    deprecated: str
    min_exclusive: bool
    max_exclusive: bool
    alias_numbers: _containers.RepeatedScalarFieldContainer[int]
    groups: str
    def __init__(self, name: _Optional[str] = ..., type: _Optional[_Union[AttributeDef.Type, str]] = ..., description: _Optional[str] = ..., default_value: _Optional[_Union[Attribute, _Mapping]] = ..., max_value: _Optional[_Union[Attribute, _Mapping]] = ..., min_value: _Optional[_Union[Attribute, _Mapping]] = ..., number: _Optional[int] = ..., required: bool = ..., repeated: bool = ..., min_items: _Optional[int] = ..., max_items: _Optional[int] = ..., choices: _Optional[_Iterable[_Union[ChoiceDef, _Mapping]]] = ..., fields: _Optional[_Iterable[_Union[AttributeDef, _Mapping]]] = ..., default_from: _Optional[str] = ..., axis: _Optional[str] = ..., aliases: _Optional[_Iterable[str]] = ..., deprecated: _Optional[str] = ..., min_exclusive: bool = ..., max_exclusive: bool = ..., alias_numbers: _Optional[_Iterable[int]] = ..., groups: _Optional[str] = ...) -> None: ...

class ArgumentDef(_message.Message):
    __slots__ = ("data_type", "seq_nested_level", "repeatable", "name", "description", "optional", "axes", "min_count", "differentiable", "loss", "size", "low", "high", "places", "kinks", "derivative", "nan", "divisor", "when")
    DATA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SEQ_NESTED_LEVEL_FIELD_NUMBER: _ClassVar[int]
    REPEATABLE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    OPTIONAL_FIELD_NUMBER: _ClassVar[int]
    AXES_FIELD_NUMBER: _ClassVar[int]
    MIN_COUNT_FIELD_NUMBER: _ClassVar[int]
    DIFFERENTIABLE_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    KINKS_FIELD_NUMBER: _ClassVar[int]
    DERIVATIVE_FIELD_NUMBER: _ClassVar[int]
    NAN_FIELD_NUMBER: _ClassVar[int]
    DIVISOR_FIELD_NUMBER: _ClassVar[int]
    WHEN_FIELD_NUMBER: _ClassVar[int]
    data_type: _containers.RepeatedScalarFieldContainer[DataType]
    seq_nested_level: _containers.RepeatedScalarFieldContainer[int]
    repeatable: bool
    name: str
    description: str
    optional: bool
    axes: str
    min_count: int
    differentiable: bool
    loss: bool
    size: str
    low: float
    high: float
    places: str
    kinks: _containers.RepeatedCompositeFieldContainer[Attribute]
    derivative: bool
    nan: str
    divisor: str
    when: str
    def __init__(self, data_type: _Optional[_Iterable[_Union[DataType, str]]] = ..., seq_nested_level: _Optional[_Iterable[int]] = ..., repeatable: bool = ..., name: _Optional[str] = ..., description: _Optional[str] = ..., optional: bool = ..., axes: _Optional[str] = ..., min_count: _Optional[int] = ..., differentiable: bool = ..., loss: bool = ..., size: _Optional[str] = ..., low: _Optional[float] = ..., high: _Optional[float] = ..., places: _Optional[str] = ..., kinks: _Optional[_Iterable[_Union[Attribute, _Mapping]]] = ..., derivative: bool = ..., nan: _Optional[str] = ..., divisor: _Optional[str] = ..., when: _Optional[str] = ...) -> None: ...

class ExampleDef(_message.Message):
    __slots__ = ("inputs", "attributes", "purpose", "outputs", "parameters")
    class Input(_message.Message):
        __slots__ = ("name", "type")
        NAME_FIELD_NUMBER: _ClassVar[int]
        TYPE_FIELD_NUMBER: _ClassVar[int]
        name: str
        type: str
        def __init__(self, name: _Optional[str] = ..., type: _Optional[str] = ...) -> None: ...
    class Setting(_message.Message):
        __slots__ = ("name", "value")
        NAME_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        name: str
        value: Attribute
        def __init__(self, name: _Optional[str] = ..., value: _Optional[_Union[Attribute, _Mapping]] = ...) -> None: ...
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    inputs: _containers.RepeatedCompositeFieldContainer[ExampleDef.Input]
    attributes: _containers.RepeatedCompositeFieldContainer[ExampleDef.Setting]
    purpose: str
    outputs: _containers.RepeatedScalarFieldContainer[str]
    parameters: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, inputs: _Optional[_Iterable[_Union[ExampleDef.Input, _Mapping]]] = ..., attributes: _Optional[_Iterable[_Union[ExampleDef.Setting, _Mapping]]] = ..., purpose: _Optional[str] = ..., outputs: _Optional[_Iterable[str]] = ..., parameters: _Optional[_Iterable[str]] = ...) -> None: ...

class RuleDef(_message.Message):
    __slots__ = ("subject", "condition", "message")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    subject: str
    condition: str
    message: str
    def __init__(self, subject: _Optional[str] = ..., condition: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class SourceLocation(_message.Message):
    __slots__ = ("module", "line")
    MODULE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    module: str
    line: int
    def __init__(self, module: _Optional[str] = ..., line: _Optional[int] = ...) -> None: ...

class ElsewhereDef(_message.Message):
    __slots__ = ("system", "name")
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    system: str
    name: str
    def __init__(self, system: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class FactsDef(_message.Message):
    __slots__ = ("is_source", "is_sink", "has_param", "has_neuron", "can_do_bp", "is_inplace", "has_loss", "has_stats", "has_phase", "is_random", "has_state", "is_composite", "back_reads_x", "back_reads_y", "overwrites", "devices", "min_inputs", "max_inputs", "min_outputs", "max_outputs", "rows_independent")
    IS_SOURCE_FIELD_NUMBER: _ClassVar[int]
    IS_SINK_FIELD_NUMBER: _ClassVar[int]
    HAS_PARAM_FIELD_NUMBER: _ClassVar[int]
    HAS_NEURON_FIELD_NUMBER: _ClassVar[int]
    CAN_DO_BP_FIELD_NUMBER: _ClassVar[int]
    IS_INPLACE_FIELD_NUMBER: _ClassVar[int]
    HAS_LOSS_FIELD_NUMBER: _ClassVar[int]
    HAS_STATS_FIELD_NUMBER: _ClassVar[int]
    HAS_PHASE_FIELD_NUMBER: _ClassVar[int]
    IS_RANDOM_FIELD_NUMBER: _ClassVar[int]
    HAS_STATE_FIELD_NUMBER: _ClassVar[int]
    IS_COMPOSITE_FIELD_NUMBER: _ClassVar[int]
    BACK_READS_X_FIELD_NUMBER: _ClassVar[int]
    BACK_READS_Y_FIELD_NUMBER: _ClassVar[int]
    OVERWRITES_FIELD_NUMBER: _ClassVar[int]
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    MIN_INPUTS_FIELD_NUMBER: _ClassVar[int]
    MAX_INPUTS_FIELD_NUMBER: _ClassVar[int]
    MIN_OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    ROWS_INDEPENDENT_FIELD_NUMBER: _ClassVar[int]
    is_source: bool
    is_sink: bool
    has_param: bool
    has_neuron: bool
    can_do_bp: bool
    is_inplace: bool
    has_loss: bool
    has_stats: bool
    has_phase: bool
    is_random: bool
    has_state: bool
    is_composite: bool
    back_reads_x: _containers.RepeatedScalarFieldContainer[str]
    back_reads_y: _containers.RepeatedScalarFieldContainer[str]
    overwrites: bool
    devices: _containers.RepeatedScalarFieldContainer[str]
    min_inputs: int
    max_inputs: int
    min_outputs: int
    max_outputs: int
    rows_independent: bool
    def __init__(self, is_source: bool = ..., is_sink: bool = ..., has_param: bool = ..., has_neuron: bool = ..., can_do_bp: bool = ..., is_inplace: bool = ..., has_loss: bool = ..., has_stats: bool = ..., has_phase: bool = ..., is_random: bool = ..., has_state: bool = ..., is_composite: bool = ..., back_reads_x: _Optional[_Iterable[str]] = ..., back_reads_y: _Optional[_Iterable[str]] = ..., overwrites: bool = ..., devices: _Optional[_Iterable[str]] = ..., min_inputs: _Optional[int] = ..., max_inputs: _Optional[int] = ..., min_outputs: _Optional[int] = ..., max_outputs: _Optional[int] = ..., rows_independent: bool = ...) -> None: ...

class LayerDef(_message.Message):
    __slots__ = ("type", "description", "inputs", "parameter_attr", "bias_attr", "layer_attr", "outputs", "extra_parameters", "statistics", "facts", "rules", "examples", "family", "elsewhere", "since_version", "package", "registered_at", "common", "number", "version", "results", "search_terms")
    class ParameterDef(_message.Message):
        __slots__ = ("attributes", "name", "description", "axes", "input", "initializer", "optional", "trained", "initializer_attributes")
        ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
        NAME_FIELD_NUMBER: _ClassVar[int]
        DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
        AXES_FIELD_NUMBER: _ClassVar[int]
        INPUT_FIELD_NUMBER: _ClassVar[int]
        INITIALIZER_FIELD_NUMBER: _ClassVar[int]
        OPTIONAL_FIELD_NUMBER: _ClassVar[int]
        TRAINED_FIELD_NUMBER: _ClassVar[int]
        INITIALIZER_ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
        attributes: _containers.RepeatedCompositeFieldContainer[AttributeDef]
        name: str
        description: str
        axes: str
        input: str
        initializer: str
        optional: bool
        trained: bool
        initializer_attributes: _containers.RepeatedCompositeFieldContainer[ExampleDef.Setting]
        def __init__(self, attributes: _Optional[_Iterable[_Union[AttributeDef, _Mapping]]] = ..., name: _Optional[str] = ..., description: _Optional[str] = ..., axes: _Optional[str] = ..., input: _Optional[str] = ..., initializer: _Optional[str] = ..., optional: bool = ..., trained: bool = ..., initializer_attributes: _Optional[_Iterable[_Union[ExampleDef.Setting, _Mapping]]] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    PARAMETER_ATTR_FIELD_NUMBER: _ClassVar[int]
    BIAS_ATTR_FIELD_NUMBER: _ClassVar[int]
    LAYER_ATTR_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    EXTRA_PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    EXAMPLES_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    ELSEWHERE_FIELD_NUMBER: _ClassVar[int]
    SINCE_VERSION_FIELD_NUMBER: _ClassVar[int]
    PACKAGE_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_AT_FIELD_NUMBER: _ClassVar[int]
    COMMON_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    SEARCH_TERMS_FIELD_NUMBER: _ClassVar[int]
    type: str
    description: str
    inputs: _containers.RepeatedCompositeFieldContainer[ArgumentDef]
    parameter_attr: _containers.RepeatedCompositeFieldContainer[LayerDef.ParameterDef]
    bias_attr: LayerDef.ParameterDef
    layer_attr: _containers.RepeatedCompositeFieldContainer[AttributeDef]
    outputs: _containers.RepeatedCompositeFieldContainer[ArgumentDef]
    extra_parameters: _containers.RepeatedCompositeFieldContainer[LayerDef.ParameterDef]
    statistics: _containers.RepeatedCompositeFieldContainer[ArgumentDef]
    facts: FactsDef
    rules: _containers.RepeatedCompositeFieldContainer[RuleDef]
    examples: _containers.RepeatedCompositeFieldContainer[ExampleDef]
    family: str
    elsewhere: _containers.RepeatedCompositeFieldContainer[ElsewhereDef]
    since_version: int
    package: str
    registered_at: SourceLocation
    common: _containers.RepeatedScalarFieldContainer[str]
    number: int
    version: int
    results: _containers.RepeatedScalarFieldContainer[str]
    search_terms: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, type: _Optional[str] = ..., description: _Optional[str] = ..., inputs: _Optional[_Iterable[_Union[ArgumentDef, _Mapping]]] = ..., parameter_attr: _Optional[_Iterable[_Union[LayerDef.ParameterDef, _Mapping]]] = ..., bias_attr: _Optional[_Union[LayerDef.ParameterDef, _Mapping]] = ..., layer_attr: _Optional[_Iterable[_Union[AttributeDef, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[ArgumentDef, _Mapping]]] = ..., extra_parameters: _Optional[_Iterable[_Union[LayerDef.ParameterDef, _Mapping]]] = ..., statistics: _Optional[_Iterable[_Union[ArgumentDef, _Mapping]]] = ..., facts: _Optional[_Union[FactsDef, _Mapping]] = ..., rules: _Optional[_Iterable[_Union[RuleDef, _Mapping]]] = ..., examples: _Optional[_Iterable[_Union[ExampleDef, _Mapping]]] = ..., family: _Optional[str] = ..., elsewhere: _Optional[_Iterable[_Union[ElsewhereDef, _Mapping]]] = ..., since_version: _Optional[int] = ..., package: _Optional[str] = ..., registered_at: _Optional[_Union[SourceLocation, _Mapping]] = ..., common: _Optional[_Iterable[str]] = ..., number: _Optional[int] = ..., version: _Optional[int] = ..., results: _Optional[_Iterable[str]] = ..., search_terms: _Optional[_Iterable[str]] = ...) -> None: ...

class LayerOutputDef(_message.Message):
    __slots__ = ("name", "type", "size", "seq_nested_level", "dims")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SEQ_NESTED_LEVEL_FIELD_NUMBER: _ClassVar[int]
    DIMS_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: DataType
    size: int
    seq_nested_level: int
    dims: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, name: _Optional[str] = ..., type: _Optional[_Union[DataType, str]] = ..., size: _Optional[int] = ..., seq_nested_level: _Optional[int] = ..., dims: _Optional[_Iterable[int]] = ...) -> None: ...

class ComponentDef(_message.Message):
    __slots__ = ("kind", "type", "description", "attributes", "states", "elsewhere", "package", "since_version", "registered_at", "number", "version", "search_terms")
    KIND_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    ELSEWHERE_FIELD_NUMBER: _ClassVar[int]
    PACKAGE_FIELD_NUMBER: _ClassVar[int]
    SINCE_VERSION_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_AT_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SEARCH_TERMS_FIELD_NUMBER: _ClassVar[int]
    kind: str
    type: str
    description: str
    attributes: _containers.RepeatedCompositeFieldContainer[AttributeDef]
    states: _containers.RepeatedScalarFieldContainer[str]
    elsewhere: _containers.RepeatedCompositeFieldContainer[ElsewhereDef]
    package: str
    since_version: int
    registered_at: SourceLocation
    number: int
    version: int
    search_terms: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, kind: _Optional[str] = ..., type: _Optional[str] = ..., description: _Optional[str] = ..., attributes: _Optional[_Iterable[_Union[AttributeDef, _Mapping]]] = ..., states: _Optional[_Iterable[str]] = ..., elsewhere: _Optional[_Iterable[_Union[ElsewhereDef, _Mapping]]] = ..., package: _Optional[str] = ..., since_version: _Optional[int] = ..., registered_at: _Optional[_Union[SourceLocation, _Mapping]] = ..., number: _Optional[int] = ..., version: _Optional[int] = ..., search_terms: _Optional[_Iterable[str]] = ...) -> None: ...

class RegistryDef(_message.Message):
    __slots__ = ("version", "layers", "components")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    version: str
    layers: _containers.RepeatedCompositeFieldContainer[LayerDef]
    components: _containers.RepeatedCompositeFieldContainer[ComponentDef]
    def __init__(self, version: _Optional[str] = ..., layers: _Optional[_Iterable[_Union[LayerDef, _Mapping]]] = ..., components: _Optional[_Iterable[_Union[ComponentDef, _Mapping]]] = ...) -> None: ...
