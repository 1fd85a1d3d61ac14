"""Every kind of value in every nesting: from lists, arrays and SciPy, straight to a net and through a source."""

import itertools
import re

import numpy as np
import pytest
import scipy.sparse

import paddle_layers as pl
from paddle_layers.data import Batches, DataError, Dataset, make_feeds
from paddle_layers.define import Type, registries
from paddle_layers.runtime import Csr, FeedError, Sequences

WIDTH = 5
TYPES = {
    "DENSE": lambda level: Type.dense(WIDTH, level=level),
    "INT": lambda level: Type.ids(WIDTH, level),
    "SPARSE": lambda level: Type.sparse(WIDTH, level, values=True),
    "SPARSE_INT": lambda level: Type.sparse(WIDTH, level),
}
STARTS = {0: [], 1: [[0, 2, 2, 5]], 2: [[0, 2, 2, 4], [0, 1, 3, 3, 5]]}
"""One empty sequence; nested, one empty sub-sequence beside it."""
ROWS = {
    "DENSE": np.arange(5 * WIDTH, dtype=np.float32).reshape(5, WIDTH) / 8 - 1,
    "INT": np.array([4, 0, 2, 2, 1]),
    "SPARSE": [[(0, 0.5), (3, -2.0)], [], [(4, 1.0)], [(1, 3.0), (2, 0.25)], [(0, 1.5)]],
    "SPARSE_INT": [[0, 3], [4, 1], [2, 0], [1, 2], [3, 4]],
}
KINDS = [pytest.param(kind, level, id=f"{kind}-{level}") for kind, level in itertools.product(TYPES, STARTS)]


def text(kind, level):
    size = f"shape: {WIDTH}" if kind == "DENSE" else f"data_type: {kind} size: {WIDTH}"
    layer = "embedding" if kind == "INT" else "fc"
    return f"""
    layer {{ name: "x" type: "data" data {{ {size} seq_nested_level: {level} }} }}
    layer {{ name: "y" type: "{layer}" input: "x" {layer} {{ size: 3 }} }}
    """


def nested(rows, starts):
    """Rows in lists of lists."""
    for cuts in reversed(starts):
        rows = [rows[first:last] for first, last in itertools.pairwise(cuts)]
    return rows


def csr(kind):
    """Sparse rows as arrays."""
    entries = [entry for row in ROWS[kind] for entry in row]
    start = np.cumsum([0, *map(len, ROWS[kind])])
    if kind == "SPARSE_INT":
        return Csr(start, np.array(entries))
    return Csr(start, np.array([column for column, _ in entries]), np.array([value for _, value in entries]))


def dense(kind):
    """What the rows stand for, for a product with a weight."""
    if kind == "DENSE":
        return ROWS[kind]
    whole = np.zeros((5, WIDTH))
    for row, columns in enumerate(ROWS[kind]):
        for entry in np.atleast_1d(columns) if kind != "SPARSE" else columns:
            column, value = entry if kind == "SPARSE" else (entry, 1.0)
            whole[row, column] = value
    return whole


def check(kind, level, fed):
    """The net gives the product of every row with its weight, in the same sequences."""
    with pl.Net(pl.loads(text(kind, level))) as net:
        weight = net.parameters["y.table" if kind == "INT" else "y.weight"].value
        found = net.forward({"x": fed})["y"]
        np.testing.assert_allclose(getattr(found, "data", found), dense(kind) @ weight, rtol=1e-5, atol=1e-6)
        if level:
            starts = [part.tolist() for part in (found.starts, found.sub_starts) if part is not None]
            assert starts == STARTS[level]


@pytest.mark.parametrize(("kind", "level"), KINDS)
def test_lists(kind, level):
    rows = ROWS[kind] if isinstance(ROWS[kind], list) else ROWS[kind].tolist()
    check(kind, level, nested(rows, STARTS[level]))


@pytest.mark.parametrize(("kind", "level"), KINDS)
def test_arrays(kind, level):
    rows = csr(kind) if kind.startswith("SPARSE") else ROWS[kind]
    check(kind, level, Sequences(rows, *map(np.array, STARTS[level])) if level else rows)


