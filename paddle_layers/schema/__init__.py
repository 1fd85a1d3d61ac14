"""Python bindings of the schemas in `schema/`, made by `python -m codegen.bindings`."""
