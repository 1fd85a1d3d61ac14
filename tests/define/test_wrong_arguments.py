"""Calls from Python with arguments of the wrong kind: one line that says what to write."""

import copy
import pickle
import re

import numpy as np
import pytest

import paddle_layers as pl
from paddle_layers import nn
from paddle_layers.config import ConfigWarning
from paddle_layers.data import DataError
from paddle_layers.define.errors import InvalidAttributes
from paddle_layers.runtime import DeviceError, FeedError
from paddle_layers.training import TrainingError
from paddle_layers.training.optimizers import Sgd
from paddle_layers.training.regularizers import L2

pytestmark = pytest.mark.usefixtures("as_python")

TEXT = """
layer { name: "x" type: "data" data { shape: [4] } }
layer { name: "label" type: "data" data { data_type: INT size: 3 } }
layer { name: "scores" type: "fc" input: "x" fc { size: 3 } }
layer { name: "cost" type: "softmax_with_loss" input: "scores" input: "label" }
"""
X, Y = np.zeros((2, 4), np.float32), np.zeros(2, np.int64)
HUGE = TEXT.replace('size: 3 } }\nlayer { name: "cost"', 'size: 2000000000 } }\nlayer { name: "cost"')


@pytest.fixture(scope="module")
def net():
    made = pl.Net(pl.loads(TEXT))
    made.forward({"x": X, "label": Y})
    return made


