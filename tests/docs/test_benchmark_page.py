"""The performance page: the latest result of every quantity, in tables and charts."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from paddle_layers.codegen import benchmark_page
from paddle_layers.codegen.benchmark_page import Result, chart, of_benchmark, read_results, table

HEAD = ",".join(Result._fields)
OLD = "2026-11-23,,CPU: x,2,Training step,LeNet,step,ms,4,8,PyTorch 2.12.0,2.00,run it"
NEW = "2026-11-24,,CPU: x,2,Training step,LeNet,step,ms,2,8,PyTorch 2.13.0,4.00,run it"
OTHER = "2026-11-23,abc,CPU: x,1,Training step,a|b,step,ms,3,,PyTorch,1.50,"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Result]:
    (tmp_path / "a.csv").write_text("\n".join([HEAD, NEW, OLD, OTHER]) + "\n")
    monkeypatch.setattr(benchmark_page, "DATA", tmp_path)
    return read_results()


def test_the_latest_result_counts(results: list[Result]) -> None:
    assert [(result.case, result.ratio) for result in results] == [("LeNet", "4.00"), ("a|b", "1.50")]
    lines = table(results).splitlines()
    assert lines[0] == "| case | paddle_layers, ms | PyTorch, ms | ratio vs. PyTorch |"
    assert lines[2:4] == ["| LeNet | 2 | 8 | 4.00 |", "| a\\|b | 3 |  | 1.50 |"]
    assert lines[5] == "* 2026-11-24, CPU, 2 threads, compared with PyTorch 2.13.0: `run it`"
    assert lines[6] == "* 2026-11-23, commit abc, CPU, 1 thread, compared with PyTorch"


def test_a_chart_has_a_bar_per_ratio(results: list[Result]) -> None:
    text = chart(results, "Steps & more")
    words = [element.text for element in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert words == ["Steps & more", "vs. PyTorch", "LeNet", "a|b", "4.00", "1.50"]


def test_an_unknown_benchmark_is_an_error(results: list[Result]) -> None:
    with pytest.raises(KeyError):
        of_benchmark(results, "Tranining step")


def test_every_benchmark_is_on_the_page() -> None:
    template = Path(benchmark_page.__file__).parent / "templates" / "benchmarks.md.j2"
    shown = set(re.findall(r'table\("(.*?)"\)', template.read_text(encoding="utf-8")))
    assert shown == {result.benchmark for result in read_results()}
