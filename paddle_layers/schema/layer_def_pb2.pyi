from collections.abc import Iterable as _Iterable
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar

from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper

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
    __slots__ = ("b_value", "d_value", "f_value", "i_value", "list", "s_value")
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
    def __init__(
        self,
        s_value: str | None = ...,
        i_value: int | None = ...,
        f_value: float | None = ...,
        d_value: float | None = ...,
        b_value: bool = ...,
        list: AttributeList | _Mapping | None = ...,
    ) -> None: ...

class AttributeList(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[Attribute]
    def __init__(self, items: _Iterable[Attribute | _Mapping] | None = ...) -> None: ...

class ChoiceDef(_message.Message):
    __slots__ = ("description", "name", "number")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    number: int
    def __init__(self, name: str | None = ..., description: str | None = ..., number: int | None = ...) -> None: ...

class AttributeDef(_message.Message):
    __slots__ = (
        "alias_numbers",
        "aliases",
        "axis",
        "choices",
        "default_from",
        "default_value",
        "deprecated",
        "description",
        "fields",
        "groups",
        "max_exclusive",
        "max_items",
        "max_value",
        "min_exclusive",
        "min_items",
        "min_value",
        "name",
        "number",
        "repeated",
        "required",
        "type",
    )
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
    def __init__(
        self,
        name: str | None = ...,
        type: AttributeDef.Type | str | None = ...,
        description: str | None = ...,
        default_value: Attribute | _Mapping | None = ...,
        max_value: Attribute | _Mapping | None = ...,
        min_value: Attribute | _Mapping | None = ...,
        number: int | None = ...,
        required: bool = ...,
        repeated: bool = ...,
        min_items: int | None = ...,
        max_items: int | None = ...,
        choices: _Iterable[ChoiceDef | _Mapping] | None = ...,
        fields: _Iterable[AttributeDef | _Mapping] | None = ...,
        default_from: str | None = ...,
        axis: str | None = ...,
        aliases: _Iterable[str] | None = ...,
        deprecated: str | None = ...,
        min_exclusive: bool = ...,
        max_exclusive: bool = ...,
        alias_numbers: _Iterable[int] | None = ...,
        groups: str | None = ...,
    ) -> None: ...

class ArgumentDef(_message.Message):
    __slots__ = (
        "axes",
        "data_type",
        "derivative",
        "description",
        "differentiable",
        "divisor",
        "high",
        "kinks",
        "loss",
        "low",
        "min_count",
        "name",
        "nan",
        "optional",
        "places",
        "repeatable",
        "seq_nested_level",
        "size",
        "when",
    )
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
    def __init__(
        self,
        data_type: _Iterable[DataType | str] | None = ...,
        seq_nested_level: _Iterable[int] | None = ...,
        repeatable: bool = ...,
        name: str | None = ...,
        description: str | None = ...,
        optional: bool = ...,
        axes: str | None = ...,
        min_count: int | None = ...,
        differentiable: bool = ...,
        loss: bool = ...,
        size: str | None = ...,
        low: float | None = ...,
        high: float | None = ...,
        places: str | None = ...,
        kinks: _Iterable[Attribute | _Mapping] | None = ...,
        derivative: bool = ...,
        nan: str | None = ...,
        divisor: str | None = ...,
        when: str | None = ...,
    ) -> None: ...

class ExampleDef(_message.Message):
    __slots__ = ("attributes", "inputs", "outputs", "parameters", "purpose")
    class Input(_message.Message):
        __slots__ = ("name", "type")
        NAME_FIELD_NUMBER: _ClassVar[int]
        TYPE_FIELD_NUMBER: _ClassVar[int]
        name: str
        type: str
        def __init__(self, name: str | None = ..., type: str | None = ...) -> None: ...

    class Setting(_message.Message):
        __slots__ = ("name", "value")
        NAME_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        name: str
        value: Attribute
        def __init__(self, name: str | None = ..., value: Attribute | _Mapping | None = ...) -> None: ...

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
    def __init__(
        self,
        inputs: _Iterable[ExampleDef.Input | _Mapping] | None = ...,
        attributes: _Iterable[ExampleDef.Setting | _Mapping] | None = ...,
        purpose: str | None = ...,
        outputs: _Iterable[str] | None = ...,
        parameters: _Iterable[str] | None = ...,
    ) -> None: ...

class RuleDef(_message.Message):
    __slots__ = ("condition", "message", "subject")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    CONDITION_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    subject: str
    condition: str
    message: str
    def __init__(self, subject: str | None = ..., condition: str | None = ..., message: str | None = ...) -> None: ...

class SourceLocation(_message.Message):
    __slots__ = ("line", "module")
    MODULE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    module: str
    line: int
    def __init__(self, module: str | None = ..., line: int | None = ...) -> None: ...

class ElsewhereDef(_message.Message):
    __slots__ = ("name", "system")
    SYSTEM_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    system: str
    name: str
    def __init__(self, system: str | None = ..., name: str | None = ...) -> None: ...

class FactsDef(_message.Message):
    __slots__ = (
        "back_reads_x",
        "back_reads_y",
        "can_do_bp",
        "devices",
        "has_loss",
        "has_neuron",
        "has_param",
        "has_phase",
        "has_state",
        "has_stats",
        "is_composite",
        "is_inplace",
        "is_random",
        "is_sink",
        "is_source",
        "max_inputs",
        "max_outputs",
        "min_inputs",
        "min_outputs",
        "overwrites",
        "rows_independent",
    )
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
    def __init__(
        self,
        is_source: bool = ...,
        is_sink: bool = ...,
        has_param: bool = ...,
        has_neuron: bool = ...,
        can_do_bp: bool = ...,
        is_inplace: bool = ...,
        has_loss: bool = ...,
        has_stats: bool = ...,
        has_phase: bool = ...,
        is_random: bool = ...,
        has_state: bool = ...,
        is_composite: bool = ...,
        back_reads_x: _Iterable[str] | None = ...,
        back_reads_y: _Iterable[str] | None = ...,
        overwrites: bool = ...,
        devices: _Iterable[str] | None = ...,
        min_inputs: int | None = ...,
        max_inputs: int | None = ...,
        min_outputs: int | None = ...,
        max_outputs: int | None = ...,
        rows_independent: bool = ...,
    ) -> None: ...

class LayerDef(_message.Message):
    __slots__ = (
        "bias_attr",
        "common",
        "description",
        "elsewhere",
        "examples",
        "extra_parameters",
        "facts",
        "family",
        "inputs",
        "layer_attr",
        "number",
        "outputs",
        "package",
        "parameter_attr",
        "registered_at",
        "results",
        "rules",
        "search_terms",
        "since_version",
        "statistics",
        "type",
        "version",
    )
    class ParameterDef(_message.Message):
        __slots__ = (
            "attributes",
            "axes",
            "description",
            "initializer",
            "initializer_attributes",
            "input",
            "name",
            "optional",
            "trained",
        )
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
        def __init__(
            self,
            attributes: _Iterable[AttributeDef | _Mapping] | None = ...,
            name: str | None = ...,
            description: str | None = ...,
            axes: str | None = ...,
            input: str | None = ...,
            initializer: str | None = ...,
            optional: bool = ...,
            trained: bool = ...,
            initializer_attributes: _Iterable[ExampleDef.Setting | _Mapping] | None = ...,
        ) -> None: ...

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
    def __init__(
        self,
        type: str | None = ...,
        description: str | None = ...,
        inputs: _Iterable[ArgumentDef | _Mapping] | None = ...,
        parameter_attr: _Iterable[LayerDef.ParameterDef | _Mapping] | None = ...,
        bias_attr: LayerDef.ParameterDef | _Mapping | None = ...,
        layer_attr: _Iterable[AttributeDef | _Mapping] | None = ...,
        outputs: _Iterable[ArgumentDef | _Mapping] | None = ...,
        extra_parameters: _Iterable[LayerDef.ParameterDef | _Mapping] | None = ...,
        statistics: _Iterable[ArgumentDef | _Mapping] | None = ...,
        facts: FactsDef | _Mapping | None = ...,
        rules: _Iterable[RuleDef | _Mapping] | None = ...,
        examples: _Iterable[ExampleDef | _Mapping] | None = ...,
        family: str | None = ...,
        elsewhere: _Iterable[ElsewhereDef | _Mapping] | None = ...,
        since_version: int | None = ...,
        package: str | None = ...,
        registered_at: SourceLocation | _Mapping | None = ...,
        common: _Iterable[str] | None = ...,
        number: int | None = ...,
        version: int | None = ...,
        results: _Iterable[str] | None = ...,
        search_terms: _Iterable[str] | None = ...,
    ) -> None: ...

class LayerOutputDef(_message.Message):
    __slots__ = ("dims", "name", "seq_nested_level", "size", "type")
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
    def __init__(
        self,
        name: str | None = ...,
        type: DataType | str | None = ...,
        size: int | None = ...,
        seq_nested_level: int | None = ...,
        dims: _Iterable[int] | None = ...,
    ) -> None: ...

class ComponentDef(_message.Message):
    __slots__ = (
        "attributes",
        "description",
        "elsewhere",
        "kind",
        "number",
        "package",
        "registered_at",
        "search_terms",
        "since_version",
        "states",
        "type",
        "version",
    )
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
    def __init__(
        self,
        kind: str | None = ...,
        type: str | None = ...,
        description: str | None = ...,
        attributes: _Iterable[AttributeDef | _Mapping] | None = ...,
        states: _Iterable[str] | None = ...,
        elsewhere: _Iterable[ElsewhereDef | _Mapping] | None = ...,
        package: str | None = ...,
        since_version: int | None = ...,
        registered_at: SourceLocation | _Mapping | None = ...,
        number: int | None = ...,
        version: int | None = ...,
        search_terms: _Iterable[str] | None = ...,
    ) -> None: ...

class RegistryDef(_message.Message):
    __slots__ = ("components", "layers", "version")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    COMPONENTS_FIELD_NUMBER: _ClassVar[int]
    version: str
    layers: _containers.RepeatedCompositeFieldContainer[LayerDef]
    components: _containers.RepeatedCompositeFieldContainer[ComponentDef]
    def __init__(
        self,
        version: str | None = ...,
        layers: _Iterable[LayerDef | _Mapping] | None = ...,
        components: _Iterable[ComponentDef | _Mapping] | None = ...,
    ) -> None: ...
