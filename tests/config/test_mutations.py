"""Mutation tests of error messages: every mutated config must yield one error, on the mutated line, and no traceback.

Every operator makes one change to the text that violates the LayerDef or the text format. `python -m
tests.config.test_mutations` runs all mutants and writes the table of docs/development/error-messages.md.
"""

from __future__ import annotations

import random
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest

import paddle_layers as pl
from paddle_layers.config import ConfigError, loads, network_of
from paddle_layers.testing.cases.case import cases

ROOT = Path(__file__).parents[2]
RESIDUAL = """
layer { name: "x" type: "data" data { shape: [8, 12, 12] } }
layer { name: "label" type: "data" data { data_type: INT size: 5 } }
layer { name: "conv1" type: "conv" input: "x" conv { num_filters: 8 filter_size: 3 padding: 1 } }
layer { name: "norm1" type: "batch_norm" input: "conv1" batch_norm { momentum: 0.9 act: "relu" } }
layer { name: "conv2" type: "conv" input: "norm1" conv { num_filters: 8 filter_size: 3 padding: 1 bias: false } }
layer { name: "sum" type: "addto" input: "conv2" input: "x" addto { act: "relu" } }
layer { name: "pool" type: "pool" input: "sum" pool { pool_type: AVERAGE pool_size: 4 stride: 4 } }
layer { name: "scores" type: "fc" input: "pool" fc { size: 5 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
layer { name: "accuracy" type: "accuracy" input: "scores" input: "label" include { phase: "test" } }
"""
SEQUENCE = """
layer { name: "words" type: "data" data { data_type: INT size: 100 seq_nested_level: 1 } }
layer { name: "label" type: "data" data { data_type: INT size: 2 } }
layer { name: "embedded" type: "embedding" input: "words" embedding { size: 16 } }
layer { name: "mean" type: "seq_avg_pool" input: "embedded" seq_avg_pool { strategy: AVERAGE } }
layer { name: "hidden" type: "fc" input: "mean" fc { size: 8 act: "tanh" drop_rate: 0.5 } }
layer { name: "scores" type: "fc" input: "hidden" fc { size: 2 } param { of: "bias" lr_mult: 2 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" loss_weight: 2 }
"""
DECODER = """
layer { name: "words" type: "data" data { data_type: INT size: 100 seq_nested_level: 1 } }
layer { name: "start" type: "data" data { shape: 8 } }
layer { name: "label" type: "data" data { data_type: INT size: 100 seq_nested_level: 1 } }
layer { name: "embedded" type: "embedding" input: "words" embedding { size: 16 } }
 layer { name: "group" type: "recurrent_group" input: "embedded" input: "start" recurrent_group { static: "start" }
 step {
layer { name: "before" type: "memory" input: "start" memory { of: "state" } }
layer { name: "older" type: "memory" memory { of: "before" size: 8 value: 0.5 } }
layer { name: "state" type: "fc" input: "embedded" input: "before" input: "older" fc { size: 8 act: "tanh" } }
layer { name: "normal" type: "layer_norm" input: "state" layer_norm { epsilon: 0.01 } param { of: "bias" lr_mult: 2 } }
layer { name: "pick" type: "maxid" input: "normal" }
layer { name: "hidden" type: "addto" input: "start" input: "state" addto { act: "relu" } }
 output: "normal" output: "hidden"
 } }
layer { name: "scores" type: "fc" input: "group" input: "group.hidden" fc { size: 100 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
"""


EXAMPLES = sorted(path for name in ("digits", "text") for path in (ROOT / "docs/examples" / name).glob("*.textproto"))


class Mutant(NamedTuple):
    """A broken text, the operator that broke it and the line (from 1) where it is broken."""

    operator: str
    text: str
    line: int


def sources() -> list[str]:
    """Valid network texts: one layer a line."""
    texts = [RESIDUAL, SEQUENCE, DECODER]
    texts += [one_layer_a_line(network_of(path)) for path in EXAMPLES]
    texts += [case.text() for name in sorted(pl.registry) for case in cases(pl.registry[name]) if case.phase == "train"]
    return texts


def one_layer_a_line(network: pl.Network) -> str:
    lines = [line.strip() for line in pl.dumps(network).splitlines() if line and not line.startswith("#")]
    return re.sub(r"\s+layer \{", "\nlayer {", " ".join(lines)) + "\n"


def misspelled(word: str) -> str:
    """The word with two letters exchanged, or one doubled where both are the same."""
    middle = len(word) // 2
    a, b = word[middle - 1], word[middle]
    return word[: middle - 1] + (b + a if a != b else a + b + b) + word[middle + 1 :]


