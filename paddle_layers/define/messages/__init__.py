"""A definition as the messages of `schema/layer_def.proto`, and the numbers of its fields."""
