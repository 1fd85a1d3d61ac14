"""Long texts of configs: reading takes memory in proportion to the text."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Callable
from random import Random

from paddle_layers.config import ConfigError, format_text, loads

from .mutators import ODD_TEXTS
from .target import Target, demand

BEGINNINGS = (
    *('name: "', "name: '", "name: ", "name = ", "name: a/", 'name: "a" ', 'name: "a" # ', "/*", "", "{", '{"name": "'),
    *('layer { name: "x" type: "data" data { shape: "', 'layer { name: "a', 'layer { name: "x" type: ', "set: ["),
    *('block { name: "b" settings: "', 'net { name: "', "steps: ", 'layer { name: "x" type: "fc" input: '),
)
PARTS = (
    *(
        "a",
        "\\",
        "\\n",
        "\\x41",
        "\\303",
        '"',
        "'",
        '"a" ',
        "'a' ",
        '\\"',
        " ",
        "\t",
        "\n",
        "# a\n",
        "#",
        "*",
        "/",
        "/*",
    ),
    *(
        "\u00a0",
        "\u201c",
        "a b ",
        "a: ",
        "a/",
        "1",
        "-",
        ".",
        "e",
        ",",
        "',",
        "[",
        "{",
        "}",
        "<",
        "]",
        "(",
        "a=b,",
        "\0",
    ),
)
FEW, PER_CHARACTER = 2**21, 400
"""Bytes of memory: for anything, and for each character; a field of four characters has some 200."""


class ConfigMemory(Target):
    """Configs with long strings, comments, words and spaces."""

    name = "config-memory"
    second_per_byte = 1e-3

    def make(self, rng: Random) -> bytes:
        """The beginning of something, a few parts many times, and perhaps an end."""
        parts = rng.choices((*PARTS, rng.choice(ODD_TEXTS)[:20]), k=rng.choice((1, 1, 1, 2, 3)))
        count = int(10 ** rng.uniform(0, 4.3 if len(parts) == 1 else 3.5))
        end = rng.choice(("", "", '"', "'", "}", '" }', "*/", '"}'))
        return (rng.choice(BEGINNINGS) + "".join(parts) * count + end).encode("utf-8", "replace")

    def check(self, case: bytes) -> None:
        """Read and formatted, or refused."""
        text = case.decode()
        for call in (loads, format_text):
            allowed = FEW + PER_CHARACTER * len(text)
            # Twice: modules are imported, and patterns compiled, when they are first needed.
            peak = _peak(call, text) if _peak(call, text) > allowed else 0
            demand(peak <= allowed, f"{peak} bytes for {len(text)} characters")


def _peak(call: Callable[[str], object], text: str) -> int:
    tracemalloc.start()
    try:
        with contextlib.suppress(ConfigError):
            call(text)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
