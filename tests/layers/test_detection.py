"""Layers of detection: on boxes of real images' sizes, against onnxruntime, and on cases that are computed by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import paddle_layers as pl
from paddle_layers.runtime import FeedError, Sequences
from paddle_layers.runtime.devices.cuda import simulated_device

from ..references.detection import detection_map

pytestmark = pytest.mark.usefixtures("as_python")

CLASSES, BOXES = 4, 60
FOUND = f"""
layer {{ name: "prior" type: "data" data {{ shape: [{BOXES}, 8] }} }}
layer {{ name: "where" type: "data" data {{ shape: [{4 * BOXES}, 1, 1] }} }}
layer {{ name: "what" type: "data" data {{ shape: [{CLASSES * BOXES}, 1, 1] }} }}
layer {{
  name: "found" type: "detection_output" input: "prior" input: "where" input: "what"
  detection_output {{ num_classes: {CLASSES} SETTINGS }}
}}
"""


def boxes_of(rng: np.random.Generator, *counts: int) -> np.ndarray:
    """Boxes that overlap: corners between 0 and 1, sides of a quarter or more."""
    first = rng.uniform(0, 0.5, (*counts, 2))
    return np.concatenate([first, first + rng.uniform(0.25, 0.5, (*counts, 2))], -1).astype(np.float32)


def scores_of(rng: np.random.Generator, images: int) -> dict[str, np.ndarray]:
    prior = np.concatenate([boxes_of(rng, images, BOXES), np.full((images, BOXES, 4), 0.1, np.float32)], -1)
    return {
        "prior": prior,
        "where": rng.normal(0, 1, (images, 4 * BOXES, 1, 1)).astype(np.float32),
        "what": rng.normal(0, 1.5, (images, CLASSES * BOXES, 1, 1)).astype(np.float32),
    }


def run_onnx(op: str, inputs: dict[str, Any], **attributes: Any) -> Any:
    kinds = {np.float32: onnx.TensorProto.FLOAT, np.int64: onnx.TensorProto.INT64}
    fed = [onnx.helper.make_tensor_value_info(n, kinds[v.dtype.type], v.shape) for n, v in inputs.items()]
    kind = onnx.TensorProto.INT64 if op == "NonMaxSuppression" else onnx.TensorProto.FLOAT
    node = onnx.helper.make_node(op, list(inputs), ["y"], **attributes)
    graph = onnx.helper.make_graph([node], "one", fed, [onnx.helper.make_tensor_value_info("y", kind, None)])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 16)], ir_version=8)
    (found,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
    return found


@pytest.mark.parametrize(("overlap", "least", "most"), [(0.45, 0.3, 40), (0.2, 0.1, 7)])
def test_suppression_is_that_of_onnx(overlap: float, least: float, most: int) -> None:
    rng = np.random.default_rng(0)
    fed = scores_of(rng, 3)
    fed["where"][:] = 0  # the boxes are the default ones
    settings = f"nms_threshold: {overlap} confidence_threshold: {least} keep_top_k: 1000"
    with pl.Net(pl.loads(FOUND.replace("SETTINGS", settings))) as net:
        found = net.forward(fed)
    scores = fed["what"].reshape(3, BOXES, CLASSES)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    probability = (powers / powers.sum(-1, keepdims=True)).transpose(0, 2, 1)
    chosen = run_onnx(
        "NonMaxSuppression",
        {
            "boxes": fed["prior"][..., :4].copy(),
            "scores": np.ascontiguousarray(probability),
            "most": np.array([BOXES], np.int64),
            "overlap": np.array([overlap], np.float32),
            "least": np.array([least], np.float32),
        },
    )
    for image in range(3):
        wanted = [(probability[image, c, b], c, b) for i, c, b in chosen if i == image and c > 0]
        wanted.sort(reverse=True)
        own = slice(*found["found"].starts[image : image + 2])
        np.testing.assert_allclose(found["found.score"].data[own], [score for score, *_ in wanted], rtol=1e-5)
        assert found["found"].data[own].tolist() == [c for _, c, _ in wanted]
        corners = np.clip(fed["prior"][image, [b for *_, b in wanted], :4], 0, 1)
        np.testing.assert_allclose(found["found.box"].data[own], corners, rtol=1e-5, atol=1e-6)
    with pl.Net(pl.loads(FOUND.replace("SETTINGS", f"keep_top_k: {most}"))) as net:
        assert max(np.diff(net.forward(fed)["found"].starts)) == most


def test_as_many_boxes_as_are_found_and_none_of_nothing() -> None:
    rng = np.random.default_rng(1)
    text = FOUND.replace("SETTINGS", "confidence_threshold: 0.6")
    counts = []
    with pl.Net(pl.loads(text)) as net, pl.Net(pl.loads(text), device=simulated_device()) as card:
        for factor in (0.0, 1.0, 3.0, 0.5, 0.0):  # from none to many: the buffers grow in the middle of the pass
            fed = scores_of(rng, 2)
            fed["what"] *= factor
            here, there = net.forward(fed), card.forward(fed)
            counts.append(len(here["found"].data))
            for name, value in here.items():
                assert value.starts.tolist() == there[name].starts.tolist()
                np.testing.assert_allclose(value.data, there[name].data, rtol=1e-5)
    assert counts[0] == counts[-1] == 0
    assert 0 < counts[3] < counts[1] < counts[2]


@pytest.mark.parametrize("scale", [1.0, 0.25])
@pytest.mark.parametrize(
    ("type_", "settings"),
    [("roi_pool", ""), ("roi_align", ""), ("roi_align", "aligned: false"), ("roi_align", "sampling_ratio: 3")],
)
def test_regions_are_those_of_onnx(type_: str, settings: str, scale: float) -> None:
    rng = np.random.default_rng(2)
    text = f"""
    layer {{ name: "x" type: "data" data {{ shape: [2, 17, 23] }} }}
    layer {{ name: "box" type: "data" data {{ shape: 4 seq_nested_level: 1 }} }}
    layer {{
      name: "y" type: "{type_}" input: "x" input: "box"
      {type_} {{ pooled_width: 3 pooled_height: 5 spatial_scale: {scale} {settings} }}
    }}"""
    counts = np.array([3, 0, 6])
    first = rng.uniform(0, 12, (9, 2))
    box = (np.concatenate([first, first + rng.uniform(0.2, 12, (9, 2))], 1) / scale).astype(np.float32)
    x, images = rng.normal(size=(3, 2, 17, 23)).astype(np.float32), np.repeat(np.arange(3), counts)
    with pl.Net(pl.loads(text)) as net:
        y = net.forward({"x": x, "box": Sequences(box, np.cumsum([0, *counts]))})["y"].data
    if type_ == "roi_pool":
        rows = np.column_stack([images, box]).astype(np.float32)
        wanted = run_onnx("MaxRoiPool", {"x": x, "rois": rows}, pooled_shape=[5, 3], spatial_scale=scale)
    else:
        wanted = run_onnx(
            "RoiAlign", {"x": x, "rois": box, "images": images}, output_height=5, output_width=3, spatial_scale=scale,
            sampling_ratio=3 if "ratio" in settings else 0,
            coordinate_transformation_mode="output_half_pixel" if "false" in settings else "half_pixel",
        )  # fmt: skip
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-5)


MAP = """
layer { name: "label" type: "data" data { data_type: INT size: 3 seq_nested_level: 1 } }
layer { name: "score" type: "data" data { shape: 1 seq_nested_level: 1 } }
layer { name: "box" type: "data" data { shape: 4 seq_nested_level: 1 } }
layer { name: "truth" type: "data" data { data_type: INT size: 3 seq_nested_level: 1 } }
layer { name: "truth_box" type: "data" data { shape: 4 seq_nested_level: 1 } }
layer { name: "difficult" type: "data" data { data_type: INT size: 2 seq_nested_level: 1 } }
layer { name: "map" type: "detection_map" SETTINGS
        input: "label" input: "score" input: "box" input: "truth" input: "truth_box" input: "difficult" }
