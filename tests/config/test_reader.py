"""The reader: protobuf's text_format as the oracle, JSON, positions, and texts that nobody means well with."""

import gc
import json
import random
import re
import sys
import time

import pytest
from google.protobuf import json_format, text_format
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle_layers as pl
from paddle_layers.config import ConfigError, format_text, loads
from paddle_layers.config.diagnostics.diagnostic import Source
from paddle_layers.config.diagnostics.report import DiagnosticReport
from paddle_layers.config.reading.fields import BLOCK, LIST
from paddle_layers.config.reading.reader import read_text
from paddle_layers.config.writing.descriptors import message_class
from paddle_layers.testing.cases.case import cases
from tests.each import each

NETWORK = message_class("Network")
LENET = """# a comment
name: "le" 'net'
layer { name: "image" type: "data" data { shape: [1, 28, 28] } }
layer { name: "label", type: "data"; data: { data_type: INT size: 0xA } }
layer < name: "conv1" type: "conv" input: ["image"] conv { num_filters: 20 filter_size: 5 act: "relu" } >
layer { type: "fc"  # in another order
  name: "ip" input: "conv1" fc { size: 1_0 } }
"""
VALID = LENET.replace("1_0", "10") + 'layer { name: "cost" type: "softmax_with_loss" input: "ip" input: "label" }\n'
TEXTS = [VALID, *(case.text() for name in sorted(pl.registry) for case in cases(pl.registry[name]))]


def oracle(text):
    """The message that protobuf reads, or None."""
    try:
        return text_format.Parse(text, NETWORK())
    except text_format.ParseError:
        return None


def diagnostics(text):
    try:
        loads(text)
    except ConfigError as error:
        return error.diagnostics
    return []


def codes(text):
    return {diagnostic.code for diagnostic in diagnostics(text)}


@each("text", TEXTS)
def test_valid_texts_are_legal_text_format(text):
    assert codes(text) == set()
    assert len(oracle(text).layer) == len(loads(text))


def broken(text, rng):
    """The text with one token changed, taken away or doubled."""
    tokens = list(re.finditer(r'"[^"]*"|[\w.+-]+|[{}<>\[\]:,;]', text))
    token = rng.choice(tokens)
    other = rng.choice(tokens)[0]
    change = rng.choice(["", other, token[0] + " " + token[0], "{", "}", "3", "1.5", '"text"', "word", ":", "1e", '"'])
    return text[: token.start()] + change + text[token.end() :]


SYNTAX = {"E001", "E002", "E003", "E004", "E005"}


def test_verdicts_are_those_of_text_format():
    rng = random.Random(0)
    differ = []
    for number in range(3000):
        text = broken(TEXTS[number % len(TEXTS)], rng)
        found = codes(text)
        if oracle(text) is None:
            if not found and oracle(pl.dumps(loads(text))) is None:  # only ours takes choices in quotes
                differ.append(("accepted", text))
        elif found & SYNTAX:
            differ.append((found, text))
    assert differ == []


def test_json_and_text_make_the_same_network():
    text = pl.dumps(loads(VALID))
    plain = json_format.MessageToDict(oracle(text), preserving_proto_field_name=True)
    whole = re.sub(r'"(-?\d+)"', r"\1", json.dumps(plain))  # protobuf writes 64-bit numbers as texts
    assert pl.dumps(loads(whole)) == text


def test_json_faults_have_places():
    with pytest.raises(ConfigError) as caught:
        loads('{"layer": [\n  {"name": "x", "type": "data", "data": {"shap": [3]}}\n]}')
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.line, diagnostic.column, diagnostic.code) == (2, 42, "E101")


def test_places_are_those_of_the_text():
    report = DiagnosticReport(Source("", VALID))
    stack = list(read_text(VALID, report))
    seen = 0
    while stack:
        name, kind, value, start, value_start = stack.pop()
        seen += 1
        if name:
            assert VALID[start:].startswith(name)
        assert not VALID[value_start].isspace()
        if kind in (BLOCK, LIST):
            stack += value
    assert seen > 30
    assert not report.diagnostics


@given(st.lists(st.sampled_from(re.findall(r'"[^"]*"|[\w.]+|\s+|[^\s\w]', VALID)), max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_text_gives_a_network_or_diagnostics(tokens):
    for diagnostic in diagnostics("".join(tokens)):
        assert diagnostic.line >= 1
        assert diagnostic.end_column >= diagnostic.column
        assert diagnostic.message


@given(st.sampled_from(TEXTS), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_formatting_keeps_meaning_and_comments_and_is_stable(text, rng):
    lines = [line + rng.choice(["", "  # note", "\n\n\n", "\n# alone"]) for line in text.splitlines()]
    given_text = "\n".join(lines)
    formatted = format_text(given_text)
    assert format_text(formatted) == formatted
    assert oracle(formatted) == oracle(given_text)
    assert formatted.count("#") == given_text.count("#")


HOSTILE = {
    "braces": "{" * 1_000_000,
    "closing braces": "}" * 1_000_000,
    "lists": "layer: " + "[" * 1_000_000,
    "quotes": '"' * 1_000_000,
    "spaces": " " * 1_000_000,
    "hashes": "#" * 1_000_000,
    "blocks": "layer { " * 100_000,
    "one long number": "seed: " + "9" * 1_000_000,
    "one long word": "a" * 1_000_000,
    "names": 'layer { name: "x" type: "data" }\n' * 10_000,
    "JSON": "{" * 10 + '"a":' * 100_000,
    "nested JSON": '{"a":' * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_neither_crash_nor_hang(name):
    begin = time.process_time()
    with pytest.raises(ConfigError) as caught:
        loads(HOSTILE[name])
    assert len(str(caught.value)) < 100_000
    assert time.process_time() - begin < 20


def test_a_long_chain_and_a_long_cycle_need_no_recursion():
    chain = 'layer { name: "x0" type: "data" data { shape: 3 } }\n' + "".join(
        f'layer {{ name: "x{i + 1}" type: "relu" input: "x{i}" }}\n' for i in range(3 * sys.getrecursionlimit())
    )
    assert len(loads(chain)) == 3 * sys.getrecursionlimit() + 1
    lines = chain.splitlines()
    assert len(loads("\n".join(reversed(lines)))) == len(lines)
    with pytest.raises(ConfigError) as caught:
        loads(chain.replace('input: "x0"', f'input: "x{3 * sys.getrecursionlimit()}"'))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E204"
    assert len(diagnostic.message) < 200


def test_the_garbage_collector_is_as_before():
    for switch in (gc.enable, gc.disable):
        switch()
        before = gc.isenabled()
        loads(VALID)
        assert gc.isenabled() is before
    gc.enable()
