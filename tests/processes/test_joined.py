"""What several processes join: parts of gradients, rows of tables, moments of batch_norm. Here they are threads."""

import contextvars
import threading

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers.define import registries
from paddle_layers.define.errors import DefinitionError
from paddle_layers.runtime.optimise.joined_rows import JoinedRows, merged_rows
from paddle_layers.runtime.optimise.updater import Updater
from paddle_layers.runtime.schedule.all_reduce import gradient_parts
from tests.selection import COMPILER, files_of, later_unless_changed, with_marks

NORM = """
layer { name: "x" type: "data" data { shape: [SHAPE] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "before" type: "prelu" input: "x" }
layer {
  name: "norm" type: "batch_norm" input: "before"
  batch_norm { synchronised: true unbiased: true act: "tanh" FIELDS }
}
layer { name: "scores" type: "fc" input: "norm" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
"""
TABLE = """
layer { name: "words" type: "data" data { data_type: INT size: 500 seq_nested_level: 1 } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "table" type: "embedding" input: "words" embedding { size: 5 } }
layer { name: "mean" type: "seq_avg_pool" input: "table" }
layer { name: "scores" type: "fc" input: "mean" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
"""


class Threads:
    """As many threads as there are parts, which add up arrays as processes do."""

    def __init__(self, count):
        self.count, self.barrier, self.parts = count, threading.Barrier(count, timeout=600), {}

    def add_up(self, number):
        def add_up(numbers):
            self.parts[number] = numbers.copy()
            self.barrier.wait()
            total = sum(self.parts[one] for one in range(self.count))
            self.barrier.wait()
            numbers[...] = total

        return add_up

    def run(self, work):
        """What `work` gives in each thread."""
        found = {}

        def call(number):
            found[number] = work(number, self.add_up(number))

        threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(call, number)) for number in range(self.count)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [found[number] for number in range(self.count)]


def numbers_of(net):
    gradients = {name: one.gradient.copy() for name, one in net.parameters.items()}
    return gradients, {name: one.value.copy() for name, one in net.states.items()}


@pytest.mark.parametrize(
    ("shape", "rows", "fields"),
    [([3, 4, 4], 9, ""), ([3], 9, "use_global_stats: true"), ([3], 9, "r_max: 1.25 d_max: 0.5")],
)
def test_synchronised_batch_norm(shape, rows, fields, as_python):
    check_parts(shape, rows, fields)


@pytest.mark.parametrize(
    ("shape", "rows", "fields"),
    [
        pytest.param([40, 24, 24], 9, "", id="images"),
        pytest.param([3000], 40, "use_global_stats: false", id="rows"),
    ],
)
@with_marks(later_unless_changed(__file__, *files_of("batch_norm"), *COMPILER))
def test_tuned_kernels_of_synchronised_batch_norm(shape, rows, fields):
    check_parts(shape, rows, fields)


