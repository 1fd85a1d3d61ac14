"""The built-in data sources. A source's `open(base)` returns a `Dataset`; relative paths start at `base`.

A source may also have `open_fields(base, wanted)`, which returns only the named fields, so that data without labels can
be read for predictions; `wanted` may be None for all fields. `validate` opens every source.

`names(base)` returns the names of ids that the settings of a source list, by field, in the order of the ids: none for a
field of numbers. `validate` checks them even if the source cannot be opened.
"""