# Each operator takes the lines and the number of one; it gives the changed line (or lines), or None.


def _swap(line: str, start: int, stop: int, text: str) -> str:
    return line[:start] + text + line[stop:]


def _block(line: str) -> tuple[str, int, int] | None:
    """Type, and start and end of the inside of the block of attributes."""
    kind = re.search(r'type: "(\w+)"', line)
    found = kind and re.search(rf"(?<![\w\"]){kind[1]} \{{", line)
    if not kind or not found:
        return None
    stop = line.index("}", found.end())
    return kind[1], found.end(), stop


def _attributes(line: str) -> list[tuple[str, str, re.Match[str]]]:
    """Layer type, attribute name and match of `name: value` of the block."""
    block = _block(line)
    if block is None:
        return []
    kind, start, stop = block
    pattern = re.compile(r"(\w+): (\"[^\"]*\"|\[[^\]]*\]|[-\w.+]+)")
    return [(kind, match[1], match) for match in pattern.finditer(line, start, stop)]


def attribute_misspelled(line, rng):
    found = [(k, m) for k, name, m in _attributes(line) if len(name) > 3]
    if found:
        kind, match = rng.choice(found)
        wrong = misspelled(match[1])
        if wrong not in pl.registry[kind].attribute_by_name:
            return _swap(line, *match.span(1), wrong)
    return None


def type_misspelled(line, rng):
    match = re.search(r'type: "(\w{4,})"', line)
    return (
        _swap(line, *match.span(1), misspelled(match[1])) if match and misspelled(match[1]) not in pl.registry else None
    )


def input_misspelled(line, rng):
    found = list(re.finditer(r'input: "(\w+)"', line))
    return _swap(line, *rng.choice(found).span(1), "zz_" + found[0][1]) if found else None


def value_of_another_type(line, rng):
    found = _attributes(line)
    if not found:
        return None
    kind, name, match = rng.choice(found)
    wrong = {"INT": '"three"', "FLOAT": '"three"', "BOOL": '"yes"', "STRING": "3", "CHOICE": "3"}
    return _swap(line, *match.span(2), wrong[pl.registry[kind].attribute_by_name[name].type])


def value_out_of_range(line, rng):
    found = []
    for kind, name, match in _attributes(line):
        attribute = pl.registry[kind].attribute_by_name[name]
        if attribute.min is not None or attribute.above is not None:
            low = attribute.min if attribute.min is not None else attribute.above
            found.append((match, int(low) - 1))
    if not found:
        return None
    match, value = rng.choice(found)
    return _swap(line, *match.span(2), str(value))


def unknown_choice(line, rng):
    found = [m for kind, name, m in _attributes(line) if pl.registry[kind].attribute_by_name[name].type == "CHOICE"]
    return _swap(line, *rng.choice(found).span(2), "NOTHING") if found else None


def required_left_out(line, rng):
    found = [m for kind, name, m in _attributes(line) if pl.registry[kind].attribute_by_name[name].required]
    return _swap(line, *rng.choice(found).span(), "") if found else None


def brace_left_out(line, rng):
    at = line.rindex("}")
    return line[:at] + line[at + 1 :]


def attribute_twice(line, rng):
    found = [m for k, name, m in _attributes(line) if not pl.registry[k].attribute_by_name[name].repeated]
    return _swap(line, *(match := rng.choice(found)).span(), f"{match[0]} {match[0]}") if found else None


def one_input_too_many(line, rng):
    kind = re.search(r'type: "(\w+)"', line)
    if not kind or any(field.repeatable or field.optional for field in pl.registry[kind[1]].inputs.values()):
        return None
    match = re.search(r'input: "\w+"', line)
    return _swap(line, *match.span(), f"{match[0]} {match[0]}") if match else None


def one_input_too_few(line, rng):
    kind = re.search(r'type: "(\w+)"', line)
    if not kind or any(field.repeatable or field.optional for field in pl.registry[kind[1]].inputs.values()):
        return None
    match = re.search(r'input: "\w+" ?', line)
    return _swap(line, *match.span(), "") if match and "propagate_down" not in line else None


def block_of_another_type(line, rng):
    kind = re.search(r'type: "(\w+)"', line)
    other = "conv { num_filters: 3 }" if kind and kind[1] != "conv" else "fc { size: 3 }"
    return line[: line.rindex("}")] + other + " }"


def attribute_in_the_header(line, rng):
    found = _attributes(line)
    if not found:
        return None
    match = rng.choice(found)[2]
    rest = _swap(line, *match.span(), "")
    return rest[: rest.rindex("}")] + match[0] + " }"