def check_parts(shape, rows, fields):
    """Three parts, one of them without rows: gradients that add up to those of the whole, and its running averages."""
    rng = np.random.default_rng(0)
    network = pl.loads(NORM.replace("SHAPE", ", ".join(map(str, shape))).replace("FIELDS", fields))
    feeds = {"x": rng.normal(size=(rows, *shape)) + 3, "label": rng.integers(0, 3, rows)}
    with pl.Net(network, dtype="float64") as net:
        net.forward(feeds)
        divisors = {name: one.divisor for name, one in net.loss_sums().items()}
        net.backward()
        gradients, states = numbers_of(net)
    ends = [0, rows // 3, rows // 3, rows]

    def part(number, add_up):
        with pl.Net(network, dtype="float64") as net:
            net.add_up = add_up
            net.forward({name: array[ends[number] : ends[number + 1]] for name, array in feeds.items()})
            net.backward(divisors=divisors)
            return numbers_of(net)

    found = Threads(3).run(part)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(sum(own[name] for own, _ in found), gradient, atol=1e-13, err_msg=name)
    for name, state in states.items():
        for _, own in found:
            np.testing.assert_allclose(own[name], state, atol=1e-13, err_msg=name)


def test_rows_of_the_same_id_are_added_up_in_order():
    ids = np.array([2, 7, 9, 2, 8])
    rows = np.array([[1e8], [2], [3], [-1e8], [5]], np.float32)
    found, sums = merged_rows(ids, rows, [3, 2, 0])
    np.testing.assert_array_equal(found, [2, 7, 8, 9])
    np.testing.assert_array_equal(sums, np.array([[0], [2], [5], [3]], np.float32))


def test_steps_by_the_rows_of_all_parts():
    """More and more ids, so that the memory for them grows; pending steps of rows that only another part has used."""
    rng, network = np.random.default_rng(3), pl.loads(TABLE)
    sgd = registries["optimizer"]["sgd"]

    def feeds(words, label, rows):
        starts = np.cumsum([0, *(len(words[row]) for row in rows)])
        given = np.concatenate([words[row] for row in rows]) if rows else np.zeros(0, np.int64)
        return {"words": pl.Sequences(given, starts), "label": label[rows]}

    def net_and_updater():
        net = pl.Net(network, dtype="float64")
        return net, Updater(sgd, sgd.bind({"momentum": 0.9}), net)

    whole, whole_updater = net_and_updater()
    parts = [net_and_updater() for _ in range(2)]
    joined = [JoinedRows(net.target, net.dtype) for net, _ in parts]
    for step in range(1, 6):
        words = [rng.integers(0, 500, rng.integers(1, 4 * step)) for _ in range(4)]
        label = rng.integers(0, 3, 4)
        whole.forward(feeds(words, label, [0, 1, 2, 3]))
        divisors = {name: one.divisor for name, one in whole.loss_sums().items()}
        whole.backward()
        whole_updater.step(0.1, step)
        for (net, _), rows in zip(parts, ([0, 1, 2], [3]) if step < 4 else ([], [0, 1, 2, 3]), strict=True):
            net.forward(feeds(words, label, rows))
            net.backward(divisors=divisors)
        own = [net.parameters["table.table"].gradient_rows for net, _ in parts]
        ids, rows = (np.concatenate(arrays) for arrays in zip(*own, strict=True))
        merged = merged_rows(ids, rows, [len(one[0]) for one in own])
        dense = {
            name: sum(net.parameters[name].gradient.copy() for net, _ in parts)
            for name in ("scores.weight", "scores.bias")
        }
        for (net, updater), memory in zip(parts, joined, strict=True):
            for name, gradient in dense.items():
                net.parameters[name].gradient[...] = gradient
            memory.put(net.parameters["table.table"], *merged)
            updater.step(0.1, step)
            np.testing.assert_array_equal(net.parameters["table.table"].gradient_rows[0], merged[0])
    for net, _ in parts:
        for name, parameter in whole.parameters.items():
            np.testing.assert_allclose(net.parameters[name].value, parameter.value, atol=1e-14, err_msg=name)
        net.close()
    whole.close()


@pytest.mark.parametrize(
    ("targets", "when", "args", "message"),
    [
        (["mean"], "togehter", "mean, add_up", "unknown argument `togehter`; did you mean `together`?"),
        (["mean"], "together", "maen, add_up", "unknown argument `maen`; did you mean `mean`?"),
        (["y"], "together", "y", "`y` is not a Temp"),
    ],
)
def test_what_a_joining_function_asks_for(targets, when, args, message):
    from paddle_layers.define.fields.tensors import Output, Temp
    from paddle_layers.define.functions.host_calls import make_joined

    fields = {"mean": Temp("C", "m"), "y": Output("N C", "y")}
    for name, field in fields.items():
        field.name = name
    call = eval(f"lambda {args}: None")
    with pytest.raises(DefinitionError, match=message.replace("?", r"\?")):
        make_joined(tuple(fields[name] for name in targets), when, call, {"together"})


@pytest.mark.parametrize("layers", [1, 4])
def test_gradients_are_handed_over_when_they_are_done(layers):
    """In parts that are together the whole, the last layers first; nothing changes a part behind that."""
    middle = "".join(
        f'layer {{ name: "fc{n}" type: "fc" input: "{f"fc{n - 1}" if n else "x"}" fc {{ size: 400 act: "relu" }} }}\n'
        for n in range(layers)
    )
    text = f"""
layer {{ name: "x" type: "data" data {{ shape: [400] }} }}
layer {{ name: "label" type: "data" data {{ data_type: INT size: 400 }} }}
{middle}
layer {{ name: "cost" type: "softmax_with_loss" input: "fc{layers - 1}" input: "label" }}
"""
    rng = np.random.default_rng(3)
    batch = {"x": rng.normal(size=(5, 400)), "label": rng.integers(0, 400, 5)}
    with pl.Net(pl.loads(text)) as net:
        net.forward(batch)
        net.backward()
        whole = net.arena.gradients.read().copy()
        parts = []
        net.forward(batch)
        net.backward(ready=lambda part: parts.append((part.numbers, part.numbers.copy())))
        assert len(parts) == layers if layers == 1 else len(parts) >= 2
        assert sum(numbers.size for numbers, _ in parts) == whole.size
        for numbers, then in parts:
            np.testing.assert_array_equal(numbers, then)
        joined = np.concatenate([then for _, then in sorted(parts, key=lambda part: part[0].ctypes.data)])
        np.testing.assert_array_equal(joined, whole)
        plan = net.plan("train")
        assert len(gradient_parts(plan.launches, plan.boundary, smallest=1)) == 2 * layers