def says(message, call, kind):
    with pytest.raises(kind, match=re.escape(message)) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda _: pl.Net("net.textproto"), TypeError, "not 'net.textproto': write Net(load('net.textproto'))"),
        (lambda _: pl.Net(5), TypeError, "network must be the result of `load` or `Network`, not 5"),
        (lambda n: pl.Net(n, batch_size="2"), TypeError, "batch_size must be an integer >= 1, not '2'"),
        (lambda n: pl.Net(n, batch_size=0), ValueError, "batch_size must be an integer from 1 to 2**63 - 1, not 0"),
        (lambda n: pl.Net(n, seed=-1), ValueError, "seed must be an integer from 0 to 2**63 - 1, not -1"),
        (lambda n: pl.Net(n, seed=0.5), TypeError, "seed must be an integer >= 0, not 0.5"),
        (lambda n: pl.Net(n, level="2"), TypeError, "level must be an integer, not '2'"),
        (lambda n: pl.Net(n, device=None), TypeError, 'device must be "cpu", "cuda" or "auto", not None'),
        (lambda n: pl.Net(n, stages="deploy"), TypeError, "stages must be a list of names, such as ['deploy'], not 'd"),
        (lambda n: pl.Net(n, dtype="float16"), ValueError, 'must be "float32" or "float64", not \'float16\''),
        (
            lambda n: pl.Net(n, dtype=np.float32),
            ValueError,
            'dtype must be "float32" or "float64", not the class float32',
        ),
    ],
)
def test_nets(net, call, kind, message):
    says(message, lambda: call(net.network), kind)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: pl.load(None), TypeError, "path must be a string or a Path, got None"),
        (lambda: pl.loads(None), TypeError, "loads expects the text of a network file, got None"),
        (lambda: pl.dumps("net"), TypeError, "dumps expects a Network, got 'net'"),
        (lambda: pl.load_training("x.textproto", settings="epochs=3"), TypeError, "strings: write ['epochs=3']"),
        (lambda: pl.train("x.textproto", callbacks=print), TypeError, "must be a list of callback objects, not"),
        (lambda: pl.train("x.textproto", callbacks=[print]), TypeError, "not a callback: it has none of the methods"),
        (lambda: pl.train("x.textproto", callbacks=[Watcher]), TypeError, "objects, not classes: write Watcher(...)"),
        (lambda: nn.fc(nn.data(shape=[2])), TypeError, "nn.fc: missing a required argument: 'size'"),
        (lambda: nn.data(shape=2), InvalidAttributes, "`shape` must be a list, found 2; write [2]"),
        (
            lambda: nn.conv(nn.data(shape=[2]), num_filters=1, filter_size=1), pl.define.ShapeError,
            "`conv`: input `x` of `conv` has shape 2, but `N C H W` needs 3 axes after the rows",
        ),
    ],
)  # fmt: skip
def test_calls(call, kind, message):
    says(message, call, kind)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda n: n.forward({"x": X, "label": Y}, step=1.5), TypeError, "step must be an integer, not 1.5"),
        (lambda n: n.divisors(X), TypeError, "feeds must be a dict of arrays by data layer"),
        (lambda n: n.divisors({"x": X, "label": Y}, step="2"), TypeError, "step must be an integer, not '2'"),
        (lambda n: n.backward(divisors={"cost": float("nan")}), ValueError, "the divisor of `cost` is nan, must be"),
        (lambda n: n.save("w.pt"), ValueError, "w.pt: weights are saved as safetensors; use the ext"),
        (lambda n: n.save(5), TypeError, "path must be a string or a Path, not 5"),
        (copy.copy, TypeError, "a net cannot be copied or pickled: create another `Net(net.network)`"),
        (copy.deepcopy, TypeError, "a net cannot be copied or pickled"),
        (pickle.dumps, TypeError, "a net cannot be copied or pickled"),
        (lambda n: copy.copy(n.parameters["scores.bias"]), TypeError, "copy its value, `parameter.value.copy()`"),
        (lambda n: pl.Optimizer(n, None), TypeError, "the name of the optimizer must be a string, not None"),
        (lambda n: pl.Optimizer(n, "sgd", clip_norm="1"), TypeError, "clip_norm must be a number, not '1'"),
        (lambda n: pl.Optimizer(n, "sgd", regularizer=("l2", 0.1)), TypeError, 'a pair, ("l2", {"rate": 1e-4}), not'),
        (lambda n: pl.Optimizer(n, "sgd").step("0.1"), TypeError, "learning_rate must be a number, not '0.1'"),
        (lambda n: pl.Optimizer(n, "sgd").step(X[0]), TypeError, "learning_rate must be a number, not a ndarray"),
        (lambda _: pl.Schedule("cosine", learning_rate="1", steps=3), TypeError, "must be a number, not '1'"),
        (lambda _: pl.Schedule("poly", learning_rate=1, steps=0), ValueError, "the number of steps must be an integer"),
        (lambda _: pl.Schedule("poly", learning_rate=1, steps=3).rate(-1), ValueError, "step must be an integer"),
        (lambda _: pl.Dataset([X, Y]), DataError, "the data must be a dict of arrays by field, not a list"),
        (lambda _: pl.Dataset({"x": X}).batches(2.5), TypeError, "`batch_size` must be an integer, not 2.5"),
        (lambda _: pl.predict("t", {"x": X}, values="s"), TypeError, "must be a list of names: write values=['s']"),
        (lambda _: pl.train("t", settings="steps=3"), TypeError, "must be a list of strings: write ['steps=3']"),
        (
            lambda _: pl.train("t", seed=1, settings=["seed=2"]), TrainingError,
            "`seed` is set twice, by an option and by `settings` (--set): remove one of them",
        ),
        (
            lambda _: pl.train("t", resume=True, overwrite=True), TrainingError,
            "`resume` continues the training that `overwrite` would replace: remove one of them",
        ),
    ],
)  # fmt: skip
def test_nothing_is_guessed_or_ignored(net, call, kind, message):
    """Of these, some were converted, some ignored, and copies of a net changed the results of the net."""
    says(message, lambda: call(net), kind)
    net.forward({"x": X, "label": Y})  # what a pass leaves, for the next test


class Watcher:
    """A callback."""

    def on_step(self, _):
        """Never called: no training begins."""


@pytest.mark.parametrize(
    ("feeds", "kind", "message"),
    [
        (X, TypeError, 'feeds must be a dict of arrays by data layer, {"x": ..., "label": ...}, not a ndarray'),
        ({"x": X}, FeedError, "missing feed for data layer `label` (ids<3)"),
        (
            {"x": X, "label": Y, "labl": Y},
            FeedError,
            "unknown data layer `labl`; did you mean `label`?; available: `x`",
        ),
        (
            {"x": pl.Sequences(X, [0, 2]), "label": Y},
            FeedError,
            "feed `x` holds sequences; expected rows without sequences",
        ),
        ({"x": X[0], "label": Y}, FeedError, "a batch of one sample, feed array[None]"),
        ({"x": X, "label": np.eye(3)[Y]}, FeedError, "for one-hot rows, feed array.argmax(1)"),
        (
            {"x": X, "label": np.array([1, 3])},
            FeedError,
            "valid ids are 0 to 2; if your ids start at 1, feed array - 1",
        ),
        ({"x": X, "label": np.array([0, 3])}, FeedError, "contains id 3 in row 1; valid ids are 0 to 2"),
    ],
)
def test_feeds(net, feeds, kind, message):
    says(message, lambda: net.forward(feeds), kind)


