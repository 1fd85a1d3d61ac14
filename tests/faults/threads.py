"""Several threads of one process."""

from __future__ import annotations

from .cases import Place
from .processes import end, program, start

NETS = """
import threading, sys
import numpy as np
import paddle_layers as pl

TEXT = '''
layer { name: "x" type: "data" data { shape: [40] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "hidden" type: "fc" input: "x" fc { size: 200 act: "tanh" drop_rate: 0.3 } }
layer { name: "norm" type: "batch_norm" input: "hidden" }
layer { name: "scores" type: "fc" input: "norm" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
'''

def train(number, steps=12):
    rng = np.random.default_rng(number)
    with pl.Net(pl.loads(TEXT), seed=number) as net:
        for _ in range(steps):
            net.forward({"x": rng.standard_normal((400, 40)), "label": rng.integers(0, 3, 400)})
            net.backward()
            for parameter in net.parameters.values():
                parameter.value = parameter.value - 0.1 * parameter.gradient
        return net.loss, b"".join(parameter.value.tobytes() for parameter in net.parameters.values())

def at_once(work, count):
    results, start = {}, threading.Barrier(count)
    def one(number):
        start.wait()
        try:
            results[number] = work(number)
        except Exception as error:
            results[number] = error
    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return [results[number] for number in range(count)]
"""


def _holds(place: Place, text: str, **settings: str) -> None:
    assert end(start(program(NETS + text), place.folder, **settings)).fine().err == ""


def nets_in_threads(place: Place) -> None:
    """two nets in two threads: the bits that they have one after the other"""
    _holds(place, "one_by_one = [train(0), train(1)]\nfor _ in range(5): assert at_once(train, 2) == one_by_one")


def cold_threads(place: Place) -> None:
    """four nets in four threads, the first of the process, with an empty kernel cache: the bits of one by one"""
    text = "together = at_once(train, 4)\nassert together == [train(number) for number in range(4)], together"
    _holds(place, text, PADDLE_LAYERS_CACHE=str(place.folder / "cache"))


def one_net_in_threads(place: Place) -> None:
    """two threads pass forward through one net: right; what belongs to the other's pass is refused with a word"""
    text = """
feeds = [{"x": np.full((count, 40), 0.5), "label": np.zeros(count, int)} for count in (300, 500)]
with pl.Net(pl.loads(TEXT)) as net:
    expected = [net.forward(one, phase="test")["cost"].tobytes() for one in feeds]
    def passes(number):
        return {net.forward(feeds[number], phase="test")["cost"].tobytes() for _ in range(50)}
    assert at_once(passes, 2) == [{one} for one in expected]
    net.forward(feeds[0])
    (refused,) = at_once(lambda _: net.backward(), 1)
    assert "ran in another thread" in str(refused), refused
    net.backward()
"""
    _holds(place, text)


CASES = (nets_in_threads, one_net_in_threads, cold_threads)
