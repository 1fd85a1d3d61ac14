"""The built-in sources of data. A source's `open(base)` gives a `Dataset`; relative paths start at `base`.

A source may have `open_fields(base, wanted)`, too: the same with only the fields that are named, so that data without
labels can be read for predictions. `wanted` is None for all. One that reads its rows when they are wanted says
`indexed = True`: opening it takes no time to speak of, so `validate` does it, too.

`names(base)` gives the names of ids that the settings of a source list, by field, in the order of the ids: none for a
field of numbers. `validate` compares them with those of the training data without opening the source.
"""