def test_a_hint_is_given_only_where_it_fits(net):
    for wrong in ({"label": np.array([0, 3])}, {"label": np.full((2, 3), 1)}, {"x": np.zeros((2, 2, 2))}):
        with pytest.raises(FeedError) as error:
            net.forward({"x": X, "label": Y} | wrong)
        assert "feed array" not in str(error.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((3, 4)), "`scores.weight` has shape (4, 3); cannot assign shape (3, 4); assign array.T"),
        (np.zeros(3), "`scores.weight` has shape (4, 3); cannot assign shape (3,)"),
        ("a", "`scores.weight` requires a real dtype, not <U1"),
        (
            np.zeros((4, 3), complex),
            "`scores.weight` requires a real dtype, not complex128",
        ),
        (np.ma.masked_equal(np.eye(4, 3), 0), "`scores.weight` cannot have masked elements"),
        ([[1, 2], [3]], "`scores.weight`: cannot convert to an array: setting an array element with a sequence"),
    ],
)
def test_what_is_assigned_to_a_parameter_fits_or_changes_nothing(net, value, message):
    parameter = net.parameters["scores.weight"]
    before = parameter.value.copy()
    says(message, lambda: setattr(parameter, "value", value), ValueError)
    np.testing.assert_array_equal(parameter.value, before)
    parameter.value = 2
    assert (parameter.value == 2).all()
    parameter.value = before


def test_parameters_are_looked_up_and_their_values_assigned(net):
    says(
        "no parameter or state `score.weight`; did you mean `scores.weight`?",
        lambda: net.parameters["score.weight"],
        KeyError,
    )
    assign = "assign `['scores.weight'].value = ...`"
    says(assign, lambda: net.parameters.__setitem__("scores.weight", np.zeros((4, 3))), TypeError)
    with pytest.raises(AttributeError):
        net.parameters["scores.weight"].values = 1


def test_one_value_in_a_row_is_written_with_an_axis_for_it_or_without():
    """As in a table or a Dataset: nothing else can be meant."""
    text = (
        'layer { name: "x" type: "data" data { %s } } layer { name: "y" type: "power" input: "x" power { scale: 2 } }'
    )
    for shape, given in (("shape: 1", np.arange(3.0)), ("", np.arange(3.0)[:, None]), ("shape: [1, 1]", [0, 1, 2])):
        with pl.Net(pl.loads(text % shape)) as single:
            assert single.forward({"x": given})["y"].ravel().tolist() == [0, 2, 4]
    with pl.Net(pl.loads(text % "shape: [1, 2, 2]")) as images:
        flat = lambda: images.forward({"x": np.zeros((3, 4))})  # noqa: E731
        says("expected (rows, 1, 2, 2); feed array.reshape(-1, 1, 2, 2)", flat, FeedError)


def test_values_and_gradients(net):
    says("the network has no output `scorse`; did you mean `scores`?", lambda: net.value("scorse"), KeyError)
    says("`scores` is not kept; write Net(network, keep=['scores'])", lambda: net.value("scores"), KeyError)
    net.forward({"x": X, "label": Y})
    net.backward()
    says("`score` has no gradient; did you mean `scores`?", lambda: net.gradient("score"), KeyError)
    says('phase must be "train" or "test", not \'eval\'', lambda: net.forward({"x": X, "label": Y}, "eval"), ValueError)


def test_networks_and_helpers():
    x = nn.data(shape=np.array([4]))
    y = nn.dropout(nn.fc(x, size=np.int64(3), bias=np.bool_(False)), drop_rate=np.float32(0.5))
    assert y.type == nn.dropout(nn.fc(nn.data(shape=[4]), size=3), drop_rate=0.5).type
    says("outputs must be a list: write Network(outputs=[...])", lambda: pl.Network(outputs=y), TypeError)
    with pytest.raises(InvalidAttributes, match=re.escape("must be an integer, found 3.5")):
        nn.fc(x, size=np.float64(3.5))


def test_a_parameter_larger_than_inputs_and_outputs_together_is_compared_with_the_memory():
    wide = 'layer { name: "x" type: "data" data { shape: 8000000 } }'
    with pytest.warns(ConfigWarning, match=r"W006.*`both.weight` \(1 x 8000000 x 8000000\)"):
        pl.loads(wide + 'layer { name: "both" type: "tensor" input: "x" input: "x" tensor { size: 1 } }')


