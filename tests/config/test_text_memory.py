"""Memory that reading takes is a small multiple of the text, whatever stands in it."""

import contextlib
import tracemalloc

import pytest

import paddle_layers as pl
from paddle_layers.config.writing.formatter import format_text

SIZE = 200_000
TEXTS = {
    "open string": 'name: "' + "a" * SIZE,
    "open string in single quotes": "name: '" + "a" * SIZE,
    "open string of escapes": 'name: "' + "\\n" * (SIZE // 2),
    "open string of letters and escapes": 'name: "' + "ab\\n" * (SIZE // 4),
    "closed string": 'name: "' + "a" * SIZE + '"',
    "strings side by side": "name: " + '"a" ' * (SIZE // 4),
    "no quotes": "name: a/" + "b " * (SIZE // 2),
    "comment of another language": 'name: "a" /*' + "a" * SIZE,
    "comments": 'name: "a"' + "# c\n" * (SIZE // 4),
    "other spaces": 'name: "a"' + "\u00a0" * SIZE,
    "empty lines": 'name: "a" layer' + "\n" * SIZE,
    "expression": 'layer { name: "x" type: "data" data { shape: "' + "'," * (SIZE // 2) + '" } }',
    "open string in JSON": '{"name": "' + "a" * SIZE,
}


@pytest.mark.parametrize("read", [pl.loads, format_text])
@pytest.mark.parametrize("kind", TEXTS)
def test_memory_is_a_small_multiple_of_the_text(kind, read):
    """The line table has 36 bytes per line, a field some 200; a regular expression may add no more than that."""
    text = TEXTS[kind]
    tracemalloc.start()
    try:
        with contextlib.suppress(pl.ConfigError):
            read(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 48 * len(text)