def unknown_header_field(line, rng):
    return line[: line.rindex("}")] + "colour: 3 }"


def reads_itself(line, rng):
    name, match = re.search(r'name: "(\w+)"', line), re.search(r'input: "(\w+)"', line)
    return _swap(line, *match.span(1), name[1]) if name and match else None


def name_left_out(line, rng):
    match = re.search(r'name: "\w+" ', line)
    return _swap(line, *match.span(), "") if match and "output:" in line else None


def malformed_number(line, rng):
    found = [m for _, _, m in _attributes(line) if re.fullmatch(r"[\d.]+", m[2])]
    return _swap(line, *(match := rng.choice(found)).span(2), match[2] + "x") if found else None


def value_left_out(line, rng):
    found = _attributes(line)
    return _swap(line, *rng.choice(found)[2].span(2), "") if found else None


def quote_left_out(line, rng):
    match = re.search(r'type: "\w+(")', line)
    return _swap(line, *match.span(1), "") if match else None


OPERATORS = [
    attribute_misspelled,
    type_misspelled,
    input_misspelled,
    value_of_another_type,
    value_out_of_range,
    unknown_choice,
    required_left_out,
    brace_left_out,
    attribute_twice,
    one_input_too_many,
    one_input_too_few,
    block_of_another_type,
    attribute_in_the_header,
    unknown_header_field,
    reads_itself,
    name_left_out,
    malformed_number,
    quote_left_out,
    value_left_out,
]


def mutants(rounds: int, seed: int = 0) -> list[Mutant]:
    """Every operator on every line, `rounds` times; equal texts are taken once."""
    rng = random.Random(seed)
    found: dict[tuple[str, str], Mutant] = {}
    for text in sources():
        lines = text.splitlines()
        for operator in OPERATORS:
            for number, line in enumerate(lines):
                for _ in range(rounds):
                    changed = operator(line, rng) if line.startswith("layer") else None
                    if changed is not None and changed != line:
                        whole = "\n".join([*lines[:number], changed, *lines[number + 1 :]]) + "\n"
                        found.setdefault((operator.__name__, whole), Mutant(operator.__name__, whole, number + 1))
    return list(found.values())


def verdict(mutant: Mutant) -> str:
    """`one` error on the line, `accepted`, `elsewhere`, or `several`; any other exception propagates."""
    try:
        loads(mutant.text)
    except ConfigError as error:
        errors = [diagnostic for diagnostic in error.diagnostics if diagnostic.severity == "error"]
        if len(errors) != 1:
            return "several"
        return "one" if errors[0].line == mutant.line else "elsewhere"
    return "accepted"


def rates(chosen: list[Mutant]) -> dict[str, dict[str, int]]:
    """Verdicts by operator."""
    table: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for mutant in chosen:
        table[mutant.operator][verdict(mutant)] += 1
    return table


def check(chosen: list[Mutant]) -> None:
    table = rates(chosen)
    assert len(table) >= 12
    assert not [operator for operator, counts in table.items() if counts["accepted"]]
    total = sum(sum(counts.values()) for counts in table.values())
    assert sum(counts["one"] for counts in table.values()) >= 0.95 * total
    assert all(counts["one"] >= 0.8 * sum(counts.values()) for counts in table.values())


def test_a_sample_of_mutants():
    everything = mutants(1)
    check(random.Random(1).sample(everything, 600))


@pytest.mark.slow
@pytest.mark.later  # the usual run checks 600 of them
def test_all_mutants():
    everything = mutants(3)
    assert len(everything) >= 3000
    check(everything)


def report() -> str:
    """The table of docs/development/error-messages.md."""
    table = rates(mutants(3))
    rows = []
    for operator, counts in table.items():
        total = sum(counts.values())
        rows.append((counts["one"] / total, operator.replace("_", " "), total, counts))
    rows.sort(key=lambda row: (row[0], row[1]))
    total = sum(row[2] for row in rows)
    good = sum(row[3]["one"] for row in rows)
    lines = [
        "| mutation | mutants | one error on the line | on another line | several | accepted |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for share, name, count, counts in rows:
        lines.append(
            f"| {name} | {count} | {share:.1%} | {counts['elsewhere']} | {counts['several']} | {counts['accepted']} |"
        )
    return "\n".join([*lines, f"| all | {total} | {good / total:.1%} | | | |", ""])


if __name__ == "__main__":
    page = ROOT / "docs" / "development" / "error-messages.md"
    text = page.read_text()
    start = text.index("| mutation |")
    page.write_text(text[:start] + report())
    sys.stdout.write(report())