def test_memory_that_no_machine_has_is_refused_before_it_is_taken():
    message = ": this machine has "
    with pytest.warns(ConfigWarning, match="W006"):
        huge = pl.loads(HUGE.replace("shape: [4]", "shape: [40000]"))
    with pytest.raises(DeviceError, match=message) as error:
        pl.Net(huge)
    assert str(error.value).endswith("the largest are scores.weight (40000 x 2000000000), scores.bias (2000000000)")
    with pytest.raises(DeviceError, match=r"needs .* a batch of \d+ fits"):
        pl.Net(pl.loads(TEXT), batch_size=2**40)


def test_settings_are_not_inputs_and_data_are_no_arrays_alone(tmp_path):
    x = nn.data(shape=[4])
    helpers = "the inputs of `fc` must be values returned by other helpers, found"
    number = f"{helpers} 10; attributes are keyword arguments: write size=10"
    says(number, lambda: nn.fc(x, 10), TypeError)
    says(f"{helpers} a ndarray", lambda: nn.fc(X, size=3), TypeError)
    data = 'source { type: "npz" npz { file: "a.npz" } } optimizer { type: "sgd" learning_rate: 0.1 } steps: 1'
    text = f'net {{ {TEXT} }} {data} output: "{tmp_path}/out"'
    meant = "data must be a file, a DataFrame or arrays by field, {'field': array}, not a ndarray"
    says(meant, lambda: pl.predict(text, X, weights="w.safetensors"), TypeError)
    wrong = "is a config, not data: expected a file that the source can read, or one with an extension of .csv"
    says(wrong, lambda: pl.predict(text, "net.textproto", weights="w.safetensors"), pl.data.DataError)
    whole = "datasets must map phases to arrays by field, {'train': {...}}, not a tuple"
    says(whole, lambda: pl.train(text, datasets=(X, Y)), pl.training.TrainingError)
    phases = "write datasets={'train': {...}, 'test': {...}}"
    says(phases, lambda: pl.train(text, datasets={"x": X, "label": Y}), pl.training.TrainingError)


def test_a_closed_net_says_so():
    closed = pl.Net(pl.loads(TEXT))
    closed.close()
    closed.close()
    says("this net is closed", lambda: closed.forward({"x": X, "label": Y}), RuntimeError)
    says("this net is closed", closed.backward, RuntimeError)
    says("this net is closed", lambda: pl.Optimizer(closed, "sgd"), RuntimeError)


def test_labels_and_gradients_say_what_to_write(net):
    given = {"x": X, "label": Y.astype(float)}
    says("ids must be integers; feed array.astype(int)", lambda: net.forward(given), FeedError)
    texts = {"x": X, "label": np.array(["a", "b"])}
    says("numpy.unique(array, return_inverse=True)[1] maps strings to ids", lambda: net.forward(texts), FeedError)
    net.forward({"x": X, "label": Y})
    net.backward()
    meant = "`scores.weight` is a parameter: write net.parameters['scores.weight'].gradient"
    says(meant, lambda: net.gradient("scores.weight"), KeyError)
    lr = "the learning rate is an argument of each step: write optimizer.step(learning_rate)"
    says(lr, lambda: pl.Optimizer(net, "adam", lr=0.1), TypeError)


@pytest.mark.parametrize("add", [pl.step, pl.penalty, pl.direction, pl.lazy_update, pl.linear_penalty])
def test_functions_of_unregistered_optimizers_are_rejected(add):
    class Plain:
        pass

    with pytest.raises(
        pl.DefinitionError, match=r"test_wrong_arguments.py:\d+: Plain is not registered: add @optimizer"
    ):
        add(Plain)(lambda i, value: value[i])


@pytest.mark.parametrize(
    ("add", "owner", "kinds"),
    [(pl.penalty, Sgd, "optimizer, expected regularizer"), (pl.linear_penalty, Sgd, "optimizer, expected regularizer")]
    + [(add, L2, "regularizer, expected optimizer") for add in (pl.step, pl.direction, pl.lazy_update)],
)
def test_functions_of_another_kind_are_rejected(add, owner, kinds):
    """A penalty must not replace the step of an optimizer."""
    before = owner.__definition__.function
    with pytest.raises(pl.DefinitionError, match=f"has kind {kinds}"):
        add(owner)(lambda i, value: value[i])
    assert owner.__definition__.function is before


def test_a_subclass_does_not_replace_the_function_of_its_base():
    class Derived(Sgd):
        pass

    with pytest.raises(pl.DefinitionError, match="Derived is not registered"):
        pl.step(Derived)(lambda i, value: value[i])
