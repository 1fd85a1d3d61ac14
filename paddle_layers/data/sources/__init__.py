"""The built-in data sources. A source's `open(base)` returns a `Dataset`; relative paths start at `base`.

A source may also have `open_fields(base, wanted)`, which returns only the named fields, so that data without labels can
be read for predictions; `wanted` may be None for all fields. A source that reads rows lazily sets `indexed = True`:
opening it is fast, so `validate` opens it, too.

`names(base)` returns the names of ids that the settings of a source list, by field, in the order of the ids: none for a
field of numbers. `validate` compares them with those of the training data without opening the source.
"""