@pytest.mark.parametrize("kind", ["DENSE", "INT"])
def test_an_array_with_an_axis_of_steps(kind):
    rows = np.stack([ROWS[kind][:2], ROWS[kind][3:]])
    with pl.Net(pl.loads(text(kind, 1))) as net:
        found, expected = (net.forward({"x": fed})["y"] for fed in (rows, [*rows]))
        assert np.array_equal(found.data, expected.data)
        assert found.starts.tolist() == [0, 2, 4]
        with pytest.raises(FeedError, match=r"is ndarray; expected Sequences"):
            net.forward({"x": ROWS[kind]})


@pytest.mark.parametrize("level", STARTS)
@pytest.mark.parametrize("kind", ["SPARSE", "SPARSE_INT"])
@pytest.mark.parametrize("form", [scipy.sparse.csr_matrix, scipy.sparse.coo_array, scipy.sparse.csc_array])
def test_scipy(kind, level, form):
    if level == 0:
        check(kind, level, form(dense(kind)))
        return
    whole = scipy.sparse.csr_matrix(dense(kind))
    check(kind, level, Sequences(form(dense(kind)), *map(np.array, STARTS[level])))
    check(kind, level, nested_matrices(whole, form, level))


def nested_matrices(whole, form, level):
    """A matrix for every sequence, or for every sub-sequence in lists."""
    inner = [form(whole[first:last]) for first, last in itertools.pairwise(STARTS[level][-1])]
    return inner if level == 1 else nested(inner, STARTS[level][:1])


def stored(kind, level):
    """The arrays of an npz file."""
    names = ["x.starts", "x.sub_starts"][:level]
    fields = dict(zip(names, map(np.array, STARTS[level]), strict=True))
    if not kind.startswith("SPARSE"):
        return {"x": ROWS[kind], **fields}
    rows = csr(kind)
    fields |= {"x.ids": rows.id, "x.row_starts" if level else "x.starts": rows.start}
    return fields if rows.value is None else {**fields, "x.values": rows.value}


@pytest.mark.parametrize(("kind", "level"), KINDS)
def test_a_source(kind, level, tmp_path):
    np.savez(tmp_path / "x.npz", **stored(kind, level))
    source = registries["source"]["npz"]
    dataset = source.create(source.bind({"file": "x.npz"})).open(tmp_path)
    feeds = make_feeds(dataset, {"x": TYPES[kind](level)})
    batches = Batches(dataset, len(dataset), shuffle=False, feeds=feeds)
    check(kind, level, batches.take()["x"])


@pytest.mark.parametrize("level", [1, 2])
def test_rows_of_a_source_come_in_any_order(level):
    dataset = Dataset(stored("SPARSE", level))
    feeds = make_feeds(dataset, {"x": TYPES["SPARSE"](level)})
    found = feeds[0].take(np.array([2, 0]), None)
    rows = [3, 4, 0, 1] if level == 1 else [3, 4, 0, 1, 2]
    assert found.starts.tolist() == ([0, 3, 5] if level == 1 else [0, 2, 4])
    entries = [entry for row in ([2, 3, 4, 0, 1] if level == 1 else rows) for entry in ROWS["SPARSE"][row]]
    assert list(zip(found.data.id, found.data.value, strict=True)) == entries


def test_a_data_set_takes_scipy_matrices():
    dataset = Dataset({"x": scipy.sparse.csr_matrix(dense("SPARSE"))})
    check("SPARSE", 0, make_feeds(dataset, {"x": TYPES["SPARSE"](0)})[0].take(np.arange(5), None))


@pytest.mark.parametrize("level", STARTS)
@pytest.mark.parametrize("width", [WIDTH - 1, WIDTH + 1])
def test_a_matrix_of_another_width_is_rejected(width, level):
    matrix, at = scipy.sparse.csr_matrix(np.eye(5, width)), [*map(np.array, STARTS[level])]
    fed = [Sequences(matrix, *at), nested_matrices(matrix, scipy.sparse.csr_matrix, level)] if level else [matrix]
    with pl.Net(pl.loads(text("SPARSE", level))) as net:
        for given in fed:
            with pytest.raises(FeedError, match=f"is a matrix with {width} columns; expected {WIDTH}"):
                net.forward({"x": given})
    with pytest.raises(DataError, match=f"field `x` is a matrix with {width} columns, but the data layer `x` expects"):
        make_feeds(Dataset({"x": fed[0]}), {"x": TYPES["SPARSE"](level)})


def test_values_of_binary_features_are_rejected():
    with pl.Net(pl.loads(text("SPARSE_INT", 0))) as net:
        for given in (csr("SPARSE"), ROWS["SPARSE"], scipy.sparse.csr_matrix(dense("SPARSE"))):
            with pytest.raises(FeedError, match="has values other than 1; set `data_type: SPARSE`"):
                net.forward({"x": given})