"""
LEFT, RIGHT, BELOW = (0.0, 0.0, 0.4, 0.4), (0.5, 0.0, 0.9, 0.4), (0.0, 0.5, 0.4, 0.9)
NEAR_LEFT = (0.0, 0.0, 0.4, 0.3)
"""Overlaps `LEFT` by three quarters."""
POINT = (0.3, 0.3, 0.3, 0.3)


def mean_precision(settings: str, images: list[tuple[list[Any], list[Any]]], batch: int = 1) -> float:
    """Boxes found, (class, score, box), and boxes that are there, (class, box, difficult), of each image."""
    rows = {name: [] for name in ("label", "score", "box", "truth", "truth_box", "difficult")}
    for found, there in images:
        rows["label"].append(np.array([c for c, _, _ in found], int))
        rows["score"].append(np.array([[s] for _, s, _ in found], float).reshape(-1, 1))
        rows["box"].append(np.array([b for _, _, b in found], float).reshape(-1, 4))
        rows["truth"].append(np.array([c for c, _, _ in there], int))
        rows["truth_box"].append(np.array([b for _, b, _ in there], float).reshape(-1, 4))
        rows["difficult"].append(np.array([d for _, _, d in there], int))
    with pl.Net(pl.loads(MAP.replace("SETTINGS", f"detection_map {{ {settings} }}"))) as net:
        for first in range(0, len(images), batch):  # the boxes of all batches count
            net.forward({name: values[first : first + batch] for name, values in rows.items()}, phase="test")
        (result,) = net.statistics().values()
    return result


TWO = [
    ([(1, 0.9, NEAR_LEFT), (1, 0.8, LEFT), (1, 0.7, RIGHT)], [(1, LEFT, 0), (1, RIGHT, 0)]),
    ([(1, 0.6, BELOW)], [(1, BELOW, 0), (1, RIGHT, 0)]),
]
"""Right, wrong (found before), right, right: precisions 1, 1/2, 2/3, 3/4 at recalls of 1/4, 1/4, 1/2, 3/4."""


@pytest.mark.parametrize(
    ("settings", "images", "wanted"),
    [
        ("ap_type: INTEGRAL", TWO, (1 + 2 / 3 + 3 / 4) / 4),
        ("", TWO, (3 * 1 + 5 * 3 / 4) / 11),
        ("ap_type: INTEGRAL overlap_threshold: 0.8", TWO, (1 / 2 + 2 / 3 + 3 / 4) / 4),
        ("ap_type: INTEGRAL bins: 2", TWO, 3 / 4 * 3 / 4),
        ("", [([(1, 0.5, LEFT)], [(1, LEFT, 0)]), ([], [(2, RIGHT, 0)])], 1 / 2),
        ("", [([(2, 0.5, LEFT)], [(1, LEFT, 0)])], 0.0),
        ("", [([(1, 0.9, LEFT), (1, 0.5, RIGHT)], [(1, LEFT, 1), (1, RIGHT, 0)])], 1.0),
        ("ap_type: INTEGRAL", [([(1, 0.9, BELOW)], [(1, BELOW, 1), (1, RIGHT, 0)])], 0.0),
        ("evaluate_difficult: true ap_type: INTEGRAL", [([(1, 0.9, BELOW)], [(1, BELOW, 1), (1, RIGHT, 0)])], 1 / 2),
        ("background_id: 1", [([(1, 0.9, BELOW)], [(1, BELOW, 0), (2, RIGHT, 0)])], 0.0),
        ("", [([], [])], np.nan),
        ("", [([(1, 1.5, LEFT)], [(1, LEFT, 0)])], np.nan),
        ("", [([(1, -0.0004, LEFT)], [(1, LEFT, 0)])], np.nan),
        ("", [([(1, 1.0, LEFT)], [(1, LEFT, 0)])], 1.0),
        ("", [([(1, 0.5, POINT)], [(1, POINT, 0)])], 0.0),
    ],
)  # fmt: skip
def test_mean_average_precision_by_hand(settings: str, images: Any, wanted: float) -> None:
    assert mean_precision(settings, images) == pytest.approx(wanted, nan_ok=True)


def crowd(rng: np.random.Generator) -> tuple[list[Any], list[Any]]:
    """Up to three boxes, each found up to three times, now and then as another class, and one found by chance."""
    there, found = [], []
    for _ in range(rng.integers(1, 4)):
        x, y, width, height = rng.uniform(0.1, 0.5, 4)
        c, box = int(rng.integers(1, 3)), np.array([x, y, x + width, y + height])
        there.append((c, box, int(rng.random() < 0.3)))
        for _ in range(rng.integers(0, 4)):
            seen = c if rng.random() < 0.8 else 3 - c
            found.append((seen, rng.random(), box + rng.uniform(-0.08, 0.08, 4)))
    found.append((int(rng.integers(0, 3)), rng.random(), rng.random(4)))
    return [found[k] for k in rng.permutation(len(found))], there


@pytest.mark.parametrize(
    "settings", ["", "ap_type: INTEGRAL", "evaluate_difficult: true overlap_threshold: 0.3 bins: 9"]
)
@pytest.mark.parametrize("seed", range(3))
def test_mean_average_precision_of_boxes_that_are_found_several_times(settings: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    images = [crowd(rng) for _ in range(6)]
    rows = [[one for image in images for one in image[k]] for k in (0, 1)]
    starts = [[np.cumsum([0, *(len(image[k]) for image in images)])] for k in (0, 1)]
    inputs = {
        "label": np.array([c for c, _, _ in rows[0]]),
        "score": np.array([s for _, s, _ in rows[0]]),
        "box": np.array([b for _, _, b in rows[0]]),
        "box.starts": starts[0],
        "truth": np.array([c for c, _, _ in rows[1]]),
        "truth_box": np.array([b for _, b, _ in rows[1]]),
        "truth.starts": starts[1],
        "difficult": np.array([d for _, _, d in rows[1]]),
    }
    attributes = {
        "overlap_threshold": 0.3 if "overlap" in settings else 0.5,
        "background_id": 0,
        "evaluate_difficult": "evaluate" in settings,
        "ap_type": "INTEGRAL" if "INTEGRAL" in settings else "ELEVEN_POINT",
        "bins": 9 if "bins" in settings else 1000,
    }
    wanted = detection_map(inputs, {}, attributes)["report"][""]
    assert mean_precision(settings, images, batch=3) == pytest.approx(wanted, rel=1e-6)


MATCH = """
layer { name: "prior" type: "data" data { shape: [4, 8] } }
layer { name: "label" type: "data" data { data_type: INT size: 2 seq_nested_level: 1 } }
layer { name: "box" type: "data" data { shape: 4 seq_nested_level: 1 } }
layer { name: "where" type: "data" data { shape: [4, 2, 2] } }
layer { name: "what" type: "data" data { shape: [2, 2, 2] } }
layer { name: "cost" type: "multibox_loss" multibox_loss { num_classes: 2 SETTINGS }
        input: "prior" input: "label" input: "box" input: "where" input: "what" }
