"""Cases of single ONNX operators for the import: attributes, shapes and opsets whose meaning differs.

Each is right by onnxruntime, or refused. `accepted` says of a case which of both it has to be.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from onnx import NodeProto, helper

SHAPE = (2, 3, 4)
SCALES = ((2, 2), (1, 3), (1.5, 2.5), (0.5, 0.5), (1, 1))


class Case(NamedTuple):
    """Nodes from `x` (and `z`) to `y`; shapes are those of a sample, "T" is an open axis."""

    name: str
    nodes: list[NodeProto]
    inputs: dict[str, tuple[int | str, ...]]
    constants: dict[str, Any]
    opset: int
    accepted: bool | None = None


def numbers(*shape: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def node(operator: str, *inputs: str, to: str = "y", **attributes: Any) -> NodeProto:
    given = {name: value for name, value in attributes.items() if value is not None}
    return helper.make_node(operator, list(inputs), [to], to, **given)


def one(name: str, made: NodeProto | list[NodeProto], shape: Any, opset: int = 20, accepted: Any = None, **more: Any):
    """A case of the input `x`; `more` are constants."""
    nodes = made if isinstance(made, list) else [made]
    return Case(f"{name} {shape} opset {opset}", nodes, {"x": shape}, more, opset, accepted)


def softmax() -> Iterator[Case]:
    for operator, opset in itertools.product(("Softmax", "LogSoftmax"), (7, 11, 12, 13, 20)):
        for shape in ((4,), (3, 4), ("T", 4), (3, 1), (4, 1, 1), SHAPE):
            for axis in (None, 0, 1, 2, -1, -2):
                if axis is None or -len(shape) <= axis <= len(shape):
                    along_batch = axis == 0
                    yield one(
                        f"{operator} {axis}", node(operator, "x", axis=axis), shape, opset,
                        accepted=False if along_batch else True if "T" not in shape else None,
                    )  # fmt: skip
    yield one("Hardmax", node("Hardmax", "x"), (4,), accepted=False)


def resize() -> Iterator[Case]:
    modes = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric")
    roundings = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    for opset, scale, where, by in itertools.product((11, 13, 19), SCALES, modes, (True, False)):
        if where == "half_pixel_symmetric" and opset < 19:
            continue
        scales = np.float32([1, 1, *scale])
        sizes = np.int64([2, 2, int(4 * scale[0]), int(6 * scale[1])])
        given = {"s": scales if by else sizes, "e": np.float32([])}
        inputs = ("x", "e", "s") if by else ("x", "e", "e", "s")
        for mode in ("linear", "cubic", *roundings):
            settings = {"mode": "nearest", "nearest_mode": mode} if mode in roundings else {"mode": mode}
            made = node("Resize", *inputs, coordinate_transformation_mode=where, **settings)
            name = f"Resize {mode} {where} {scale} {'scales' if by else 'sizes'}"
            yield one(name, made, (2, 4, 6), opset, True if mode == "cubic" else None, **given)
    for scale, mode in itertools.product(SCALES[:3], ("nearest", "linear")):
        scales = np.float32([1, 1, *scale])
        yield one(f"Resize {mode} {scale}", node("Resize", "x", "s", mode=mode), (2, 4, 6), 10, s=scales)
        yield one(f"Upsample {mode} {scale}", node("Upsample", "x", "s", mode=mode), (2, 4, 6), 9, s=scales)
        made = node("Upsample", "x", mode=mode, scales=scales.tolist())
        yield one(f"Upsample {mode} {scale}", made, (2, 4, 6), 7)
    for settings in ({"exclude_outside": 1}, {"cubic_coeff_a": -0.5}):
        made = node("Resize", "x", "", "", "s", mode="cubic", **settings)
        yield one(f"Resize cubic {settings}", made, (2, 5, 4), 18, True, s=np.int64([2, 2, 3, 8]))
    for settings in (
        {"antialias": 1},
        {"keep_aspect_ratio_policy": "not_larger"},
    ):
        made = node("Resize", "x", "", "", "s", **{"mode": "linear", **settings})
        yield one(f"Resize {settings}", made, (2, 4, 4), 18, False, s=np.int64([2, 2, 2, 8]))


def reductions() -> Iterator[Case]:
    operators = ("Mean", "Sum", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp")
    every = itertools.product(operators, (11, 13, 18), (None, [1], [-1], [1, 2], [0, 1]), (None, 0), (None, 1))
    for kind, opset, axes, keep, noop in every:
        operator, as_input = f"Reduce{kind}", opset >= 18 or (opset >= 13 and kind == "Sum")
        if noop and (axes is not None or not as_input):
            continue
        given = {"a": np.int64(axes)} if axes is not None and as_input else {}
        settings = {"keepdims": keep, "noop_with_empty_axes": noop, "axes": None if as_input else axes}
        over_batch = (axes is None and not noop) or (axes is not None and 0 in axes)
        made = node(operator, "x", *given, **settings)
        for shape in ((3, 4), ("T", 4), SHAPE):
            accepted = False if over_batch else True if "T" not in shape else None
            yield one(f"{operator} {axes} {keep} {noop}", made, shape, opset, accepted, **given)


def arithmetic() -> Iterator[Case]:
    shapes = ((4,), (3, 4), (1, 4), (3, 1), ("T", 4), (2, 1, 1), SHAPE)
    for operator, x, z in itertools.product(("Add", "Sub", "Mul", "Div", "Max", "Min"), shapes, shapes):
        yield Case(f"{operator} {x} {z}", [node(operator, "x", "z")], {"x": x, "z": z}, {}, 13)
    for operator, x, w in itertools.product(("Add", "Sub", "Mul", "Div", "Max", "Min"), shapes, ((), (4,), (3, 1))):
        constant = np.abs(numbers(*w)) + 1
        yield one(f"{operator} constant {w}", node(operator, "x", "w"), x, w=constant)
        yield one(f"{operator} constant first {w}", node(operator, "w", "x"), x, w=constant)
    for operator, shape in itertools.product(("Ceil", "Erf", "Floor", "Round", "Sign"), ((4,), ("T", 4), SHAPE)):
        far = node("Mul", "x", "w", to="far")
        yield one(operator, [far, node(operator, "far")], shape, accepted=True, w=np.float32(2.5))
        parts = [node(operator, "far", to="part"), node("Mul", "part", "w", to="m"), node("Add", "m", "w")]
        yield one(f"{operator} in a sum", [far, *parts], shape, accepted=True, w=np.float32(np.sqrt(0.5)))
    for x, z in itertools.product(shapes, shapes):
        yield Case(f"Mod {x} {z}", [node("Mod", "x", "z", fmod=1)], {"x": x, "z": z}, {}, 13)
    for w in ((), (4,), (3, 1)):
        yield one(f"Mod constant {w}", node("Mod", "x", "w", fmod=1), (3, 4), 13, True, w=numbers(*w))
        yield one(f"Mod constant first {w}", node("Mod", "w", "x", fmod=1), (3, 4), 13, True, w=numbers(*w))
    for x in shapes:
        yield Case(f"Mean {x}", [node("Mean", "x", "z", "x")], {"x": x, "z": x}, {}, 13, True)
    signs = [node("Less", "x", "zero", to="a"), node("Greater", "x", "w", to="b"), node("Xor", "a", "b", to="c")]
    chosen = [*signs, node("Where", "c", "x", "zero")]
    yield one("Xor", chosen, (3, 4), 13, True, zero=np.float32(0), w=numbers(3, 4))
    made = [node("Mod", "a", "b", to="c", fmod=1), node("Add", "x", "c")]
    yield one("Mod of constants", made, (4,), 13, True, a=numbers(4), b=np.float32([2, -2, 0.3, -0.3]))


def windows() -> Iterator[Case]:
    for operator, opset, up, counted, dilation in itertools.product(
        ("MaxPool", "AveragePool"), (7, 10, 11, 19, 22), (None, 1), (None, 1), (None, [2, 2])
    ):
        too_old = (opset < 10 and up) or (opset < 19 and dilation)
        if too_old or (operator == "MaxPool" and counted):
            continue
        for pads, strides in itertools.product((None, [1, 1, 1, 1], [0, 1, 0, 0]), (None, [2, 2], [3, 1])):
            made = node(
                operator, "x", kernel_shape=[3, 2], pads=pads, strides=strides, ceil_mode=up, dilations=dilation,
                count_include_pad=counted,
            )  # fmt: skip
            yield one(f"{operator} {pads} {strides} {up} {counted} {dilation}", made, (2, 7, 6), opset)
    for size in (1, 2, 3, 4, 5):
        made = node("LRN", "x", size=size, alpha=0.3)
        yield one(f"LRN {size}", made, (4, 3, 3), 13, size % 2 == 1)
    for operator, shape in itertools.product(("GlobalAveragePool", "GlobalMaxPool"), ((3, 4), SHAPE, (2, 3, 4, 2))):
        yield one(operator, node(operator, "x"), shape, 13)
    for opset, operator in itertools.product((11, 22), ("Conv", "ConvTranspose")):
        yield one(operator, node(operator, "x", "w", strides=[2, 1]), SHAPE, opset, True, w=numbers(2, 2, 2, 2))


def normalizations() -> Iterator[Case]:
    own = {name: np.abs(numbers(4, seed=seed)) + 0.5 for seed, name in enumerate("gbmv")}
    for opset, shape in itertools.product((7, 9, 14, 15, 20), ((4,), (4, 3), (4, 3, 2))):
        yield one("BatchNormalization", node("BatchNormalization", "x", *own), shape, opset, True, **own)
        yield one("InstanceNormalization", node("InstanceNormalization", "x", "g", "b"), shape, opset, **own)
    for opset, rate, training, accepted in (
        (7, None, None, True), (10, None, None, True), (12, 0.5, None, True), (13, 0.5, False, True),
        (12, 0.5, True, False), (13, 0.5, True, False),
    ):  # fmt: skip
        given = {"r": np.float32(rate)} if rate else {}
        given |= {"t": np.bool_(training)} if training is not None else {}
        yield one(f"Dropout {training}", node("Dropout", "x", *given), (50,), opset, accepted, **given)
    slopes = {"w": numbers(2, 1, 1), "c": numbers(4), "s": numbers(1)}
    for opset, name in itertools.product((7, 9, 16), slopes):
        yield one(f"PRelu {name}", node("PRelu", "x", name), SHAPE, opset, True, **{name: slopes[name]})


def moves() -> Iterator[Case]:
    for size, mode in itertools.product((2, 3), ("DCR", "CRD")):
        made = node("DepthToSpace", "x", blocksize=size, mode=mode)
        yield one(f"DepthToSpace {size} {mode}", made, (2 * size * size, 3, 2), 13, True)
    for size in (2, 3):
        yield one(f"SpaceToDepth {size}", node("SpaceToDepth", "x", blocksize=size), (2, 2 * size, size), 13, True)
        yield one(f"SpaceToDepth odd {size}", node("SpaceToDepth", "x", blocksize=size), (2, 7, 6), 13, False)
    for opset, axis, size in itertools.product((7, 11, 13, 18), (1, 2, -1), ([1, 2], [2, 2], None)):
        total = (2, 3, 4)[axis - 1 if axis > 0 else axis]
        if size is not None and sum(size) != total:
            continue
        given = {"s": np.int64(size)} if size and opset >= 13 else {}
        settings = {"split": size if opset < 13 else None, "num_outputs": 2 if opset >= 18 and not size else None}
        made = helper.make_node("Split", ["x", *given], ["y", "other"], "y", axis=axis,
                                **{name: value for name, value in settings.items() if value})  # fmt: skip
        if size is not None or total % 2 == 0 or opset >= 18:
            yield one(f"Split {axis} {size}", made, SHAPE, opset, True, **given)
    for opset, (start, end, axis, by) in itertools.product(
        (7, 10, 13), ((1, 3, 3, 1), (-3, -1, -1, 1), (0, 9999, 1, 1), (0, 4, -1, 2), (3, -9, -1, -1), (0, 1, 0, 1))
    ):
        if opset >= 10:
            given = {"a": np.int64([start]), "e": np.int64([end]), "k": np.int64([axis]), "s": np.int64([by])}
            yield one(f"Slice {start} {end} {axis} {by}", node("Slice", "x", *given), SHAPE, opset, **given)
        elif by == 1:
            made = node("Slice", "x", starts=[start], ends=[end], axes=[axis])
            yield one(f"Slice {start} {end} {axis}", made, SHAPE, opset)
    for opset, low, high in itertools.product((7, 11, 13), (None, 0.0, -1.0, 0.5), (None, 0.0, 1.0, 6.0)):
        limits = {name: limit for name, limit in (("min", low), ("max", high)) if limit is not None}
        given = {name: np.float32(limit) for name, limit in limits.items()} if opset >= 11 else {}
        inputs = ["x", *(name if name in given else "" for name in (("min", "max") if "max" in given else given))]
        made = node("Clip", *inputs, **({} if opset >= 11 else limits))
        yield one(f"Clip {low} {high}", made, (9,), opset, **given)
    for opset, axes in itertools.product((11, 13), ([1], [-1], [1, -1], [1, 1])):
        given = {"a": np.int64(axes)} if opset >= 13 else {}
        made = [node("Unsqueeze", "x", *given, to="h", axes=None if given else axes), node("Relu", "h")]
        yield one(f"Unsqueeze {axes}", made, (4,), opset, axes != [1, 1], **given)
    for to in (1, 3, 6, 7, 9, 11):
        made = [node("Relu", "x", to="r"), node("Cast", "r", to="c"), node("Cast", "c")]
        for cast, kind in zip(made[1:], (to, 1), strict=True):
            cast.attribute.append(helper.make_attribute("to", kind))
        yield one(f"Cast {to}", made, (5,), 13, to in (1, 9, 11))
    for axis, index in itertools.product((1, 2, -1), (0, -1, [1], [0, 1])):
        yield one(f"Gather {axis} {index}", node("Gather", "x", "i", axis=axis), SHAPE, 13, i=np.int64(index))
    for order, axis, sizes in itertools.product(itertools.permutations(range(1, 4)), (2, 3), ([1, 3], [1, 2], [3, 1])):
        if sum(sizes) == (2, 4, 4)[axis - 1]:
            turned = node("Transpose", "x", to="t", perm=[0, *order])
            parts = helper.make_node("Split", ["x", "s"], ["p", "q"], "p", axis=axis)
            made = [turned, parts, node("Flatten", "t", to="f"), node("ReduceSum", "q", "k", to="r", keepdims=0)]
            made += [node("Flatten", "r", to="g"), node("Concat", "f", "g", axis=1)]
            yield one(f"Transpose and Split {order} {axis} {sizes}", made, (2, 4, 4), 13, True,
                      s=np.int64(sizes), k=np.int64([axis]))  # fmt: skip


def facts() -> Iterator[Case]:
    """Numbers that follow from shapes, and whether values are numbers."""
    per_sample = [node("Size", "x", to="n"), node("Shape", "x", to="s"), node("Gather", "s", "zero", to="b")]
    per_sample += [node("Div", "n", "b", to="k"), node("CastLike", "k", "x", to="f"), node("Mul", "x", "f")]
    for shape in ((4,), SHAPE):
        yield one("Size", per_sample, shape, 15, True, zero=np.int64(0))
        is_nan = [node("Log", "x", to="l"), node("IsNaN", "l", to="n"), node("Where", "n", "zero", "l")]
        yield one("IsNaN", is_nan, shape, 13, True, zero=np.float32(0))


def cast(name: str, kind: int, to: str = "y") -> NodeProto:
    return helper.make_node("Cast", [name], [to], to, to=kind)


def integers() -> Iterator[Case]:
    """Integers are floats in layers: what ONNX rounds or shortens is rejected."""
    count = [node("Greater", "x", "zero", to="g"), cast("g", 7, "i"), node("ReduceSum", "i", "axes", to="n")]
    given = {"zero": np.float32(-1), "axes": np.int64([1]), "c": np.int64(2)}
    for operator, first, accepted in (
        *((name, ("n", "c"), True) for name in ("Add", "Sub", "Mul", "Max", "Mod", "Pow")),
        *((name, inputs, False) for name in ("Div", "Pow") for inputs in (("c", "n"), ("n", "n"))),
        ("Div", ("n", "c"), False), ("Mean", ("n", "n"), False), ("ReduceMean", ("i",), False),
        ("ReduceL2", ("i",), False), ("ReduceMax", ("i",), True), ("Neg", ("n",), True),
    ):  # fmt: skip
        axes = [1] if operator.startswith("Reduce") else None
        made = [*count, node(operator, *first, to="r", axes=axes), cast("r", 1)]
        yield one(f"{operator} of integers {first}", made, (4,), 13, accepted, **given)
    made = [*count, node("Pow", "n", "c", to="r"), cast("r", 1)]
    yield one("Pow -1 of integers", made, (4,), 13, False, **given | {"c": np.int64(-1)})
    for kind, accepted in ((1, True), (6, True), (3, False)):
        yield one(f"integers cast to {kind}", [*count, cast("n", kind, "r"), cast("r", 1)], (4,), 13, accepted, **given)
    mean = node("ReduceMean", "x", to="m", axes=[1])
    for kind in (6, 9):
        yield one(f"mean cast to {kind}", [mean, cast("m", kind, "r"), cast("r", 1)], (4,), 13, kind == 9)
    like = [node("Greater", "x", "zero", to="g"), node("CastLike", "x", "g", to="r"), cast("r", 1)]
    yield one("CastLike a Boolean", like, (4,), 15, True, zero=np.float32(0))
    error = [node("Mul", "x", "c", to="h"), node("Erf", "h", to="e"), cast("e", 6, "r"), cast("r", 1)]
    yield one("Erf cast to integers", error, (4,), 13, False, c=np.float32(np.sqrt(0.5)))
    parted = [node("ReduceMean", "x", to="m", axes=[2]), node("Reshape", "m", "s")]
    scaled = [node("Mul", "m", "c", to="h"), node("Erf", "h", to="e")]
    for of, made in (("m", []), ("e", scaled)):
        wide = [mean, *made, node("Expand", of, "s", to="w"), node("ReduceSum", "w", "axes")]
        given = {"s": np.int64([1, 2]), "axes": np.int64([1]), "c": np.float32(np.sqrt(0.5))}
        yield one(f"Expand of {of}", wide, (4,), 13, True, **given)
    yield one("Reshape of a mean", parted, (4, 3), 13, True, s=np.int64([0, 2, 2]))


def filled() -> Iterator[Case]:
    """Constants as long as the sequences: what would need another value per step is rejected."""
    sizes = [node("Shape", "x", to="s"), node("Slice", "s", "start", "end", to="n")]
    sizes += [node("Concat", "n", "k", to="d", axis=0), node("ConstantOfShape", "d", to="c")]
    given = {"start": np.int64([0]), "end": np.int64([2]), "k": np.int64([4])}
    for width in (4, 1):
        yield one("zeros added", [*sizes, node("Add", "x", "c")], ("T", width), 13, width == 4 or None, **given)
    for inputs in (("c", "x"), ("x", "c")):
        made = [*sizes, node("Concat", *inputs, to="h", axis=2), node("Add", "h", "h")]
        yield one(f"zeros beside {inputs}", made, ("T", 4), 13, None, **given)
        added = [*made[:-1], node("Concat", "x", "x", to="t", axis=2), node("Add", "h", "t")]
        yield one(f"zeros beside {inputs}, added", added, ("T", 4), 13, None, **given)


def products() -> Iterator[Case]:
    for opset, turned, alpha, beta, bias in itertools.product(
        (7, 11, 13), (0, 1), (None, 0.5), (None, 0.5, 0.0), ((3,), (1, 3), (1, 1), (1,), (2, 3))
    ):
        given = {"w": numbers(3, 4) if turned else numbers(4, 3), "b": numbers(*bias)}
        made = node("Gemm", "x", "w", "b", transB=turned, alpha=alpha, beta=beta)
        yield one(f"Gemm {turned} {alpha} {beta} {bias}", made, (4,), opset, **given)
    for shape, w in itertools.product(((4,), (3, 4), ("T", 4)), ((4, 3), (4,), (2, 4, 3))):
        yield one(f"MatMul {w}", node("MatMul", "x", "w"), shape, w=numbers(*w))
    for operator, kind in itertools.product(("ArgMax", "ArgMin"), ((1, 0, 1), (2, 1, None), (0, 0, None))):
        axis, keep, last = kind
        made = [node(operator, "x", to="i", axis=axis, keepdims=keep, select_last_index=last), node("Cast", "i")]
        made[1].attribute.append(helper.make_attribute("to", 1))
        yield one(f"{operator} {kind}", made, (3, 4), 13)
    for opset, axis, largest in itertools.product((10, 11), (None, 1), (None, 0)):
        if largest is None or opset > 10:
            made = helper.make_node("TopK", ["x", "k"], ["y", "i"], "y",
                                    **{name: value for name, value in (("axis", axis), ("largest", largest))
                                       if value is not None})  # fmt: skip
            yield one(f"TopK {axis} {largest}", made, (3, 4), opset, True, k=np.int64([2]))
    for alpha, beta in ((None, None), ([1.0], [0.0]), ([2.0], [0.0]), ([1.0], [1.0])):
        given = {"w": numbers(1, 3, 4), "r": numbers(1, 3, 3)}
        settings = {"activations": ["Affine"], "activation_alpha": alpha, "activation_beta": beta}
        made = [node("Transpose", "x", to="t", perm=[1, 0, 2])]
        made.append(helper.make_node("RNN", ["t", *given], ["", "h"], "h", hidden_size=3,
                                     **{name: value for name, value in settings.items() if value}))  # fmt: skip
        made.append(node("Squeeze", "h", "k"))
        if alpha is None:
            counted = [made[0], helper.make_node("RNN", ["t", *given, "", "n"], ["", "h"], "h", hidden_size=3), made[2]]
            for steps in (2, 3):
                lengths = {"n": np.int32([steps, steps]), "k": np.int64([0])}
                yield one(f"RNN of {steps} steps", counted, (3, 4), 14, steps == 3, **given, **lengths)
        accepted = (alpha, beta) == ([1.0], [0.0])
        yield one(f"RNN Affine {alpha} {beta}", made, ("T", 4), 14, accepted, **given, k=np.int64([0]))


def matrices() -> Iterator[Case]:
    """Products with constants for each head, and of several axes."""
    for equation, shape, c in (
        ("byhwc,hkc->byhwk", (3, 2, 4, 5), (2, 6, 5)), ("byhwc,wkc->byhwk", (3, 2, 4, 5), (4, 6, 5)),
        ("bhwc,cd->bhwd", (3, 4, 5), (5, 2)), ("bhwc,dwc->bhd", (3, 4, 5), (6, 4, 5)),
        ("bhc,khc->bhk", (3, 4), (5, 3, 4)),
    ):  # fmt: skip
        yield one(f"Einsum {equation}", node("Einsum", "x", "c", equation=equation), shape, 13, True, c=numbers(*c))
        given, arrow = equation.split("->")
        turned = f"{','.join(given.split(',')[::-1])}->{arrow}"
        yield one(f"Einsum {turned}", node("Einsum", "c", "x", equation=turned), shape, 13, True, c=numbers(*c))
    for c in ((2, 4, 5), (1, 2, 4, 5), (1, 1, 4, 5), (3, 4, 5)):
        yield one(f"MatMul of matrices {c}", node("MatMul", "x", "c"), (2, 3, 4), 13, c[0] != 3, c=numbers(*c))
    for axis, inverse, onesided, parts in itertools.product((1, 2), (0, 1), (0, 1), (1, 2)):
        transform = node("DFT", "x", axis=axis, inverse=inverse, onesided=onesided)
        yield one(f"DFT {axis} {inverse} {onesided}", transform, (4, 3, parts), 17)
    yield one("DFT", node("DFT", "x"), (5, 2), 17, True)
    for c in ((5, 3), (2, 5, 3)):
        yield one(f"MatMul of a constant {c}", node("MatMul", "c", "x"), (2, 3, 4), 13, True, c=numbers(*c))
    heads = [node("Reshape", "x", "s", to="h"), node("Transpose", "h", to="t", perm=[1, 0, 2]),
             node("MatMul", "t", "c", to="m"), node("Transpose", "m", perm=[1, 0, 2])]  # fmt: skip
    yield one("MatMul before samples", heads, (3, 4), 13, s=np.int64([-1, 3, 4]), c=numbers(3, 4, 5))


def lists() -> Iterator[Case]:
    """Lists of values, loops with a constant number of steps, axes before the batch, the batch beside heads."""
    first = [node("SequenceEmpty", to="a"), node("SequenceInsert", "a", "x", to="b"), node("Relu", "x", to="r")]
    for place, wanted in itertools.product((None, 0, -1), (0, 1, -2, 2)):
        given = {"i": np.int64(wanted)} | ({"p": np.int64(place)} if place is not None else {})
        inputs = ["b", "r", *(["p"] if place is not None else [])]
        made = [*first, node("SequenceInsert", *inputs, to="l"), node("SequenceAt", "l", "i")]
        yield one(f"SequenceInsert {place} {wanted}", made, (4,), 13, wanted != 2, **given)
    made = [node("Relu", "x", to="r"), node("SequenceConstruct", "x", "r", to="l"), node("SequenceAt", "l", "i")]
    yield one("SequenceConstruct", made, (4,), 13, True, i=np.int64(1))
    ports = [helper.make_tensor_value_info("k", 7, []), helper.make_tensor_value_info("c", 9, []),
             helper.make_tensor_value_info("h", 1, None)]  # fmt: skip
    steps = [helper.make_node("Cast", ["k"], ["f"], to=1), helper.make_node("Add", ["h", "f"], ["g"]),
             helper.make_node("Mul", ["g", "h"], ["n"]), helper.make_node("Identity", ["c"], ["d"])]  # fmt: skip
    results = [helper.make_tensor_value_info(name, kind, None) for name, kind in (("d", 9), ("n", 1))]
    body = helper.make_graph(steps, "step", ports, results)
    for trips, going in itertools.product((0, 1, 3), (True, False)):
        given = {"m": np.int64(trips), "t": np.bool_(going)}
        made = [node("Loop", "m", "t", "x", to="z", body=body), node("Relu", "z")]
        yield one(f"Loop {trips} {going}", made, (4,), 13, True, **given)
    made = [node("Relu", "x", to="r"), node("Unsqueeze", "x", "a", to="u"), node("Unsqueeze", "r", "a", to="v"),
            node("Concat", "u", "v", to="b", axis=0)]  # fmt: skip
    for operator, keep in itertools.product(("ReduceMean", "ReduceMax", "ReduceSum"), (0, 1)):
        axes = {} if operator == "ReduceSum" else {"axes": [0]}
        last = node(operator, "b", *([] if axes else ["a"]), keepdims=keep, **axes)
        yield one(f"{operator} before samples {keep}", [*made, last], (3, 4), 13, True, a=np.int64([0]))
    for operator, shape in itertools.product(("Conv", "MaxPool"), ((2, 3, 5, 4), (2, 3, 3, 5, 4))):
        apart, together = np.int64([-1, *shape[1:]]), np.int64([-1, *shape[:2], *[size - 1 for size in shape[2:]]])
        kernel = [2] * (len(shape) - 2)
        middle = (node("Conv", "h", "w", to="m") if operator == "Conv" else
                  node("MaxPool", "h", to="m", kernel_shape=kernel))  # fmt: skip
        made = [node("Reshape", "x", "p", to="h"), middle, node("Reshape", "m", "q")]
        given = {"w": numbers(3, 3, *kernel)} if operator == "Conv" else {}
        yield one(f"{operator} of heads", made, shape, 13, True, p=apart, q=together, **given)


def columns() -> Iterator[Case]:
    """Two recurrences over the columns of an image, one after the other, and their last states."""
    gates = {"GRU": 3, "LSTM": 4, "RNN": 1}
    for operator, direction in itertools.product(gates, ("forward", "reverse", "bidirectional")):
        ways, rows = 2 if direction == "bidirectional" else 1, 3 * gates[operator]
        given = {"w": numbers(ways, rows, 4), "r": numbers(ways, rows, 3), "v": numbers(1, rows, 3 * ways),
                 "q": numbers(1, rows, 3, seed=2), "a": np.int64([2]), "s": np.int64([0, 0, -1]),
                 "k": np.int64([1])}  # fmt: skip
        made = [node("Squeeze", "x", "a", to="l"), node("Transpose", "l", to="t", perm=[2, 0, 1])]
        settings = {"hidden_size": 3, "direction": direction}
        first = helper.make_node(operator, ["t", "w", "r"], ["b"], "first", **settings)
        second = helper.make_node(operator, ["e", "v", "q"], ["f", "g"], "second", hidden_size=3)
        made += [first, node("Transpose", "b", to="c", perm=[0, 2, 1, 3]), node("Reshape", "c", "s", to="e"), second]
        made += [node("Squeeze", "f", "k", to="o"), node("Concat", "o", "g", to="p", axis=0)]
        yield one(
            f"{operator} {direction}", [*made, node("Transpose", "p", perm=[1, 0, 2])], (4, 1, 5), 14, True, **given
        )


FAMILIES = (
    *(softmax, resize, reductions, arithmetic, windows, normalizations, moves, facts, integers, filled, products),
    *(matrices, lists, columns),
)


def of_constants(case: Case, arrays: dict[str, Any], size: int) -> Case:
    """The case with its inputs as constants: `y`, in a single row of `size` numbers, is added to the input `q`."""
    renamed = [NodeProto.FromString(made.SerializeToString()) for made in case.nodes]
    for made in renamed:
        made.output[:] = ["folded" if name == "y" else name for name in made.output]
    row = [cast("folded", 1, "float"), node("Reshape", "float", "row", to="flat"), node("Add", "q", "flat")]
    constants = {**case.constants, **arrays, "row": np.int64([1, -1])}
    return Case(f"{case.name}, of constants", [*renamed, *row], {"q": (size,)}, constants, case.opset)


def cases() -> list[Case]:
    """All cases, families one after the other."""
    return [case for family in FAMILIES for case in family()]