def test_the_text_source_gives_sequences_of_ids(tmp_path):
    (tmp_path / "words.txt").write_text("a\nb\nc\nd\ne\n", encoding="utf-8")
    (tmp_path / "lines.txt").write_text("e a\nc c b\n", encoding="utf-8")
    source = registries["source"]["text"]
    dataset = source.create(source.bind({"file": "lines.txt", "dictionary": "words.txt"})).open(tmp_path)
    found = make_feeds(dataset, {"words": TYPES["INT"](1)})[0].take(np.array([0, 1]), None)
    assert (found.data.tolist(), found.starts.tolist()) == ([4, 0, 2, 2, 1], [0, 2, 5])
    with pytest.raises(DataError, match=r"contains sequences, but the data layer `words` expects ids<5"):
        make_feeds(dataset, {"words": TYPES["INT"](0)})


@pytest.mark.parametrize(
    ("arrays", "level", "message"),
    [
        (stored("SPARSE_INT", 0), 1, "store `x.row_starts` (start of each row) and `x.starts`"),
        (stored("SPARSE_INT", 1), 2, "store `x.sub_starts` in addition to `x`"),
        (stored("SPARSE_INT", 1), 0, "set `seq_nested_level` in the data layer"),
        (stored("INT", 1), 1, "store `x.ids` and `x.row_starts`"),
        ({"x.ids": np.array([0, 9]), "x.row_starts": np.array([0, 1, 1, 2]), "x.starts": np.array([0, 1, 3])}, 1,
         "row 1: field `x` is 9"),
        ({"x.ids": np.array([0]), "x.row_starts": np.array([0, 1])}, 1, "`x.row_starts` requires `x.starts`"),
        ({"x.ids": np.array([0]), "x.row_starts": np.array([0, 2]), "x.starts": np.array([0, 1])}, 1,
         "`x.row_starts` goes from 0 to 2"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_stored_sparse_sequences_is_said(arrays, level, message):
    with pytest.raises(DataError) as caught:
        make_feeds(Dataset(arrays), {"x": TYPES["SPARSE_INT"](level)})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "level", "fed", "message"),
    [
        ("SPARSE", 1, [[[0, 2]]], "has no values; the data layer requires them (SPARSE)"),
        ("SPARSE_INT", 1, [[[0, 7]]], "contains id 7"),
        ("SPARSE_INT", 1, [3], "is int; expected Csr(start, id), lists of columns, or a SciPy sparse matrix"),
        (
            "DENSE",
            1,
            [3.0, 4.0],
            "contains scalars instead of sequences; expected a list with the rows of each sequence",
        ),
        ("INT", 2, [[3, 4]], "expected a list with the rows of each sub-sequence"),
    ],
)
def test_wrong_lists_are_refused(kind, level, fed, message):
    with pl.Net(pl.loads(text(kind, level))) as net, pytest.raises(FeedError, match=re.escape(message)):
        net.forward({"x": fed})


@pytest.mark.parametrize(("kind", "level"), KINDS)
def test_a_batch_without_rows(kind, level):
    with pl.Net(pl.loads(text(kind, level))) as net:
        found = net.forward({"x": [[]] if level else []})["y"]
        assert getattr(found, "data", found).shape == (0, 3)


def test_capacity_grows_by_halves_and_then_no_buffer_is_new():
    """Rows of sequences and entries of sparse rows have capacities of their own."""
    rng = np.random.default_rng(0)

    def batch(sequences, rows):
        return {"x": [[rng.integers(0, WIDTH, 2).tolist() for _ in range(rows)] for _ in range(sequences)]}

    def capacities(net):
        return [domain.capacity for domain in net.plan("train").graph.domains]

    with pl.Net(pl.loads(text("SPARSE_INT", 1))) as net:
        net.forward(batch(4, 3))
        assert capacities(net) == [4, 12, 24]
        net.forward(batch(4, 4))
        assert capacities(net) == [4, 18, 36]
        plan = net.plan("train")
        for sequences, rows in ((1, 1), (4, 4), (3, 6), (2, 0), (4, 2)):
            net.forward(batch(sequences, rows))
            assert net.plan("train") is plan
        net.forward(batch(2, 10))
        assert net.plan("train") is not plan
        assert capacities(net) == [4, 27, 54]