"""


def test_costs_of_matches_and_of_the_hardest_background_by_hand() -> None:
    """Of two boxes in `LEFT`'s place, the first takes the default box, the second none: all others are too far."""
    prior = np.array([LEFT, RIGHT, BELOW, (0.5, 0.5, 0.9, 0.9)], np.float32)
    prior = np.concatenate([prior, np.tile([0.1, 0.1, 0.2, 0.2], (4, 1))], 1)[None]
    shifted = np.array([[LEFT[0] + 0.02, *LEFT[1:2], LEFT[2] + 0.02, LEFT[3]]])
    where = np.zeros((1, 4, 2, 2), np.float32)
    where[0, 1, 0, 0] = 3.0
    what = np.array([[[[0, 0], [0, 0]], [[1.0, 0.5], [2.0, -1.0]]]], np.float32)
    fed = {"prior": prior, "label": [np.array([1])], "box": [shifted], "where": where, "what": what}
    for ratio, background in ((0.0, 0), (1.0, 1), (3.0, 3)):
        with pl.Net(pl.loads(MATCH.replace("SETTINGS", f"neg_pos_ratio: {ratio}"))) as net:
            net.forward(fed)
            loss = net.loss
        smooth = 0.5 * 0.5**2 + (3.0 - 0.5)  # moved by 0.02 / 0.4 / 0.1; its second location is 3 away
        right = np.log1p(np.exp(-1.0))
        hardest = [np.log1p(np.exp(score)) for score in (2.0, 0.5, -1.0)]
        assert loss == pytest.approx(smooth + right + sum(hardest[:background]), rel=1e-5)
    fed |= {"label": [np.array([2])]}
    with pl.Net(pl.loads(MATCH.replace("SETTINGS", ""))) as net, pytest.raises(FeedError, match="label"):
        net.forward(fed)


def test_images_without_boxes_cost_nothing() -> None:
    rng = np.random.default_rng(3)
    fed = {
        "prior": np.abs(rng.normal(size=(2, 4, 8))), "label": [np.zeros(0, int)] * 2, "box": [np.zeros((0, 4))] * 2,
        "where": rng.normal(size=(2, 4, 2, 2)), "what": rng.normal(size=(2, 2, 2, 2)),
    }  # fmt: skip
    with pl.Net(pl.loads(MATCH.replace("SETTINGS", ""))) as net:
        assert net.forward(fed)["cost"].tolist() == [0, 0]
        assert net.loss == 0


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        ({"where": [4, 2, 2], "what": [2, 2, 3]}, "differ in height or width"),
        ({"where": [8, 2, 2], "what": [2, 2, 2]}, "a box of a cell has 4 channels of locations and 2 of scores"),
        ({"where": [4, 2, 3], "what": [2, 2, 3]}, "the maps have 6 boxes, but there are 4 default boxes"),
        ({"prior": [4, 4]}, "default boxes have 8 values, as `priorbox` returns, got 4"),
        ({"box": [5]}, "a box has 4 numbers"),
    ],
)
def test_maps_that_do_not_fit_say_so(shapes: dict[str, list[int]], words: str) -> None:
    text = MATCH.replace("SETTINGS", "")
    for name, shape in shapes.items():
        before, mark, behind = text.partition(f'name: "{name}" type: "data" data {{ ')
        text = before + mark + f"shape: {shape} " + behind[behind.index("}" if "seq" not in behind[:24] else "seq") :]
    with pytest.raises(pl.ConfigError) as caught:
        pl.loads(text)
    assert words in str(caught.value)
